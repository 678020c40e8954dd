"""The building blocks against PyTorch, in float64: tests/golden/torch.npz, made once by tests/golden/make_torch.py."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from core import activations
from core.attention import multi_head_attention
from core.block import block
from core.encoder_decoder import decoder_layer
from core.normalization import layer_norm, rms_norm
from core.recurrent import recurrent, recurrent_gradients

pytestmark = pytest.mark.filterwarnings("error")

LAYERS = [(position, activation) for position in ("post", "pre") for activation in ("relu", "gelu")]


@pytest.fixture(scope="module")
def golden():
    """The file as nested dicts: its names are paths."""
    tree = {}
    with np.load(Path(__file__).parent / "golden" / "torch.npz") as stored:
        for path, array in stored.items():
            *folders, name = path.split("/")
            place = tree
            for folder in folders:
                place = place.setdefault(folder, {})
            place[name] = array
    return tree


def assert_torch(actual, expected):
    assert actual.dtype == np.float64
    assert actual.shape == expected.shape
    assert_allclose(actual, expected, rtol=0, atol=1e-10)


def test_the_file_says_what_made_it(golden):
    assert str(golden["made_with"]) == "torch 2.13.0+cpu"


def test_layer_norm(golden):
    case = golden["layer_norm"]
    assert_torch(layer_norm(case["x"], case["params"]["gain"], case["params"]["offset"]), case["out"])
    assert_torch(layer_norm(case["x"], eps=0.1), case["no_params"])


def test_rms_norm(golden):
    case = golden["rms_norm"]
    assert_torch(rms_norm(case["x"], case["gain"]), case["out"])
    assert_torch(rms_norm(case["x"], eps=0.1), case["no_params"])


@pytest.mark.parametrize("name", ["relu", "gelu", "gelu_tanh", "silu"])
def test_activations_and_their_slopes(golden, name):
    case = golden["activations"]
    function, slope = activations.ACTIVATIONS[name]
    assert_torch(function(case["x"]), case[name]["out"])
    assert_torch(slope(case["x"]), case[name]["slope"])


@pytest.mark.parametrize("mask", ["none", "causal", "padding", "both"])
def test_attention_to_oneself(golden, mask):
    case = golden["attention"]
    trace = multi_head_attention(case["x"], case["params"], 4, case[mask]["visible"])
    assert_torch(trace.pattern, case[mask]["pattern"])
    assert_torch(trace.out, case[mask]["out"])


@pytest.mark.parametrize("mask", ["cross", "cross_padding"])
def test_attention_to_another_sentence_of_another_length(golden, mask):
    case = golden["attention"]
    trace = multi_head_attention(case["x"], case["params"], 4, case[mask]["visible"], case["memory"])
    assert_torch(trace.pattern, case[mask]["pattern"])
    assert_torch(trace.out, case[mask]["out"])


@pytest.mark.parametrize(("position", "activation"), LAYERS)
@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
def test_an_encoder_layer(golden, position, activation, mask):
    case, visible = golden["encoder"][f"{position}_{activation}"], golden["visible"].get(mask)
    trace = block(golden["encoder"]["x"], case["params"], 4, visible, activation=activation, norm_position=position)
    assert_torch(trace.resid_post, case[mask])


@pytest.mark.parametrize(("position", "activation"), LAYERS)
@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
def test_a_decoder_layer(golden, position, activation, mask):
    """Its own mask is the causal one unless it is told otherwise; "padding" hides the filler of the source."""
    case, decoder = golden["decoder"][f"{position}_{activation}"], golden["decoder"]
    visible = np.ones((5, 5), bool) if mask == "none" else None
    memory_visible = golden["visible"]["source_padding"] if mask == "padding" else None
    trace = decoder_layer(decoder["x"], decoder["memory"], case["params"], 4, visible, memory_visible, activation=activation,
                          norm_position=position)
    assert_torch(trace.resid_post, case[mask])


def test_a_recurrent_network_and_all_its_gradients(golden):
    case = golden["recurrent"]
    trace = recurrent(case["x"], case["params"], case["start"])
    assert_torch(trace.states[1:], case["states"])
    assert_torch(trace.states[0], case["start"])
    gradients = recurrent_gradients(case["x"], case["params"], trace, case["d_states"])
    assert gradients.keys() == case["gradients"].keys()
    for name, expected in case["gradients"].items():
        assert_torch(gradients[name], expected)
