"""The backward of every forward function: from the gradient of what came out to the gradients of what went in.

Each function takes what the forward recorded and `d_out`, the loss's gradient for its result, and returns the gradients of its inputs;
parameters come as a dict of the same names. d_name is the gradient of name.
"""

import math

import numpy as np

from core.activations import ACTIVATIONS
from core.attention import merge_heads, split_heads
from core.block import normalise
from core.softmax import softmax


def cross_entropy_backward(logits, targets):
    """d loss / d logits = (softmax(logits) - one_hot(target)) / number of counted targets; 0 where a target is below 0.

    logits   (..., vocab_size); targets: (...)
    returns  (..., vocab_size)

    >>> cross_entropy_backward(np.array([[0.0, 0.0]]), np.array([1])).tolist()
    [[0.5, -0.5]]
    """
    d_logits = softmax(logits)
    targets = np.asarray(targets)
    counted = targets >= 0
    place = np.where(counted, targets, 0)[..., None]
    np.put_along_axis(d_logits, place, np.take_along_axis(d_logits, place, axis=-1) - 1, axis=-1)
    d_logits *= (counted / max(int(counted.sum()), 1)).astype(d_logits.dtype)[..., None]
    return d_logits


def linear_backward(x, w, d_out):
    """y = x w: d_x = d_y wᵀ; d_w = xᵀ d_y, summed over all tokens; d_b = Σ d_y.

    x        (..., n_in); w: (n_in, n_out); d_out: (..., n_out)
    returns  (d_x, d_w, d_b)

    >>> [part.tolist() for part in linear_backward(np.array([[2.0]]), np.array([[3.0]]), np.array([[1.0]]))]
    [[[3.0]], [[2.0]], [1.0]]
    """
    flat_x, flat_d = x.reshape(-1, x.shape[-1]), d_out.reshape(-1, d_out.shape[-1])
    return (flat_d @ w.T).reshape(x.shape), flat_x.T @ flat_d, np.ones(len(flat_d), flat_d.dtype) @ flat_d


def layer_norm_backward(x, d_out, gain=None, eps=1e-5):
    """With n = (x - mean)/root and g = d_out · gain:  d_x = (g - mean(g) - n · mean(g · n)) / root.

    returns  (d_x, {"gain": Σ d_out · n, "offset": Σ d_out}), sums over all tokens
    """
    width = x.dtype.type(x.shape[-1])
    normalised = x - x.mean(axis=-1, keepdims=True)
    root = np.sqrt(_row_dots(normalised, normalised) / width + x.dtype.type(eps))
    normalised /= root
    d_x = d_out.copy() if gain is None else d_out * gain
    along = _row_dots(d_x, normalised) / width
    d_x -= d_x.mean(axis=-1, keepdims=True)
    d_x -= normalised * along
    d_x /= root
    return d_x, {"gain": _column_dots(d_out, normalised), "offset": _column_dots(d_out)}


def rms_norm_backward(x, d_out, gain=None, eps=1e-6):
    """With n = x/root and g = d_out · gain:  d_x = (g - n · mean(g · n)) / root.

    returns  (d_x, {"gain": Σ d_out · n}), the sum over all tokens
    """
    width = x.dtype.type(x.shape[-1])
    root = np.sqrt(_row_dots(x, x) / width + x.dtype.type(eps))
    normalised = x / root
    g = d_out if gain is None else d_out * gain
    d_x = (g - normalised * (_row_dots(g, normalised) / width)) / root
    return d_x, {"gain": _column_dots(d_out, normalised)}


def _row_dots(one, other):
    """Σ one · other over the features, which stay as an axis of 1."""
    return np.einsum("...i,...i->...", one, other)[..., None]


def _column_dots(one, other=None):
    """Σ one · other (or Σ one) over all tokens: (d_model,)."""
    flat = one.reshape(-1, one.shape[-1])
    if other is None:
        return np.ones(len(flat), flat.dtype) @ flat
    return np.einsum("ti,ti->i", flat, other.reshape(flat.shape))


def normalise_backward(x, d_out, params, norm="layer"):
    """The backward of `core.block.normalise`: returns (d_x, gradients of what `params` holds)."""
    if norm == "none":
        return d_out, {}
    backward = layer_norm_backward if norm == "layer" else rms_norm_backward
    d_x, d_params = backward(x, d_out, (params or {}).get("gain"))
    return d_x, {name: d for name, d in d_params.items() if name in (params or {})}


def softmax_backward(pattern, d_pattern):
    """d scores = p · (d_p - Σ_k p_k d_p_k) in each row; 0 for a hidden key, because its p is 0.

    >>> softmax_backward(np.array([0.5, 0.5]), np.array([1.0, 0.0])).tolist()
    [0.25, -0.25]
    """
    d_scores = d_pattern - _row_dots(pattern, d_pattern)
    d_scores *= pattern
    return d_scores


def multi_head_backward(x, params, trace, d_out, n_heads, context=None, *, n_kv_heads=None, unrotate=None, scale=None):
    """The backward of `core.attention.multi_head_attention` (without a cache).

    x, params, context, n_heads, n_kv_heads, scale  as for the forward; trace: what it returned
    unrotate  the backward of `rotate`: (d_q or d_k, positions) -> same shape
    returns   (d_x, d_params, d_context); d_context is None for self-attention
    """
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    d_head, group = trace.q.shape[-1], n_heads // n_kv_heads
    scale = 1 / math.sqrt(d_head) if scale is None else float(scale)
    repeat = (lambda a: a) if group == 1 else (lambda a: np.repeat(a, group, axis=-3))
    d_joined, d_w_o, d_b_o = linear_backward(merge_heads(trace.mixed), params["w_o"], d_out)
    d_mixed = split_heads(d_joined, n_heads)
    d_pattern = d_mixed @ repeat(trace.v).swapaxes(-1, -2)
    d_v = _shared(trace.pattern.swapaxes(-1, -2) @ d_mixed, group)
    d_scores = softmax_backward(trace.pattern, d_pattern)
    d_scores *= d_scores.dtype.type(scale)
    d_q = d_scores @ repeat(trace.k)
    d_k = _shared(d_scores.swapaxes(-1, -2) @ trace.q, group)
    if unrotate is not None:
        d_q, d_k = unrotate(d_q, np.arange(d_q.shape[-2])), unrotate(d_k, np.arange(d_k.shape[-2]))
    d_queries, d_keys_values = merge_heads(d_q), np.concatenate([merge_heads(d_k), merge_heads(d_v)], axis=-1)
    n_columns = d_queries.shape[-1]
    w_qkv = params["w_qkv"]
    if context is None:
        d_x, d_w, d_b = linear_backward(x, w_qkv, np.concatenate([d_queries, d_keys_values], axis=-1))
        d_context = None
    else:
        d_x, d_w_q, d_b_q = linear_backward(x, w_qkv[:, :n_columns], d_queries)
        d_context, d_w_kv, d_b_kv = linear_backward(context, w_qkv[:, n_columns:], d_keys_values)
        d_w, d_b = np.concatenate([d_w_q, d_w_kv], axis=1), np.concatenate([d_b_q, d_b_kv])
    every = {"w_qkv": d_w, "w_o": d_w_o, "b_qkv": d_b, "b_o": d_b_o}
    return d_x, {name: every[name] for name in params}, d_context


def _shared(d, group):
    """The gradients of key/value heads that several query heads share: their sum."""
    if group == 1:
        return d
    return d.reshape(*d.shape[:-3], d.shape[-3] // group, group, *d.shape[-2:]).sum(axis=-3)


def feed_forward_backward(x, params, trace, d_out, activation="gelu"):
    """The backward of `core.feed_forward.feed_forward`.

    returns  (d_x, d_params)
    """
    bend, slope = ACTIVATIONS[activation]
    d_post, d_w_out, d_b_out = linear_backward(trace.hidden_post, params["w_out"], d_out)
    gradients = {"w_out": d_w_out, "b_out": d_b_out}
    if activation == "swiglu":
        d_gate = d_post * trace.hidden_linear * slope(trace.hidden_pre)
        d_x_gate, gradients["w_gate"], _ = linear_backward(x, params["w_gate"], d_gate)
        d_linear = d_post * bend(trace.hidden_pre)
    else:
        d_x_gate, d_linear = 0, d_post * slope(trace.hidden_pre)
    d_x, gradients["w_in"], gradients["b_in"] = linear_backward(x, params["w_in"], d_linear)
    return d_x + d_x_gate, {name: gradients[name] for name in params}


def block_backward(trace, params, d_post, n_heads, *, activation="gelu", norm="layer", norm_position="pre", residual=True, **attention):
    """The backward of `core.block.block`: through the second sum, the feed-forward layer, the first sum, attention.

    returns  (d_x, d_params)
    """
    gradients = {}

    def around(before, written, read, d_after, which, step):
        """One step and the sum round it: the gradient of what stood before it."""
        total = before + written if residual else written
        if norm_position == "post":
            d_after, d_norm = normalise_backward(total, d_after, params.get(which), norm)
            if d_norm:
                gradients[which] = d_norm
        d_read = step(read, d_after)
        if norm_position == "pre":
            d_read, d_norm = normalise_backward(before, d_read, params.get(which), norm)
            if d_norm:
                gradients[which] = d_norm
        return d_read + d_after if residual else d_read

    def feed(read, d_written):
        d_read, gradients["feed_forward"] = feed_forward_backward(read, params["feed_forward"], trace.feed_forward, d_written, activation)
        return d_read

    def attend(read, d_written):
        d_read, gradients["attention"], _ = multi_head_backward(read, params["attention"], trace.attention, d_written, n_heads, **attention)
        return d_read

    d_mid = around(trace.resid_mid, trace.ff_out, trace.ff_in, d_post, "norm_2", feed) if "feed_forward" in params else d_post
    d_x = around(trace.resid_pre, trace.attn_out, trace.attn_in, d_mid, "norm_1", attend)
    return d_x, {name: gradients[name] for name in params if name in gradients}


def lookup_backward(token_ids, vocab_size, d_x):
    """d w_embed: the gradients of all tokens with the same id, summed, by a one-hot product.

    returns  (vocab_size, d_model)

    >>> lookup_backward(np.array([1, 1]), 2, np.array([[1.0], [2.0]])).tolist()
    [[0.0], [3.0]]
    """
    ids, flat = np.asarray(token_ids).reshape(-1), d_x.reshape(-1, d_x.shape[-1])
    one_hot = np.zeros((vocab_size, len(ids)), dtype=flat.dtype)
    one_hot[ids, np.arange(len(ids))] = 1
    return one_hot @ flat


def decoder_layer_backward(trace, params, d_post, memory, n_heads, *, activation="relu", norm="layer", norm_position="post"):
    """The backward of `core.encoder_decoder.decoder_layer`: feed-forward, cross-attention, self-attention, each with its sum and norm.

    memory   (..., n_sources, d_model), as it was looked at
    returns  (d_x, d_memory, d_params)
    """
    pre, gradients, d_memories = norm_position == "pre", {}, []

    def around(before, written, d_after, which, step):
        """One step and the sum round it: the gradient of what stood before it."""
        read = normalise(before, params.get(which), norm) if pre else before
        if not pre:
            d_after, d_norm = normalise_backward(before + written, d_after, params.get(which), norm)
        d_read = step(read, d_after)
        if pre:
            d_read, d_norm = normalise_backward(before, d_read, params.get(which), norm)
        if d_norm:
            gradients[which] = d_norm
        return d_read + d_after

    def feed(read, d_written):
        d_read, gradients["feed_forward"] = feed_forward_backward(read, params["feed_forward"], trace.feed_forward, d_written, activation)
        return d_read

    def cross(read, d_written):
        d_read, gradients["cross_attention"], d_memory = multi_head_backward(read, params["cross_attention"], trace.cross_attention,
                                                                             d_written, n_heads, memory)
        d_memories.append(d_memory)
        return d_read

    def own(read, d_written):
        d_read, gradients["self_attention"], _ = multi_head_backward(read, params["self_attention"], trace.self_attention, d_written,
                                                                     n_heads)
        return d_read

    d_crossed = around(trace.resid_cross, trace.feed_forward.out, d_post, "norm_3", feed)
    d_mid = around(trace.resid_mid, trace.cross_attention.out, d_crossed, "norm_2", cross)
    d_x = around(trace.resid_pre, trace.self_attention.out, d_mid, "norm_1", own)
    return d_x, d_memories[0], {name: gradients[name] for name in params if name in gradients}
