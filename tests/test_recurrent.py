"""The recurrent network: plain Python, gradients as finite differences, and how far the past reaches."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from core.recurrent import orthogonal, recurrent, recurrent_gradients, state_jacobians

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = (np.float16, np.float32, np.float64)
BEND = pytest.mark.parametrize("bend", [True, False])


def drawn(seed, n_steps=4, d_in=3, d_state=2):
    """x, params, start, d_states."""
    rng = np.random.default_rng(seed)
    params = {"w_x": rng.normal(size=(d_in, d_state)), "w_h": rng.normal(size=(d_state, d_state)) * 0.7, "b": rng.normal(size=d_state)}
    return rng.normal(size=(n_steps, d_in)), params, rng.normal(size=d_state), rng.normal(size=(n_steps, d_state))


def naive_states(x, params, start, bend):
    """Lists of numbers, one step after the other."""
    plain, states = {name: np.asarray(array).tolist() for name, array in params.items()}, [list(start)]
    for row in x:
        pre = [math.fsum([*(v * plain["w_x"][i][c] for i, v in enumerate(row)), *(s * plain["w_h"][i][c] for i, s in enumerate(states[-1])),
                          plain["b"][c] if "b" in plain else 0.0]) for c in range(len(start))]
        states.append([math.tanh(p) if bend else p for p in pre])
    return states


# --- the run --------------------------------------------------------------------------------------------------------

def test_by_hand():
    """1 · 2 + 3 · 0.5 + 1 = 4.5, then 0 · 2 + 4.5 · 0.5 + 1 = 3.25."""
    params = {"w_x": np.array([[2.0]]), "w_h": np.array([[0.5]]), "b": np.array([1.0])}
    trace = recurrent([[1.0], [0.0]], params, [3.0], bend=False)
    assert trace._fields == ("pre", "states")
    assert_array_equal(trace.pre, [[4.5], [3.25]])
    assert_array_equal(trace.states, [[3], [4.5], [3.25]])
    assert_allclose(recurrent([[1.0]], params).states, [[0], [math.tanh(3)]], rtol=1e-15)


@BEND
@given(seed=st.integers(0, 999), n_steps=st.integers(0, 5), d_in=st.integers(1, 3), d_state=st.integers(1, 3), bias=st.booleans())
def test_it_matches_plain_python(bend, seed, n_steps, d_in, d_state, bias):
    x, params, start, _ = drawn(seed, n_steps, d_in, d_state)
    if not bias:
        del params["b"]
    trace = recurrent(x, params, start, bend)
    assert trace.pre.shape == (n_steps, d_state)
    expected = naive_states(x.tolist(), params, start.tolist(), bend)
    assert_allclose(trace.states, expected, rtol=1e-12, atol=1e-12)
    assert_allclose(np.tanh(trace.pre) if bend else trace.pre, trace.states[1:], rtol=0, atol=0)
    assert_allclose(recurrent(x, params, bend=bend).states, naive_states(x.tolist(), params, [0.0] * d_state, bend), rtol=1e-12, atol=1e-12)


@BEND
def test_a_later_step_never_changes_an_earlier_state_and_a_run_can_be_resumed(bend):
    x, params, start, _ = drawn(1, 5)
    whole = recurrent(x, params, start, bend)
    other = x.copy()
    other[3] += 1
    assert_array_equal(recurrent(other, params, start, bend).states[:4], whole.states[:4])
    assert np.abs(recurrent(other, params, start, bend).states[4:] - whole.states[4:]).max(axis=-1).min() > 1e-6
    first = recurrent(x[:2], params, start, bend)
    assert_allclose(recurrent(x[2:], params, first.states[-1], bend).states, whole.states[2:], rtol=0, atol=1e-14)


# --- gradients ------------------------------------------------------------------------------------------------------

@BEND
@pytest.mark.parametrize(("seed", "n_steps", "d_in", "d_state"), [(0, 4, 3, 2), (1, 1, 1, 1), (2, 6, 2, 4), (3, 0, 2, 2)])
def test_every_gradient_is_a_central_difference(bend, seed, n_steps, d_in, d_state):
    """The loss is Σ d_states · states, by plain Python."""
    x, params, start, d_states = drawn(seed, n_steps, d_in, d_state)
    gradients = recurrent_gradients(x, params, recurrent(x, params, start, bend), d_states, bend)
    inputs = {**params, "x": x, "start": start}
    assert gradients.keys() == inputs.keys()

    def loss():
        states = naive_states(inputs["x"].tolist(), {name: inputs[name] for name in params}, inputs["start"].tolist(), bend)
        return math.fsum(d * s for row, state in zip(d_states.tolist(), states[1:]) for d, s in zip(row, state))

    for name, array in inputs.items():
        assert gradients[name].shape == array.shape
        for index in np.ndindex(array.shape):
            kept, slope = array[index], 0.0
            for step in (1e-5, -1e-5):
                array[index] = kept + step
                slope += loss() / (2 * step)
            array[index] = kept
            assert gradients[name][index] == pytest.approx(slope, rel=1e-7, abs=1e-8)


@BEND
def test_a_jacobian_carries_a_gradient_of_the_last_state_back_to_any_state(bend):
    """Row by row: the gradient of feature i of the last state for the start is row i of jacobian[0]."""
    x, params, start, _ = drawn(4, 5, 2, 3)
    trace = recurrent(x, params, start, bend)
    jacobians = state_jacobians(params, trace, bend)
    assert jacobians.shape == (6, 3, 3)
    assert_array_equal(jacobians[5], np.eye(3))
    for feature in range(3):
        d_states = np.zeros((5, 3))
        d_states[-1, feature] = 1
        assert_allclose(recurrent_gradients(x, params, trace, d_states, bend)["start"], jacobians[0, feature], rtol=0, atol=1e-13)


@BEND
@pytest.mark.parametrize("t", [0, 2, 3])
def test_a_jacobian_is_how_the_last_state_moves_with_state_t(bend, t):
    """Column j is a central difference in feature j of state t, run on from there by plain Python."""
    x, params, start, _ = drawn(5, 4, 2, 3)
    trace = recurrent(x, params, start, bend)
    for j in range(3):
        ends = [naive_states(x[t:].tolist(), params, (trace.states[t] + step * np.eye(3)[j]).tolist(), bend)[-1] for step in (1e-5, -1e-5)]
        assert_allclose(state_jacobians(params, trace, bend)[t, :, j], np.subtract(*ends) / 2e-5, rtol=0, atol=1e-9)


# --- how far the past reaches ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("rho", [0.5, 0.9, 1.0, 1.1, 2.0])
@pytest.mark.parametrize("size", [1, 2, 8])
def test_without_tanh_the_past_fades_or_grows_as_rho_to_the_distance(rho, size):
    rng = np.random.default_rng(6)
    params = {"w_x": rng.normal(size=(3, size)), "w_h": rho * orthogonal(size, rng)}
    jacobians = state_jacobians(params, recurrent(rng.normal(size=(30, 3)), params, bend=False), bend=False)
    assert_allclose(np.linalg.norm(jacobians, 2, axis=(1, 2)), [rho ** (30 - t) for t in range(31)], rtol=1e-10)


def test_with_tanh_less_reaches_back_than_without():
    rng = np.random.default_rng(7)
    params = {"w_x": rng.normal(size=(3, 8)), "w_h": 0.9 * orthogonal(8, rng)}
    norms = np.linalg.norm(state_jacobians(params, recurrent(rng.normal(size=(20, 3)), params)), 2, axis=(1, 2))
    assert all(norm < 0.9 ** (20 - t) for t, norm in enumerate(norms[:-1]))
    assert norms[-1] == 1


@given(st.integers(1, 8), st.integers(0, 99))
def test_an_orthogonal_matrix_changes_no_length(size, seed):
    matrix = orthogonal(size, np.random.default_rng(seed))
    assert matrix.shape == (size, size)
    assert matrix.dtype == np.float64
    assert_allclose(matrix.T @ matrix, np.eye(size), rtol=0, atol=1e-13)
    assert_array_equal(matrix, orthogonal(size, np.random.default_rng(seed)))


def test_orthogonal_matrices_lean_to_no_side():
    """Uniform over all of them (Mezzadri): every entry has mean 0 and variance 1/size; half of them mirror. Plain QR fails this."""
    rng = np.random.default_rng(8)
    matrices = np.array([orthogonal(3, rng) for _ in range(4000)])
    assert np.abs(matrices.mean(axis=0)).max() < 5 / math.sqrt(3 * 4000)
    assert np.abs((matrices**2).mean(axis=0) - 1 / 3).max() < 0.03
    assert abs((np.linalg.det(matrices) > 0).mean() - 0.5) < 0.05


# --- precision and wrong use ----------------------------------------------------------------------------------------

@BEND
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_field_and_gradient_keeps_the_precision(bend, dtype):
    x, params, start, d_states = drawn(9)
    x, start, d_states = (array.astype(dtype) for array in (x, start, d_states))
    params = {name: array.astype(dtype) for name, array in params.items()}
    trace = recurrent(x, params, start, bend)
    gradients = recurrent_gradients(x, params, trace, d_states, bend)
    found = [*trace, *gradients.values(), state_jacobians(params, trace, bend), *recurrent(x, params, None, bend)]
    assert {array.dtype for array in found} == {np.dtype(dtype)}


@pytest.mark.parametrize(("change", "sentence"), [
    ({"x": np.ones((4, 2))}, r"w_x has 3 rows, so x needs the shape \(n_steps, 3\), not \(4, 2\)"),
    ({"x": np.ones(3)}, r"x needs the shape \(n_steps, 3\), not \(3,\)"),
    ({"w_h": np.ones((2, 3))}, r"states of width 2, so w_h needs the shape \(2, 2\), not \(2, 3\)"),
    ({"w_h": np.ones((3, 3))}, r"w_h needs the shape \(2, 2\), not \(3, 3\)"),
    ({"b": np.ones(1)}, r"b must have the shape \(2,\), not \(1,\)"),
    ({"start": np.ones(3)}, r"start must have the shape \(2,\), not \(3,\)"),
])
def test_sizes_that_do_not_fit_are_named(change, sentence):
    x, params, start, _ = drawn(10)
    given = {"x": x, "start": start, **params, **change}
    with pytest.raises(ValueError, match=sentence):
        recurrent(given["x"], {name: given[name] for name in params}, given["start"])


def test_gradients_for_other_states_are_refused():
    x, params, start, d_states = drawn(11)
    with pytest.raises(ValueError, match=r"4 states of width 2 .* needs the shape \(4, 2\), not \(5, 2\)"):
        recurrent_gradients(x, params, recurrent(x, params, start), np.ones((5, 2)))
