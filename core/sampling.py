"""From logits to the next token: temperature, then top-k, then top-p."""

import numpy as np

from core.softmax import as_float, softmax


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    """The probabilities that the next token is drawn with.

    1. softmax(logits / temperature); temperature 0 gives all to the largest logit (the first of equals)
    2. top-k keeps the k most probable tokens
    3. top-p keeps the fewest of these whose mass, as they stand after step 2, reaches p
    What is left is divided by its sum. Of equally probable tokens the one with the smaller id is kept first.

    logits       (vocab_size,)
    temperature  0 or more
    top_k        1 or more, or None; top_p: above 0, at most 1, or None
    returns      (vocab_size,), sums to 1
    raises       ValueError outside these ranges
    source       Fan et al. 2018 (top-k), Holtzman et al. 2020, section 3.1 (top-p)

    >>> next_token_probs([0.0, 0.0, -np.inf]).tolist()
    [0.5, 0.5, 0.0]
    """
    logits = as_float(logits)
    if not 0 <= temperature < np.inf:
        raise ValueError(f"temperature is {temperature}; it must be 0 or a finite number above it.")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}; it must keep at least 1 token.")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p is {top_p}; it must be above 0 and at most 1.")
    if temperature == 0:
        probs = np.zeros_like(logits)
        probs[logits.argmax()] = 1
        return probs
    probs = softmax(logits, temperature=temperature)
    order = np.argsort(-probs, kind="stable")
    if top_k is not None:
        probs = _kept(probs, order[:top_k])
    if top_p is not None:
        n_kept = int(np.searchsorted(np.cumsum(probs[order]), top_p - 1e-9)) + 1
        probs = _kept(probs, order[:n_kept])
    return probs


def _kept(probs, ids):
    """These probabilities alone, divided by their sum."""
    kept = np.zeros_like(probs)
    kept[ids] = probs[ids]
    return kept / kept.sum()
