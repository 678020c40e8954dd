"""One parameter of a run, taken out: its value, its gradient twice, Adam's memory of it, and where the next step takes it."""

from typing import NamedTuple

import numpy as np

from core.arithmetic_training import explain_adam, explain_gradient, explain_rate
from core.gradients import numeric_gradient
from core.loss import cross_entropy
from core.optimizer import AdamW, at, learning_rate_at, walk
from core.sums import Explanation

STEP = 1e-6  # small, so that few ReLUs bend in between; not so small that rounding shows


class Inspected(NamedTuple):
    """Everything about one number of the parameters, in float64, before the next step."""

    name: str                  # e.g. "blocks.0.attention.w_o[3, 4]"
    value: float
    gradient: float            # by backpropagation
    numeric: float             # by a finite difference
    largest: float             # the largest |gradient| of its array
    m: float                   # Adam's running mean of the gradient
    v: float                   # and of its square
    after: float               # its value after the next step
    rate: float                # the learning rate of the next step
    length: float              # of all gradients together, before clipping
    explanations: tuple[Explanation, Explanation, Explanation]  # of the numeric gradient, the learning rate, and the step


def label(path):
    """A parameter's path as one word.

    >>> label(("blocks", 0, "attention", "w_o"))
    'blocks.0.attention.w_o'
    """
    return ".".join(map(str, path))


def ahead(trainer):
    """The batch of the next step, and all its gradients in float64: the same for every parameter that is looked at.

    returns  (batch, gradients in the layout of the parameters)
    """
    batch = trainer.next_batch()
    return batch, trainer.learner.loss_and_grads(_float64(trainer.params), batch)[1]


def inspect(trainer, path, index, known=None):
    """What the next step will do to one parameter, computed in float64 on the batch that this step will draw.

    trainer  core.training.Trainer; it is not changed
    path     where the array stands; index: which number of it, a tuple
    known    what `ahead` gave for this step, if it is at hand
    returns  Inspected
    """
    own, learner, settings = trainer.optimizer, trainer.learner, trainer.settings
    batch, grads = ahead(trainer) if known is None else known
    double = AdamW(_float64(own.params), beta1=own.beta1, beta2=own.beta2, eps=own.eps, decay=own.decay)
    double.m[...], double.v[...], double.t = own.m, own.v, own.t
    numeric, losses = numeric_gradient(lambda tried: cross_entropy(learner.logits(tried, batch), batch.targets), double.params, path, index,
                                       STEP)
    before = {name: float(at(double.spread(which), path)[index])
              for name, which in (("w", double.arena.flat), ("m", double.m), ("v", double.v))}
    rate = learning_rate_at(trainer.done, settings.learning_rate, settings.n_steps, settings.warm_up)
    gradient, largest = float(at(grads, path)[index]), float(abs(at(grads, path)).max())
    decayed = own.decay if at(own.params, path).ndim > 1 else 0.0
    length = double.step(grads, rate, settings.clip)
    after = float(at(double.params, path)[index])
    name = f"{label(path)}[{', '.join(map(str, index))}]"
    return Inspected(name, before["w"], gradient, numeric, largest, before["m"], before["v"], after, rate, length, (
        explain_gradient(name, losses, STEP, numeric),
        explain_rate(trainer.done, settings.learning_rate, settings.n_steps, settings.warm_up, rate),
        explain_adam(name, before["w"], gradient, before["m"], before["v"], own.t + 1, after, learning_rate=rate, length=length,
                     clip=settings.clip, beta1=own.beta1, beta2=own.beta2, eps=own.eps, decay=decayed)))


def _float64(tree):
    """The same nesting in float64."""
    if isinstance(tree, dict):
        return {name: _float64(part) for name, part in tree.items()}
    if isinstance(tree, list):
        return [_float64(part) for part in tree]
    return tree.astype(np.float64)


def paths(params):
    """The paths of all arrays of one or more axes, in order.

    returns  list of tuples

    >>> paths({"w": np.zeros((2, 2)), "blocks": [{"b": np.zeros(3)}]})
    [('w',), ('blocks', 0, 'b')]
    """
    return [path for path, _ in walk(params)]
