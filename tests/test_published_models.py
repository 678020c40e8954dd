"""Published counts, to the last digit; the mistakes that are often made, as what they are; and which models core can run."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from core import accounting, transformer
from core.published_models import MODELS, PublishedConfig, runnable

PUBLISHED = {row["id"]: row for row in json.loads(
    (Path(__file__).parent / "golden" / "model_configs.json").read_text(encoding="utf-8"))["rows"]}
NOT_TO_THE_DIGIT = {"gpt3-175b", "transformer-base-2017"}  # printed rounded; their notes say so
each_model = pytest.mark.parametrize("name", PUBLISHED)


def total(config, **changed):
    return accounting.count_parameters(dataclasses.replace(config, **changed)).total


def wrong(name):
    return PUBLISHED[name]["common_wrong_answers"]


def test_every_published_row_has_its_config():
    assert set(MODELS) == set(PUBLISHED) and all(config.name == name for name, config in MODELS.items())


@each_model
def test_a_model_has_the_published_number_of_parameters(name):
    row, count = PUBLISHED[name], accounting.count_parameters(MODELS[name])
    assert count.total == row["computed_total"]
    assert abs(count.total - row["published_total"]) <= row["tolerance"]
    assert count.active == (row["active"] or row["computed_total"])
    assert sum(array.count for array in count.rows) == count.total
    assert len({array.name for array in count.rows}) == len(count.rows)


@each_model
def test_a_model_keeps_the_published_bytes_of_each_token(name):
    expected = PUBLISHED[name]["kv_bytes_per_token_16bit"]
    if expected is not None:
        assert accounting.kv_cache_bytes_per_token(MODELS[name]) == expected


def test_a_count_without_an_output_has_no_output_table_tied_or_not():
    bert = MODELS["bert-base-uncased"]
    assert total(bert, tied=False) == total(bert) and accounting.forward_flops(bert, 4).logits == 0
    assert total(bert, tied=False, head=True) == total(bert) + 30522 * 768


def test_an_encoder_keeps_nothing_and_the_decoder_of_t5_its_six_layers():
    assert accounting.kv_cache_bytes_per_token(MODELS["bert-base-uncased"]) == 0
    assert accounting.kv_cache_bytes_per_token(MODELS["t5-small"]) == 2 * 6 * 8 * 64 * 2


def test_a_figure_that_is_not_exact_is_told_of():
    assert {name for name, row in PUBLISHED.items() if row["tolerance"]} == NOT_TO_THE_DIGIT
    assert "four digits" in MODELS["gpt3-175b"].note and round(total(MODELS["gpt3-175b"]) / 1e8) * 1e8 == 174_600_000_000
    assert "can't be reproduced exactly" in MODELS["transformer-base-2017"].note


# ---------------------------------------------------------------------------------------------- what is often got wrong


@pytest.mark.parametrize("name, mistake, changed", [
    ("gpt2", "head_counted_twice", {"tied": False}), ("gpt2-medium", "head_counted_twice", {"tied": False}),
    ("gpt2-large", "head_counted_twice", {"tied": False}), ("llama-3.2-1b", "untied", {"tied": False}),
    ("bert-base-uncased", "no_pooler", {"pooler": False}), ("llama-2-70b", "mha_kv_projections", {"n_kv_heads": 64}),
    ("gemma-2b", "paper_sum_256128_vocab", {"vocab_size": 256128}), ("gemma-7b", "paper_sum_256128_vocab", {"vocab_size": 256128}),
    ("gemma-7b", "head_dim_as_d_over_h", {"d_head": None}), ("qwen2-0.5b", "no_qkv_bias", {"biases": ()}),
    ("qwen2-0.5b", "untied", {"tied": False})])
def test_a_usual_mistake_comes_out_as_that_mistake(name, mistake, changed):
    assert total(MODELS[name], **changed) == wrong(name)[mistake] != total(MODELS[name])


@pytest.mark.parametrize("name", ["gpt2", "gpt2-medium", "gpt2-large", "pythia-160m", "pythia-6.9b"])
def test_without_the_tables_the_blocks_and_the_last_norm_remain(name):
    rows = accounting.count_parameters(MODELS[name]).rows
    assert sum(row.count for row in rows if row.part not in ("embedding", "logits")) == wrong(name)["non_embedding"]


def test_experts_share_what_is_not_feed_forward():
    assert 8 * total(MODELS["mistral-7b-v0.1"]) == wrong("mixtral-8x7b")["eight_times_mistral_7b"] > total(MODELS["mixtral-8x7b"])
    count = accounting.count_parameters(MODELS["mixtral-8x7b"])
    routers = sum(row.count for row in count.rows if ".router." in row.name)
    assert count.active - routers == wrong("mixtral-8x7b")["active_without_routers"]


def test_the_active_numbers_of_deepseek_depend_on_what_is_counted():
    config = MODELS["deepseek-v3"]
    count = accounting.count_parameters(config)
    assert count.active - 129280 * 7168 == wrong("deepseek-v3")["active_without_input_embedding"]
    assert f"{count.active:,}" in config.note and f"{count.active - 129280 * 7168:,}" in config.note
    biases = [row for row in count.rows if row.name.endswith("router.b")]
    assert [row.count for row in biases] == [14848] and count.active - 14848 == 37552282624  # as two public files print it


def test_more_kept_heads_are_more_bytes():
    assert accounting.kv_cache_bytes_per_token(dataclasses.replace(MODELS["llama-2-70b"], n_kv_heads=64)) == wrong(
        "llama-2-70b")["kv_if_64_heads"]


def test_the_transformer_of_2017_with_three_tables_and_no_biases_in_attention():
    config = MODELS["transformer-base-2017"]
    assert total(config, biases=("ff", "norm")) + 2 * 37000 * 512 == wrong(config.name)["untied_three_tables"]


def test_a_file_with_rotary_frequencies_in_it_holds_more_numbers_than_there_are_parameters():
    more = wrong("llama-2-7b")["hf_safetensors_total_with_inv_freq_buffers"] - total(MODELS["llama-2-7b"])
    assert more == 32 * 128 // 2 and f"{more:,} numbers more" in MODELS["llama-2-7b"].note
    assert f"{80 * 128 // 2:,} numbers more" in MODELS["llama-2-70b"].note


# --------------------------------------------------------------------------------------------------- what can be run


@pytest.mark.parametrize("name", ["gpt2", "llama-2-70b", "smollm2-135m", "tinyllama-1.1b"])
def test_a_runnable_model_has_the_same_arrays(name):
    config = runnable(MODELS[name], n_ctx=None if name == "gpt2" else 2048)
    assert accounting.count_parameters(config) == accounting.count_parameters(dataclasses.replace(MODELS[name], name="runnable"))


def test_a_small_one_of_each_kind_runs():
    for name in ("gpt2", "llama-3-8b"):
        small = dataclasses.replace(MODELS[name], vocab_size=7, d_model=8, n_layers=1, n_heads=2, n_kv_heads=1, d_head=4, d_ff=6,
                                    n_ctx=5)
        config = runnable(small)
        trace = transformer.forward(transformer.init_params(config, np.random.default_rng(0)), [1, 2, 3], config)
        assert trace.logits.shape == (3, 7)


@pytest.mark.parametrize("name, why", [
    ("bert-base-uncased", "it is an encoder"), ("t5-small", "its positions are relative"), ("mixtral-8x7b", "it has experts"),
    ("deepseek-v3", "it has latent attention"), ("phi-2", "side by side"), ("qwen2-0.5b", r"biases in some places alone \(qkv\)"),
    ("qwen3-0.6b", "queries and keys are normed"), ("gemma-2b", "its activation is geglu"), ("gemma-2-2b", "it has 4 norms a block")])
def test_what_core_cannot_run_is_named(name, why):
    with pytest.raises(ValueError, match=rf"core can't run {name}: .*{why}.*It can still be counted"):
        runnable(MODELS[name], 64)


def test_the_length_of_the_text_is_asked_for_and_a_table_is_not_cut():
    with pytest.raises(ValueError, match="give n_ctx"):
        runnable(MODELS["llama-2-7b"])
    with pytest.raises(ValueError, match="n_ctx must stay 1024, not 64"):
        runnable(MODELS["gpt2"], 64)


# ------------------------------------------------------------------------------------------------- what can't be at all


@pytest.mark.parametrize("changed, sentence", [
    ({"d_model": 10**30}, "d_model is 10*; no model has so many. Give 1000000 or less"),
    ({"vocab_size": 0}, "vocab_size is 0; it must be a whole number of 1 or more"),
    ({"n_layers": True}, "n_layers is True"), ({"kind": "both"}, "kind is 'both'; it can be decoder"),
    ({"n_kv_heads": 5}, "12 heads can't share 5"), ({"d_head": None, "d_model": 770}, "can't be cut into 12 equal heads"),
    ({"biases": ("q",)}, "biases names 'q'"), ({"norms_per_block": 3}, "can be 1, 2 or 4"), ({"n_ctx": None}, "give n_ctx"),
    ({"n_decoder_layers": 2}, "n_decoder_layers 2"), ({"positions": "relative"}, "n_buckets 0")])
def test_a_config_that_cannot_be_says_what_would_work(changed, sentence):
    with pytest.raises(ValueError, match=sentence):
        dataclasses.replace(MODELS["gpt2"], **changed)


def test_a_token_uses_no_more_experts_than_there_are():
    with pytest.raises(ValueError, match="can't use 9 of 8 experts"):
        dataclasses.replace(MODELS["mixtral-8x7b"], experts=MODELS["mixtral-8x7b"].experts._replace(n_used=9))
    assert isinstance(MODELS["gpt2"], PublishedConfig)
