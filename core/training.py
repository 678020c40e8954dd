"""The training loop: draw a batch, go forward and back, take a step, report."""

import copy
from typing import NamedTuple

import numpy as np

from core.gradients import loss_and_grads
from core.optimizer import AdamW, learning_rate_at, walk
from core.transformer import forward, init_params


class TrainRecord(NamedTuple):
    """What one step came to."""

    step: int            # from 1
    loss: float          # nats per counted token, before the step
    learning_rate: float
    grad_length: float   # of all gradients together, before clipping
    bad: str             # the first array that is not finite, or ""


class Settings(NamedTuple):
    """How a model is trained."""

    n_steps: int = 200
    batch_size: int = 32
    learning_rate: float = 1e-2
    warm_up: int = 30
    beta2: float = 0.98
    decay: float = 0.0
    clip: float | None = 1.0
    std: float = 0.08
    seed: int = 0


class Trainer:
    """A run that can be stepped, stopped, looked at and begun again with the same numbers."""

    def __init__(self, config, draw, settings, dtype=np.float32):
        self.config, self.draw, self.settings, self.dtype = config, draw, settings, dtype
        self.rewind()

    def rewind(self):
        """Back to the first step: the same seed, so the same parameters and batches."""
        start, batches = (np.random.default_rng([self.settings.seed, part]) for part in (0, 1))
        self.optimizer = AdamW(init_params(self.config, start, self.settings.std, self.dtype), beta2=self.settings.beta2,
                               decay=self.settings.decay)
        self.rng, self.done, self.bad = batches, 0, ""

    @property
    def params(self):
        """The parameters as they stand."""
        return self.optimizer.params

    def step(self):
        """One step; returns its TrainRecord. Nothing is changed any more once a number was not finite."""
        batch = self.draw(self.rng, self.settings.batch_size)
        with np.errstate(all="ignore"):
            loss, grads = loss_and_grads(self.params, batch.token_ids, batch.targets, self.config)
        rate = learning_rate_at(self.done, self.settings.learning_rate, self.settings.n_steps, self.settings.warm_up)
        self.bad = self.bad or self._first_bad(batch, loss, grads)
        length = float("nan") if self.bad else self.optimizer.step(grads, rate, self.settings.clip)
        self.done += 1
        return TrainRecord(self.done, loss, rate, length, self.bad)

    def _first_bad(self, batch, loss, grads):
        """The name of the first array on the way that holds a number which is not finite; "" where all are."""
        if np.isfinite(loss) and all(np.isfinite(array).all() for _, array in walk(grads)):
            return ""
        for path, array in walk(self.params):
            if not np.isfinite(array).all():
                return "the parameter " + ".".join(map(str, path))
        with np.errstate(all="ignore"):
            trace = forward(self.params, batch.token_ids, self.config)
        for number, layer in enumerate(trace.blocks):
            for name, array in (("scores", layer.attention.scores), ("attn_out", layer.attn_out), ("resid_mid", layer.resid_mid),
                                ("ff_out", layer.ff_out), ("resid_post", layer.resid_post)):
                if array is not None and not np.isfinite(array).all():
                    return f"{name} of block {number}"
        if not np.isfinite(trace.logits).all():
            return "the logits"
        for path, array in reversed(list(walk(grads))):
            if not np.isfinite(array).all():
                return "the gradient of " + ".".join(map(str, path))
        return "the loss"

    def snapshot(self):
        """All that is needed to go on from here, copied."""
        own = self.optimizer
        return (own.arena.flat.copy(), own.m.copy(), own.v.copy(), own.t, copy.deepcopy(self.rng), self.done, self.bad)

    def restore(self, snapshot):
        """Go on from a snapshot."""
        flat, m, v, self.optimizer.t, rng, self.done, self.bad = snapshot
        self.optimizer.arena.flat[...], self.optimizer.m[...], self.optimizer.v[...] = flat, m, v
        self.rng = copy.deepcopy(rng)


def train(config, draw, settings, dtype=np.float32):
    """Train for settings.n_steps steps.

    returns  iterator of TrainRecord
    """
    trainer = Trainer(config, draw, settings, dtype)
    for _ in range(settings.n_steps):
        yield trainer.step()


def accuracy(params, batch, config):
    """The share of counted targets that have the largest logit.

    returns  float from 0 to 1
    """
    guess = forward(params, batch.token_ids, config).logits.argmax(axis=-1)
    counted = batch.targets >= 0
    return float((guess == batch.targets)[counted].mean())
