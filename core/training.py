"""The training loop: draw a batch, go forward and back, take a step, report."""

import copy
from typing import NamedTuple

import numpy as np

from core.learners import decoder_only
from core.optimizer import AdamW, learning_rate_at, walk


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

    def __init__(self, learner, draw, settings, start=None):
        """learner: core.learners.Learner; draw: function of (rng, n) -> batch; start: parameters to begin with instead of random ones."""
        self.learner, self.draw, self.settings, self.start = learner, draw, settings, start
        self.rewind()

    def rewind(self):
        """Back to the first step: the same seed, so the same parameters and batches."""
        begin, batches = (np.random.default_rng([self.settings.seed, part]) for part in (0, 1))
        params = self.learner.init(begin, self.settings.std) if self.start is None else self.start
        self.optimizer = AdamW(params, beta2=self.settings.beta2, decay=self.settings.decay)
        self.rng, self.done, self.bad = batches, 0, ""

    @property
    def params(self):
        """The parameters as they stand."""
        return self.optimizer.params

    @property
    def over(self):
        """Has the run ended: all steps done, or a number that is not finite?"""
        return self.done >= self.settings.n_steps or bool(self.bad)

    def next_batch(self):
        """The batch that the next step will draw; nothing moves on."""
        return self.draw(copy.deepcopy(self.rng), self.settings.batch_size)

    def step(self):
        """One step; returns its TrainRecord. Nothing is changed any more once a number was not finite."""
        batch = self.draw(self.rng, self.settings.batch_size)
        with np.errstate(all="ignore"):
            loss, grads = self.learner.loss_and_grads(self.params, batch)
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
            for name, array in self.learner.on_the_way(self.params, batch):
                if not np.isfinite(array).all():
                    return name
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
    """Train a decoder-only model for settings.n_steps steps.

    returns  iterator of TrainRecord
    """
    trainer = Trainer(decoder_only(config, dtype), draw, settings)
    for _ in range(settings.n_steps):
        yield trainer.step()


def accuracy(learner, params, batch):
    """The share of counted targets that have the largest logit.

    returns  float from 0 to 1
    """
    guess, targets = learner.logits(params, batch).argmax(axis=-1), np.asarray(batch.targets)
    counted = targets >= 0
    return float((guess == targets)[counted].mean())


def whole_answers(learner, params, batch):
    """The share of sequences whose every counted target has the largest logit.

    returns  float from 0 to 1
    """
    guess, targets = learner.logits(params, batch).argmax(axis=-1), np.asarray(batch.targets)
    right = (guess == targets) | (targets < 0)
    return float(right.all(axis=-1).mean())
