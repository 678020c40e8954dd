"""The feed-forward layer: widen, bend, narrow; every token on its own."""

from typing import NamedTuple

import numpy as np

from core.activations import ACTIVATIONS
from core.linear import linear
from core.softmax import as_float


class FeedForwardTrace(NamedTuple):
    """Every intermediate of one `feed_forward`."""

    hidden_linear: np.ndarray  # (..., d_ff)  x w_in (+ b_in)
    hidden_pre: np.ndarray     # (..., d_ff)  what is bent: hidden_linear, or for swiglu x w_gate
    hidden_post: np.ndarray    # (..., d_ff)  after the bend (for swiglu times hidden_linear)
    out: np.ndarray            # (..., d_model)


def feed_forward(x, params, activation="gelu"):
    """Two matrices with a bend between them, the same for every token; nothing is mixed between tokens.

    out = f(x w_in + b_in) w_out + b_out;   swiglu: (silu(x w_gate) · (x w_in)) w_out

    x        (..., d_model)
    params   {"w_in": (d_model, d_ff), "w_out": (d_ff, d_model)}, with "b_in" and "b_out" where there are biases, and
             "w_gate": (d_model, d_ff) for swiglu
    returns  FeedForwardTrace
    raises   ValueError where sizes do not fit or the activation is unknown
    source   Vaswani et al. 2017, section 3.3; Shazeer 2020, "GLU Variants Improve Transformer" (swiglu)

    >>> feed_forward([[1.0]], {"w_in": np.array([[2.0, -2.0]]), "w_out": np.array([[1.0], [1.0]])}, "relu").out.tolist()
    [[2.0]]
    """
    x = as_float(x)
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}; it can be {', '.join(ACTIVATIONS)}.")
    bend, _ = ACTIVATIONS[activation]
    w_in, w_out = params["w_in"], params["w_out"]
    _check(x, params, activation)
    hidden_linear = linear(x, w_in, params.get("b_in"))
    hidden_pre = linear(x, params["w_gate"]) if activation == "swiglu" else hidden_linear
    hidden_post = bend(hidden_pre) * hidden_linear if activation == "swiglu" else bend(hidden_pre)
    out = linear(hidden_post, w_out, params.get("b_out"))
    return FeedForwardTrace(hidden_linear, hidden_pre, hidden_post, out)


def _check(x, params, activation):
    """ValueError, naming the sizes, where x and the parameters do not fit."""
    w_in, w_out = params["w_in"], params["w_out"]
    if w_in.shape[0] != x.shape[-1]:
        raise ValueError(f"Token vectors have {x.shape[-1]} features, so w_in needs {x.shape[-1]} rows, not {w_in.shape[0]}.")
    if w_in.shape[1] != w_out.shape[0]:
        raise ValueError(f"w_in makes {w_in.shape[1]} hidden features and w_out takes {w_out.shape[0]}; they must be the same.")
    if activation == "swiglu" and "w_gate" not in params:
        raise ValueError(f"swiglu needs a third matrix, w_gate, of the shape of w_in: {w_in.shape}.")
    if activation == "swiglu" and params["w_gate"].shape != w_in.shape:
        raise ValueError(f"w_gate has the shape {params['w_gate'].shape}; it must be that of w_in, {w_in.shape}.")
    for name, w in (("b_in", w_in), ("b_out", w_out)):
        if name in params and np.shape(params[name]) != (w.shape[1],):
            raise ValueError(f"{name} must have the shape ({w.shape[1]},), not {np.shape(params[name])}.")
