"""From logits to the next token: temperature, then top-k, then top-p."""

from typing import NamedTuple

import numpy as np

from core.softmax import as_float, softmax


class SamplingTrace(NamedTuple):
    """What temperature, top-k and top-p made of some logits, step by step."""

    order: np.ndarray        # (vocab_size,) ids from the most probable on; of equals the smaller id first
    warmed: np.ndarray       # (vocab_size,) softmax(logits / temperature)
    n_top_k: int             # how many tokens top-k leaves
    mass_top_k: float        # their share of `warmed`
    after_top_k: np.ndarray  # (vocab_size,) divided by that share
    n_kept: int              # how many of them top-p leaves: the first of `order`
    mass_top_p: float        # their share of `after_top_k`
    mass: float              # their share of `warmed`
    probs: np.ndarray        # (vocab_size,) what the next token is drawn with; sums to 1


def choose(logits, temperature=1.0, top_k=None, top_p=None):
    """The probabilities that the next token is drawn with, and every step to them.

    1. softmax(logits / temperature); temperature 0 gives all to the largest logit (the first of equals)
    2. top-k keeps the k most probable tokens
    3. top-p keeps the fewest of these whose mass, as they stand after step 2, reaches p
    What is left is divided by its sum. Of equally probable tokens the one with the smaller id is kept first.

    logits       (vocab_size,)
    temperature  0 or more
    top_k        1 or more, or None; top_p: above 0, at most 1, or None
    returns      SamplingTrace
    raises       ValueError outside these ranges
    source       Fan et al. 2018 (top-k), Holtzman et al. 2020, section 3.1 (top-p)

    >>> choose([0.0, 0.0, -np.inf], top_k=1).probs.tolist()
    [1.0, 0.0, 0.0]
    """
    logits = as_float(logits)
    if not 0 <= temperature < np.inf:
        raise ValueError(f"temperature is {temperature}; it must be 0 or a finite number above it.")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}; it must keep at least 1 token.")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p is {top_p}; it must be above 0 and at most 1.")
    if temperature == 0:
        warmed = np.zeros_like(logits)
        warmed[logits.argmax()] = 1
        return SamplingTrace(np.argsort(-logits, kind="stable"), warmed, 1, 1.0, warmed, 1, 1.0, 1.0, warmed)
    warmed = probs = after_top_k = softmax(logits, temperature=temperature)
    order = np.argsort(-probs, kind="stable")
    n_top_k = n_kept = len(probs)
    if top_k is not None:
        n_top_k = n_kept = min(top_k, len(probs))
        probs = after_top_k = _kept(probs, order[:n_top_k])
    if top_p is not None:
        n_kept = min(int(np.searchsorted(np.cumsum(probs[order]), top_p - 1e-9)) + 1, n_top_k)
        probs = _kept(probs, order[:n_kept])
    kept = order[:n_kept]
    return SamplingTrace(order, warmed, n_top_k, float(warmed[order[:n_top_k]].sum()), after_top_k, n_kept,
                         float(after_top_k[kept].sum()), float(warmed[kept].sum()), probs)


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    """The probabilities that the next token is drawn with: temperature, then top-k, then top-p, as `choose` takes them.

    returns  (vocab_size,), sums to 1
    raises   ValueError as `choose` does

    >>> next_token_probs([0.0, 0.0, -np.inf]).tolist()
    [0.5, 0.5, 0.0]
    """
    return choose(logits, temperature, top_k, top_p).probs


def logits_of(probs):
    """Logits whose softmax gives these shares back: their logarithms. A share of 0 becomes -inf.

    probs    (vocab_size,) 0 or more, not all 0; divided by their sum where that is not 1
    returns  (vocab_size,) float64
    raises   ValueError where a share is negative, or all are 0

    >>> softmax(logits_of([1.0, 3.0])).round(6).tolist()
    [0.25, 0.75]
    """
    probs = np.asarray(probs, dtype=np.float64)
    if (probs < 0).any() or not probs.any():
        raise ValueError("Probabilities are 0 or more, and at least one is above 0.")
    with np.errstate(divide="ignore"):
        return np.log(probs / probs.sum())


def read_logits(numbers, fault, are_probs):
    """Typed numbers as logits, and what to change where they can't be: [2, 1, 0] then stands in.

    numbers    list of float, or None where they could not be read; fault: why, or None
    are_probs  are they probabilities?
    returns    ((vocab_size,) float64, None or a sentence)

    >>> read_logits([1.0, 3.0], None, False)[0].tolist()
    [1.0, 3.0]
    """
    if fault is None and are_probs:
        try:
            return logits_of(numbers), None
        except ValueError as why:
            fault = str(why)
    return np.array([2.0, 1.0, 0.0] if fault else numbers), fault


def in_two(steps):
    """The probabilities at this temperature, sorted, as two rows that add up: what is kept, and what is cut off.

    returns  {"kept": (vocab_size,), "cut off": (vocab_size,)}

    >>> {name: row.tolist() for name, row in in_two(choose([0.0, 0.0], top_k=1)).items()}
    {'kept': [0.5, 0.0], 'cut off': [0.0, 0.5]}
    """
    is_kept = np.arange(len(steps.order)) < steps.n_kept
    ordered = steps.warmed[steps.order]
    return {"kept": np.where(is_kept, ordered, 0), "cut off": np.where(is_kept, 0, ordered)}


def _kept(probs, ids):
    """These probabilities alone, divided by their sum."""
    kept = np.zeros_like(probs)
    kept[ids] = probs[ids]
    return kept / kept.sum()
