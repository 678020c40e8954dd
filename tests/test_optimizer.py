"""AdamW against its formula, written out number by number."""

import math

import numpy as np
import pytest

from core import optimizer


def tree(rng, dtype=np.float64):
    return {"w": rng.normal(size=(3, 2)).astype(dtype), "blocks": [{"gain": rng.normal(size=3).astype(dtype)},
                                                                   {"w": rng.normal(size=(2, 2)).astype(dtype)}]}


def by_formula(params, gradients, rate, beta1, beta2, eps, decay):
    """One number at a time, as the paper writes it."""
    values = {path: array.copy() for path, array in optimizer.walk(params)}
    m, v = ({path: np.zeros_like(array) for path, array in values.items()} for _ in range(2))
    for t, grads in enumerate(gradients, 1):
        for path, g in optimizer.walk(grads):
            for place in np.ndindex(g.shape):
                m[path][place] = beta1 * m[path][place] + (1 - beta1) * g[place]
                v[path][place] = beta2 * v[path][place] + (1 - beta2) * g[place] ** 2
                fresh = m[path][place] / (1 - beta1**t) / (math.sqrt(v[path][place] / (1 - beta2**t)) + eps)
                values[path][place] -= rate * (fresh + (decay if g.ndim > 1 else 0) * values[path][place])
    return values


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_twenty_steps_are_those_of_the_formula(decay):
    rng = np.random.default_rng(0)
    params, gradients = tree(rng), [tree(rng) for _ in range(20)]
    adam = optimizer.AdamW(params, 0.9, 0.98, 1e-8, decay)
    for grads in gradients:
        adam.step(grads, 0.01)
    for path, expected in by_formula(params, gradients, 0.01, 0.9, 0.98, 1e-8, decay).items():
        np.testing.assert_allclose(optimizer.at(adam.params, path), expected, rtol=1e-12)


def test_long_gradients_are_shortened_and_their_length_is_told():
    params = {"w": np.zeros((1, 2))}
    adam = optimizer.AdamW(params)
    assert adam.step({"w": np.array([[3.0, 4.0]])}, 0.1, clip=1.0) == 5.0
    np.testing.assert_allclose(adam.m, np.array([0.6, 0.8]) * 0.1)
    assert adam.step({"w": np.array([[0.3, 0.4]])}, 0.1, clip=1.0) == 0.5
    np.testing.assert_allclose(adam.m, np.array([0.6, 0.8]) * 0.09 + np.array([0.3, 0.4]) * 0.1)


def test_the_parameters_are_views_of_one_array_and_what_was_given_is_not_touched():
    params = tree(np.random.default_rng(1))
    adam = optimizer.AdamW(params)
    before = {path: array.copy() for path, array in optimizer.walk(params)}
    adam.step(tree(np.random.default_rng(2)), 0.1)
    assert all((array == before[path]).all() for path, array in optimizer.walk(params))
    assert all(np.shares_memory(array, adam.arena.flat) for _, array in optimizer.walk(adam.params))
    assert sum(array.size for _, array in optimizer.walk(adam.params)) == adam.arena.flat.size


def test_single_precision_stays_single():
    adam = optimizer.AdamW(tree(np.random.default_rng(0), np.float32), decay=0.1)
    adam.step(tree(np.random.default_rng(1), np.float32), 0.01, clip=0.5)
    assert {array.dtype for array in (adam.arena.flat, adam.m, adam.v)} == {np.dtype(np.float32)}


def test_the_rate_warms_up_in_a_line_and_falls_along_half_a_cosine():
    rates = [optimizer.learning_rate_at(step, 2.0, 100, warm_up=10) for step in range(101)]
    np.testing.assert_allclose(rates[:10], np.arange(1, 11) / 5)
    assert rates[55] == pytest.approx(2 * 0.55) and rates[100] == pytest.approx(0.2)
    assert all(a >= b for a, b in zip(rates[10:], rates[11:], strict=False))
    assert optimizer.learning_rate_at(500, 2.0, 100) == pytest.approx(0.2)
