"""Attention: compare queries with keys, scale, normalise, mix the values."""

import math
from typing import NamedTuple

import numpy as np

from core.linear import linear
from core.softmax import as_float, softmax


class AttentionTrace(NamedTuple):
    """Every intermediate of one `attend` call; `...` are any leading axes."""

    raw_scores: np.ndarray  # (..., n_queries, n_keys)  q·k
    scores: np.ndarray      # (..., n_queries, n_keys)  scaled, bias added, before the mask
    pattern: np.ndarray     # (..., n_queries, n_keys)  after mask and softmax; rows sum to 1
    mixed: np.ndarray       # (..., n_queries, d_value)


class SelfAttentionTrace(NamedTuple):
    """One head that looks at its own tokens, from the token vectors to the mixed values."""

    x: np.ndarray           # (n_tokens, d_model)
    q: np.ndarray           # (n_tokens, d_head)
    k: np.ndarray           # (n_tokens, d_head)
    v: np.ndarray           # (n_tokens, d_head)
    raw_scores: np.ndarray  # (n_tokens, n_tokens)
    scores: np.ndarray      # (n_tokens, n_tokens)
    pattern: np.ndarray     # (n_tokens, n_tokens)
    mixed: np.ndarray       # (n_tokens, d_head)


class MultiHeadTrace(NamedTuple):
    """Every intermediate of one `multi_head_attention` call."""

    q: np.ndarray           # (..., n_heads, n_queries, d_head)
    k: np.ndarray           # (..., n_kv_heads, n_keys, d_head)
    v: np.ndarray           # (..., n_kv_heads, n_keys, d_head)
    raw_scores: np.ndarray  # (..., n_heads, n_queries, n_keys)
    scores: np.ndarray      # (..., n_heads, n_queries, n_keys)
    pattern: np.ndarray     # (..., n_heads, n_queries, n_keys)
    mixed: np.ndarray       # (..., n_heads, n_queries, d_head)
    head_out: np.ndarray    # (..., n_heads, n_queries, d_model)  what each head adds to the output
    out: np.ndarray         # (..., n_queries, d_model)


def causal_mask(n_queries, n_keys=None):
    """Which keys each query may look at when the future is hidden: True = may look.

    visible[i, j] = j <= i + (n_keys - n_queries)

    The last query always sees the last key. So with fewer queries than keys (new tokens after a cache) each
    query sees all that came before it. With more queries than keys the first queries see nothing.

    returns  bool (n_queries, n_keys)
    raises   ValueError for a negative count
    source   Vaswani et al. 2017, section 3.2.3

    >>> causal_mask(2).tolist()
    [[True, False], [True, True]]
    """
    n_keys = n_queries if n_keys is None else n_keys
    if n_queries < 0 or n_keys < 0:
        raise ValueError(f"A mask has sizes of 0 or more, not {n_queries} queries and {n_keys} keys.")
    return np.arange(n_keys) <= np.arange(n_queries)[:, None] + (n_keys - n_queries)


def padding_mask(lengths, n_keys):
    """Hide the filler after each sequence's own tokens: True = a real token.

    visible[b, 0, j] = j < lengths[b]

    lengths  (n_sequences,) how many real tokens each row of the batch has
    returns  bool (n_sequences, 1, n_keys): the same for every query; `&` it with a causal mask
    raises   ValueError where a length is negative or above n_keys

    >>> padding_mask([1, 2], 2).tolist()
    [[[True, False]], [[True, True]]]
    """
    lengths = np.asarray(lengths)
    if lengths.size and (lengths.min() < 0 or lengths.max() > n_keys):
        raise ValueError(f"Lengths run from {lengths.min()} to {lengths.max()}; with {n_keys} keys they must be 0 to {n_keys}.")
    return np.arange(n_keys) < lengths[:, None, None]


def attend(q, k, v, visible=None, *, scale=None, bias=None):
    """Scaled dot-product attention: each query takes a weighted mean of the values.

    mixed = softmax(q kᵀ · scale + bias, over the visible keys) v

    q        (..., n_queries, d_head)
    k        (..., n_keys, d_head)
    v        (..., n_keys, d_value)
    visible  bool, broadcasts to (..., n_queries, n_keys); True = may look; a query that sees nothing gets zeros
    scale    the factor on q·k, 1/√d_head unless given
    bias     added to the scaled scores, broadcasts to (..., n_queries, n_keys)
    returns  AttentionTrace in the precision of the inputs
    raises   ValueError where sizes do not fit, TypeError for a mask that is not boolean
    source   Vaswani et al. 2017, section 3.2.1, equation 1

    >>> attend([[1.0]], [[2.0], [2.0]], [[0.0], [4.0]]).mixed.tolist()
    [[2.0]]
    """
    q, k, v = as_float(q), as_float(k), as_float(v)
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"Queries have {q.shape[-1]} features and keys {k.shape[-1]}; a dot product needs the same number.")
    if not q.shape[-1]:
        raise ValueError("Queries and keys have 0 features; a dot product needs at least 1.")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"There are {k.shape[-2]} keys and {v.shape[-2]} values; each key needs its value.")
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    raw_scores = q @ k.swapaxes(-1, -2)
    scores = raw_scores * scale
    if bias is not None:
        scores = scores + np.asarray(bias, dtype=scores.dtype)
    pattern = softmax(scores if visible is None else _hide(scores, visible))
    return AttentionTrace(raw_scores, scores, pattern, pattern @ v)


def _hide(scores, visible):
    """Scores with -inf wherever `visible` is False."""
    visible = np.asarray(visible)
    if visible.dtype != bool:
        raise TypeError(f"visible must hold True (may look) and False (hidden), not {visible.dtype}.")
    try:
        return np.where(visible, scores, scores.dtype.type(-np.inf))
    except ValueError:
        raise ValueError(f"A mask of shape {visible.shape} does not fit scores of shape {scores.shape}.") from None


def self_attention(x, w_q, w_k, w_v, visible=None, *, scale=None, bias=None):
    """One head on one sentence: project the token vectors three times, then attend.

    q = x w_q,  k = x w_k,  v = x w_v,  then attend(q, k, v)

    x              (n_tokens, d_model)
    w_q, w_k, w_v  (d_model, d_head)
    visible, scale, bias  as for attend
    returns        SelfAttentionTrace
    raises         ValueError where sizes do not fit
    source         Vaswani et al. 2017, section 3.2

    >>> self_attention([[1.0], [1.0]], [[1.0]], [[1.0]], [[3.0]]).mixed.tolist()
    [[3.0], [3.0]]
    """
    x, w_q, w_k, w_v = as_float(x), as_float(w_q), as_float(w_k), as_float(w_v)
    for name, w in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v)):
        if w.shape[0] != x.shape[-1]:
            raise ValueError(f"Token vectors have {x.shape[-1]} features, so {name} needs {x.shape[-1]} rows, not {w.shape[0]}.")
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    return SelfAttentionTrace(x, q, k, v, *attend(q, k, v, visible, scale=scale, bias=bias))


def split_heads(x, n_heads):
    """Cut every token's vector into heads: head h takes columns h·d_head to (h+1)·d_head.

    x        (..., n_tokens, n_heads · d_head)
    returns  (..., n_heads, n_tokens, d_head), a view: reshape, then swap the token and head axes
    raises   ValueError, naming head counts that work, where the width does not divide

    >>> split_heads(np.arange(4).reshape(1, 4), 2).tolist()
    [[[0, 1]], [[2, 3]]]
    """
    width = x.shape[-1]
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"A width of {width} can't be cut into {n_heads} equal heads. {divisors_sentence(width)}")
    return x.reshape(*x.shape[:-1], n_heads, width // n_heads).swapaxes(-2, -3)


def merge_heads(heads):
    """Put the heads side by side again: the inverse of split_heads.

    heads    (..., n_heads, n_tokens, d_head)
    returns  (..., n_tokens, n_heads · d_head)

    >>> merge_heads(np.array([[[0, 1]], [[2, 3]]])).tolist()
    [[0, 1, 2, 3]]
    """
    swapped = heads.swapaxes(-2, -3)
    return swapped.reshape(*swapped.shape[:-2], swapped.shape[-2] * swapped.shape[-1])


def divisors_sentence(width):
    """The head counts that divide `width`, as a sentence for a person.

    >>> divisors_sentence(6)
    'Head counts that work: 1, 2, 3, 6.'
    """
    if width > 10**8:
        return "A head count works where it divides the width."
    small = [n for n in range(1, math.isqrt(width) + 1) if width % n == 0]
    large = [width // n for n in reversed(small) if n * n != width]
    return f"Head counts that work: {', '.join(map(str, small + large))}."


def projection_counts(d_model, n_heads, d_head):
    """How many numbers the projections of one attention layer hold, without biases.

    queries, keys, values: 3 · d_model · n_heads · d_head;  output: n_heads · d_head · d_model

    returns  (numbers in w_q, w_k and w_v together, numbers in w_o)
    source   Vaswani et al. 2017, section 3.2.2

    >>> projection_counts(512, 8, 64) == projection_counts(512, 1, 512)
    True
    """
    return 3 * d_model * n_heads * d_head, n_heads * d_head * d_model


def multi_head_attention(x, params, n_heads, visible=None, context=None, *, n_kv_heads=None, rotate=None, bias=None,
                         past=None, scale=None, heads_apart=True):
    """Several heads look at the same tokens; their results are joined and projected.

    out = Concat(head_1 … head_n) w_o = Σ_h mixed_h w_o[rows of h]   (+ b_o)

    x           (..., n_queries, d_model) the tokens that ask
    params      {"w_qkv": (d_model, (n_heads + 2·n_kv_heads)·d_head), "w_o": (n_heads·d_head, d_model)} and, if there
                are biases, "b_qkv" and "b_o"; the columns of w_qkv are the queries of all heads, then keys, then values
    visible     bool, broadcasts to (..., n_queries, n_keys), or with a head axis before the last two
    context     (..., n_keys, d_model) the tokens that are looked at; x itself unless given (cross-attention)
    n_kv_heads  key/value heads, shared by n_heads / n_kv_heads query heads each; n_heads unless given
    rotate      function (q or k, positions) -> same shape, for rotary positions
    bias        added to the scaled scores, broadcasts to (..., n_heads, n_queries, n_keys)
    past        (k, v) of earlier tokens, put before the new ones (a KV cache)
    heads_apart False leaves head_out out (None), which saves a product that only pictures need
    returns     MultiHeadTrace; head_out holds each head's own share of out, which is their sum (+ b_o)
    raises      ValueError where sizes do not fit
    source      Vaswani et al. 2017, section 3.2.2; Shazeer 2019 and Ainslie et al. 2023 (shared keys and values);
                Elhage et al. 2021 (heads add up)

    >>> eye = {"w_qkv": np.ones((1, 3)), "w_o": np.ones((1, 1))}
    >>> multi_head_attention(np.array([[2.0], [2.0]]), eye, 1).out.tolist()
    [[2.0], [2.0]]
    """
    x = as_float(x)
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    if context is not None and np.shape(context)[-1] != x.shape[-1]:
        raise ValueError(f"Tokens have {x.shape[-1]} features and the context {np.shape(context)[-1]}; w_qkv needs them to be the same.")
    w_qkv, w_o = params["w_qkv"], params["w_o"]
    d_head = _head_width(x, w_qkv, w_o, n_heads, n_kv_heads)
    n_columns = n_heads * d_head
    qkv = _project(x, params, slice(None) if context is None else slice(n_columns))
    kv = qkv[..., n_columns:] if context is None else _project(as_float(context), params, slice(n_columns, None))
    q = split_heads(qkv[..., :n_columns], n_heads)
    k = split_heads(kv[..., :kv.shape[-1] // 2], n_kv_heads)
    v = split_heads(kv[..., kv.shape[-1] // 2:], n_kv_heads)
    n_past = 0 if past is None else past[0].shape[-2]
    if rotate is not None:
        q = rotate(q, n_past + np.arange(q.shape[-2]))
        k = rotate(k, n_past + np.arange(k.shape[-2]))
    if past is not None:
        k, v = np.concatenate([past[0], k], axis=-2), np.concatenate([past[1], v], axis=-2)

    if visible is not None and np.ndim(visible) == x.ndim and x.ndim > 2:  # one mask per sequence, shared by its heads
        visible = np.asarray(visible)[..., None, :, :]
    group = n_heads // n_kv_heads
    shared_k, shared_v = (k, v) if group == 1 else (np.repeat(k, group, axis=-3), np.repeat(v, group, axis=-3))
    attended = attend(q, shared_k, shared_v, visible, scale=scale, bias=bias)
    out = linear(merge_heads(attended.mixed), w_o, params.get("b_o"))
    head_out = attended.mixed @ w_o.reshape(n_heads, d_head, -1) if heads_apart else None
    return MultiHeadTrace(q, k, v, *attended, head_out, out)


def _project(x, params, columns):
    """x w_qkv (+ b_qkv), some of its columns."""
    return linear(x, params["w_qkv"][:, columns], params["b_qkv"][columns] if "b_qkv" in params else None)


def _head_width(x, w_qkv, w_o, n_heads, n_kv_heads):
    """d_head as the two matrices imply it; ValueError where they can't be cut into these heads."""
    if n_heads < 1 or w_o.shape[0] % n_heads:
        raise ValueError(f"A width of {w_o.shape[0]} can't be cut into {n_heads} equal heads. {divisors_sentence(w_o.shape[0])}")
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} heads can't share {n_kv_heads} key/value heads evenly. "
                         + divisors_sentence(n_heads).replace("Head", "Key/value head"))
    if w_qkv.shape[0] != x.shape[-1]:
        raise ValueError(f"Token vectors have {x.shape[-1]} features, so w_qkv needs {x.shape[-1]} rows, not {w_qkv.shape[0]}.")
    d_head = w_o.shape[0] // n_heads
    if w_qkv.shape[1] != (n_heads + 2 * n_kv_heads) * d_head:
        raise ValueError(f"{n_heads} query and {n_kv_heads} key/value heads of width {d_head} need w_qkv with "
                         f"{(n_heads + 2 * n_kv_heads) * d_head} columns, not {w_qkv.shape[1]}.")
    return d_head
