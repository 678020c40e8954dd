"""Softmax: shares of 1 for any scores, in any float precision, with nothing overflowing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from core.softmax import as_float, log_softmax, softmax, softmax_jacobian, softmax_without_shift

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = (np.float16, np.float32, np.float64)
OF_0_1_2 = [0.09003057, 0.24472847, 0.66524096]  # e^i / (1 + e + e²)
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, max_side=6)


def scores_within(bound, dtype=np.float64):
    return hnp.arrays(dtype, SHAPES, elements=st.floats(-bound, bound, width=np.finfo(dtype).bits))


def naive_softmax(row, temperature=1.0):
    """Plain Python: exp(s / T) over their sum, with the largest score subtracted."""
    top = max(row)
    raised = [math.exp((s - top) / temperature) for s in row]
    return [r / math.fsum(raised) for r in raised]


# --- against plain Python -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 4), (5, 1, 2)])
def test_every_axis_matches_plain_python(shape, axis, temperature):
    x = np.random.default_rng(0).normal(0, 3, shape)
    rows = np.moveaxis(softmax(x, axis, temperature), axis, -1).reshape(-1, shape[axis])
    logs = np.moveaxis(log_softmax(x, axis), axis, -1).reshape(-1, shape[axis])
    for i, row in enumerate(np.moveaxis(x, axis, -1).reshape(-1, shape[axis]).tolist()):
        assert_allclose(rows[i], naive_softmax(row, temperature), rtol=1e-13)
        assert_allclose(logs[i], [s - math.log(math.fsum(math.exp(t) for t in row)) for s in row], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("temperature", "expected"), [
    (0.5, [0.8668133321973347, 0.11731042782619835, 0.015876239976466762]),
    (1.0, OF_0_1_2[::-1]),
    (2.0, [0.506480391055654, 0.3071958857184984, 0.1863237232258476]),
    (100.0, [0.3366722, 0.3333222, 0.3300056]),
])
def test_low_temperature_sharpens_and_high_flattens(temperature, expected):
    """N21 for temperatures above 0."""
    assert_allclose(softmax([2.0, 1.0, 0.0], temperature=temperature), expected, rtol=0, atol=5e-8)


# --- large, hidden and odd scores -----------------------------------------------------------------------------------

def test_a_row_that_sees_nothing_is_all_zeros():
    """N01."""
    weights = softmax([[1, 2, 3], [-np.inf, -np.inf, -np.inf]])
    assert_allclose(weights[0], OF_0_1_2, rtol=0, atol=1e-8)
    assert_array_equal(weights[1], [0, 0, 0])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (2, 0), (0, 3)])
def test_rows_of_minus_infinity_give_zeros_and_their_logarithms_minus_infinity(shape, dtype):
    """N01 in every precision and for empty rows."""
    hidden = np.full(shape, -np.inf, dtype)
    assert_array_equal(softmax(hidden), np.zeros(shape))
    assert_array_equal(log_softmax(hidden), hidden)


def test_a_score_of_minus_infinity_gets_exactly_0_and_leaves_the_rest_alone():
    assert_array_equal(softmax([0.0, -np.inf, 0.0]), [0.5, 0.0, 0.5])
    assert_array_equal(log_softmax([0.0, -np.inf]), [0.0, -np.inf])


@pytest.mark.parametrize(("scores", "dtype"), [
    ([1000, 1001, 1002], np.float64), ([-1002, -1001, -1000], np.float64), ([88, 89, 90], np.float32), ([11, 12, 13], np.float16),
])
def test_large_scores_do_not_overflow_and_without_the_shift_they_do(scores, dtype):
    """N03."""
    scores = np.array(scores, dtype)
    assert_allclose(softmax(scores), OF_0_1_2, rtol=0, atol={np.float16: 1e-3, np.float32: 1e-7, np.float64: 1e-8}[dtype])
    assert np.isnan(softmax_without_shift(scores)).any()


def test_the_same_large_scores_in_falling_order():
    """N03, as written: [-1000, -1001, -1002]."""
    assert_allclose(softmax([-1000, -1001, -1002]), OF_0_1_2[::-1], rtol=0, atol=1e-8)


@pytest.mark.parametrize(("dtype", "bound"), [(np.float16, 6e4), (np.float32, 1e4), (np.float32, 3e38), (np.float64, 1.7e308)])
@given(data=st.data())
def test_finite_scores_give_finite_weights(data, dtype, bound):
    """N03 for any scores, up to the edge of the precision."""
    bound = float(dtype(bound))
    weights = softmax(data.draw(hnp.arrays(dtype, SHAPES, elements=st.floats(-bound, bound, width=np.finfo(dtype).bits))))
    assert np.isfinite(weights).all()
    assert ((weights >= 0) & (weights <= 1)).all()
    assert_allclose(weights.sum(axis=-1, dtype=np.float64), 1, rtol=0, atol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("bad", [[np.nan, 1.0], [np.inf, 1.0], [np.inf, -np.inf]])
def test_nan_and_plus_infinity_stay_visible_as_nan(bad):
    assert np.isnan(softmax(bad)).all()


def test_log_softmax_stays_finite_where_the_weight_rounds_to_0():
    assert_array_equal(softmax([0.0, -2000.0]), [1, 0])
    assert_array_equal(log_softmax([0.0, -2000.0]), [0, -2000])


def test_rows_not_columns_sum_to_1():
    """N06."""
    weights = softmax([[1, 2], [3, 5]])
    assert_allclose(weights, [[0.26894142, 0.73105858], [0.11920292, 0.88079708]], rtol=0, atol=1e-8)
    assert_allclose(softmax([[1, 2], [3, 5]], axis=0), [[0.11920292, 0.04742587], [0.88079708, 0.95257413]], rtol=0, atol=1e-8)


@pytest.mark.parametrize(("dtype", "score", "temperature"), [(np.float16, 6e4, 1e5), (np.float32, 3e38, 1e38)])
def test_a_high_temperature_brings_scores_together_whose_distance_the_precision_cannot_hold(dtype, score, temperature):
    score = dtype(score)
    first = 1 / (1 + math.exp(-2 * float(score) / temperature))
    assert_allclose(softmax(np.array([score, -score]), temperature=temperature), [first, 1 - first], rtol=0, atol=1e-3)


# --- properties -----------------------------------------------------------------------------------------------------

@given(scores_within(50), st.data())
def test_weights_sum_to_1_along_the_axis(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    weights = softmax(x, axis)
    assert weights.shape == x.shape
    assert (weights > 0).all()
    assert_allclose(weights.sum(axis=axis), 1, rtol=0, atol=1e-14)


@given(scores_within(50), st.floats(-50, 50))
def test_the_same_number_added_to_every_score_changes_nothing(x, c):
    assert_allclose(softmax(x + c), softmax(x), rtol=0, atol=1e-13)
    assert_allclose(log_softmax(x + c), log_softmax(x), rtol=0, atol=1e-12)


@given(scores_within(50), st.floats(0.05, 20))
def test_temperature_divides_the_scores(x, temperature):
    assert_allclose(softmax(x, temperature=temperature), softmax(x / temperature), rtol=0, atol=1e-12)


@given(scores_within(300))
def test_log_softmax_is_the_logarithm_of_softmax(x):
    assert_allclose(log_softmax(x), np.log(softmax(x)), rtol=0, atol=1e-11)


@given(scores_within(20))
def test_without_the_shift_small_scores_give_the_same(x):
    assert_allclose(softmax_without_shift(x), softmax(x), rtol=1e-12)


@given(scores_within(20))
def test_a_higher_score_never_has_a_lower_weight(x):
    by_score = np.take_along_axis(softmax(x), np.argsort(x, axis=-1), axis=-1)
    assert (np.diff(by_score, axis=-1) >= 0).all()


# --- precision ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("function", [
    as_float, softmax, log_softmax, softmax_jacobian, softmax_without_shift, lambda x: softmax(x, temperature=np.float64(0.7)),
    lambda x: softmax(x, axis=0), lambda x: softmax(np.where(x > 1, x, x.dtype.type(-np.inf))),
])
@pytest.mark.parametrize("dtype", FLOATS)
def test_float_precision_is_kept(function, dtype):
    assert function(np.array([[0, 1], [2, 3]], dtype)).dtype == dtype


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64])
@pytest.mark.parametrize("function", [as_float, softmax, log_softmax, softmax_jacobian, softmax_without_shift])
def test_whole_numbers_become_float64(function, dtype):
    result = function(np.array([[0, 1]], dtype))
    assert result.dtype == np.float64
    assert_array_equal(result, function(np.array([[0.0, 1.0]])))


def test_as_float_hands_floats_back_as_they_are_and_softmax_leaves_its_input_alone():
    x = np.array([1.0, 2.0])
    assert as_float(x) is x
    softmax(x, temperature=2.0), log_softmax(x), softmax_without_shift(x)
    assert_array_equal(x, [1.0, 2.0])


# --- the derivative -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_jacobian_is_the_slope_of_every_weight(n):
    """Column j is a central difference of softmax in score j, by plain Python."""
    row = np.random.default_rng(n).normal(size=n).tolist()
    jacobian = softmax_jacobian(naive_softmax(row))
    for j in range(n):
        up, down = ([s + step * (i == j) for i, s in enumerate(row)] for step in (1e-5, -1e-5))
        slope = [(a - b) / 2e-5 for a, b in zip(naive_softmax(up), naive_softmax(down))]
        assert_allclose(jacobian[:, j], slope, rtol=0, atol=1e-9)


@given(scores_within(10))
def test_the_jacobian_is_symmetric_and_its_rows_sum_to_0(x):
    jacobian = softmax_jacobian(softmax(x))
    assert jacobian.shape == (*x.shape, x.shape[-1])
    assert_array_equal(jacobian, jacobian.swapaxes(-1, -2))
    assert_allclose(jacobian.sum(axis=-1), 0, rtol=0, atol=1e-15)


# --- wrong use ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("temperature", [0, -1, -0.5, math.nan, math.inf, -math.inf])
def test_a_temperature_that_is_not_a_finite_number_above_0_is_refused(temperature):
    with pytest.raises(ValueError, match=rf"{temperature}.*finite number above 0"):
        softmax([1.0, 2.0], temperature=temperature)


@pytest.mark.parametrize("temperature", [1e-3, 1e-8, 1e-50, 1e-300])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_temperature_close_to_0_gives_all_to_the_largest_score(dtype, temperature):
    """Any temperature above 0 is allowed, also one that the precision of the scores rounds to 0."""
    assert_array_equal(softmax(np.array([1, 2, 3], dtype), temperature=temperature), [0, 0, 1])
    assert_array_equal(softmax(np.array([3, 3, 1], dtype), temperature=temperature), [0.5, 0.5, 0])
