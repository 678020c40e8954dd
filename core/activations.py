"""Activations: the bend between the two matrices of a feed-forward layer, and its slope."""

import math
from functools import wraps

import numpy as np

from core.softmax import as_float

BLOCK = 1 << 14  # numbers


def by_blocks(function):
    """The same function, applied to a large array piece by piece: what it makes on the way then stays in the processor's cache.

    function  of (x, …) that treats every number of x on its own
    returns   function
    """
    @wraps(function)
    def applied(x, *more):
        x = as_float(x)
        if x.size <= BLOCK:
            return function(x, *more)
        flat, out = x.reshape(-1), np.empty(x.size, x.dtype)
        for start in range(0, x.size, BLOCK):
            out[start:start + BLOCK] = function(flat[start:start + BLOCK], *more)
        return out.reshape(x.shape)

    return applied


_ERFC = np.frompyfunc(math.erfc, 1, 1)
_ROOT_2, _ROOT_2_PI, _ROOT_2_OVER_PI = math.sqrt(2), math.sqrt(2 * math.pi), math.sqrt(2 / math.pi)


def relu(x):
    """The bend at 0: what is negative becomes 0.

    max(x, 0)

    x        any shape
    returns  same shape and precision as x
    source   Nair & Hinton 2010, "Rectified Linear Units Improve Restricted Boltzmann Machines"

    >>> relu([-1.0, 2.0]).tolist()
    [0.0, 2.0]
    """
    x = as_float(x)
    return np.maximum(x, x.dtype.type(0))


def relu_slope(x):
    """The derivative of `relu`: 1 above 0, else 0 (at the kink, where no slope is defined, 0).

    x        any shape
    returns  same shape and precision as x

    >>> relu_slope([-1.0, 0.0, 2.0]).tolist()
    [0.0, 0.0, 1.0]
    """
    x = as_float(x)
    return (x > 0).astype(x.dtype)


@by_blocks
def gelu(x, approximate="none"):
    """x times the share of a standard normal below x.

    exact ("none")  x · erfc(-x / √2) / 2 = x · (1 + erf(x / √2)) / 2
    "tanh"          x · (1 + tanh(√(2/π) · (x + 0.044715 x³))) / 2

    They differ by at most 0.00048. GPT-2 uses the tanh form; BERT's code the exact one in its first release and the tanh form since
    February 2019; the Hugging Face port of BERT the exact one.

    x        any shape
    returns  same shape and precision as x
    raises   ValueError for another form
    source   Hendrycks & Gimpel 2016, "Gaussian Error Linear Units", section 2; modeling.py of google-research/bert

    >>> gelu([0.0]).tolist()
    [0.0]
    """
    x = as_float(x)
    if approximate == "none":
        return x * _below(x)
    if approximate == "tanh":
        return x * (0.5 * (1 + np.tanh(_inner(x))))
    raise ValueError(f'gelu comes in the forms "none" (exact) and "tanh", not {approximate!r}.')


@by_blocks
def gelu_slope(x, approximate="none"):
    """The derivative of `gelu`.

    exact   Φ(x) + x φ(x), with φ the standard normal density
    "tanh"  (1 + t) / 2 + x (1 - t²) / 2 · √(2/π) (1 + 3 · 0.044715 x²), with t the tanh of the formula

    x        any shape
    returns  same shape and precision as x
    raises   ValueError for another form

    >>> gelu_slope([0.0]).tolist()
    [0.5]
    """
    x = as_float(x)
    if approximate == "none":
        return _below(x) + x * np.exp(-0.5 * _near(x) * _near(x)) / _ROOT_2_PI
    if approximate == "tanh":
        t = np.tanh(_inner(x))
        near = _near(x)
        return 0.5 * (1 + t) + 0.5 * near * (1 - t * t) * _ROOT_2_OVER_PI * (1 + 3 * 0.044715 * near * near)
    raise ValueError(f'gelu comes in the forms "none" (exact) and "tanh", not {approximate!r}.')


@by_blocks
def silu(x):
    """x times the logistic function of x, also called swish.

    x / (1 + e^-x)

    x        any shape
    returns  same shape and precision as x
    source   Hendrycks & Gimpel 2016, section 5; Ramachandran et al. 2017 ("Swish")

    >>> silu([0.0]).tolist()
    [0.0]
    """
    x = as_float(x)
    return x * logistic(x)


@by_blocks
def silu_slope(x):
    """The derivative of `silu`.

    s + x s (1 - s), with s the logistic function of x

    x        any shape
    returns  same shape and precision as x

    >>> silu_slope([0.0]).tolist()
    [0.5]
    """
    x = as_float(x)
    s = logistic(x)
    return s + x * s * (1 - s)


def logistic(x):
    """From 0 to 1 along an S.

    1 / (1 + e^-x), written e^x / (1 + e^x) below 0, so that nothing overflows

    x        any shape
    returns  same shape and precision as x

    >>> logistic([0.0]).tolist()
    [0.5]
    """
    x = as_float(x)
    raised = np.exp(-np.abs(x))
    return np.where(x < 0, raised, raised.dtype.type(1)) / (1 + raised)


def _below(x):
    """The share of a standard normal below x; erfc keeps the digits of small shares, which 1 + erf would cancel."""
    return (0.5 * np.asarray(_ERFC(x.astype(np.float64) / -_ROOT_2), dtype=np.float64)).astype(x.dtype)


def _inner(x):
    """What the tanh form takes the tanh of."""
    near = _near(x)
    return _ROOT_2_OVER_PI * (near + 0.044715 * near * near * near)


def _near(x):
    """x within ±39, where the bend has long ended, so that no power overflows, in float16 either."""
    return np.clip(x, -39, 39)


# name: (function, slope), as ModelConfig.activation names them
ACTIVATIONS = {
    "relu": (relu, relu_slope),
    "gelu": (gelu, gelu_slope),
    "gelu_tanh": (lambda x: gelu(x, "tanh"), lambda x: gelu_slope(x, "tanh")),
    "silu": (silu, silu_slope),
    "swiglu": (silu, silu_slope),
}
