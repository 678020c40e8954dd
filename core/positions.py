"""Where a token stands: vectors that carry its position, rotations, and biases."""

import numpy as np

from core.softmax import as_float


def sinusoidal(n_positions, d_model):
    """Sine and cosine waves, one pair of features per wavelength.

    pe[p, 2i] = sin(p / 10000^(2i/d_model)),  pe[p, 2i+1] = cos(p / 10000^(2i/d_model))

    An odd d_model ends with a lone sine.

    returns  (n_positions, d_model) float64
    raises   ValueError where n_positions is negative or d_model below 1
    source   Vaswani et al. 2017, section 3.5

    >>> sinusoidal(1, 4).tolist()
    [[0.0, 1.0, 0.0, 1.0]]
    """
    if n_positions < 0 or d_model < 1:
        raise ValueError(f"Positions need n_positions of 0 or more and d_model of 1 or more, not {n_positions} and {d_model}.")
    angle = np.arange(n_positions)[:, None] * frequencies(d_model)
    pe = np.empty((n_positions, d_model))
    pe[:, 0::2] = np.sin(angle)
    pe[:, 1::2] = np.cos(angle[:, : d_model // 2])
    return pe


def frequencies(d_model, base=10000.0):
    """How far each pair of features turns per position, in radians.

    base^(-2i/d_model) for pair i

    returns  (⌈d_model / 2⌉,) float64
    source   Vaswani et al. 2017, section 3.5

    >>> frequencies(4).tolist()
    [1.0, 0.01]
    """
    return base ** (-np.arange(0, d_model, 2) / d_model)


def shift_matrix(k, d_model):
    """The matrix that moves a sinusoidal vector k positions on, whatever position it is at.

    pe[p + k] = R(k) pe[p];  each pair turns by k · frequency:  [[cos, sin], [-sin, cos]]

    k        whole number, may be negative
    returns  (d_model, d_model) float64
    raises   ValueError for an odd d_model: a lone sine can't be turned without its cosine
    source   Vaswani et al. 2017, section 3.5

    >>> shift_matrix(0, 2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if d_model < 2 or d_model % 2:
        raise ValueError(f"A shift turns pairs of features, so d_model must be even and at least 2, not {d_model}.")
    angle = k * frequencies(d_model)
    matrix = np.zeros((d_model, d_model))
    even, odd = np.arange(0, d_model, 2), np.arange(1, d_model, 2)
    matrix[even, even] = matrix[odd, odd] = np.cos(angle)
    matrix[even, odd], matrix[odd, even] = np.sin(angle) + 0.0, -np.sin(angle) + 0.0
    return matrix


def learned(w_pos, n_positions, first=0):
    """The rows of a learned table for positions first, first + 1, …; the table ends where training ended.

    x[t] = w_pos[first + t]

    w_pos    (n_ctx, d_model)
    returns  (n_positions, d_model)
    raises   ValueError before position 0 and past the last trained position
    source   Gehring et al. 2017, "Convolutional Sequence to Sequence Learning", section 3.1

    >>> learned(np.array([[1.0], [2.0]]), 1, first=1).tolist()
    [[2.0]]
    """
    n_ctx = w_pos.shape[0]
    if first < 0 or n_positions < 0:
        raise ValueError(f"Positions count from 0, so {n_positions} of them can't begin at {first}.")
    if first + n_positions > n_ctx:
        raise ValueError(f"This table was learned for positions 0 to {n_ctx - 1}; position {first + n_positions - 1} has no row. "
                         f"Use at most {n_ctx} tokens, or positions that are computed (sinusoidal, rotary, ALiBi).")
    return w_pos[first:first + n_positions]


def rotary(x, positions, base=10000.0, layout="half"):
    """Turn each pair of features by an angle that grows with the position (RoPE); used on queries and keys.

    pair i at position p turns by p · base^(-2i/d):  (a, b) -> (a cos - b sin, a sin + b cos)

    Then q·k depends on the distance between the two positions alone. Two layouts of the pairs are in use: "half" pairs feature i
    with i + d/2 (GPT-NeoX, Llama in Hugging Face), "interleaved" pairs 2i with 2i + 1 (the paper, GPT-J). A model must be run with
    the layout it was trained with, for queries and keys alike.

    x          (..., n_tokens, d)
    positions  (n_tokens,) whole numbers
    returns    same shape and precision as x
    raises     ValueError for an odd d, another layout, or another number of positions than tokens
    source     Su et al. 2021, "RoFormer", section 3.4.2

    >>> rotary([[3.0, 4.0]], [0]).tolist()
    [[3.0, 4.0]]
    """
    x = as_float(x)
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"Rotary positions turn pairs of features, so their number must be even, not {d}.")
    if np.shape(positions) != x.shape[-2:-1]:
        raise ValueError(f"Each of the {x.shape[-2]} tokens needs its position, so positions need the shape ({x.shape[-2]},), "
                         f"not {np.shape(positions)}.")
    angle = np.asarray(positions)[:, None] * frequencies(d, base)
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    if layout == "half":
        a, b = x[..., : d // 2], x[..., d // 2:]
        return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)
    if layout == "interleaved":
        turned = np.empty_like(x)
        a, b = x[..., 0::2], x[..., 1::2]
        turned[..., 0::2], turned[..., 1::2] = a * cos - b * sin, a * sin + b * cos
        return turned
    raise ValueError(f'layout is {layout!r}; it can be "half" or "interleaved".')


def alibi_slopes(n_heads):
    """How strongly each head of ALiBi minds distance.

    2^(-8/n), 2^(-16/n), … for n heads a power of two; else those of the power of two below, then every other slope of the one above

    returns  (n_heads,) float64
    raises   ValueError for fewer than 1 head
    source   Press, Smith & Lewis 2021, "Train Short, Test Long", section 3, and the paper's released code for other head counts

    >>> alibi_slopes(2).tolist()
    [0.0625, 0.00390625]
    """
    if n_heads < 1:
        raise ValueError(f"There must be at least 1 head, not {n_heads}.")
    below = 2 ** (int(n_heads).bit_length() - 1)
    slopes = 2.0 ** (-8.0 / below * np.arange(1, below + 1))
    if below == n_heads:
        return slopes
    above = 2.0 ** (-8.0 / (2 * below) * np.arange(1, 2 * below + 1))
    return np.concatenate([slopes, above[0::2][: n_heads - below]])


def alibi_bias(n_heads, n_tokens):
    """What ALiBi adds to the scores: a penalty that grows with how far back the key is.

    bias[h, i, j] = -slope[h] · (i - j) for j ≤ i, and 0 for later keys (a causal mask hides them)

    returns  (n_heads, n_tokens, n_tokens) float64
    raises   ValueError for fewer than 1 head
    source   Press, Smith & Lewis 2021, section 3

    >>> alibi_bias(1, 2).tolist()
    [[[0.0, 0.0], [-0.00390625, 0.0]]]
    """
    back = np.maximum(np.arange(n_tokens)[:, None] - np.arange(n_tokens), 0)
    return -alibi_slopes(n_heads)[:, None, None] * back + 0.0
