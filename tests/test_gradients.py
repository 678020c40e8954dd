"""The gradient of every parameter against central finite differences, for every kind of model."""

import itertools

import numpy as np
import pytest

from core import transformer
from core.config import ModelConfig
from core.gradients import loss_and_grads
from core.loss import cross_entropy
from core.optimizer import at, walk
from tests.gradient_tools import assert_slopes

KINDS = list(itertools.product(("relu", "gelu", "gelu_tanh", "silu", "swiglu"), ("layer", "rms"), ("pre", "post"),
                               ("learned", "sinusoidal", "rotary", "none"), (True, False), (2, 1)))


def model(activation, norm, norm_position, positions, tied, n_kv_heads, **more):
    config = ModelConfig(**{"vocab_size": 7, "n_ctx": 6, "d_model": 8, "n_layers": 2, "n_heads": 2, "d_ff": 10} | more, norm=norm,
                         norm_position=norm_position, positions=positions, tied=tied, n_kv_heads=n_kv_heads, activation=activation)
    rng = np.random.default_rng(0)
    params = transformer.init_params(config, rng, std=0.5)
    for _, array in walk(params):
        array += rng.normal(size=array.shape) * 0.1
    ids, targets = rng.integers(0, 7, (2, 2, 5))
    targets[0, :2] = -1
    return params, ids, targets, config


def worst(params, ids, targets, config, n_each=8):
    """The largest gap between a gradient and its finite difference, in units of 1e-6 · largest + 1e-9, over some entries of each array."""
    _, grads = loss_and_grads(params, ids, targets, config)
    assert [path for path, _ in walk(grads)] and {path for path, _ in walk(grads)} == {path for path, _ in walk(params)}
    gaps = []
    for path, array in walk(params):
        flat, step = array.reshape(-1), 1e-5
        places = np.random.default_rng(len(gaps)).permutation(flat.size)[:n_each]
        numeric = []
        for place in places:
            kept, losses = flat[place], []
            for sign in (1, -1):
                flat[place] = kept + sign * step
                losses.append(cross_entropy(transformer.forward(params, ids, config).logits, targets))
            flat[place] = kept
            numeric.append((losses[0] - losses[1]) / (2 * step))
        gap = abs(np.array(numeric) - at(grads, path).reshape(-1)[places]).max()
        gaps.append(gap / (1e-6 * max(abs(at(grads, path)).max(), abs(np.array(numeric)).max()) + 1e-9))
    return max(gaps)


@pytest.mark.parametrize("kind", KINDS[::13], ids=lambda kind: "-".join(map(str, kind)))
def test_every_gradient_is_the_finite_difference(kind):
    assert worst(*model(*kind)) <= 1


@pytest.mark.parametrize("more", [{"d_ff": 0}, {"bias": False}, {"n_layers": 1, "n_heads": 1, "d_head": 3}, {"n_layers": 3},
                                  {"scaled": False}, {"causal": False}, {"residual": False}, {"norm": "none"},
                                  {"norm": "none", "norm_position": "post", "residual": False, "scaled": False}], ids=str)
def test_models_of_other_sizes_too(more):
    kind = {"activation": "gelu", "norm": "layer", "norm_position": "pre", "positions": "learned", "tied": True, "n_kv_heads": 1}
    assert worst(*model(**kind | more)) <= 1


def test_the_bias_of_the_keys_has_no_gradient():
    """It adds the same number q·b to all scores of a query, and a softmax does not mind a shift."""
    params, ids, targets, config = model("gelu", "layer", "pre", "learned", True, 2)
    _, grads = loss_and_grads(params, ids, targets, config)
    for layer in grads["blocks"]:
        queries, keys, values = np.split(layer["attention"]["b_qkv"], 3)
        assert abs(keys).max() < 1e-15 < 1e-6 < min(abs(queries).max(), abs(values).max())


def test_a_row_that_is_not_read_gets_no_gradient_in_an_untied_table():
    params, ids, targets, config = model("relu", "layer", "pre", "learned", False, 2)
    _, grads = loss_and_grads(params, ids, targets, config)
    unread = sorted(set(range(7)) - set(ids.ravel()))
    assert (grads["w_embed"][unread] == 0).all() and (grads["w_pos"][5] == 0).all() and abs(grads["w_pos"][:5]).min(axis=1).max() > 0


@pytest.mark.parametrize("n_threads", [2, 3])
def test_parts_of_a_batch_at_the_same_time_come_to_the_same(n_threads):
    params, ids, targets, config = model("gelu_tanh", "layer", "pre", "learned", True, 2)
    ids, targets = (np.random.default_rng(3).integers(0, 7, (5, 5)) for _ in range(2))
    targets[:2], targets[3, 2:] = -1, -1  # parts that count differently, and one that counts nothing
    loss, grads = loss_and_grads(params, ids, targets, config)
    other_loss, other_grads = loss_and_grads(params, ids, targets, config, n_threads=n_threads)
    assert other_loss == pytest.approx(loss, abs=1e-14)
    for path, array in walk(grads):
        np.testing.assert_allclose(at(other_grads, path), array, atol=1e-15)


def test_the_gradient_of_a_batch_is_the_mean_of_its_sequences():
    params, ids, targets, config = model("gelu", "layer", "pre", "learned", True, 2)
    targets = abs(targets)
    whole = loss_and_grads(params, ids, targets, config)[1]
    parts = [loss_and_grads(params, ids[i], targets[i], config)[1] for i in range(2)]
    for path, array in walk(whole):
        np.testing.assert_allclose(array, (at(parts[0], path) + at(parts[1], path)) / 2, atol=1e-12)


def test_precision_is_kept():
    params, ids, targets, config = model("gelu_tanh", "layer", "pre", "rotary", True, 1)
    single = _single(params)
    _, grads = loss_and_grads(single, ids, targets, config)
    assert {array.dtype for _, array in walk(grads)} == {np.dtype(np.float32)}


def _single(tree):
    if isinstance(tree, dict):
        return {name: _single(part) for name, part in tree.items()}
    return [_single(part) for part in tree] if isinstance(tree, list) else tree.astype(np.float32)


def test_targets_that_do_not_fit_are_refused():
    params, ids, targets, config = model("gelu", "layer", "pre", "learned", True, 2)
    with pytest.raises(ValueError, match="need targets of shape"):
        loss_and_grads(params, ids, targets[:, :3], config)


# ----------------------------------------------------------------------------------------------------- encoder-decoder


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
@pytest.mark.parametrize("norm_position", ["pre", "post"])
@pytest.mark.parametrize("norms", [False, True], ids=["plain norms", "learned norms"])
def test_every_gradient_of_an_encoder_decoder_is_the_finite_difference(activation, norm_position, norms):
    from core import encoder_decoder
    from core.gradients import encoder_decoder_loss_and_grads

    rng, d, n_heads = np.random.default_rng(4), 6, 2

    def draw(*shape):
        return rng.normal(size=shape) * 0.4

    def attention():
        return {"w_qkv": draw(d, 3 * d), "w_o": draw(d, d), "b_qkv": draw(3 * d), "b_o": draw(d)}

    def feed_forward():
        gate = {"w_gate": draw(d, 8)} if activation == "swiglu" else {}
        return {"w_in": draw(d, 8), "b_in": draw(8), "w_out": draw(8, d), "b_out": draw(d), **gate}

    def norm(*names):
        return {name: {"gain": 1 + draw(d), "offset": draw(d)} for name in names} if norms else {}

    params = {"w_embed": draw(7, d),
              "encoder": [{"attention": attention(), "feed_forward": feed_forward(), **norm("norm_1", "norm_2")} for _ in range(2)],
              "decoder": [{"self_attention": attention(), "cross_attention": attention(), "feed_forward": feed_forward(),
                           **norm("norm_1", "norm_2", "norm_3")} for _ in range(2)]}
    if norm_position == "pre":
        params |= norm("final_norm_encoder", "final_norm_decoder")
    source, target, targets = [1, 2, 3, 1, 5], [0, 4, 4], [4, -1, 6]
    choices = {"activation": activation, "norm_position": norm_position}
    loss, grads = encoder_decoder_loss_and_grads(params, source, target, targets, n_heads, **choices)

    def loss_now():
        return cross_entropy(encoder_decoder.forward(params, source, target, n_heads, **choices).logits, targets)

    assert loss == loss_now()
    assert_slopes(params, grads, loss_now, 6)
