"""A plain recurrent network: one state, carried from step to step, and how its gradient fades."""

from typing import NamedTuple

import numpy as np

from core.softmax import as_float


class RecurrentTrace(NamedTuple):
    """Every intermediate of one `recurrent` run."""

    pre: np.ndarray     # (n_steps, d_state)  before the tanh
    states: np.ndarray  # (n_steps + 1, d_state)  states[0] is the start


def recurrent(x, params, start=None, bend=True):
    """Carry a state along the sequence; step t can't begin before step t - 1 has ended.

    state[t] = tanh(x[t] w_x + state[t-1] w_h + b)

    x        (n_steps, d_in)
    params   {"w_x": (d_in, d_state), "w_h": (d_state, d_state), "b": (d_state,)}; "b" may be left out
    start    (d_state,), zeros unless given
    bend     False leaves the tanh out
    returns  RecurrentTrace
    raises   ValueError where sizes do not fit
    source   Elman 1990, "Finding Structure in Time"

    >>> recurrent([[1.0], [0.0]], {"w_x": np.array([[1.0]]), "w_h": np.array([[0.5]])}, bend=False).states.tolist()
    [[0.0], [1.0], [0.5]]
    """
    x = as_float(x)
    w_x, w_h = params["w_x"], params["w_h"]
    _check(x, params, start)
    driven = x @ w_x + params.get("b", 0)
    pre = np.empty_like(driven)
    states = np.zeros((len(x) + 1, w_h.shape[0]), dtype=driven.dtype)
    if start is not None:
        states[0] = start
    for t in range(len(x)):
        pre[t] = driven[t] + states[t] @ w_h
        states[t + 1] = np.tanh(pre[t]) if bend else pre[t]
    return RecurrentTrace(pre, states)


def recurrent_gradients(x, params, trace, d_states, bend=True):
    """Backpropagation through time: the gradient of a loss for every parameter and input.

    x         (n_steps, d_in), as it was run
    trace     what `recurrent` returned
    d_states  (n_steps, d_state), the loss's gradient for each state after the start
    returns   {"w_x", "w_h", "b", "x", "start"}: gradients of those shapes
    raises    ValueError where sizes do not fit
    source    Werbos 1990, "Backpropagation through time"

    >>> x, params = [[1.0], [0.0]], {"w_x": np.array([[1.0]]), "w_h": np.array([[0.5]])}
    >>> trace = recurrent(x, params, bend=False)
    >>> recurrent_gradients(x, params, trace, np.array([[0.0], [1.0]]), bend=False)["x"].tolist()  # of the last state
    [[0.5], [1.0]]
    """
    x = as_float(x)
    w_x, w_h = params["w_x"], params["w_h"]
    d_states = np.asarray(d_states)
    if d_states.shape != trace.pre.shape:
        raise ValueError(f"There are {len(trace.pre)} states of width {w_h.shape[0]} after the start, so d_states needs the shape "
                         f"{trace.pre.shape}, not {d_states.shape}.")
    d_pre = np.zeros_like(trace.pre)
    carried = np.zeros(w_h.shape[0], dtype=trace.pre.dtype)
    for t in reversed(range(len(x))):
        d_state = d_states[t] + carried
        d_pre[t] = d_state * (1 - trace.states[t + 1] ** 2) if bend else d_state
        carried = d_pre[t] @ w_h.T
    return {"w_x": x.T @ d_pre, "w_h": trace.states[:-1].T @ d_pre, "b": d_pre.sum(axis=0), "x": d_pre @ w_x.T, "start": carried}


def state_jacobians(params, trace, bend=True):
    """How the last state depends on each earlier one: the product of the steps between them.

    jacobian[t] = d states[n] / d states[t], rows the last state's features; its spectral norm is what reaches back

    trace    what `recurrent` returned; params, bend: as for that run
    returns  (n_steps + 1, d_state, d_state); jacobian[n] is the identity
    source   Bengio, Simard & Frasconi 1994, "Learning Long-Term Dependencies with Gradient Descent is Difficult"

    >>> params = {"w_x": np.array([[1.0]]), "w_h": np.array([[0.5]])}
    >>> state_jacobians(params, recurrent([[1.0], [0.0]], params, bend=False), bend=False).tolist()
    [[[0.25]], [[0.5]], [[1.0]]]
    """
    w_h, n_steps = params["w_h"], len(trace.pre)
    jacobians = np.empty((n_steps + 1, *w_h.shape), dtype=trace.pre.dtype)
    jacobians[n_steps] = np.eye(w_h.shape[0])
    for t in reversed(range(n_steps)):
        slope = 1 - trace.states[t + 1] ** 2 if bend else np.ones_like(trace.pre[t])
        jacobians[t] = jacobians[t + 1] @ (slope[:, None] * w_h.T)
    return jacobians


def orthogonal(size, rng):
    """A random orthogonal matrix: it turns and mirrors, and changes no length.

    rng      numpy Generator
    returns  (size, size) float64
    source   Mezzadri 2007, "How to generate random matrices from the classical compact groups", section 5 (the signs)

    >>> abs(orthogonal(1, np.random.default_rng(0))).tolist()
    [[1.0]]
    """
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return q * np.sign(np.diag(r))


def _check(x, params, start):
    """ValueError, naming the sizes, where x, the parameters and the start do not fit."""
    w_x, w_h = params["w_x"], params["w_h"]
    if x.ndim != 2 or w_x.shape[0] != x.shape[1]:
        raise ValueError(f"w_x has {w_x.shape[0]} rows, so x needs the shape (n_steps, {w_x.shape[0]}), not {x.shape}.")
    d_state = w_x.shape[1]
    if w_h.shape != (d_state, d_state):
        raise ValueError(f"w_x makes states of width {d_state}, so w_h needs the shape ({d_state}, {d_state}), not {w_h.shape}.")
    for name, vector in (("b", params.get("b")), ("start", start)):
        if vector is not None and np.shape(vector) != (d_state,):
            raise ValueError(f"{name} must have the shape ({d_state},), not {np.shape(vector)}.")
