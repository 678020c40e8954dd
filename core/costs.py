"""Attention against recurrence, counted in multiply-adds: mixing along the sequence alone, and whole layers with their projections."""

from numbers import Integral
from typing import NamedTuple


class LayerCosts(NamedTuple):
    """What one layer of width d takes for n tokens; all but the steps are multiply-adds."""

    n: int
    d: int
    attention_mixing: int    # one product of all pairs, n² d
    recurrent_mixing: int    # state · w_h, n d²
    attention_layer: int     # w_q, w_k, w_v, w_o: 4 n d²; scores and mixed: 2 n² d
    recurrent_layer: int     # w_x and w_h: 2 n d²
    attention_steps: int     # that must wait for each other
    recurrent_steps: int


def layer_costs(n, d):
    """Count one attention layer and one recurrent layer, both of width d, for n tokens.

    mixing along the sequence:  attention n² d           recurrence n d²      (equal where n = d)
    whole layers:               attention 4 n d² + 2 n² d   recurrence 2 n d²
    steps one after the other:  attention 1              recurrence n

    Mixing counts attention's scores alone, as the paper's table does up to constants; the mixing of values takes as many again. With
    the projections attention takes more at every n: 4 n d² alone is more than 2 n d². All heads together are d wide.

    returns  LayerCosts
    raises   ValueError where n or d isn't a whole number of 1 or more
    source   Vaswani et al. 2017, section 4 and table 1

    >>> layer_costs(2, 3)[2:]
    (12, 18, 96, 36, 1, 2)
    """
    for name, size in (("n", n), ("d", d)):
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{name} is {size!r}; it must be a whole number of 1 or more.")
    return LayerCosts(n, d, n * n * d, n * d * d, 4 * n * d * d + 2 * n * n * d, 2 * n * d * d, 1, n)


def mixing_ratio(costs):
    """How many times what attention's mixing takes the recurrence takes: d / n, above 1 for short texts.

    returns  float

    >>> mixing_ratio(layer_costs(2, 3))
    1.5
    """
    return costs.recurrent_mixing / costs.attention_mixing


def crossing(d, n_most):
    """The first n at which attention's mixing takes no fewer multiply-adds than the recurrence's, found by counting every n in turn.

    returns  int, which is d; None where it lies beyond n_most

    >>> crossing(3, 10)
    3
    """
    return next((n for n in range(1, n_most + 1) if n * n * d >= n * d * d), None)
