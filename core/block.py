"""One block: attention and feed-forward, each added to the residual stream."""

from typing import NamedTuple

import numpy as np

from core.attention import MultiHeadTrace, multi_head_attention
from core.feed_forward import FeedForwardTrace, feed_forward
from core.normalization import layer_norm, rms_norm
from core.softmax import as_float


class BlockTrace(NamedTuple):
    """Every intermediate of one block. With norm_position "pre" the stream after a step is the stream before plus what was written."""

    resid_pre: np.ndarray       # (..., n_tokens, d_model)  what comes in
    attn_in: np.ndarray         # (..., n_tokens, d_model)  what attention reads
    attention: MultiHeadTrace
    attn_out: np.ndarray        # (..., n_tokens, d_model)  what attention writes
    resid_mid: np.ndarray       # (..., n_tokens, d_model)
    ff_in: np.ndarray           # (..., n_tokens, d_model)  what the feed-forward layer reads
    feed_forward: FeedForwardTrace
    ff_out: np.ndarray          # (..., n_tokens, d_model)  what it writes
    resid_post: np.ndarray      # (..., n_tokens, d_model)  what goes out


def normalise(x, params, norm="layer"):
    """LayerNorm ("layer") or RMSNorm ("rms") with the gain and offset in `params` ({} or None: 1 and 0).

    x        (..., d_model)
    norm     "layer", "rms" or, for an experiment, "none"
    returns  same shape and precision as x
    raises   ValueError for another norm, or where sizes do not fit

    >>> normalise(np.array([1.0, 3.0]), None).round(3).tolist()
    [-1.0, 1.0]
    """
    params = params or {}
    if norm == "layer":
        return layer_norm(x, params.get("gain"), params.get("offset"))
    if norm == "rms":
        return rms_norm(x, params.get("gain"))
    if norm == "none":
        return x
    raise ValueError(f'norm is {norm!r}; it can be "layer", "rms" or, for an experiment, "none".')


def block(x, params, n_heads, visible=None, *, activation="gelu", norm="layer", norm_position="pre", residual=True, **attention):
    """One Transformer block.

    pre:   mid = x + attention(norm(x));    out = mid + feed_forward(norm(mid))
    post:  mid = norm(x + attention(x));    out = norm(mid + feed_forward(mid))

    The 2017 paper's figure and its published model are post-norm; a later version of its code, GPT-2 and most models since are
    pre-norm, with one more norm after the last block.

    x          (..., n_tokens, d_model)
    params     {"attention": {"w_qkv", "w_o", …}, "feed_forward": {"w_in", "w_out", …}}, with "norm_1" and "norm_2"
               ({"gain", "offset"}) where they are learned; without "feed_forward" the block is attention alone
    visible    bool, broadcasts to (..., n_tokens, n_tokens); True = may look
    residual   False leaves the stream out, for an experiment: each step then replaces what came in
    attention  further arguments of multi_head_attention
    returns    BlockTrace
    raises     ValueError where sizes do not fit or a choice is unknown
    source     Vaswani et al. 2017, figure 1 and section 5.4 (post); Radford et al. 2019, section 2.3 (pre); He et al. 2015 (residuals);
               tensor2tensor, common_hparams.py: "dan" after each step is "the published version", "n" before it the later one

    >>> attention, widening = {"w_qkv": np.eye(1, 3), "w_o": np.eye(1)}, {"w_in": np.eye(1), "w_out": np.array([[3.0]])}
    >>> params = {"attention": attention, "feed_forward": widening}
    >>> block([[2.0]], params, 1, activation="relu", norm="none").resid_post.tolist()  # attention writes 0, the rest 3 · 2
    [[8.0]]
    """
    x = as_float(x)
    if norm_position not in ("pre", "post"):
        raise ValueError(f'norm_position is {norm_position!r}; it can be "pre" or "post".')
    pre = norm_position == "pre"

    def after(before, written, which):
        if written.shape[-1] != before.shape[-1]:
            raise ValueError(f"The stream has {before.shape[-1]} features and what is written to it {written.shape[-1]}; "
                             "they must be the same.")
        total = before + written if residual else written
        return total if pre else normalise(total, params.get(which), norm)

    attn_in = normalise(x, params.get("norm_1"), norm) if pre else x
    attended = multi_head_attention(attn_in, params["attention"], n_heads, visible, **attention)
    resid_mid = after(x, attended.out, "norm_1")
    if "feed_forward" not in params:  # attention alone
        return BlockTrace(x, attn_in, attended, attended.out, resid_mid, None, None, None, resid_mid)
    ff_in = normalise(resid_mid, params.get("norm_2"), norm) if pre else resid_mid
    fed = feed_forward(ff_in, params["feed_forward"], activation)
    return BlockTrace(x, attn_in, attended, attended.out, resid_mid, ff_in, fed, fed.out, after(resid_mid, fed.out, "norm_2"))


def stack(x, layers, n_heads, visible=None, **choices):
    """Several blocks, each reading the stream that the one before left.

    x        (..., n_tokens, d_model)
    layers   a list of what `block` takes as params
    choices  further arguments of `block`
    returns  tuple of BlockTrace, one a layer
    raises   ValueError where sizes do not fit or a choice is unknown
    source   Vaswani et al. 2017, section 3.1

    >>> stack(np.ones((1, 2)), [], 1)
    ()
    """
    traces = []
    for params in layers:
        traces.append(block(x, params, n_heads, visible, **choices))
        x = traces[-1].resid_post
    return tuple(traces)


def shares_along(parts, total):
    """How much of each token's final vector each part makes up, along that vector's own direction.

    share[i, t] = parts[i][t] · total[t] / |total[t]|

    The lengths of vectors do not add up; these shares do: where total is the sum of the parts, they sum to |total[t]|.

    parts    (n_parts, n_tokens, d_model)
    total    (n_tokens, d_model)
    returns  (n_parts, n_tokens); 0 where total[t] is all zeros
    source   the direct contributions of Elhage et al. 2021, along the stream itself instead of a logit

    >>> shares_along(np.array([[[3.0, 1.0]], [[1.0, -1.0]]]), np.array([[4.0, 0.0]])).tolist()
    [[3.0], [1.0]]
    """
    total = as_float(total)
    length = np.sqrt((total * total).sum(axis=-1, keepdims=True))
    return (as_float(parts) * (total / np.where(length == 0, total.dtype.type(1), length))).sum(axis=-1)
