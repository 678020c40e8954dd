"""Attention in blocks: the numbers of `attend`, any block, any mask; and the memory that is really taken."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.attention import attend, causal_mask
from core.query_blocks import attend_in_blocks, rises, scores_at_once, telling_query


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


@pytest.mark.parametrize("key_block, visible", [(3, causal_mask(24)), (5, None), (24, None)])
def test_the_telling_query_is_the_one_that_rises_most_and_rises_are_counted_by_hand(key_block, visible):
    q, k, v = drawn(3, 24, 24, 4)
    trace = attend_in_blocks(q, k, v, visible, key_block=key_block, keep=True)
    np.testing.assert_allclose(trace.scores, np.where(visible if visible is not None else True, attend(q, k, v).scores, -np.inf))
    counted = []
    for row in trace.scores:
        best, rose = -np.inf, []
        for block, start in enumerate(range(0, 24, key_block)):
            top = max(row[start:start + key_block])
            if top > best > -np.inf:
                rose.append(block)
            best = max(best, top)
        counted.append(rose)
    assert [(np.flatnonzero(row) + 1).tolist() for row in rises(trace.tops)] == counted
    assert telling_query(q, k, v, visible, key_block) == max(range(24), key=lambda i: (len(counted[i]), max(counted[i], default=0), i))
    np.testing.assert_allclose(trace.added.sum(axis=1), [  # what each block added, under the largest score of its time
        sum(np.exp(score - max(row[:(j // key_block + 1) * key_block])) for j, score in enumerate(row) if score > -np.inf)
        for row in trace.scores])
    assert attend_in_blocks(q, k, v, visible, key_block=key_block).scores is None


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
