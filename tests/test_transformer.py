"""The whole model: the worked example, the cache, and what must hold for any text."""

import itertools
import math

import numpy as np
import pytest

from core import transformer
from core.config import ModelConfig
from core.loss import cross_entropy
from core.optimizer import walk

CONFIG = ModelConfig(vocab_size=11, n_ctx=12, d_model=16, n_layers=2, n_heads=4, d_ff=24)
KINDS = [dict(zip(("norm", "norm_position", "positions", "activation", "n_kv_heads"), kind, strict=True)) for kind in itertools.product(
    ("layer", "rms"), ("pre", "post"), ("learned", "sinusoidal", "rotary", "none"), ("gelu_tanh", "swiglu"), (4, 1))]


def model(**more):
    config = ModelConfig(**{"vocab_size": 11, "n_ctx": 12, "d_model": 16, "n_layers": 2, "n_heads": 4, "d_ff": 24} | more)
    return transformer.init_params(config, np.random.default_rng(0), std=0.3), config


def nasi():
    rng = np.random.default_rng(42)
    w_embed, w_pos, w_qkv, w_o, w_in, w_out = (rng.standard_normal(shape) * 0.1
                                               for shape in ((9, 16), (5, 16), (16, 48), (16, 16), (16, 64), (64, 16)))
    layer = {"attention": {"w_qkv": w_qkv, "w_o": w_o}, "feed_forward": {"w_in": w_in, "w_out": w_out}}
    config = ModelConfig(9, 5, 16, 1, 2, d_ff=64, activation="relu", bias=False)
    return {"w_embed": w_embed, "w_pos": w_pos, "blocks": [layer], "final_norm": {}}, config


def test_nasi_comes_out_as_worked(worked):
    given = worked["nasi_forward"]
    params, config = nasi()
    trace = transformer.forward(params, [given["vocab"].index(c) for c in given["prompt"]], config)
    np.testing.assert_allclose(trace.blocks[0].attention.pattern, given["attention_weights"], atol=6e-9)
    np.testing.assert_allclose(trace.logits[-1], given["logits_last"], atol=6e-9)
    assert {letter: round(float(p), 3) for letter, p in zip(given["vocab"], trace.probs, strict=True)} == given["next_char"]
    shapes = {"embed": trace.resid_pre.shape, "scores": trace.blocks[0].attention.scores.shape, "logits": trace.logits.shape}
    assert {name: list(shape) for name, shape in shapes.items()} == {name: shape for name, shape in given["shapes"] if name in shapes}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))
def test_with_a_cache_the_logits_are_those_of_the_whole_text(kind):
    params, config = model(**kind)
    ids = np.random.default_rng(1).integers(0, 11, 9)
    whole, cache, found = transformer.forward(params, ids, config).logits, [], []
    for part in (ids[:4], ids[4:5], ids[5:8], ids[8:]):
        found.append(transformer.forward(params, part, config, cache).logits)
    np.testing.assert_allclose(np.concatenate(found), whole, atol=1e-10)
    assert cache[0][0].shape == (config.n_kv_heads, 9, 4)


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_a_later_token_changes_no_earlier_logit(positions):
    params, config = model(positions=positions)
    ids = np.random.default_rng(2).integers(0, 11, 8)
    other = ids.copy()
    other[-1] = (ids[-1] + 1) % 11
    one, two = (transformer.forward(params, each, config).logits for each in (ids, other))
    assert abs(one[:-1] - two[:-1]).max() < 1e-12 < abs(one[-1] - two[-1]).max()
    everything = np.ones((8, 8), bool)
    one, two = (transformer.forward(params, each, config, visible=everything).logits for each in (ids, other))
    assert abs(one[:-1] - two[:-1]).max() > 1e-6


def test_a_batch_is_its_sequences_one_by_one():
    params, config = model()
    ids = np.random.default_rng(3).integers(0, 11, (3, 7))
    together = transformer.forward(params, ids, config)
    for each, logits in zip(ids, together.logits, strict=True):
        np.testing.assert_allclose(transformer.forward(params, each, config).logits, logits, atol=1e-12)
    assert together.probs.shape == (3, 11)
    assert transformer.forward(params, ids, config, all_probs=True).probs.shape == (3, 7, 11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_is_kept_in_every_field(dtype):
    config = ModelConfig(11, 12, 16, 2, 4, d_ff=24, activation="swiglu", norm="rms", positions="rotary")
    params = transformer.init_params(config, np.random.default_rng(0), dtype=dtype)
    trace = transformer.forward(params, [1, 2, 3], config)
    fields = [trace.embedded, trace.resid_pre, trace.final, trace.logits, trace.probs]
    for each in trace.blocks:
        fields += [each.resid_pre, each.attn_in, *each.attention, each.attn_out, each.resid_mid, each.ff_in, *each.feed_forward,
                   each.ff_out, each.resid_post]
    assert {field.dtype for field in fields} == {np.dtype(dtype)}


def test_untrained_the_loss_is_that_of_guessing():
    params = transformer.init_params(CONFIG, np.random.default_rng(0))
    ids = np.random.default_rng(1).integers(0, 11, (120, 10))
    loss = cross_entropy(transformer.forward(params, ids[:, :-1], CONFIG).logits, ids[:, 1:])
    assert loss == pytest.approx(math.log(11), rel=0.02)


def test_the_parameters_begin_as_gpt_2_does():
    config = ModelConfig(50, 40, 64, 8, 4)
    params = transformer.init_params(config, np.random.default_rng(0))
    found = dict(walk(params))
    assert found["w_embed",].std() == pytest.approx(0.02, rel=0.05)
    assert found["blocks", 3, "attention", "w_o"].std() == pytest.approx(0.02 / 4, rel=0.05)
    assert found["blocks", 3, "feed_forward", "w_out"].std() == pytest.approx(0.02 / 4, rel=0.05)
    assert (found["final_norm", "gain"] == 1).all() and (found["blocks", 0, "attention", "b_qkv"] == 0).all()
    assert not [path for path in found if path[-1] == "w_unembed"]


@pytest.mark.parametrize("ids, words", [([], "no token"), ([11], "rows 0 to 10"), ([0] * 13, "at most 12")])
def test_a_text_that_the_model_can_not_read_is_refused(ids, words):
    with pytest.raises(ValueError, match=words):
        transformer.forward(transformer.init_params(CONFIG, np.random.default_rng(0)), np.array(ids, dtype=int), CONFIG)


def test_greedy_text_is_the_largest_logit_each_time_and_ends_where_the_context_is_full():
    params, config = model()
    ids = [1, 2, 3]
    found = list(transformer.generate(params, ids, config, 50, temperature=0))
    for token in found:
        assert token == int(transformer.forward(params, ids, config).logits[-1].argmax())
        ids.append(token)
    assert len(ids) == config.n_ctx + 1  # what comes after the last place is still said


def test_the_same_seed_says_the_same():
    params, config = model(positions="rotary")
    texts = [list(transformer.generate(params, [1], config, 8, np.random.default_rng(seed), 1.5, 5, 0.9)) for seed in (0, 0, 1)]
    assert texts[0] == texts[1] != texts[2]


def test_attention_alone_is_a_model_too():
    params, config = model(d_ff=0)
    trace = transformer.forward(params, [1, 2], config)
    assert trace.blocks[0].ff_out is None and (trace.blocks[0].resid_post == trace.blocks[0].resid_mid).all()
