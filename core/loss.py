"""Cross-entropy: how surprised the model is by the tokens that came."""

import numpy as np

from core.softmax import as_float, log_softmax


def cross_entropy(logits, targets):
    """Mean of -log probability of the target tokens, in nats per token.

    loss = -mean(log_softmax(logits)[target]); a target below 0 is left out of the mean

    logits   (..., vocab_size)
    targets  whole numbers (...), one a position
    returns  float
    raises   ValueError where shapes do not fit, a target is outside the vocabulary, or no target is left

    >>> round(cross_entropy([[0.0, 0.0]], [1]), 4)
    0.6931
    """
    logits = as_float(logits)
    targets = checked(targets, logits.shape)
    counted = targets >= 0
    picked = np.take_along_axis(log_softmax(logits), np.where(counted, targets, 0)[..., None], axis=-1)[..., 0]
    return float(-picked[counted].mean())


def checked(targets, shape):
    """The targets as an array; ValueError where they do not fit logits of this shape."""
    targets = np.asarray(targets)
    if targets.shape != tuple(shape[:-1]):
        raise ValueError(f"Logits of shape {tuple(shape)} need targets of shape {tuple(shape[:-1])}, not {targets.shape}.")
    if targets.size and targets.max() >= shape[-1]:
        raise ValueError(f"A target is {targets.max()}; a vocabulary of {shape[-1]} has ids 0 to {shape[-1] - 1}.")
    if not (targets >= 0).any():
        raise ValueError("No target is counted: all are below 0.")
    return targets
