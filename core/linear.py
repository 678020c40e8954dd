"""A linear layer: every vector times one matrix."""

import numpy as np


def linear(x, w, b=None):
    """Multiply the vectors of all tokens of all sequences by one matrix, in one product.

    y = x w (+ b)

    x        (..., n_in)
    w        (n_in, n_out); b: (n_out,) or None
    returns  (..., n_out)

    >>> linear(np.array([[1.0, 2.0]]), np.array([[1.0], [10.0]]), np.array([0.5])).tolist()
    [[21.5]]
    """
    y = (x.reshape(-1, x.shape[-1]) if x.ndim > 2 and x.size else x) @ w
    if b is not None:
        np.add(y, b, out=y, casting="same_kind")
    return y.reshape(*x.shape[:-1], w.shape[1])
