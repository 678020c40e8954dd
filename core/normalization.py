"""Normalisation: give every token's vector the same size before it is used."""

from typing import NamedTuple

import numpy as np

from core.softmax import as_float


class LayerNormTrace(NamedTuple):
    """Every intermediate of one `layer_norm`; `...` are any leading axes."""

    mean: np.ndarray        # (..., 1)  over the features of one token
    variance: np.ndarray    # (..., 1)  divided by n, not n - 1
    normalised: np.ndarray  # (..., d_model)
    out: np.ndarray         # (..., d_model)  after gain and offset


class RMSNormTrace(NamedTuple):
    """Every intermediate of one `rms_norm`."""

    mean_square: np.ndarray  # (..., 1)
    normalised: np.ndarray   # (..., d_model)
    out: np.ndarray          # (..., d_model)  after the gain


def trace_layer_norm(x, gain=None, offset=None, eps=1e-5):
    """LayerNorm with its intermediates: see `layer_norm`.

    The features are counted from the first one, which changes no distance; so a constant vector is exactly 0.

    x, gain, offset, eps  as for `layer_norm`
    returns  LayerNormTrace
    raises   ValueError where sizes do not fit

    >>> trace_layer_norm([1.0, 3.0], eps=0.0).mean.tolist()
    [2.0]
    """
    x = as_float(x)
    wide = _wide(x)
    first = wide[..., :1]
    centred = wide - first
    shift = centred.mean(axis=-1, keepdims=True)
    centred -= shift
    variance = _mean_square(centred)
    normalised = _divided(centred, variance, eps).astype(x.dtype)
    return LayerNormTrace(_narrow(first + shift, x), _narrow(variance, x), normalised, _scaled(normalised, gain, offset))


def layer_norm(x, gain=None, offset=None, eps=1e-5):
    """Centre each token's vector and divide by its standard deviation, over its own features.

    out = (x - mean) / √(variance + eps) · gain + offset

    The variance divides by n, and eps stands inside the root. A constant vector becomes 0 (plus the offset).

    x        (..., d_model)
    gain     (d_model,), 1 unless given; offset: (d_model,), 0 unless given
    returns  same shape and precision as x
    raises   ValueError where sizes do not fit
    source   Ba, Kiros & Hinton 2016, "Layer Normalization", section 3

    >>> layer_norm([1.0, 3.0], eps=0.0).tolist()
    [-1.0, 1.0]
    """
    return trace_layer_norm(x, gain, offset, eps).out


def trace_rms_norm(x, gain=None, eps=1e-6):
    """RMSNorm with its intermediates: see `rms_norm`.

    x, gain, eps  as for `rms_norm`
    returns  RMSNormTrace
    raises   ValueError where sizes do not fit

    >>> trace_rms_norm([3.0, 4.0], eps=0.0).mean_square.tolist()
    [12.5]
    """
    x = as_float(x)
    wide = _wide(x)
    mean_square = _mean_square(wide)
    normalised = _divided(wide, mean_square, eps).astype(x.dtype)
    return RMSNormTrace(_narrow(mean_square, x), normalised, _scaled(normalised, gain, None))


def rms_norm(x, gain=None, eps=1e-6):
    """Divide each token's vector by its root mean square. The mean is not taken away.

    out = x / √(mean(x²) + eps) · gain

    x        (..., d_model)
    gain     (d_model,), 1 unless given
    returns  same shape and precision as x
    raises   ValueError where sizes do not fit
    source   Zhang & Sennrich 2019, "Root Mean Square Layer Normalization", section 4

    >>> rms_norm([2.0, 2.0], eps=0.0).tolist()
    [1.0, 1.0]
    """
    return trace_rms_norm(x, gain, eps).out


def batch_statistics(x):
    """Mean and variance of each *feature* over the tokens: what batch normalisation would use instead.

    x        (n_tokens, d_model)
    returns  (mean (d_model,), variance (d_model,)); they change when another token changes
    raises   ValueError where there is no token
    source   Ioffe & Szegedy 2015, "Batch Normalization", algorithm 1

    >>> [part.tolist() for part in batch_statistics([[1.0], [3.0]])]
    [[2.0], [1.0]]
    """
    trace = trace_layer_norm(as_float(x).T)
    return trace.mean[:, 0], trace.variance[:, 0]


def batch_norm(x, eps=1e-5):
    """Centre and divide each *feature* over the tokens: what batch normalisation does in training, for comparison.

    out[t, i] = (x[t, i] - mean_i) / √(variance_i + eps), mean and variance over the tokens

    x        (n_tokens, d_model)
    returns  same shape and precision; one token's row changes when another token changes
    raises   ValueError where there is no token
    source   Ioffe & Szegedy 2015, "Batch Normalization", algorithm 1, without its gain and offset

    >>> batch_norm([[1.0], [3.0]], eps=0.0).tolist()
    [[-1.0], [1.0]]
    """
    return layer_norm(as_float(x).T, eps=eps).T


def _wide(x):
    """x in float32 at least: a float16 above 255 has no square in float16."""
    if x.shape[-1:] == (0,) or not x.ndim:
        raise ValueError(f"A norm needs vectors of at least 1 feature, not an array of shape {x.shape}.")
    return x.astype(np.promote_types(x.dtype, np.float32), copy=False)


def _mean_square(x):
    """The mean of x² over the last axis, which is kept."""
    return np.einsum("...i,...i->...", x, x)[..., None] / x.dtype.type(x.shape[-1])


def _divided(centred, mean_square, eps):
    """centred / √(mean_square + eps); 0 / 0 is 0."""
    root = np.sqrt(mean_square + mean_square.dtype.type(eps))
    return centred / np.where(root == 0, root.dtype.type(1), root)


def _narrow(value, x):
    """`value` in the precision of x; inf where that has no number so large."""
    with np.errstate(over="ignore"):
        return value.astype(x.dtype, copy=False)


def _scaled(normalised, gain, offset):
    """normalised · gain + offset, in the precision of `normalised`."""
    dtype, width = normalised.dtype, normalised.shape[-1]
    for name, values in (("gain", gain), ("offset", offset)):
        if values is not None and np.shape(values) != (width,):
            raise ValueError(f"Vectors have {width} features, so {name} needs the shape ({width},), not {np.shape(values)}.")
    out = normalised if gain is None else normalised * np.asarray(gain, dtype=dtype)
    return out if offset is None else out + np.asarray(offset, dtype=dtype)
