"""Order: reordered words only reorder the outputs, unless positions or a mask say where they stand; rotary scores know the offset alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from core.attention import causal_mask
from core.order import equal_words, first_rise, gap_dots, largest_gap, offsets, reordered, score_by_offset, shuffled, swapped
from core.positions import sinusoidal
from tests.page_tools import attention_by_hand

pytestmark = pytest.mark.filterwarnings("error")
CASES = ((3, 1), (10, 8), (102, 100))
Q, K = [1.0, 0, 1, 0], [0.5, 1, -1, 2]


def drawn(n, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), *rng.standard_normal((3, d, 4)) / math.sqrt(d)


@given(st.permutations(range(6)))
def test_without_positions_reordered_words_only_reorder_the_outputs(order):
    x, *ws = drawn(6)
    trace = reordered(x, *ws, order)
    assert abs(trace.difference).max() < 1e-12
    assert_allclose(trace.after.mixed, attention_by_hand(x, *ws)["mixed"][list(order)], rtol=0, atol=1e-12)


@pytest.mark.parametrize("added, hides", [(True, False), (False, True), (True, True)])
def test_positions_or_a_causal_mask_make_a_difference(added, hides):
    x, *ws = drawn(5)
    pe, mask, order = sinusoidal(5, 6) if added else np.zeros((5, 6)), causal_mask(5) if hides else None, [4, 3, 2, 1, 0]
    trace = reordered(x, *ws, order, pe, mask)
    before, after = attention_by_hand(x + pe, *ws, mask)["mixed"], attention_by_hand(x[order] + pe, *ws, mask)["mixed"]
    assert_allclose(trace.before.mixed, before, rtol=0, atol=1e-12)
    for word in range(5):
        assert_allclose(trace.difference[word], after[4 - word] - before[word], rtol=0, atol=1e-12)
    assert abs(trace.difference).max() > 0.01


def test_a_cycle_is_matched_by_word_and_not_by_place():
    x, *ws = drawn(3)
    trace = reordered(x, *ws, [1, 2, 0], sinusoidal(3, 6))
    assert_allclose(trace.matched, trace.after.mixed[[2, 0, 1]], rtol=0, atol=0)


def test_swapped_and_shuffled_hold_every_word_once():
    assert swapped(4, 1, 3).tolist() == [0, 3, 2, 1] and swapped(2, 1, 1).tolist() == [0, 1]
    for n in range(6):
        for seed in range(20):
            order = shuffled(n, np.random.default_rng(seed))
            assert sorted(order) == list(range(n)) and (n < 2 or order.tolist() != list(range(n)))


def test_equal_words_and_their_gap():
    assert equal_words(["a", "b", "a", "a", "c"]) == {"a": [0, 2, 3]} and equal_words([]) == {}
    assert largest_gap(np.array([[1.0, 5.0], [4.0, 5.5]])) == 3.0 and largest_gap(np.zeros((0, 3))) == 0.0
    assert first_rise([3, 2, 2, 5]) == 3 and first_rise([2, 1]) is None and first_rise([1]) is None


@pytest.mark.parametrize("d_model", [2, 16, 32])
def test_dots_by_gap_are_the_sum_of_cosines_wherever_they_start(d_model):
    expected = [sum(math.cos(gap / 10000 ** (2 * i / d_model)) for i in range(d_model // 2)) for gap in range(30)]
    for start in (0, 10, 90):
        assert_allclose(gap_dots(start, 30, d_model), expected, rtol=0, atol=1e-11)


def test_dots_by_gap_as_printed(worked):
    for gap, dot in worked["sinusoidal"]["dots_from_10"].items():
        assert gap_dots(10, 21, 16)[int(gap)] == pytest.approx(dot, abs=1e-8)
    assert gap_dots(30, 6, 16)[5] == pytest.approx(worked["sinusoidal"]["dot_30_35"], abs=1e-8)


def turned(x, position, layout):
    """Rotated with complex numbers."""
    d = len(x)
    pairs = [(i, i + d // 2) if layout == "half" else (2 * i, 2 * i + 1) for i in range(d // 2)]
    out = [0.0] * d
    for i, (a, b) in enumerate(pairs):
        z = complex(x[a], x[b]) * complex(math.cos(position / 10000 ** (2 * i / d)), math.sin(position / 10000 ** (2 * i / d)))
        out[a], out[b] = z.real, z.imag
    return out


@pytest.mark.parametrize("of_q, of_k", [("half", "half"), ("interleaved", "interleaved"), ("interleaved", "half")])
def test_offsets_are_the_scores_of_turned_vectors(of_q, of_k):
    trace = offsets(Q, K, 4, 10, of_q, of_k)
    for m in range(4):
        for n in range(4):
            here = np.dot(turned(Q, m, of_q), turned(K, n, of_k))
            there = np.dot(turned(Q, m + 10, of_q), turned(K, n + 10, of_k))
            assert_allclose([trace.scores[m, n], trace.shifted[m, n], trace.difference[m, n]], [here, there, there - here], atol=1e-12)
    assert (abs(trace.difference).max() < 1e-12) == (of_q == of_k)


def test_one_layout_gives_one_score_an_offset_and_mixed_layouts_do_not():
    """N12."""
    found = [score_by_offset(Q, K, n, 3, "interleaved", "interleaved")[m - n] for m, n in CASES]
    assert_allclose(found, -0.25857866, atol=5e-9)
    mixed = [score_by_offset(Q, K, n, 3, "interleaved", "half")[m - n] for m, n in CASES]
    assert_allclose(mixed[:2], [-1.0214, -0.3804], atol=5e-5)
