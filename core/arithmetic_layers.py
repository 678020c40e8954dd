"""The sum behind any cell of a normalisation or of a feed-forward layer, as steps a person can check."""

import math

import numpy as np

from core.activations import ACTIVATIONS
from core.sums import explain_product, explain_steps, number


def written(value):
    """A number for the middle of an expression: negative ones in brackets.

    >>> written(2.0), written(-0.5)
    ('2', '(-0.5)')
    """
    return f"({number(value)})" if value < 0 else number(value)


def explain_layer_norm(x, out, row, column, *, eps=1e-5, gain=None, offset=None):
    """Take one cell of LayerNorm's output apart: mean, variance, the centred and divided number, gain and offset.

    x        (n_tokens, d_model), what went in; out: what came out
    returns  Explanation
    raises   ValueError for a cell that is not there

    >>> from core.normalization import layer_norm
    >>> x = np.array([[1.0, 3.0]])
    >>> explain_layer_norm(x, layer_norm(x, eps=0.0), 0, 1, eps=0.0).result
    1.0
    """
    values = _row(x, row, column)
    n = len(values)
    mean = math.fsum(values) / n
    variance = math.fsum((value - mean) ** 2 for value in values) / n
    normalised = (values[column] - mean) / (math.sqrt(variance + eps) or 1.0)
    squares = " + ".join(f"({written(value)} - {written(mean)})²" for value in values)
    steps = [(f"mean[{row}]", f"({_sum(values)}) / {n}", mean),
             (f"variance[{row}]", f"({squares}) / {n}", variance),
             _divided(f"normalised[{row}, {column}]", f"({written(values[column])} - {written(mean)})", variance, eps, normalised)]
    return _scaled(steps, normalised, gain, offset, row, column, out[row, column])


def explain_rms_norm(x, out, row, column, *, eps=1e-6, gain=None):
    """Take one cell of RMSNorm's output apart: mean square, the divided number, gain.

    x        (n_tokens, d_model), what went in; out: what came out
    returns  Explanation
    raises   ValueError for a cell that is not there

    >>> from core.normalization import rms_norm
    >>> x = np.array([[2.0, 2.0]])
    >>> explain_rms_norm(x, rms_norm(x, eps=0.0), 0, 1, eps=0.0).result
    1.0
    """
    values = _row(x, row, column)
    n = len(values)
    mean_square = math.fsum(value * value for value in values) / n
    normalised = values[column] / (math.sqrt(mean_square + eps) or 1.0)
    squares = " + ".join(f"{written(value)}²" for value in values)
    steps = [(f"mean_square[{row}]", f"({squares}) / {n}", mean_square),
             _divided(f"normalised[{row}, {column}]", written(values[column]), mean_square, eps, normalised)]
    return _scaled(steps, normalised, gain, None, row, column, out[row, column])


def explain_feed_forward(x, params, trace, activation, stage, row, column):
    """Take one cell of a feed-forward layer apart.

    x        (n_tokens, d_model), what went in
    params   as for `feed_forward`
    trace    the FeedForwardTrace of it
    stage    "hidden_pre", "hidden_post" or "out"
    returns  list of Explanation, in the order of the computation
    raises   ValueError for a stage, or a cell, that is not there

    >>> from core.feed_forward import feed_forward
    >>> x, params = np.array([[1.0]]), {"w_in": np.array([[2.0]]), "w_out": np.array([[3.0]])}
    >>> explain_feed_forward(x, params, feed_forward(x, params, "relu"), "relu", "out", 0, 0)[-1].result
    6.0
    """
    if stage not in ("hidden_pre", "hidden_post", "out"):
        raise ValueError(f"There is no stage {stage!r}; there are hidden_pre, hidden_post, out.")
    cells = getattr(trace, stage)
    _row(cells, row, column)
    if stage == "out":
        return [explain_product("out", "hidden_post", trace.hidden_post[row], "w_out", params["w_out"][:, column], row, column,
                                cells[row, column], _bias(params, "b_out", column))]
    gated = activation == "swiglu"
    linear = explain_product("hidden_linear", "x", x[row], "w_in", params["w_in"][:, column], row, column,
                             trace.hidden_linear[row, column], _bias(params, "b_in", column))
    pre = explain_product("hidden_pre", "x", x[row], "w_gate" if gated else "w_in", params["w_gate" if gated else "w_in"][:, column], row,
                          column, trace.hidden_pre[row, column], None if gated else _bias(params, "b_in", column))
    if stage == "hidden_pre":
        return [pre]
    inside = float(trace.hidden_pre[row, column])
    bent = float(ACTIVATIONS[activation][0](np.float64(inside)))
    name = f"hidden_post[{row}, {column}]"
    if not gated:
        return [pre, explain_steps(name, [(name, bend_expression(activation, inside), bent)], cells[row, column])]
    factor = float(trace.hidden_linear[row, column])
    steps = [(f"silu[{row}, {column}]", bend_expression(activation, inside), bent),
             (name, f"{written(bent)} × {written(factor)}", bent * factor)]
    return [pre, linear, explain_steps(name, steps, cells[row, column])]


def bend_expression(activation, x):
    """An activation's formula with its number in it.

    >>> bend_expression("relu", -1.0)
    'max(-1, 0)'
    """
    at = written(x)
    return {"relu": f"max({number(x)}, 0)",
            "gelu": f"{at} × (1 + erf({at} / √(2))) / 2",
            "gelu_tanh": f"{at} × (1 + tanh(√(2 / π) × ({at} + 0.044715 × {at}³))) / 2",
            "silu": f"{at} / (1 + exp(-{at}))", "swiglu": f"{at} / (1 + exp(-{at}))"}[activation]


def _row(x, row, column):
    """One row as floats; ValueError for a cell outside."""
    if not (0 <= row < x.shape[0] and 0 <= column < x.shape[1]):
        raise ValueError(f"There are {x.shape[0]} rows and {x.shape[1]} columns; there is no cell [{row}, {column}].")
    return [float(value) for value in x[row]]


def _sum(values):
    return " + ".join(written(value) for value in values)


def _divided(name, above, square, eps, result):
    below = f"√({number(square)} + {number(eps)})" if square + eps else "1"  # 0/0 is read as 0
    return name, f"{above} / {below}", result


def _scaled(steps, normalised, gain, offset, row, column, value):
    """The last step: times the gain, plus the offset."""
    name = f"out[{row}, {column}]"
    result, expression = normalised, written(normalised)
    if gain is not None:
        result, expression = result * float(gain[column]), f"{expression} × {written(float(gain[column]))}"
    if offset is not None:
        result, expression = result + float(offset[column]), f"{expression} + {written(float(offset[column]))}"
    if gain is None and offset is None:  # the last step makes the output itself
        steps[-1] = (name, *steps[-1][1:])
    else:
        steps.append((name, expression, result))
    return explain_steps(name, steps, value)


def _bias(params, name, column):
    return (name, params[name][column]) if name in params else None
