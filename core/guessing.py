"""A model that has learned nothing yet: what it guesses, and what that costs."""

import math
from typing import NamedTuple

import numpy as np

from core.draws import child_rng
from core.loss import cross_entropy
from core.transformer import forward, init_params

SPREADS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5)


class Guess(NamedTuple):
    """The loss of one untrained model on random tokens, beside that of even guessing."""

    spread: float
    loss: float      # mean over n_tokens, in nats
    even: float      # ln(vocab_size)
    n_tokens: int    # how many predictions the mean is over

    @property
    def excess(self):
        """How far the loss is above even guessing, as a share of it; 0 for a vocabulary of one token."""
        return (self.loss - self.even) / self.even if self.even else self.loss


def even(vocab_size):
    """What a token costs where all have the same probability: -ln(1 / vocab_size) = ln(vocab_size), in nats.

    returns  float

    >>> even(1)
    0.0
    """
    return math.log(vocab_size)


def untrained(config, seed, spread=0.02, dtype=np.float64):
    """The parameters of a model before the first step of training, from a child seed of its own.

    returns  params as `core.transformer.init_params` draws them; the same draws for every spread, only wider

    >>> from core.config import ModelConfig
    >>> untrained(ModelConfig(2, 4, 8, 1, 1), 0)["w_embed"].shape
    (2, 8)
    """
    return init_params(config, child_rng(seed, "model", repr(config)), std=spread, dtype=dtype)


def untrained_loss(config, seed, spread=0.02, n_tokens=1200):
    """The mean loss of an untrained model on random tokens, at least `n_tokens` of them.

    Small random weights give all vocab_size tokens nearly the same logit, so each has a probability near 1/vocab_size and costs
    -ln(1/vocab_size) = ln(vocab_size). Wider weights guess unevenly, without any reason to, and lose more.

    returns  Guess

    >>> from core.config import ModelConfig
    >>> untrained_loss(ModelConfig(1, 4, 8, 1, 1), 0, n_tokens=4).loss  # one token alone: always right
    0.0
    """
    ids = child_rng(seed, "random tokens", str(config.vocab_size), str(config.n_ctx)).integers(
        0, config.vocab_size, (math.ceil(n_tokens / config.n_ctx), config.n_ctx + 1))
    trace = forward(untrained(config, seed, spread), ids[:, :-1], config, heads_apart=False)
    loss = cross_entropy(trace.logits, ids[:, 1:])
    return Guess(spread, loss + 0.0, even(config.vocab_size), int(np.size(ids[:, 1:])))
