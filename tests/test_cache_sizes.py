"""The cache by model: published numbers, key/value heads, and what fits."""

import pytest

from core import cache_sizes
from core.accounting import count_parameters, kv_cache_bytes_per_token
from core.more_models import CONTEXTS, KNOWN, MORE, WINDOWS

PUBLISHED = {"llama-2-7b": 524288, "llama-3-8b": 131072, "llama-2-70b": 327680, "opt-13b": 819200, "gpt2-xl": 307200,
             "llama-3.1-405b": 516096, "qwen2.5-72b": 327680, "qwen3-32b": 262144, "deepseek-v3": 70272, "bert-base-uncased": 0}


def test_the_bytes_of_a_token_are_the_published_ones():
    lines = {line.name: line for line in cache_sizes.overview()}
    assert {name: lines[name].bytes_per_token for name in PUBLISHED} == PUBLISHED
    assert set(lines) == set(KNOWN) and set(CONTEXTS) == set(KNOWN) - {"transformer-base-2017"} and set(WINDOWS) < set(KNOWN)
    assert lines["llama-2-7b"].cache_bytes == 2 * 2**30 and lines["llama-3-8b"].weight_bytes == 2 * 8030261248


def test_the_models_more_have_the_counts_of_their_released_files():
    assert {name: count_parameters(config).total for name, config in MORE.items()} == {
        "gpt2-xl": 1557611200, "opt-13b": 12853473280, "qwen2.5-72b": 72706203648, "qwen3-32b": 32762123264}


@pytest.mark.parametrize("name, expected", [
    ("llama-3-8b", [(8, 131072), (32, 524288), (1, 16384)]), ("llama-2-70b", [(8, 327680), (64, 2621440), (1, 40960)]),
    ("llama-2-7b", [(32, 524288), (1, 16384)]), ("gemma-2b", [(1, 18432), (8, 147456)]),
    ("deepseek-v3", [(None, 70272), (128, 4997120)]), ("bert-base-uncased", [])])
def test_more_or_fewer_key_value_heads(name, expected):
    assert [(each.n_kv_heads, each.bytes_per_token) for each in cache_sizes.variants(KNOWN[name])] == expected


def test_the_longest_text_fits_and_one_token_more_does_not():
    memory, weights, per_token = 24 * 2**30, 2 * 8030261248, kv_cache_bytes_per_token(KNOWN["llama-3-8b"], 2)
    for batch in (1, 3, 16):
        n = cache_sizes.tokens_that_fit(memory, weights, per_token, batch)
        assert weights + cache_sizes.whole_cache(per_token, n, batch) <= memory
        assert weights + cache_sizes.whole_cache(per_token, n + 1, batch) > memory
    assert cache_sizes.tokens_that_fit(10, 20, 5) == 0 and cache_sizes.tokens_that_fit(10, 5, 0) is None
