"""The cache: positions that go on, logits that stay, and multiply-adds counted three ways."""

import itertools

import numpy as np
import pytest

import core.attention
import core.block
import core.embeddings
import core.feed_forward
import core.normalization
import core.positions
from core import kv_cache, transformer
from core.config import ModelConfig
from core.optimizer import walk

PROMPT = [3, 1, 4, 1, 5]


def model(dtype=np.float64, **more):
    config = ModelConfig(**{"vocab_size": 11, "n_ctx": 20, "d_model": 16, "n_layers": 2, "n_heads": 4, "d_ff": 24} | more)
    return transformer.init_params(config, np.random.default_rng(0), std=0.3, dtype=dtype), config


@pytest.mark.parametrize("dtype, allowed", [(np.float64, 1e-10), (np.float32, 1e-5)])
@pytest.mark.parametrize("positions", ["learned", "rotary", "sinusoidal", "none"])
def test_after_a_prompt_of_5_three_tokens_stand_at_5_6_7_and_the_logits_stay(positions, dtype, allowed):
    params, config = model(dtype, positions=positions, n_kv_heads=2)
    steps = kv_cache.side_by_side(params, PROMPT, config, 3)
    assert [list(step.positions) for step in steps] == [[0, 1, 2, 3, 4], [5], [6], [7]]
    text = list(PROMPT)
    for step in steps:
        alone = transformer.forward(params, text, config).logits[-1]  # all of it, from nothing
        assert alone.dtype == dtype and abs(step.cached_logits - alone).max() <= allowed and step.gap <= allowed
        assert step.chosen == alone.argmax()
        text.append(step.chosen)
    assert [step.read for step in steps] == [tuple(PROMPT), *((token,) for token in text[5:8])]


def test_a_token_read_at_the_wrong_position_would_show():
    params, config = model()
    cache = []
    transformer.forward(params, PROMPT, config, cache)
    right = transformer.forward(params, [9], config, list(cache)).logits[-1]
    for first in (0, 4, 6):  # from the beginning; one too early; one too late
        wrong = [(np.concatenate([k] * 2, axis=-2)[..., :first, :], np.concatenate([v] * 2, axis=-2)[..., :first, :]) for k, v in cache]
        assert abs(transformer.forward(params, [9], config, wrong if first else None).logits[-1] - right).max() > 1e-3


class Counting(np.ndarray):
    """An array that counts the multiply-adds of every matrix product it takes part in."""

    taken = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **more):
        plain = [x.view(np.ndarray) if isinstance(x, Counting) else x for x in inputs]
        if "out" in more:
            more["out"] = tuple(x.view(np.ndarray) if isinstance(x, Counting) else x for x in more["out"])
        result = getattr(ufunc, method)(*plain, **more)
        if ufunc is np.matmul:
            Counting.taken += int(np.prod(result.shape)) * plain[0].shape[-1]
        return result.view(Counting) if isinstance(result, np.ndarray) else result

    def __array_function__(self, function, types, inputs, more):
        result = super().__array_function__(function, types, inputs, more)
        return result.view(Counting) if isinstance(result, np.ndarray) else result  # np.concatenate and np.where forget the class


KINDS = [dict(zip(("positions", "activation", "n_kv_heads"), kind, strict=True)) for kind in itertools.product(
    ("learned", "rotary"), ("gelu", "swiglu"), (4, 2))]


@pytest.mark.parametrize("n_new, n_past", [(5, 0), (1, 5), (3, 4)])
@pytest.mark.parametrize("kind", [*KINDS, {"norm": "rms", "bias": False}, {"d_ff": 0}, {"tied": False}, {"d_head": 6}], ids=str)
def test_the_formula_and_the_count_are_what_an_array_that_counts_has_seen(kind, n_new, n_past, monkeypatch):
    params, config = model(**kind)
    for module in (core.attention, core.block, core.embeddings, core.feed_forward, core.normalization, core.positions):
        monkeypatch.setattr(module, "as_float", np.asanyarray)  # as_float itself forgets the class
    cache = []
    if n_past:
        transformer.forward(params, PROMPT[:n_past], config, cache)
    counting = {path: array.view(Counting) for path, array in walk(params)}

    def rebuilt(tree, path=()):
        if isinstance(tree, dict):
            return {name: rebuilt(part, (*path, name)) for name, part in tree.items()}
        return [rebuilt(part, (*path, i)) for i, part in enumerate(tree)] if isinstance(tree, list) else counting[path]

    Counting.taken = 0
    trace = transformer.forward(rebuilt(params), np.array([2, 7, 1, 8, 2][:n_new]), config,
                                [(k.view(Counting), v.view(Counting)) for k, v in cache] or None, heads_apart=False)
    assert Counting.taken == kv_cache.counted(trace, params).total == kv_cache.multiply_adds(config, n_new, n_past).total
    assert kv_cache.counted(trace, params) == kv_cache.multiply_adds(config, n_new, n_past)


def test_one_small_pass_counted_one_multiplication_at_a_time():
    """One block, one head of width 2, without feed-forward: every product as loops."""
    taken = dict.fromkeys(("qkv", "scores", "mixed", "attn_out", "logits"), 0)

    def product(kind, left, right):
        out = [[0.0] * len(right[0]) for _ in left]
        for i, row in enumerate(left):
            for j in range(len(right[0])):
                for inner, number in enumerate(row):
                    out[i][j] += number * right[inner][j]
                    taken[kind] += 1
        return out

    params, config = model(vocab_size=5, d_model=2, n_layers=1, n_heads=1, d_ff=0, norm="none", bias=False)
    ids = [0, 3, 4]
    x = [[params["w_embed"][i, f] + params["w_pos"][t, f] for f in range(2)] for t, i in enumerate(ids)]
    own = params["blocks"][0]["attention"]
    qkv = product("qkv", x, own["w_qkv"].tolist())
    q, k, v = ([row[2 * part:2 * part + 2] for row in qkv] for part in range(3))
    scores = product("scores", q, [list(column) for column in zip(*k, strict=True)])
    pattern = []
    for t, row in enumerate(scores):
        raised = [np.exp(score / 2**0.5) if j <= t else 0.0 for j, score in enumerate(row)]
        pattern.append([each / sum(raised) for each in raised])
    out = product("attn_out", product("mixed", pattern, v), own["w_o"].tolist())
    stream = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(x, out, strict=True)]
    logits = product("logits", stream, params["w_embed"].T.tolist())
    trace = transformer.forward(params, ids, config)
    np.testing.assert_allclose(trace.logits, logits, atol=1e-12)
    assert kv_cache.multiply_adds(config, 3)._asdict() == taken | {"feed_forward": 0} == kv_cache.counted(trace, params)._asdict()


def test_every_step_says_what_ran_and_what_the_formula_says():
    params, config = model(n_kv_heads=2, dtype=np.float32)
    for number, step in enumerate(kv_cache.side_by_side(params, PROMPT, config, 4)):
        assert (step.cached, step.full, step.bytes) == (step.cached_formula, step.full_formula, step.bytes_formula)
        assert step.bytes == 2 * 2 * 2 * (5 + number) * 4 * 4  # k and v, blocks, key/value heads, tokens, width, bytes
        assert (step.full.total > step.cached.total) == (number > 0)


def test_with_a_cache_a_later_step_costs_only_the_looks_more_without_it_everything():
    params, config = model()
    _, one, two = kv_cache.side_by_side(params, PROMPT, config, 2)
    more = [b - a for a, b in zip(one.cached, two.cached, strict=True)]
    assert more == [0, 2 * 16, 2 * 16, 0, 0, 0]  # one more key in each of two blocks, all heads together 16 wide
    assert two.full.qkv / one.full.qkv == 7 / 6


def test_a_text_longer_than_the_context_is_refused():
    params, config = model()
    with pytest.raises(ValueError, match="at most 20 tokens; 5 and 16 more are 21"):
        kv_cache.side_by_side(params, PROMPT, config, 16)
