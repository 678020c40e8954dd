"""Counts against arrays that were really made, against matrix products that really ran, and against examples worked elsewhere."""

import collections
import math
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core import accounting, kv_cache, transformer
from core.config import ModelConfig
from core.optimizer import walk
from core.published_config import Experts, PublishedConfig
from tests.model_tools import configs

GPT2 = {"vocab_size": 50257, "n_ctx": 1024, "d_model": 768, "n_layers": 12, "n_heads": 12}


def made(config):
    """The arrays that `init_params` makes: how often each path (layers taken together) and shape occurs."""
    arrays = walk(transformer.init_params(config, np.random.default_rng(0)))
    return collections.Counter((re.sub(r"\.\d+\.", "[i].", ".".join(map(str, path))), array.shape) for path, array in arrays)


@given(configs())
def test_every_array_that_init_params_makes_is_counted_by_name_shape_and_number(config):
    count = accounting.count_parameters(config)
    assert {(row.name, row.shape): row.times for row in count.rows} == dict(made(config))
    assert len(count.rows) == len(made(config))  # no row twice
    assert count.total == count.active == sum(math.prod(shape) * times for (_, shape), times in made(config).items())
    assert all(row.count == math.prod(row.shape) * row.times and row.reason for row in count.rows)


def test_the_worked_counts_come_out(worked):
    for key, sizes in (("toy (vocab 65, context 64, d 64, 2 layers)", (65, 64, 64, 2, 4)),
                       ("gpt2-small (50257, 1024, 768, 12)", GPT2.values())):
        count, expected = accounting.count_parameters(ModelConfig(*sizes)), worked["parameters"][key]
        assert count.total == expected["total"]
        assert sum(row.count for row in count.rows if row.part == "embedding") == expected["embeddings"]
        assert sum(math.prod(row.shape) for row in count.rows if row.name.startswith("blocks")) == expected["per_block"]


def test_only_a_config_is_counted():
    for call in (accounting.count_parameters, accounting.kv_cache_bytes_per_token, accounting.forward_flops):
        with pytest.raises(ValueError, match="a ModelConfig or a PublishedConfig, not dict"):
            call(GPT2)


# ------------------------------------------------------------------------------------------------------------ the cache


@given(configs())
def test_the_cache_of_one_token_has_the_bytes_that_a_real_cache_has(config):
    if config.positions == "sinusoidal":
        assume(config.d_model % 2 == 0)
    cache = []
    params = transformer.init_params(config, np.random.default_rng(0), dtype=np.float32)
    transformer.forward(params, [0], config, cache)
    assert accounting.kv_cache_bytes_per_token(config, 4) == sum(part.nbytes for kept in cache for part in kept)
    assert accounting.kv_cache_bytes_per_token(accounting.published(config), 4) == accounting.kv_cache_bytes_per_token(config, 4)


@pytest.mark.parametrize("size", [0, -2])
def test_a_number_of_the_cache_has_some_bytes(size):
    with pytest.raises(ValueError, match="bytes_per_value is .*; it must be above 0"):
        accounting.kv_cache_bytes_per_token(ModelConfig(**GPT2), size)


# ------------------------------------------------------------------------------------------------------------- the work


@given(configs(), st.integers(1, 5), st.integers(0, 5))
def test_work_from_the_arrays_is_the_work_by_formula(config, n_new, n_past):
    by_formula = [2 * count for count in kv_cache.multiply_adds(config, n_new, n_past)]
    assert list(accounting.forward_flops(config, n_new, n_past)) == by_formula
    assert list(accounting.forward_flops(accounting.published(config), n_new, n_past)) == by_formula


def test_the_work_is_twice_the_multiply_adds_that_really_ran():
    config = ModelConfig(11, 9, 12, 2, 4, n_kv_heads=2, activation="swiglu", positions="rotary", d_head=4)
    params = transformer.init_params(config, np.random.default_rng(0))
    ran = kv_cache.counted(transformer.forward(params, [3, 1, 4, 1, 5], config), params)
    assert accounting.forward_flops(config, 5).total == 2 * ran.total
    assert accounting.forward_flops(accounting.published(config), 5)._asdict() == {name: 2 * n for name, n in ran._asdict().items()}


def test_the_layer_of_the_paper_costs_what_was_worked_out(worked):
    example = worked["complexity"]
    n, d = example["n"], example["d_model"]
    work = accounting.forward_flops(ModelConfig(1, n, d, 1, 8), n)
    assert (work.qkv + work.scores + work.mixed + work.attn_out) / 2 == example["whole_layer_attention_4nd2+2n2d"]
    assert work.scores / 2 == work.mixed / 2 == example["self_attention_n2d"]


def test_back_takes_twice_the_way_there_and_both_together_six_times_the_matrices():
    config = ModelConfig(**GPT2)
    there, back = accounting.forward_flops(config, 7), accounting.backward_flops(config, 7)
    assert back.total == 2 * there.total
    weights = 12 * 12 * 768**2 + 50257 * 768  # 12 d² a block, and the table once, as the output
    assert there.total + back.total - 3 * (there.scores + there.mixed) == 6 * 7 * weights


def test_of_experts_a_token_pays_for_those_it_uses():
    sizes = {"vocab_size": 7, "d_model": 4, "n_layers": 3, "n_heads": 2, "d_ff": 5, "positions": "none"}
    config = PublishedConfig("mine", "decoder", **sizes, experts=Experts(n_experts=6, n_used=2, d_expert=5, n_shared=1, n_dense_layers=1))
    # a dense layer: 2 · 4 · 5; each of two others: a router of 4 · 6, two experts and a shared one of 2 · 4 · 5 each
    assert accounting.forward_flops(config, 10).feed_forward == 2 * 10 * (40 + 2 * (24 + 3 * 40))
    count = accounting.count_parameters(config)
    assert count.total - count.active == 2 * 4 * 40  # four experts idle in two layers


def test_two_texts_of_different_lengths_are_not_one_pass():
    sizes = {"vocab_size": 7, "d_model": 4, "n_layers": 1, "n_heads": 2, "d_ff": 8, "positions": "none"}
    with pytest.raises(ValueError, match="count one stack at a time"):
        accounting.forward_flops(PublishedConfig("both", "encoder-decoder", **sizes, n_decoder_layers=1))
    with pytest.raises(ValueError, match="n_past must be 0, not 3"):
        accounting.forward_flops(PublishedConfig("reads", "encoder", **sizes), 1, 3)
