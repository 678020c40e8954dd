"""AdamW on one arena: all parameters, gradients and moments as views of four long arrays, so that a step is a few passes over memory."""

import math

import numpy as np


def walk(tree, path=()):
    """The arrays of a nested layout in order, each with its path.

    returns  iterator of (path, array)

    >>> [path for path, _ in walk({"blocks": [{"w": np.zeros(1)}], "b": np.zeros(1)})]
    [('blocks', 0, 'w'), ('b',)]
    """
    if isinstance(tree, dict):
        for name, part in tree.items():
            yield from walk(part, (*path, name))
    elif isinstance(tree, list):
        for number, part in enumerate(tree):
            yield from walk(part, (*path, number))
    else:
        yield path, tree


def at(tree, path):
    """The array at a path.

    >>> at({"blocks": [{"w": 7}]}, ("blocks", 0, "w"))
    7
    """
    for step in path:
        tree = tree[step]
    return tree


class Arena:
    """One long array, and the parameters' layout as views into it."""

    def __init__(self, params):
        arrays = list(walk(params))
        self.paths = [path for path, _ in arrays]
        self.flat = np.concatenate([array.ravel() for _, array in arrays]) if arrays else np.zeros(0)
        self._shapes = [array.shape for _, array in arrays]
        self._places = np.cumsum([0, *(array.size for _, array in arrays)]).tolist()
        self.tree = params
        self.tree = self.laid_out(self.flat)

    def laid_out(self, flat):
        """Another array of this length, as views in the parameters' layout."""
        views = {path: flat[a:b].reshape(shape) for path, shape, a, b in zip(self.paths, self._shapes, self._places, self._places[1:],
                                                                           strict=False)}
        return _like(self.tree, views)

    def put(self, tree):
        """Copy the arrays of another tree of this layout in."""
        for path, array in walk(self.tree):
            array[...] = at(tree, path)


def _like(tree, views, path=()):
    """The same nesting with these arrays in it."""
    if isinstance(tree, dict):
        return {name: _like(part, views, (*path, name)) for name, part in tree.items()}
    if isinstance(tree, list):
        return [_like(part, views, (*path, number)) for number, part in enumerate(tree)]
    return views[path]


class AdamW:
    """Adam with decoupled weight decay.

    m = β1 m + (1 - β1) g;  v = β2 v + (1 - β2) g²;  m̂ = m / (1 - β1^t);  v̂ = v / (1 - β2^t)
    w = w - lr (m̂ / (√v̂ + eps) + decay · w), decay on matrices alone, not on gains, offsets and biases

    source  Loshchilov & Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2; Kingma & Ba 2015
    """

    def __init__(self, params, beta1=0.9, beta2=0.95, eps=1e-8, decay=0.0):
        self.arena, self.grads = Arena(params), Arena(params)
        self.grads.flat[...] = 0
        self.m, self.v = np.zeros_like(self.arena.flat), np.zeros_like(self.arena.flat)
        self.beta1, self.beta2, self.eps, self.decay, self.t = beta1, beta2, eps, decay, 0
        self._work = np.empty_like(self.arena.flat)
        mask = Arena(params)
        for _, array in walk(mask.tree):
            array[...] = array.ndim > 1
        self.decayed = mask.flat

    @property
    def params(self):
        """The parameters, as views: a step changes them in place."""
        return self.arena.tree

    def spread(self, flat):
        """One of the long arrays (m, v, …) in the layout of the parameters, as views."""
        return self.arena.laid_out(flat)

    def step(self, grads, learning_rate, clip=None):
        """Go one step against the gradients.

        grads    gradients in the layout of the parameters
        clip     the largest length that all gradients together may have; longer ones are shortened to it
        returns  that length before it was clipped
        """
        if grads is not self.grads.tree:
            self.grads.put(grads)
        g, work = self.grads.flat, self._work
        length = math.sqrt(float(np.dot(g, g)))
        if clip is not None and length > clip:
            g *= g.dtype.type(clip / length)
        self.t += 1
        self.m *= self.beta1
        np.multiply(g, 1 - self.beta1, out=work)
        self.m += work
        self.v *= self.beta2
        np.multiply(g, g, out=work)
        work *= 1 - self.beta2
        self.v += work
        if self.decay:
            np.multiply(self.arena.flat, self.decayed, out=work)
            work *= learning_rate * self.decay
            self.arena.flat -= work
        np.multiply(self.v, 1 / (1 - self.beta2**self.t), out=work)
        np.sqrt(work, out=work)
        work += self.eps
        np.divide(self.m, work, out=work)
        work *= learning_rate / (1 - self.beta1**self.t)
        self.arena.flat -= work
        return length


def learning_rate_at(step, peak, n_steps, warm_up=0, floor=0.1):
    """Warm up in a straight line, then fall along half a cosine to floor · peak.

    step     from 0
    returns  float
    source   Loshchilov & Hutter 2017, "SGDR", equation 5; Vaswani et al. 2017, section 5.3 (warm-up)

    >>> [round(learning_rate_at(step, 1.0, 12, warm_up=2), 2) for step in (0, 1, 2, 7, 12)]
    [0.5, 1.0, 1.0, 0.55, 0.1]
    """
    if step < warm_up:
        return peak * (step + 1) / warm_up
    share = min((step - warm_up) / max(n_steps - warm_up, 1), 1.0)
    return peak * (floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * share)))
