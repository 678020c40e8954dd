"""The steps behind a normalised number and behind a feed-forward layer."""

import math

import numpy as np
import pytest

from core import arithmetic_layers as layers
from core.feed_forward import FeedForwardTrace, feed_forward
from core.normalization import layer_norm, rms_norm
from core.sums import lines
from tests.page_tools import evaluated, recomputed

PANEL = ["title", "summary", "", "value on this page: 0", ""]
RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 4))
GAIN, OFFSET = RNG.normal(size=4), RNG.normal(size=4)


def worked(explanations):
    """The last result, computed again from the text."""
    text = []
    for explanation in explanations:
        text += [*lines(explanation), ""]
    return recomputed([*PANEL, *text[:-1]])[-1][1]


def test_the_steps_of_layer_norm_on_paper():
    x = np.array([[1.0, 0.0, 0.0, 0.0]])
    found = layers.explain_layer_norm(x, np.array([[1.5]]), 0, 0, eps=0.0)
    assert lines(found)[:2] == ["mean[0] = (1 + 0 + 0 + 0) / 4 = 0.25",
                                "variance[0] = ((1 - 0.25)² + (0 - 0.25)² + (0 - 0.25)² + (0 - 0.25)²) / 4 = 0.1875"]
    assert lines(found)[2].startswith("out[0, 0] = (1 - 0.25) / √(0.1875 + 0) = 1.73205")
    assert found.residual == pytest.approx(math.sqrt(3) - 1.5)  # against what it is told the page holds


@pytest.mark.parametrize("gain, offset", [(None, None), (GAIN, None), (GAIN, OFFSET), (None, OFFSET)],
                         ids=["plain", "gain", "both", "offset"])
@pytest.mark.parametrize("eps", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("row, column", [(0, 0), (2, 3)])
def test_a_normalised_number_is_what_its_steps_come_to(gain, offset, eps, row, column):
    out = layer_norm(X, gain, offset, eps)
    found = layers.explain_layer_norm(X, out, row, column, eps=eps, gain=gain, offset=offset)
    assert worked([found]) == pytest.approx(out[row, column], abs=1e-12) and found.residual < 1e-12
    if offset is None:
        out = rms_norm(X, gain, eps)
        found = layers.explain_rms_norm(X, out, row, column, eps=eps, gain=gain)
        assert worked([found]) == pytest.approx(out[row, column], abs=1e-12) and found.residual < 1e-12


def test_a_vector_without_spread_or_of_zeros_is_explained_too():
    flat, zero = np.full((1, 3), 2.0), np.zeros((1, 3))
    assert worked([layers.explain_layer_norm(flat, layer_norm(flat, eps=0.0), 0, 1, eps=0.0)]) == 0
    assert worked([layers.explain_rms_norm(zero, rms_norm(zero, eps=0.0), 0, 1, eps=0.0)]) == 0


BENDS = {"relu": lambda x: max(x, 0), "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2, "silu": lambda x: x / (1 + math.exp(-x)),
         "gelu_tanh": lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2}


@pytest.mark.parametrize("x", [-2.7, -1.0, 0.0, 0.5, 3.0])
@pytest.mark.parametrize("name", BENDS)
def test_the_bend_is_written_as_its_formula(name, x):
    assert evaluated(layers.bend_expression(name, x)) == pytest.approx(BENDS[name](x), abs=1e-15)


def test_numbers_inside_an_expression_keep_their_sign():
    assert evaluated(f"3 - {layers.written(-2.5)}²") == -3.25


@pytest.mark.parametrize("activation", [*BENDS, "swiglu"])
@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("stage", ["hidden_pre", "hidden_post", "out"])
def test_every_cell_of_a_feed_forward_layer_is_what_its_terms_come_to(activation, biases, stage):
    params = {"w_in": RNG.normal(size=(4, 6)), "w_out": RNG.normal(size=(6, 4))}
    if activation == "swiglu":
        params["w_gate"] = RNG.normal(size=(4, 6))
    if biases:
        params |= {"b_in": RNG.normal(size=6), "b_out": RNG.normal(size=4)}
    trace = feed_forward(X, params, activation)
    for row, column in ((0, 0), (2, 3)):
        found = layers.explain_feed_forward(X, params, trace, activation, stage, row, column)
        assert worked(found) == pytest.approx(getattr(trace, stage)[row, column], abs=1e-12)
        assert max(each.residual for each in found) < 1e-12


def test_what_is_not_there_is_refused():
    trace = FeedForwardTrace(*[np.zeros((1, 2))] * 4)
    with pytest.raises(ValueError, match="no stage 'in'"):
        layers.explain_feed_forward(np.zeros((1, 2)), {}, trace, "relu", "in", 0, 0)
    for call in (lambda: layers.explain_feed_forward(np.zeros((1, 2)), {}, trace, "relu", "out", 0, 2),
                 lambda: layers.explain_layer_norm(X, X, 3, 0), lambda: layers.explain_rms_norm(X, X, 0, -1)):
        with pytest.raises(ValueError, match="there is no cell"):
            call()
