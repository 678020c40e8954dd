"""Attention in blocks: the numbers of `attend`, any block, any mask; and the memory that is really taken."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.attention import attend, causal_mask
from core.query_blocks import attend_in_blocks, scores_at_once


def drawn(seed, n_queries, n_keys, d, lead=()):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.standard_normal((*lead, n, d)) for n in (n_queries, n_keys, n_keys))
    return 3 * q, 3 * k, v


@given(st.integers(0, 999), st.integers(1, 9), st.integers(1, 9), st.integers(1, 12), st.integers(1, 12), st.sampled_from(
    ["all", "causal", "random"]))
def test_the_numbers_are_those_of_attend(seed, n_queries, n_keys, query_block, key_block, mask):
    q, k, v = drawn(seed, n_queries, n_keys, 3)
    visible = {"all": None, "causal": causal_mask(n_queries, n_keys),
               "random": np.random.default_rng(seed).random((n_queries, n_keys)) < 0.3}[mask]
    whole, found = attend(q, k, v, visible), attend_in_blocks(q, k, v, visible, query_block=query_block, key_block=key_block)
    np.testing.assert_allclose(found.mixed, whole.mixed, rtol=0, atol=1e-12)
    blind = np.zeros(n_queries, bool) if visible is None else ~visible.any(axis=1)
    assert (found.mixed[blind] == 0).all() and (found.sums[blind, -1] == 0).all()
    scores = whole.scores if visible is None else np.where(visible, whole.scores, -np.inf)
    np.testing.assert_allclose(found.tops[..., -1], scores.max(axis=-1))
    np.testing.assert_allclose(found.sums[~blind, -1], [sum(np.exp(row - max(row))) for row in scores[~blind]])
    assert found.most_scores == scores_at_once(n_queries, n_keys, query_block, key_block)
    assert found.n_blocks == -(-n_queries // query_block) * -(-n_keys // key_block) and found.score_bytes == 8 * found.most_scores


def test_leading_axes_precision_and_a_scale_of_ones_own():
    q, k, v = drawn(1, 7, 6, 4, (2, 3))
    found = attend_in_blocks(q, k, v, query_block=3, key_block=2, scale=0.1)
    np.testing.assert_allclose(found.mixed, attend(q, k, v, scale=0.1).mixed, atol=1e-12)
    assert found.most_scores == 2 * 3 * 6
    single = attend_in_blocks(*(each.astype(np.float32) for each in (q, k, v)), query_block=3, key_block=2)
    assert {array.dtype.name for array in single[:3]} == {"float32"} and single.score_bytes == 4 * 36


def test_huge_scores_do_not_overflow():
    q, k, v = np.array([[1000.0]]), np.array([[-1.0], [1.0], [0.5]]), np.array([[1.0], [2.0], [3.0]])
    assert attend_in_blocks(q, k, v, key_block=1).mixed.tolist() == [[2.0]]


def test_blocks_really_take_less_memory():
    q, k, v = drawn(0, 512, 512, 16)
    peaks = []
    for run in (lambda: attend(q, k, v), lambda: attend_in_blocks(q, k, v, query_block=32, key_block=64)):
        run()
        tracemalloc.start()
        run()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] > 3 * 512 * 512 * 8 and peaks[1] < peaks[0] / 20


@pytest.mark.parametrize("more, words", [({"query_block": -1}, "give 1 or more"), ({"visible": np.ones((2, 2), bool)}, "in the shape"),
                                         ({"visible": np.ones((2, 3))}, "True and False")])
def test_what_does_not_fit_is_named(more, words):
    q, k, v = drawn(0, 2, 3, 4)
    with pytest.raises(ValueError, match=words):
        attend_in_blocks(q, k, v, **more)
    with pytest.raises(ValueError, match="same number"):
        attend_in_blocks(q, k[:, :2], v)
    with pytest.raises(ValueError, match="each key needs its value"):
        attend_in_blocks(q, k, v[:2])
