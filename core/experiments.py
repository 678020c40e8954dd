"""Small experiments that the lessons run: what scaling does, what a mask in the wrong place does, what overflows."""

import math
from typing import NamedTuple

import numpy as np

from core.backward import block_backward
from core.block import stack
from core.draws import child_rng
from core.softmax import as_float, softmax, softmax_jacobian, softmax_without_shift


class ScalingRow(NamedTuple):
    """What softmax does to random dot products of one width, with and without division by √d."""

    d: int
    std: float                # standard deviation of q·k
    std_scaled: float         # of q·k / √d
    top_unscaled: float       # mean of the largest weight
    top_scaled: float
    entropy_unscaled: float   # mean entropy of the weights, in nats
    entropy_scaled: float
    gradient_unscaled: float  # mean Frobenius norm of diag(p) - p pᵀ
    gradient_scaled: float


def scaling_row(d, rng, n_queries=1000, n_keys=16):
    """Draw standard normal queries and keys of width d, and measure their scores and weights.

    For unit-variance entries q·k has variance d, so its standard deviation grows as √d; divided by √d it stays 1.

    rng      numpy Generator; drawn in this order: queries (n_queries, d), keys (n_queries, n_keys, d)
    returns  ScalingRow
    raises   ValueError for d below 1
    source   Vaswani et al. 2017, section 3.2.1, footnote 4
    """
    if d < 1:
        raise ValueError(f"A width of {d} has no dot product; d must be 1 or more.")
    q = rng.standard_normal((n_queries, d))
    raw = np.empty((n_queries, n_keys))
    for start in range(0, n_queries, 100):  # a block of keys at a time: 13 MB instead of 131 MB at d = 1024
        block = q[start:start + 100]
        k = rng.standard_normal((len(block), n_keys, d))
        raw[start:start + 100] = (k @ block[:, :, None])[:, :, 0]
    scaled = raw / math.sqrt(d)
    plain, even = softmax(raw), softmax(scaled)
    return ScalingRow(d, float(raw.std()), float(scaled.std()), float(plain.max(axis=-1).mean()), float(even.max(axis=-1).mean()),
                      float(entropy(plain).mean()), float(entropy(even).mean()),
                      float(jacobian_norm(plain).mean()), float(jacobian_norm(even).mean()))


def scaling_stream(widths, seed):
    """The rows for several widths drawn one after the other from a single generator.

    >>> [row.d for row in scaling_stream([1, 2], 0)]
    [1, 2]
    """
    rng = np.random.default_rng(seed)
    return [scaling_row(d, rng) for d in widths]


def scaling_curve(widths, seed):
    """The rows for several widths, each drawn from its own child seed, so that no row depends on the others."""
    return [scaling_row(d, child_rng(seed, "scaling", str(d))) for d in widths]


def entropy(weights):
    """How spread out the weights are: -Σ p log p in nats, from 0 (one weight is 1) to log n (all equal).

    weights  (..., n), rows sum to 1
    returns  (...)

    >>> float(entropy([1.0, 0.0]))
    0.0
    """
    p = as_float(weights)
    return -(p * np.log(np.where(p > 0, p, 1))).sum(axis=-1) + 0.0


def jacobian_norm(weights):
    """Frobenius norm of the softmax's Jacobian diag(p) - p pᵀ: 0 at the corners, where nothing can be learned.

    weights  (..., n), rows sum to 1
    returns  (...)

    >>> float(jacobian_norm([0.5, 0.5]))
    0.5
    """
    slopes = softmax_jacobian(weights)
    return np.sqrt((slopes * slopes).sum(axis=(-1, -2)))


class MaskingTrace(NamedTuple):
    """The same scores, masked in three ways."""

    before: np.ndarray        # (n, n) mask before the softmax
    unmasked: np.ndarray      # (n, n) no mask at all
    zeroed: np.ndarray        # (n, n) softmax over everything, then the hidden weights set to 0
    zeroed_sums: np.ndarray   # (n,)   what the rows of `zeroed` add up to
    renormalised: np.ndarray  # (n, n) `zeroed` divided by its row sums; NaN where that is 0/0


def mask_three_ways(scores, visible):
    """Mask before the softmax, zero after it, zero after it and renormalise.

    scores   (n_queries, n_keys)
    visible  bool, same shape; True = may look
    returns  MaskingTrace
    """
    scores = as_float(scores)
    unmasked = softmax(scores)
    zeroed = np.where(visible, unmasked, scores.dtype.type(0))
    sums = zeroed.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        renormalised = zeroed / sums[:, None]
    return MaskingTrace(softmax(np.where(visible, scores, scores.dtype.type(-np.inf))), unmasked, zeroed, sums, renormalised)


def moved(before, after):
    """How far each row moved: the largest absolute change in it.

    before, after  (n_rows, width)
    returns        (n_rows,)

    >>> moved([[1.0, 2.0]], [[1.0, 5.0]]).tolist()
    [3.0]
    """
    return np.abs(as_float(after) - as_float(before)).max(axis=-1, initial=0.0)


class StabilityRow(NamedTuple):
    """One row of scores in one precision, with and without subtracting the maximum."""

    dtype: str
    limit: float               # exp() of anything larger overflows: the log of the largest finite number
    scores: np.ndarray         # (n,) as that precision stores them
    raised: np.ndarray         # (n,) exp(score), where it overflows inf
    without_shift: np.ndarray  # (n,) NaN where it broke
    with_shift: np.ndarray     # (n,)


def stability(scores):
    """The softmax of one list of scores in float16, float32 and float64, as the formula reads and shifted.

    returns  list of StabilityRow
    """
    rows = []
    for dtype in (np.float16, np.float32, np.float64):
        with np.errstate(over="ignore"):
            stored = np.asarray(scores, dtype=np.float64).astype(dtype)
            rows.append(StabilityRow(np.dtype(dtype).name, math.log(np.finfo(dtype).max), stored, np.exp(stored),
                                     softmax_without_shift(stored), softmax(stored)))
    return rows


def lengths(x):
    """The Euclidean length of each row.

    x        (n_rows, width)
    returns  (n_rows,)

    >>> lengths([[3.0, 4.0]]).tolist()
    [5.0]
    """
    x = as_float(x)
    return np.sqrt((x * x).sum(axis=-1))


class DepthTrace(NamedTuple):
    """A stream on its way through a stack, means over its tokens; entry 0 is what came in."""

    lengths: np.ndarray   # (n_layers + 1,)  of the tokens' vectors
    likeness: np.ndarray  # (n_layers + 1,)  cosine of a token's vector with the one that came in
    gradient: np.ndarray  # (n_layers + 1,)  mean length of the gradient after it went back through so many blocks; None if not asked for


def through_depth(x, layers, n_heads, visible=None, *, activation="gelu", d_out=None):
    """Run the same stack of blocks three ways, and measure the stream after each block; and, by backpropagation, the gradient.

    x        (n_tokens, d_model)
    layers   a list of what `core.block.block` takes as params
    d_out    (n_tokens, d_model) the gradient that arrives at the end of the stack, the same for all three; None: no gradients
    source   He et al. 2015 (residuals); Xiong et al. 2020 (pre- and post-norm)
    returns  {"pre-norm", "post-norm", "pre-norm, no residuals": DepthTrace}

    >>> through_depth([[3.0, 4.0]], [], 1)["pre-norm"].lengths.tolist()
    [5.0]
    """
    x = as_float(x)
    runs = {}
    for name, choices in (("pre-norm", {}), ("post-norm", {"norm_position": "post"}), ("pre-norm, no residuals", {"residual": False})):
        traces = stack(x, layers, n_heads, visible, activation=activation, **choices)
        streams, back = [x, *(trace.resid_post for trace in traces)], []
        if d_out is not None:
            back.append(as_float(d_out))
            for trace, params in zip(reversed(traces), reversed(layers), strict=True):
                back.append(block_backward(trace, params, back[-1], n_heads, activation=activation, **choices)[0])
        size = np.array([lengths(stream) for stream in streams])
        along = np.array([(stream * x).sum(axis=-1) for stream in streams])
        runs[name] = DepthTrace(size.mean(axis=-1), (along / np.where(size * size[0] == 0, 1, size * size[0])).mean(axis=-1),
                               np.array([lengths(gradient).mean() for gradient in back]) if back else None)
    return runs
