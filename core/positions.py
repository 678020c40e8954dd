"""Where a token stands: vectors that carry its position."""

import numpy as np


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
    pair = np.arange(0, d_model, 2)
    angle = np.arange(n_positions)[:, None] / 10000 ** (pair / d_model)
    pe = np.empty((n_positions, d_model))
    pe[:, 0::2] = np.sin(angle)
    pe[:, 1::2] = np.cos(angle[:, : d_model // 2])
    return pe
