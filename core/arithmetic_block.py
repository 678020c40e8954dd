"""The sum behind any cell of a block: norms, what attention and feed-forward write, and the stream they add to."""

from core import arithmetic
from core.arithmetic_layers import explain_feed_forward, explain_layer_norm, explain_rms_norm
from core.sums import explain_sum

STAGES = ("attn_in", "attn_out", "resid_mid", "ff_in", "ff_out", "resid_post")


def explain_block(trace, params, stage, row, column, *, activation="gelu", norm="layer", norm_position="pre", residual=True):
    """Take one cell of a block apart.

    trace    BlockTrace of one sentence
    stage    one of STAGES
    params, activation, norm, norm_position, residual  as they were given to `block`
    returns  list of Explanation, in the order of the computation
    raises   ValueError for a stage, or a cell, that is not there

    >>> import numpy as np
    >>> from core.block import block
    >>> one = np.ones((1, 1))
    >>> params = {"attention": {"w_qkv": np.ones((1, 3)), "w_o": one}, "feed_forward": {"w_in": one, "w_out": one}}
    >>> trace = block([[2.0]], params, 1, norm="none", activation="relu")
    >>> explain_block(trace, params, "resid_mid", 0, 0, norm="none")[0].result
    4.0
    """
    if stage not in STAGES:
        raise ValueError(f"There is no stage {stage!r}; there are {', '.join(STAGES)}.")
    cells = getattr(trace, stage)
    if not (0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]):
        raise ValueError(f"{stage} has {cells.shape[0]} rows and {cells.shape[1]} columns; there is no cell [{row}, {column}].")
    if stage == "attn_out":
        return [arithmetic.explain(trace.attention, "out", row, column, params=params["attention"])]
    if stage == "ff_out":
        return explain_feed_forward(trace.ff_in, params["feed_forward"], trace.feed_forward, activation, "out", row, column)
    if stage in ("attn_in", "ff_in"):
        before, which = (trace.resid_pre, "norm_1") if stage == "attn_in" else (trace.resid_mid, "norm_2")
        if norm_position == "post":
            return [_copied(stage, "resid_pre" if stage == "attn_in" else "resid_mid", before, row, column)]
        return [_normed(before, getattr(trace, stage), stage, params.get(which), norm, row, column)]
    before, written, names, which = ((trace.resid_pre, trace.attn_out, ("resid_pre", "attn_out"), "norm_1") if stage == "resid_mid" else
                                     (trace.resid_mid, trace.ff_out, ("resid_mid", "ff_out"), "norm_2"))
    parts = (before, written) if residual else (written,)
    after = getattr(trace, stage)
    total = sum(parts)
    summed = explain_sum(f"{stage if norm_position == 'pre' else 'added'}[{row}, {column}]",
                         {f"{name}[{row}, {column}]": float(part[row, column])
                          for name, part in zip(names if residual else names[1:], parts, strict=True)}, total[row, column])
    if norm_position == "pre":
        return [summed]
    return [summed, _normed(total, after, "added", params.get(which), norm, row, column)]


def _normed(before, after, name, params, norm, row, column):
    """The norm's steps; or, without a norm, the number itself."""
    params = params or {}
    if norm == "layer":
        return explain_layer_norm(before, after, row, column, gain=params.get("gain"), offset=params.get("offset"))
    if norm == "rms":
        return explain_rms_norm(before, after, row, column, gain=params.get("gain"))
    return _copied(name, name, before, row, column)


def _copied(name, source, array, row, column):
    return explain_sum(f"{name}[{row}, {column}]", {f"{source}[{row}, {column}]": float(array[row, column])}, array[row, column])
