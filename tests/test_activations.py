"""Activations and their slopes: values worked elsewhere, plain Python, and slopes as central differences."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from core.activations import ACTIVATIONS, gelu, gelu_slope, logistic, relu, relu_slope, silu, silu_slope

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = (np.float16, np.float32, np.float64)
FUNCTIONS = (relu, relu_slope, gelu, gelu_slope, silu, silu_slope, logistic,
             lambda x: gelu(x, "tanh"), lambda x: gelu_slope(x, "tanh"))
GRID = np.linspace(-6, 6, 121).round(1)


def naive(name, x):
    """One number by plain Python, as the papers write it."""
    return {"relu": lambda: max(x, 0.0), "gelu": lambda: x * NormalDist().cdf(x),
            "gelu_tanh": lambda: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
            "silu": lambda: x / (1 + math.exp(-x)), "swiglu": lambda: x / (1 + math.exp(-x))}[name]()


# --- values ---------------------------------------------------------------------------------------------------------

def test_gelu_at_1_and_at_minus_2_7_in_both_forms():
    """N16."""
    assert_allclose([gelu(1.0), gelu(1.0, "tanh"), gelu(-2.7), gelu(-2.7, "tanh")], [0.84134475, 0.84119199, -0.0093608, -0.0088876],
                    rtol=0, atol=5e-8)


def test_the_two_forms_differ_most_at_2_699_and_gelu_is_least_at_minus_0_7518():
    """N16: the grid -6 … 6, then steps of 1e-5 about the places."""
    assert GRID[np.abs(gelu(GRID) - gelu(GRID, "tanh")).argmax()] in (-2.7, 2.7)
    fine = np.arange(2.6, 2.8, 1e-5)
    gap = np.abs(gelu(fine) - gelu(fine, "tanh"))
    assert gap.max() == pytest.approx(4.7324e-4, abs=5e-9)
    assert fine[gap.argmax()] == pytest.approx(2.69894, abs=2e-5)
    around = np.arange(-0.8, -0.7, 1e-5)
    assert around[gelu(around).argmin()] == pytest.approx(-0.7518, abs=5e-5)
    assert gelu(around).min() == pytest.approx(-0.1699712, abs=5e-8)


def test_at_0_and_at_the_kink():
    assert [float(relu(x)) for x in (-2.0, 0.0, 3.0)] == [0, 0, 3]
    assert [float(relu_slope(x)) for x in (-2.0, -1e-300, 0.0, 1e-300, 3.0)] == [0, 0, 0, 1, 1]
    assert [float(f(0.0)) for f in (gelu, silu, logistic, gelu_slope, silu_slope)] == [0, 0, 0.5, 0.5, 0.5]
    assert (float(gelu(0.0, "tanh")), float(gelu_slope(0.0, "tanh"))) == (0, 0.5)


@pytest.mark.parametrize("name", ACTIVATIONS)
@given(x=st.floats(-30, 30))
def test_every_activation_matches_plain_python(name, x):
    assert float(ACTIVATIONS[name][0](x)) == pytest.approx(naive(name, x), rel=1e-12, abs=1e-14)


def test_the_names_are_those_a_model_can_have():
    assert list(ACTIVATIONS) == ["relu", "gelu", "gelu_tanh", "silu", "swiglu"]


@pytest.mark.parametrize("name", ["gelu", "gelu_tanh", "silu", "swiglu"])
@given(x=st.floats(-8, 8))
def test_every_slope_is_a_central_difference(name, x):
    step = 1e-5
    assert float(ACTIVATIONS[name][1](x)) == pytest.approx((naive(name, x + step) - naive(name, x - step)) / (2 * step), abs=2e-9)


@given(st.floats(-700, 700))
def test_logistic_of_x_and_of_minus_x_sum_to_1(x):
    assert float(logistic(x) + logistic(-x)) == pytest.approx(1, abs=1e-15)
    assert float(logistic(-abs(x))) == pytest.approx(math.exp(-abs(x)) / (1 + math.exp(-abs(x))), rel=1e-14)


@given(st.floats(-20, 20))
def test_gelu_and_silu_of_x_less_those_of_minus_x_are_x(x):
    """x Φ(x) + x Φ(-x) = x; the same for the logistic function and the tanh form."""
    for function in (gelu, silu, lambda y: gelu(y, "tanh")):
        assert float(function(x) - function(-x)) == pytest.approx(x, abs=1e-14)


def test_far_below_0_gelu_keeps_its_digits():
    """Φ(-10) = 7.6198530241605e-24 (Abramowitz & Stegun, table 26.2, to 15 digits); 1 + erf would give 0."""
    assert float(gelu(-10.0)) == pytest.approx(-10 * 7.6198530241605e-24, rel=1e-12)
    assert float(silu(-50.0)) == pytest.approx(-50 * math.exp(-50), rel=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
def test_very_large_numbers_break_nothing(dtype):
    """Far above 0 all are x itself with slope 1, far below 0 they are 0 with slope 0."""
    top = np.finfo(dtype).max
    x = np.array([-top, top, -1000, 1000], dtype)
    for function, slope in ACTIVATIONS.values():
        assert_array_equal(function(x), np.array([0, top, 0, 1000], dtype))
        assert_array_equal(slope(x), [0, 1, 0, 1])


# --- precision, shapes, wrong use -----------------------------------------------------------------------------------

@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_precision_and_shape_are_kept(function, dtype):
    x = np.linspace(-3, 3, 12, dtype=dtype).reshape(2, 1, 6)
    out = function(x)
    assert out.dtype == dtype
    assert out.shape == x.shape
    assert_allclose(out, function(x.astype(np.float64)), rtol=0, atol=4 * 3 * np.finfo(dtype).eps)
    assert function(np.zeros((0, 3), dtype)).shape == (0, 3)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_whole_numbers_become_float64_and_the_input_is_left_alone(function):
    x = np.array([-1, 2])
    assert function(x).dtype == np.float64
    assert_array_equal(x, [-1, 2])


@pytest.mark.parametrize("function", [gelu, gelu_slope])
def test_another_form_is_refused(function):
    with pytest.raises(ValueError, match='forms "none" \\(exact\\) and "tanh", not \'exact\''):
        function(1.0, "exact")
