"""Each backward against central finite differences of its forward."""

import numpy as np
import pytest

from core import backward
from core.activations import ACTIVATIONS
from core.attention import causal_mask, multi_head_attention
from core.feed_forward import feed_forward
from core.normalization import layer_norm, rms_norm
from core.positions import rotary
from core.softmax import softmax

RNG = np.random.default_rng(7)


def numeric(function, array, d_out, step=1e-5):
    """The gradient of Σ function() · d_out for every entry of `array`, which is changed in place and put back."""
    found = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        kept, sums = array[place], []
        for sign in (1, -1):
            array[place] = kept + sign * step
            sums.append((function() * d_out).sum())
        array[place] = kept
        found[place] = (sums[0] - sums[1]) / (2 * step)
    return found


def close(one, other):
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-6 * abs(other).max() + 1e-9)


def test_a_linear_layer():
    x, w, d_out = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(4, 5)), RNG.normal(size=(2, 3, 5))
    d_x, d_w, d_b = backward.linear_backward(x, w, d_out)
    close(d_x, numeric(lambda: x @ w, x, d_out))
    close(d_w, numeric(lambda: x @ w, w, d_out))
    close(d_b, d_out.sum(axis=(0, 1)))


@pytest.mark.parametrize("gained", [False, True])
def test_the_norms(gained):
    x, d_out = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 3, 4))
    gain, offset = (RNG.normal(size=4), RNG.normal(size=4)) if gained else (None, None)
    d_x, d_params = backward.layer_norm_backward(x, d_out, gain)
    close(d_x, numeric(lambda: layer_norm(x, gain, offset), x, d_out))
    if gained:
        close(d_params["gain"], numeric(lambda: layer_norm(x, gain, offset), gain, d_out))
        close(d_params["offset"], numeric(lambda: layer_norm(x, gain, offset), offset, d_out))
    d_x, d_params = backward.rms_norm_backward(x, d_out, gain)
    close(d_x, numeric(lambda: rms_norm(x, gain), x, d_out))
    if gained:
        close(d_params["gain"], numeric(lambda: rms_norm(x, gain), gain, d_out))


def test_the_softmax_with_hidden_keys():
    scores, d_out = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
    visible = causal_mask(3, 4)

    def weights():
        return softmax(np.where(visible, scores, -np.inf))

    close(backward.softmax_backward(weights(), d_out), numeric(weights, scores, d_out))


@pytest.mark.parametrize("n_kv_heads", [4, 2, 1])
@pytest.mark.parametrize("turned", [False, True], ids=["", "rotary"])
@pytest.mark.parametrize("crossed", [False, True], ids=["self", "cross"])
def test_multi_head_attention(n_kv_heads, turned, crossed):
    x, d_out = RNG.normal(size=(2, 3, 6)), RNG.normal(size=(2, 3, 6))
    context = RNG.normal(size=(2, 5, 6)) if crossed else None
    params = {"w_qkv": RNG.normal(size=(6, (4 + 2 * n_kv_heads) * 2)), "w_o": RNG.normal(size=(8, 6)),
              "b_qkv": RNG.normal(size=(4 + 2 * n_kv_heads) * 2), "b_o": RNG.normal(size=6)}
    visible = None if crossed else causal_mask(3)

    def run():
        return multi_head_attention(x, params, 4, visible, context, n_kv_heads=n_kv_heads, rotate=rotary if turned else None)

    unrotate = (lambda d, places: rotary(d, -places)) if turned else None
    d_x, d_params, d_context = backward.multi_head_backward(x, params, run(), d_out, 4, context, n_kv_heads=n_kv_heads, unrotate=unrotate)
    close(d_x, numeric(lambda: run().out, x, d_out))
    for name, array in params.items():
        close(d_params[name], numeric(lambda: run().out, array, d_out))
    if crossed:
        close(d_context, numeric(lambda: run().out, context, d_out))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_feed_forward_layer(activation):
    x, d_out = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
    params = {"w_in": RNG.normal(size=(4, 5)), "w_out": RNG.normal(size=(5, 4)), "b_in": RNG.normal(size=5), "b_out": RNG.normal(size=4)}
    if activation == "swiglu":
        params["w_gate"] = RNG.normal(size=(4, 5))

    def run():
        return feed_forward(x, params, activation)

    d_x, d_params = backward.feed_forward_backward(x, params, run(), d_out, activation)
    close(d_x, numeric(lambda: run().out, x, d_out))
    for name, array in params.items():
        close(d_params[name], numeric(lambda: run().out, array, d_out))
