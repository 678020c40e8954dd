"""Softmax and log-softmax: scores become shares of 1."""

import numpy as np


def as_float(x):
    """Return `x` as an array, unchanged if it holds floats, as float64 if it holds integers.

    >>> as_float([1, 2]).dtype.name, as_float(np.float32([1])).dtype.name
    ('float64', 'float32')
    """
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def _shifted(x, axis, temperature):
    """(x - max) / temperature along `axis`; at most 0, so exp() cannot overflow. All -inf stays all -inf."""
    if not 0 < temperature < np.inf:
        raise ValueError(f"temperature is {temperature}; it must be a finite number above 0.")
    x = as_float(x)
    top = x.max(axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(top == -np.inf, x.dtype.type(0), top)  # a row with nothing to look at
    with np.errstate(over="ignore", invalid="ignore"):
        if temperature == 1:
            return x - top
        # In float64: a tiny temperature is 0 in float16, and a wide distance overflows it.
        return ((x.astype(np.float64) - top) / temperature).astype(x.dtype)


def softmax(x, axis=-1, temperature=1.0):
    """Turn scores into positive weights that sum to 1.

    weights = exp((x - max(x)) / temperature) / sum(exp((x - max(x)) / temperature))

    Subtracting the maximum changes nothing in exact arithmetic, and keeps exp() from overflowing.
    A score of -inf gets weight 0. Where *every* score along `axis` is -inf the weights are all 0: nothing
    is allowed, so nothing is mixed (the convention of ONNX and recent PyTorch). NaN and +inf give NaN.

    x            any shape; float16/32/64 are kept, integers become float64
    temperature  > 0; below 1 sharpens, above 1 flattens
    returns      same shape as x
    raises       ValueError for a temperature that is not a finite number above 0
    source       Vaswani et al. 2017, section 3.2.1; Goodfellow et al. 2016, section 4.1 (the shift)

    >>> softmax([0.0, 0.0]).tolist()
    [0.5, 0.5]
    """
    weights = _shifted(x, axis, temperature)
    np.exp(weights, out=weights)
    total = weights.sum(axis=axis, keepdims=True)
    weights /= np.where(total == 0, weights.dtype.type(1), total)
    return weights


def log_softmax(x, axis=-1):
    """The logarithm of softmax(x), without taking the logarithm of a rounded 0.

    log_softmax = (x - max(x)) - log(sum(exp(x - max(x))))

    x        any shape; float16/32/64 are kept, integers become float64
    returns  same shape as x, in nats; -inf where the weight is 0, and everywhere in a row that is all -inf
    source   Goodfellow et al. 2016, section 4.1

    >>> log_softmax([5.0]).tolist()
    [0.0]
    """
    shifted = _shifted(x, axis, 1.0)
    total = np.exp(shifted).sum(axis=axis, keepdims=True)
    return shifted - np.log(np.where(total == 0, shifted.dtype.type(1), total))


def softmax_jacobian(weights):
    """How each weight moves when each score moves: diag(p) - p pᵀ.

    The diagonal p_i (1 - p_i) is summed as Σ p_i p_j over the other j: near a corner 1 - p_i would be rounding alone.

    weights  (..., n), softmax outputs
    returns  (..., n, n); row i, column j is d weight_i / d score_j at temperature 1
    source   Goodfellow et al. 2016, section 6.2.2.3

    >>> softmax_jacobian([0.5, 0.5]).tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    p = as_float(weights)
    same = np.eye(p.shape[-1], dtype=bool)
    others = np.where(same, p.dtype.type(0), p[..., :, None] * p[..., None, :])
    return np.where(same, others.sum(axis=-1, keepdims=True), -others)


def softmax_without_shift(x):
    """Softmax as the formula reads, with no maximum subtracted: it overflows. For the lesson on stability only.

    returns  same shape and precision as x; NaN where exp() overflowed or every exp() was 0
    """
    with np.errstate(all="ignore"):
        raised = np.exp(as_float(x))
        return raised / raised.sum(axis=-1, keepdims=True)
