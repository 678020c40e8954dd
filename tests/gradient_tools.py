"""What the tests of gradients share: the slope between two losses, for some entries of every array."""

import numpy as np

from core.optimizer import at, walk


def assert_slopes(params, grads, loss_now, n_each, step=1e-5):
    """Every gradient is the central finite difference: |gap| <= 1e-6 · largest + 1e-9.

    loss_now  function without arguments: the loss with `params` as they stand; n_each: how many entries of each array are moved
    """
    assert {path for path, _ in walk(grads)} == {path for path, _ in walk(params)}
    for path, array in walk(params):
        flat, numeric = array.reshape(-1), []
        places = np.random.default_rng(0).permutation(flat.size)[:n_each]
        for place in places:
            kept = flat[place]
            flat[place] = kept + step
            high = loss_now()
            flat[place] = kept - step
            numeric.append((high - loss_now()) / (2 * step))
            flat[place] = kept
        numeric = np.array(numeric)
        gap = abs(numeric - at(grads, path).reshape(-1)[places]).max()
        assert gap <= 1e-6 * max(abs(at(grads, path)).max(), abs(numeric).max()) + 1e-9, path
