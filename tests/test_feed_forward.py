"""The feed-forward layer: plain Python for every activation, and no token that looks at another."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from core.activations import ACTIVATIONS
from core.feed_forward import feed_forward

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = (np.float16, np.float32, np.float64)
EVERY = pytest.mark.parametrize("activation", list(ACTIVATIONS))


def random_params(seed, d_model=3, d_ff=5, biases=True):
    """Parameters of every kind; a gate too, which only swiglu reads."""
    rng = np.random.default_rng(seed)
    shapes = {"w_in": (d_model, d_ff), "w_out": (d_ff, d_model), "w_gate": (d_model, d_ff)}
    shapes |= {"b_in": d_ff, "b_out": d_model} if biases else {}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def bend(activation, x):
    if activation == "relu":
        return max(x, 0.0)
    if activation == "gelu":
        return x * (1 + math.erf(x / math.sqrt(2))) / 2
    if activation == "gelu_tanh":
        return x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    return x / (1 + math.exp(-x))


def naive_feed_forward(token, params, activation):
    """One token as lists of numbers; gives the fields of the trace."""
    def times(vector, matrix, bias):
        return [math.fsum(v * matrix[i][c] for i, v in enumerate(vector)) + bias[c] for c in range(len(matrix[0]))]

    plain = {name: array.tolist() for name, array in params.items()}
    d_ff, d_model = len(plain["w_in"][0]), len(plain["w_in"])
    linear = times(token, plain["w_in"], plain.get("b_in", [0.0] * d_ff))
    pre = times(token, plain["w_gate"], [0.0] * d_ff) if activation == "swiglu" else linear
    post = [bend(activation, p) * (h if activation == "swiglu" else 1.0) for p, h in zip(pre, linear)]
    return linear, pre, post, times(post, plain["w_out"], plain.get("b_out", [0.0] * d_model))


def test_by_hand():
    """x = [1, -1]: hidden [1 - 2, 3 + 1] = [-1, 4], bent [0, 4], out 4 · [1, 0.5] + [0, 1]."""
    params = {"w_in": np.array([[1.0, 3.0], [2.0, -1.0]]), "w_out": np.array([[7.0, 7.0], [1.0, 0.5]]), "b_out": np.array([0.0, 1.0])}
    trace = feed_forward([[1.0, -1.0]], params, "relu")
    assert trace._fields == ("hidden_linear", "hidden_pre", "hidden_post", "out")
    for field, expected in zip(trace, ([[-1, 4]], [[-1, 4]], [[0, 4]], [[4, 3]])):
        assert_array_equal(field, expected)


def test_swiglu_by_hand():
    """The gate reads w_gate and is bent, w_in is not: silu(0) · 5 = 0, and silu(ln 3) · 2 = 1.5 ln 3."""
    params = {"w_in": np.array([[5.0, 2.0]]), "w_gate": np.array([[0.0, math.log(3)]]), "w_out": np.array([[1.0], [1.0]])}
    trace = feed_forward([[1.0]], params, "swiglu")
    assert_array_equal(trace.hidden_linear, [[5, 2]])
    assert_array_equal(trace.hidden_pre, [[0, math.log(3)]])
    assert_allclose(trace.out, [[1.5 * math.log(3)]], rtol=1e-15)


@EVERY
@pytest.mark.parametrize("biases", [(), ("b_in",), ("b_out",), ("b_in", "b_out")])
@pytest.mark.parametrize("batch", [(), (4,), (2, 3)])
def test_every_activation_matches_plain_python(activation, biases, batch):
    params = random_params(0)
    params = {name: params[name] for name in ("w_in", "w_out", "w_gate", *biases)}
    x = np.random.default_rng(1).normal(size=(*batch, 3))
    trace = feed_forward(x, params, activation)
    for index in np.ndindex(batch):
        for field, expected in zip(trace, naive_feed_forward(x[index].tolist(), params, activation)):
            assert_allclose(field[index], expected, rtol=0, atol=1e-12)


def test_gelu_in_its_exact_form_is_the_default():
    params, x = random_params(2), np.ones((1, 3))
    assert_array_equal(feed_forward(x, params).out, feed_forward(x, params, "gelu").out)
    assert np.abs(feed_forward(x, params).out - feed_forward(x, params, "gelu_tanh").out).max() > 1e-6


@EVERY
def test_no_token_looks_at_another(activation):
    params, x = random_params(3), np.random.default_rng(4).normal(size=(5, 3))
    whole = feed_forward(x, params, activation)
    order = [3, 0, 4, 1, 2]
    for field, turned in zip(whole, feed_forward(x[order], params, activation)):
        assert_allclose(turned, field[order], rtol=0, atol=1e-12)
    x[2] += 5
    changed = feed_forward(x, params, activation).out
    assert_allclose(np.delete(changed, 2, 0), np.delete(whole.out, 2, 0), rtol=0, atol=1e-12)
    assert np.abs(changed[2] - whole.out[2]).max() > 0.1


def test_the_hidden_neurons_may_stand_in_any_order():
    params, x = random_params(5), np.random.default_rng(6).normal(size=(2, 3))
    order = [4, 2, 0, 1, 3]
    turned = {"w_in": params["w_in"][:, order], "b_in": params["b_in"][order], "w_out": params["w_out"][order], "b_out": params["b_out"]}
    assert_allclose(feed_forward(x, turned).out, feed_forward(x, params).out, rtol=0, atol=1e-12)


@EVERY
@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_field_keeps_the_precision(activation, biases, dtype):
    params = {name: array.astype(dtype) for name, array in random_params(7, biases=biases).items()}
    assert {field.dtype for field in feed_forward(np.ones((2, 3), dtype), params, activation)} == {np.dtype(dtype)}


# --- wrong use ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("change", "sentence"), [
    ({"w_in": np.ones((4, 5))}, "have 3 features, so w_in needs 3 rows, not 4"),
    ({"w_out": np.ones((6, 3))}, "w_in makes 5 hidden features and w_out takes 6"),
    ({"w_gate": np.ones((3, 1))}, r"w_gate has the shape \(3, 1\); it must be that of w_in, \(3, 5\)"),
    ({"w_gate": np.ones((4, 5))}, r"w_gate has the shape \(4, 5\); it must be that of w_in, \(3, 5\)"),
    ({"b_in": np.ones(1)}, r"b_in must have the shape \(5,\), not \(1,\)"),
    ({"b_out": np.ones(5)}, r"b_out must have the shape \(3,\), not \(5,\)"),
])
def test_sizes_that_do_not_fit_are_named(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        feed_forward(np.ones((2, 3)), {**random_params(8), **change}, "swiglu")


def test_swiglu_without_a_gate_and_an_unknown_activation_are_refused():
    params = random_params(9)
    del params["w_gate"]
    with pytest.raises(ValueError, match=r"swiglu needs a third matrix, w_gate, of the shape of w_in: \(3, 5\)"):
        feed_forward(np.ones((2, 3)), params, "swiglu")
    with pytest.raises(ValueError, match="'tanh'; it can be relu, gelu, gelu_tanh, silu, swiglu"):
        feed_forward(np.ones((2, 3)), params, "tanh")
