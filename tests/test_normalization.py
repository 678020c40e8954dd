"""Normalisation: each token's own features, divided by n, with eps inside the root; and nothing breaks where all are equal."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from core.normalization import batch_norm, batch_statistics, layer_norm, rms_norm, trace_layer_norm, trace_rms_norm

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = (np.float16, np.float32, np.float64)
VECTORS = hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=6), elements=st.floats(-1e3, 1e3))
NORMS = pytest.mark.parametrize("norm", [layer_norm, rms_norm])


def naive(row, centre, gain, offset, eps):
    """One vector by plain Python: mean, mean of squares, what comes out before and after gain and offset."""
    n = len(row)
    mean = math.fsum(row) / n if centre else 0.0
    squares = math.fsum((value - mean) ** 2 for value in row) / n
    normalised = [(value - mean) / math.sqrt(squares + eps) for value in row]
    return mean, squares, normalised, [value * g + o for value, g, o in zip(normalised, gain, offset)]


# --- worked by hand -------------------------------------------------------------------------------------------------

def test_layer_norm_divides_by_n():
    """N14: n - 1 would give [1.5, -0.5, -0.5, -0.5]."""
    assert_allclose(layer_norm([1.0, 0, 0, 0]), [1.7320046213947808, *[-0.5773348737982603] * 3], rtol=0, atol=1e-14)
    assert_allclose(layer_norm([1.0, 2, 3, 4]), [-1.3416354199689269, -0.447211806656309, 0.447211806656309, 1.3416354199689269],
                    rtol=0, atol=1e-14)


def test_eps_stands_inside_the_root():
    """N14: added to the standard deviation it would give ±0.909, 29 times as much."""
    small = 1e-4 * np.array([1.0, -1, 1, -1])
    assert_allclose(layer_norm(small), [0.0316069770620507, -0.0316069770620507] * 2, rtol=0, atol=1e-15)
    assert_allclose(rms_norm(small, eps=1e-5), layer_norm(small), rtol=0, atol=1e-15)
    assert_allclose(rms_norm(small), small / math.sqrt(1e-8 + 1e-6), rtol=1e-12)  # eps is 1e-6 unless given


def test_rms_norm_does_not_centre():
    """N14."""
    out = rms_norm([1.0, 2, 3, 4])
    assert_allclose(out, [0.3651483473268884, 0.7302966946537768, 1.0954450419806652, 1.4605933893075536], rtol=0, atol=1e-14)
    assert out.mean().round(3) == 0.913


def test_traces_by_hand():
    """[1, 3, 3, 5]: mean 3, squared distances 4, 0, 0, 4. [1, 1, 1, 5]: squares 1, 1, 1, 25."""
    layer = trace_layer_norm([1.0, 3, 3, 5], [2.0, 1, 1, 2], [0.0, 1, 0, 10], eps=2.0)
    assert layer._fields == ("mean", "variance", "normalised", "out")
    for field, expected in zip(layer, ([3], [2], [-1, 0, 0, 1], [-2, 1, 0, 12])):
        assert_array_equal(field, expected)
    rms = trace_rms_norm([1.0, 1, 1, 5], [1.0, 2, 3, 4], eps=2.0)
    assert rms._fields == ("mean_square", "normalised", "out")
    for field, expected in zip(rms, ([7], [1 / 3, 1 / 3, 1 / 3, 5 / 3], [1 / 3, 2 / 3, 1, 20 / 3])):
        assert_allclose(field, expected, rtol=1e-15)


# --- against plain Python -------------------------------------------------------------------------------------------

@given(VECTORS, st.sampled_from([1e-8, 1e-5, 0.1]), st.booleans(), st.booleans())
def test_both_norms_match_plain_python(x, eps, with_gain, with_offset):
    rng = np.random.default_rng(0)
    gain, offset = (rng.normal(size=x.shape[-1]) if wanted else None for wanted in (with_gain, with_offset))
    gains, offsets = (gain if with_gain else np.ones(x.shape[-1])), (offset if with_offset else np.zeros(x.shape[-1]))
    layer, rms = trace_layer_norm(x, gain, offset, eps), trace_rms_norm(x, gain, eps)
    for index in np.ndindex(x.shape[:-1]):
        expected = naive(x[index].tolist(), True, gains, offsets, eps)
        for field, wanted in zip(layer, expected):
            assert_allclose(np.squeeze(field[index]), np.squeeze(wanted), rtol=1e-8, atol=1e-8)
        _, *expected = naive(x[index].tolist(), False, gains, np.zeros(x.shape[-1]), eps)
        for field, wanted in zip(rms, expected):
            assert_allclose(np.squeeze(field[index]), np.squeeze(wanted), rtol=1e-10, atol=1e-10)
    assert layer.mean.shape == layer.variance.shape == rms.mean_square.shape == (*x.shape[:-1], 1)


# --- laws -----------------------------------------------------------------------------------------------------------

@given(st.floats(-1e300, 1e300), st.integers(1, 9), st.sampled_from([0.0, 1e-5]))
def test_a_constant_vector_becomes_exactly_0(value, width, eps):
    """N14: also where the mean itself is rounded, as that of three times 0.1, and where eps is 0."""
    out = trace_layer_norm(np.full((2, width), value), eps=eps)
    assert_array_equal(out.out, 0)
    assert_array_equal(out.variance, 0)
    assert_array_equal(out.mean, value)
    assert_array_equal(layer_norm(np.full(width, value), offset=np.arange(width), eps=eps), np.arange(width))


def test_a_vector_of_zeros_stays_0_without_eps():
    assert_array_equal(rms_norm([0.0, 0.0], eps=0.0), 0)


def test_a_single_feature_becomes_0():
    """N14: d = 1."""
    assert_array_equal(layer_norm([[5.0], [-1e-3]]), 0)


@given(VECTORS)
def test_what_comes_out_has_mean_0_and_mean_square_below_1(x):
    layer, rms = trace_layer_norm(x), trace_rms_norm(x)
    assert_allclose(layer.out.mean(axis=-1), 0, rtol=0, atol=1e-9)
    assert_allclose((layer.out**2).mean(axis=-1), (layer.variance / (layer.variance + 1e-5))[..., 0], rtol=1e-7, atol=1e-12)
    assert_allclose((rms.out**2).mean(axis=-1), (rms.mean_square / (rms.mean_square + 1e-6))[..., 0], rtol=1e-9)


@NORMS
@given(x=VECTORS, seed=st.integers(0, 99))
def test_features_in_another_order_come_out_in_that_order(norm, x, seed):
    order = np.random.default_rng(seed).permutation(x.shape[-1])
    assert_allclose(norm(x[..., order]), norm(x)[..., order], rtol=1e-7, atol=1e-7)


@NORMS
@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e4])
def test_without_eps_the_size_of_a_vector_does_not_matter(norm, factor):
    x = np.random.default_rng(0).normal(size=(4, 6))
    assert_allclose(norm(x * factor, eps=0.0), norm(x, eps=0.0), rtol=1e-10)
    assert_allclose(norm(-x, eps=0.0), -norm(x, eps=0.0), rtol=1e-10)


def test_only_layer_norm_forgets_what_is_added_to_every_feature():
    x = np.random.default_rng(1).normal(size=(4, 6))
    assert_allclose(layer_norm(x + 3), layer_norm(x), rtol=0, atol=1e-12)
    assert np.abs(rms_norm(x + 3) - rms_norm(x)).max() > 0.1


@NORMS
def test_no_token_looks_at_another_and_the_input_is_left_alone(norm):
    x = np.random.default_rng(2).normal(size=(2, 3, 4))
    before, out = x.copy(), norm(x)
    assert_array_equal(x, before)
    x[1, 2] += 100
    assert_array_equal(np.delete(norm(x).reshape(6, 4), 5, 0), np.delete(out.reshape(6, 4), 5, 0))


# --- batch statistics -----------------------------------------------------------------------------------------------

def test_batch_statistics_run_over_the_tokens():
    """Columns [1, 3] and [0, 4] by hand: means 2 and 2, variances 1 and 4."""
    x = np.array([[1.0, 0.0], [3.0, 4.0]])
    mean, variance = batch_statistics(x)
    assert_array_equal(mean, [2, 2])
    assert_array_equal(variance, [1, 4])
    assert_allclose(batch_norm(x, eps=5.0), [[-1 / math.sqrt(6), -2 / 3], [1 / math.sqrt(6), 2 / 3]], rtol=1e-15)
    assert_array_equal(batch_norm(x, eps=0.0), [[-1, -1], [1, 1]])
    assert_allclose(batch_norm(x), [[-1 / math.sqrt(1.00001), -2 / math.sqrt(4.00001)], [1 / math.sqrt(1.00001), 2 / math.sqrt(4.00001)]])


def test_with_batch_statistics_every_token_moves_when_one_changes():
    x = np.random.default_rng(3).normal(size=(4, 3))
    other = x.copy()
    other[3] += 1
    assert (np.abs(batch_norm(other) - batch_norm(x)).max(axis=-1) > 1e-3).all()
    assert_array_equal(layer_norm(other)[:3], layer_norm(x)[:3])


# --- precision and wrong use ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", FLOATS)
def test_every_field_keeps_the_precision(dtype):
    x, gain = np.arange(6, dtype=dtype).reshape(2, 3), np.ones(3)
    for trace in (trace_layer_norm(x, gain, gain), trace_layer_norm(x), trace_rms_norm(x, gain), trace_rms_norm(x), batch_statistics(x)):
        assert {field.dtype for field in trace} == {np.dtype(dtype)}
    assert {function(x).dtype for function in (layer_norm, rms_norm, batch_norm)} == {np.dtype(dtype)}


def test_whole_numbers_become_float64():
    assert layer_norm([1, 3]).dtype == rms_norm(np.array([1, 3], np.int8)).dtype == np.float64


def test_a_float16_whose_square_overflows_is_normalised_all_the_same():
    x = np.array([300, -300, 300, -300], np.float16)
    assert_array_equal(layer_norm(x), [1, -1, 1, -1])
    assert_array_equal(rms_norm(x), [1, -1, 1, -1])
    assert_array_equal(trace_layer_norm(x).variance, np.float16(np.inf))


@pytest.mark.parametrize("shape", [(0,), (3, 0), ()])
@NORMS
def test_vectors_without_features_are_refused(norm, shape):
    with pytest.raises(ValueError, match=r"at least 1 feature, not an array of shape \("):
        norm(np.zeros(shape))


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_gain_or_an_offset_of_another_width_is_refused(size):
    x, values = np.zeros((2, 3)), np.ones(size)
    for call, name in ((lambda: layer_norm(x, values), "gain"), (lambda: layer_norm(x, None, values), "offset"),
                       (lambda: rms_norm(x, values), "gain")):
        with pytest.raises(ValueError, match=rf"have 3 features, so {name} needs the shape \(3,\), not \({size},\)"):
            call()


def test_batch_statistics_need_a_token():
    for function in (batch_norm, batch_statistics):
        with pytest.raises(ValueError, match="at least 1 feature"):
            function(np.zeros((0, 3)))
