"""Attention in blocks: the same numbers from scores that are never all there at once."""

import math
from typing import NamedTuple

import numpy as np

from core.attention import attend, causal_mask
from core.draws import projection
from core.softmax import as_float


class BlocksTrace(NamedTuple):
    """What `attend_in_blocks` gives, and what it needed on the way."""

    mixed: np.ndarray      # (..., n_queries, d_value)
    tops: np.ndarray       # (..., n_queries, n_key_blocks)  largest score so far, after each block of keys
    sums: np.ndarray       # (..., n_queries, n_key_blocks)  sum of exp(score - top) so far
    most_scores: int       # scores that existed at once
    score_bytes: int       # their bytes
    n_blocks: int          # blocks that were computed
    added: np.ndarray      # (..., n_queries, n_key_blocks)  Σ exp(score - top) of each block of keys alone
    scores: np.ndarray | None  # (..., n_queries, n_keys), masked ones -inf, where `keep` asked for them


class Comparison(NamedTuple):
    """Attention whole and in blocks, on the same queries, keys and values."""

    gap: float           # the largest difference between the two results
    whole_scores: int    # scores that exist at once where attention is computed whole
    whole_bytes: int     # of the three arrays that its trace holds: raw scores, scores, pattern
    block_scores: int
    block_bytes: int
    n_blocks: int


def attend_in_blocks(q, k, v, visible=None, *, query_block=None, key_block=None, scale=None, keep=False):
    """Attention for some queries and some keys at a time: as `core.attention.attend`, but for rounding.

    For a block of queries, over the blocks of keys one after the other:
    top'   = max(top, largest score of the block)
    weight = exp(score - top')
    sum'   = sum · exp(top - top') + Σ weight
    mixed' = mixed · exp(top - top') + weight v
    and after the last block mixed / sum. Before the first block top is -∞, sum 0 and mixed 0. What was summed under a smaller maximum is
    shrunk to the new one.

    q                       (..., n_queries, d_head);  k (..., n_keys, d_head);  v (..., n_keys, d_value)
    visible                 bool (n_queries, n_keys); True = may look; a query that sees nothing gets zeros
    query_block, key_block  how many at a time; all unless given
    scale                   the factor on q·k, 1/√d_head unless given
    keep                    True: the trace holds all scores, to look at; that takes the memory which blocks save
    returns                 BlocksTrace in the precision of the inputs
    raises                  ValueError where a block is smaller than 1, or sizes do not fit
    source                  Milakov & Gimelshein 2018 (running maximum and sum); Rabe & Staats 2021; Dao et al. 2022, section 3.1

    >>> attend_in_blocks([[1.0]], [[2.0], [2.0]], [[0.0], [4.0]], key_block=1).mixed.tolist()
    [[2.0]]
    """
    q, k, v = as_float(q), as_float(k), as_float(v)
    n_queries, n_keys = q.shape[-2], k.shape[-2]
    query_block, key_block = query_block or max(n_queries, 1), key_block or max(n_keys, 1)
    _check(q, k, v, visible, query_block, key_block)
    factor = q.dtype.type(1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    mixed = np.zeros((*q.shape[:-1], v.shape[-1]), dtype=v.dtype)
    n_key_blocks = -(-n_keys // key_block)
    tops, sums, added = (np.zeros((*q.shape[:-1], n_key_blocks), dtype=q.dtype) for _ in range(3))
    kept_scores = np.zeros((*q.shape[:-1], n_keys), dtype=q.dtype) if keep else None
    most, n_blocks = 0, 0
    for first in range(0, n_queries, query_block):
        rows = slice(first, first + query_block)
        top = np.full((*q[..., rows, :].shape[:-1], 1), -np.inf, dtype=q.dtype)
        total, kept = np.zeros_like(top), np.zeros_like(mixed[..., rows, :])
        for number, start in enumerate(range(0, n_keys, key_block)):
            keys = slice(start, start + key_block)
            scores = q[..., rows, :] @ k[..., keys, :].swapaxes(-1, -2)  # the only scores there are
            scores *= factor
            if visible is not None:
                np.copyto(scores, -np.inf, where=~visible[rows, keys])
            if keep:
                kept_scores[..., rows, keys] = scores
            most, n_blocks = max(most, scores.size), n_blocks + 1
            larger = np.maximum(top, scores.max(axis=-1, keepdims=True))
            reachable = np.where(larger == -np.inf, q.dtype.type(0), larger)  # nothing seen yet: exp(-inf - 0) is 0
            shrink = np.exp(top - reachable)
            scores -= reachable
            np.exp(scores, out=scores)
            own = scores.sum(axis=-1, keepdims=True)
            total = total * shrink + own
            kept = kept * shrink + scores @ v[..., keys, :]
            top = larger
            tops[..., rows, number], sums[..., rows, number], added[..., rows, number] = top[..., 0], total[..., 0], own[..., 0]
        mixed[..., rows, :] = kept / np.where(total == 0, q.dtype.type(1), total)
    return BlocksTrace(mixed, tops, sums, most, most * q.dtype.itemsize, n_blocks, added, kept_scores)


def rises(tops):
    """In which blocks of keys the largest score so far rose above that of a block before: there the sum so far is multiplied.

    tops     (..., n_key_blocks), as in BlocksTrace
    returns  bool (..., n_key_blocks - 1), from the second block on; the first score that a query sees at all is no rise

    >>> rises(np.array([-np.inf, 1.0, 1.0, 2.0])).tolist()
    [False, False, True]
    """
    return (tops[..., 1:] > tops[..., :-1]) & (tops[..., :-1] > -np.inf)


def telling_query(q, k, v, visible, key_block):
    """The query whose largest score rises in the most blocks; among equals the one that rises latest, then the last one.

    returns  int

    >>> telling_query([[1.0], [-1.0]], [[1.0], [2.0]], [[0.0], [0.0]], None, 1)
    0
    """
    rose = rises(attend_in_blocks(q, k, v, visible, key_block=key_block).tops)
    latest = (rose * np.arange(1, rose.shape[-1] + 1)).max(axis=-1, initial=0)
    return max(range(len(rose)), key=lambda query: (rose[query].sum(), latest[query], query))


def scores_at_once(n_queries, n_keys, query_block, key_block):
    """How many scores exist at the same time: a block's, and a block is no larger than what there is.

    returns  int

    >>> scores_at_once(100, 100, 16, 128)
    1600
    """
    return min(query_block, n_queries) * min(key_block, n_keys)


def drawn(seed, n, d):
    """Random queries, keys and values of n tokens, each from its own child seed.

    returns  (q, k, v), each (n, d)

    >>> [each.shape for each in drawn(1, 3, 2)]
    [(3, 2), (3, 2), (3, 2)]
    """
    return tuple(projection(seed, name, n, d) * math.sqrt(n) for name in ("query", "key", "value"))


def compare(q, k, v, query_block, key_block, causal=True):
    """The same attention whole and in blocks: how far apart the results are, and what each held of scores at once.

    returns  Comparison
    raises   ValueError where sizes do not fit

    >>> compare(*drawn(1, 4, 2), 2, 2)[1:]
    (16, 384, 4, 32, 4)
    """
    visible = causal_mask(len(q), len(k)) if causal else None
    whole = attend(q, k, v, visible)
    blocks = attend_in_blocks(q, k, v, visible, query_block=query_block, key_block=key_block)
    return Comparison(float(abs(whole.mixed - blocks.mixed).max()), whole.scores.size,
                      sum(each.nbytes for each in (whole.raw_scores, whole.scores, whole.pattern)),
                      blocks.most_scores, blocks.score_bytes, blocks.n_blocks)


def _check(q, k, v, visible, query_block, key_block):
    """ValueError, naming the sizes, where something does not fit."""
    if min(query_block, key_block) < 1:
        raise ValueError(f"A block holds {min(query_block, key_block)} rows; give 1 or more.")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"Queries have {q.shape[-1]} features and keys {k.shape[-1]}; a dot product needs the same number.")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"There are {k.shape[-2]} keys and {v.shape[-2]} values; each key needs its value.")
    if visible is not None and (np.shape(visible) != (q.shape[-2], k.shape[-2]) or visible.dtype != bool):
        raise ValueError(f"visible must hold True and False in the shape {(q.shape[-2], k.shape[-2])}.")
