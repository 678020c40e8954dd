"""What order means to attention: the same words in another order, and rotary positions that all move on together."""

from typing import NamedTuple

import numpy as np

from core.attention import SelfAttentionTrace, self_attention
from core.positions import rotary, sinusoidal


class OrderTrace(NamedTuple):
    """One head on a sentence and on the same words in another order."""

    order: np.ndarray           # (n_tokens,) which word of the sentence stands at each place of the other
    before: SelfAttentionTrace
    after: SelfAttentionTrace
    matched: np.ndarray         # (n_tokens, d_head)  after.mixed with its rows back in the first order: row i is word i, wherever it went
    difference: np.ndarray      # (n_tokens, d_head)  matched - before.mixed


def reordered(x, w_q, w_k, w_v, order, pe=None, visible=None):
    """Run one head on a sentence and on its words in another order, and compare each word's output with its own.

    Positions belong to the places: they are added after the words have moved. Without them and without a mask the outputs only
    move along with the words, and `difference` is 0 but for rounding.

    x        (n_tokens, d_model), without positions
    order    (n_tokens,) whole numbers: place i of the other sentence holds word order[i]
    pe       (n_tokens, d_model) position vectors, or None
    visible  bool (n_tokens, n_tokens), by place, or None
    returns  OrderTrace

    >>> one = np.eye(2)
    >>> reordered(one, one, one, one, [1, 0]).difference.tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    order = np.asarray(order)
    pe = np.zeros_like(x) if pe is None else pe
    before = self_attention(x + pe, w_q, w_k, w_v, visible)
    after = self_attention(x[order] + pe, w_q, w_k, w_v, visible)
    matched = after.mixed[np.argsort(order)]
    return OrderTrace(order, before, after, matched, matched - before.mixed)


def swapped(n, one, other):
    """The order in which two of n words change places.

    returns  (n,) whole numbers

    >>> swapped(3, 0, 2).tolist()
    [2, 1, 0]
    """
    order = np.arange(n)
    order[[one, other]] = order[[other, one]]
    return order


def shuffled(n, rng):
    """A random order of n words that moves at least two of them, where there are two.

    returns  (n,) whole numbers

    >>> shuffled(2, np.random.default_rng(0)).tolist()
    [1, 0]
    """
    order = rng.permutation(n)
    while n > 1 and (order == np.arange(n)).all():
        order = rng.permutation(n)
    return order


def equal_words(tokens):
    """The places of each word that stands there more than once.

    returns  {token: [its places]}

    >>> equal_words(["to", "be", "to"])
    {'to': [0, 2]}
    """
    places = {}
    for place, token in enumerate(tokens):
        places.setdefault(token, []).append(place)
    return {token: found for token, found in places.items() if len(found) > 1}


def largest_gap(rows):
    """How far the rows differ: the largest range that any feature covers over them.

    rows     (n_rows, width); without rows the answer is 0
    returns  float

    >>> largest_gap(np.array([[1.0, 2.0], [1.0, 5.0]]))
    3.0
    """
    return float((rows.max(axis=0) - rows.min(axis=0)).max(initial=0.0)) if len(rows) else 0.0


def gap_dots(start, n_gaps, d_model):
    """Dot products of one sinusoidal position with itself and with those after it.

    dots[g] = pe[start] · pe[start + g];  for an even d_model = Σ over the pairs of cos(g · frequency), whatever `start` is

    returns  (n_gaps,) float64

    >>> gap_dots(3, 1, 4).round(12).tolist()
    [2.0]
    """
    pe = sinusoidal(start + n_gaps, d_model)
    return pe[start:] @ pe[start]


def first_rise(values):
    """The first place whose value is above the one before it; None where they never rise.

    >>> first_rise([3.0, 2.0, 2.5])
    2
    """
    rises = np.flatnonzero(np.diff(values) > 1e-12)
    return int(rises[0]) + 1 if rises.size else None


class OffsetTrace(NamedTuple):
    """Rotary scores of one query and one key at n positions each, and the same with all positions moved on."""

    q_turned: np.ndarray    # (n, d)
    k_turned: np.ndarray    # (n, d)
    scores: np.ndarray      # (n, n)  q at position i with k at position j
    shifted: np.ndarray     # (n, n)  q at position i + shift with k at position j + shift
    difference: np.ndarray  # (n, n)  shifted - scores


def offsets(q, k, n_positions, shift, layout_q="half", layout_k="half"):
    """Put one query and one key at every pair of positions, then move all positions on.

    With one layout for both, the score depends on i - j alone, and `difference` is 0 but for rounding.

    q, k     (d,) before they are turned
    returns  OffsetTrace
    source   Su et al. 2021, "RoFormer", section 3.4.2

    >>> offsets([1.0, 0.0], [1.0, 0.0], 1, 5).scores.tolist()
    [[1.0]]
    """
    here = np.arange(n_positions)
    q_rows, k_rows = np.tile(q, (n_positions, 1)), np.tile(k, (n_positions, 1))
    q_turned, k_turned = rotary(q_rows, here, layout=layout_q), rotary(k_rows, here, layout=layout_k)
    scores = q_turned @ k_turned.T
    shifted = rotary(q_rows, here + shift, layout=layout_q) @ rotary(k_rows, here + shift, layout=layout_k).T
    return OffsetTrace(q_turned, k_turned, scores, shifted, shifted - scores)


def score_by_offset(q, k, start, n_offsets, layout_q="half", layout_k="half"):
    """The rotary score of q at position start + offset with k at position start, for offsets 0, 1, …

    returns  (n_offsets,)

    >>> score_by_offset([1.0, 0.0], [1.0, 0.0], 7, 1).round(12).tolist()
    [1.0]
    """
    places = start + np.arange(n_offsets)
    key = rotary(np.asarray([k]), [start], layout=layout_k)[0]
    return rotary(np.tile(q, (n_offsets, 1)), places, layout=layout_q) @ key
