"""Sinusoidal positions: the formula, odd widths, and distances that depend on the step alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from core.positions import sinusoidal

pytestmark = pytest.mark.filterwarnings("error")


def test_sinusoidal_first_rows(worked):
    example = worked["sinusoidal"]
    assert_array_equal(sinusoidal(example["n"], example["d"])[:3, :6].round(2), example["first_rows_2dp"])


def test_sinusoidal_dots(worked):
    """Nearer positions are more alike: row 10 with itself is d/2, and falls off; 30 and 35 are as alike as 10 and 15."""
    example = worked["sinusoidal"]
    pe = sinusoidal(example["n"], example["d"])
    for step, dot in example["dots_from_10"].items():
        assert pe[10] @ pe[10 + int(step)] == pytest.approx(dot, abs=1e-8)
    assert pe[30] @ pe[35] == pytest.approx(example["dot_30_35"], abs=1e-8)
    assert pe[30] @ pe[35] == pytest.approx(pe[10] @ pe[15], abs=1e-12)


def test_an_odd_width_ends_with_a_lone_sine():
    """N10: d = 5, row 1."""
    pe = sinusoidal(4, 5)
    assert pe.shape == (4, 5)
    assert_allclose(pe[1], [0.8414710, 0.5403023, 0.0251162, 0.9996845, 0.0006310], rtol=0, atol=5e-8)


@pytest.mark.parametrize("d_model", [*range(1, 10), 64, 65])
@pytest.mark.parametrize("n_positions", [0, 1, 2, 4, 100])
def test_every_width_follows_the_formula(n_positions, d_model):
    """N10: feature 2i is sin(p / 10000^(2i/d)), feature 2i + 1 is the cosine of the same, in plain Python."""
    pe = sinusoidal(n_positions, d_model)
    assert pe.shape == (n_positions, d_model)
    assert pe.dtype == np.float64
    for p in range(n_positions):
        expected = [(math.cos if feature % 2 else math.sin)(p / 10000 ** (feature // 2 * 2 / d_model)) for feature in range(d_model)]
        assert_allclose(pe[p], expected, rtol=0, atol=1e-12)


def test_a_width_of_1_is_the_sine_of_the_position():
    """N10: d = 1."""
    assert_allclose(sinusoidal(9, 1)[:, 0], [math.sin(p) for p in range(9)], rtol=0, atol=1e-15)


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 100), st.sampled_from([2, 4, 16, 64]))
def test_the_dot_of_two_positions_depends_on_the_step_between_them_alone(a, b, step, d_model):
    pe = sinusoidal(201, d_model)
    assert pe[a] @ pe[a + step] == pytest.approx(pe[b] @ pe[b + step], abs=1e-11)
    assert pe[a] @ pe[a] == pytest.approx(d_model / 2, abs=1e-12)


@pytest.mark.parametrize("step", [1, 7])
def test_a_step_turns_every_pair_by_the_same_angle_wherever_it_starts(step):
    """pe[p + k] = R(k) pe[p]: complex number cos + i·sin of each pair, times e^(i·k·frequency)."""
    d_model = 16
    pe = sinusoidal(50, d_model)
    pairs = pe[:, 1::2] + 1j * pe[:, 0::2]
    turn = [complex(math.cos(a), math.sin(a)) for a in (step / 10000 ** (2 * i / d_model) for i in range(d_model // 2))]
    assert_allclose(pairs[step:], pairs[:-step] * turn, rtol=0, atol=1e-12)


def test_more_positions_leave_the_first_ones_alone():
    assert_array_equal(sinusoidal(50, 7)[:5], sinusoidal(5, 7))


@pytest.mark.parametrize(("n_positions", "d_model"), [(-1, 4), (4, 0), (4, -2), (-3, 0)])
def test_sizes_that_cannot_be_are_refused(n_positions, d_model):
    with pytest.raises(ValueError, match=f"n_positions of 0 or more and d_model of 1 or more, not {n_positions} and {d_model}"):
        sinusoidal(n_positions, d_model)
