"""A model taken apart: parts that add up, counts by convention, and arrays that are really made."""

import csv
import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from core import ledger, transformer, written
from core.config import ModelConfig
from core.published_figures import FIGURES
from core.published_models import MODELS, PublishedConfig
from tests.model_tools import configs

ROWS = {row["id"]: row for row in json.loads(
    (Path(__file__).parent / "golden" / "model_configs.json").read_text(encoding="utf-8"))["rows"]}
TOY = ModelConfig(65, 64, 64, 2, 4)


def numbers_in(params):
    """How many numbers nested dicts and lists of arrays hold."""
    if isinstance(params, dict):
        return sum(map(numbers_in, params.values()))
    return sum(map(numbers_in, params)) if isinstance(params, list | tuple) else params.size


def adds_up(found, path=()):
    """Does every part hold what is in it?"""
    entry = found[path]
    if entry.row is not None:
        return entry.count == entry.times * np.prod(entry.row.shape, dtype=object) and not entry.children
    parts = [found[child] for child in entry.children]
    return (sum(part.count for part in parts), sum(part.active for part in parts)) == (entry.count, entry.active) and all(
        adds_up(found, part.path) for part in parts)


@settings(max_examples=200)
@given(configs())
def test_the_parts_add_up_to_the_arrays_that_are_really_made(config):
    found = ledger.entries(config)
    assert found[()].count == numbers_in(transformer.init_params(config, np.random.default_rng(0)))
    assert adds_up(found) and adds_up(found, ("one block",)) and ledger.gap_to_arrays(config) == 0
    assert found["all blocks",].count == config.n_layers * found["one block",].count


def test_an_array_too_many_and_one_of_another_shape_are_noticed(monkeypatch):
    made = transformer.init_params(TOY, np.random.default_rng(0))
    monkeypatch.setattr(transformer, "init_params", lambda *_: made | {"w_pos": made["w_pos"].T})
    assert ledger.gap_to_arrays(dataclasses.replace(TOY, n_ctx=32)) > 0
    monkeypatch.setattr(transformer, "init_params", lambda *_: made | {"more": np.zeros(3)})
    assert ledger.gap_to_arrays(TOY) == 3 + 1


@pytest.mark.parametrize("name", ROWS)
def test_every_published_row_comes_out_of_its_parts(name):
    found, figure = ledger.entries(MODELS[name]), FIGURES[name]
    assert found[()].count == ROWS[name]["computed_total"] and adds_up(found)
    assert found[()].active == (ROWS[name]["active"] or ROWS[name]["computed_total"])
    assert all(adds_up(found, path) for path in found if len(path) == 1)
    if name != "gpt3-175b":  # whose row holds what the sizes come to; the paper prints four digits
        assert figure.total == ROWS[name]["published_total"]
    assert figure.active == ROWS[name]["active"] and abs(figure.total - ROWS[name]["computed_total"]) <= figure.within
    assert bool(figure.within) == bool(ROWS[name]["tolerance"]) and figure.source


def test_the_worked_models_come_out_part_by_part(worked):
    for config, key in ((TOY, "toy (vocab 65, context 64, d 64, 2 layers)"), (MODELS["gpt2"], "gpt2-small (50257, 1024, 768, 12)")):
        found, expected = ledger.entries(config), worked["parameters"][key]
        assert (found["embeddings",].count, found["one block",].count, found[()].count) == tuple(expected.values())
    rule = ledger.rule(MODELS["gpt2"])
    assert rule.rule == worked["parameters"]["rule_of_thumb"]["12*768**2"]
    assert rule.error == pytest.approx(worked["parameters"]["rule_of_thumb"]["within"], rel=1e-12)


def test_each_convention_has_its_number():
    gpt2, untied = MODELS["gpt2"], dataclasses.replace(MODELS["gpt2"], tied=False)
    assert ledger.totals(gpt2)[:4] == (124439808, 163037184, 85056000, 84934656)
    assert ledger.totals(untied)[:4] == (163037184, 163037184, 85056000, 84934656)
    assert ledger.totals(MODELS["bert-base-uncased"]).apart is None
    assert ledger.totals(MODELS["pythia-160m"]).without_tables == ROWS["pythia-160m"]["common_wrong_answers"]["non_embedding"]
    assert ledger.totals(MODELS["gemma-7b"]).total == 8537680896 and ledger.totals(MODELS["qwen3-0.6b"]).total == 596049920
    assert ledger.totals(MODELS["mixtral-8x7b"])[::4] == (46702792704, 12879925248)
    routers = ledger.entries(MODELS["mixtral-8x7b"])["all blocks", "experts", "router.w"].count
    assert 12879925248 - routers == ROWS["mixtral-8x7b"]["common_wrong_answers"]["active_without_routers"]
    assert f"{12879925248 - routers:,} without" in MODELS["mixtral-8x7b"].note


def test_more_heads_of_the_same_width_change_nothing_and_fewer_key_value_heads_do():
    for n_heads in (1, 2, 3, 4, 6, 12):
        assert ledger.with_heads(MODELS["gpt2"], n_heads) == (2362368, 4722432, 3072, 12 * 768**2 + 13 * 768)
    for shared in (1, 2, 3, 4, 6):
        saved = 2 * (12 - shared) * 64 * (768 + 1)  # columns of keys and values, each with its bias
        assert ledger.with_heads(MODELS["gpt2"], 12, shared)[0] == 2362368 - saved
    with pytest.raises(ValueError, match="can't be cut into 5 equal heads"):
        ledger.with_heads(MODELS["gpt2"], 5)


def test_one_block_of_a_model_whose_blocks_differ_is_one_with_experts():
    found = ledger.entries(MODELS["deepseek-v3"])
    assert ("one block", "feed-forward") not in found and found["all blocks", "feed-forward"].row is None
    assert 58 * found["one block", "experts"].count == found["all blocks", "experts"].count
    assert 58 * found["one block", "experts"].active == found["all blocks", "experts"].active
    assert 61 * found["one block", "attention"].count == found["all blocks", "attention"].count
    dense = dataclasses.replace(MODELS["deepseek-v3"], experts=MODELS["deepseek-v3"].experts._replace(n_dense_layers=61))
    assert adds_up(ledger.entries(dense)) and ("one block", "feed-forward") in ledger.entries(dense)


@pytest.mark.parametrize("name", MODELS)
def test_the_reason_of_an_array_with_the_sizes_put_in_comes_to_its_shape(name):
    checked = 0
    for entry in ledger.entries(MODELS[name]).values():
        put = ledger.with_sizes(entry.row.reason, MODELS[name]) if entry.row else ""
        if put:
            sides = [eval(side.replace("·", "*").replace(",", "")) for side in put.split(", ")[0].split(" × ")]
            assert tuple(sides) == entry.row.shape
            checked += 1
    assert checked >= 3
    assert ledger.with_sizes("one row a position", MODELS[name]) == ""


def test_short_numbers_keep_their_size():
    assert [ledger.short(n) for n in (0, 999, 1000, 999949, 999950, 124439808, 10**12)] == [
        "0", "999", "1.0\xa0K", "999.9\xa0K", "1.0\xa0M", "124.4\xa0M", "1.0\xa0T"]


def test_a_tiny_share_is_said_to_be_under_a_bound_and_never_written_with_an_exponent():
    assert written.percent(2362368, 124439808) == "1.898 %" and written.percent(1, 10**5 - 1) == "0.001 %"
    for part in (0, 1, 7, 14848, 10**6, 671026419200):
        for digits in (2, 4):
            assert re.fullmatch(r"(under )?\d+(\.\d+)? %", written.percent(part, 671026419200, digits))


def test_what_a_block_and_the_tables_are_made_of_adds_up():
    for config in MODELS.values():
        assert sum(part.count for part in ledger.block_parts(config)) == ledger.rule(config).exact
        rows = ledger.table_rows(config)
        assert sum(row.count for row in rows) == ledger.totals(config).tables and rows[0].name.startswith("w_embed")


def test_a_published_figure_is_said_to_be_rounded_only_where_the_count_rounds_to_it():
    assert FIGURES["gpt3-175b"].rounds_to(174_604_259_328) and not FIGURES["gpt3-175b"].rounds_to(174_650_000_001)
    assert not FIGURES["transformer-base-2017"].rounds_to(63_082_496) and FIGURES["transformer-base-2017"].rounds_to(65_400_000)


def test_the_file_for_a_spreadsheet_holds_the_ledger():
    head, *rows, last = csv.reader(ledger.as_csv(MODELS["mixtral-8x7b"]).splitlines())
    assert head[3] == "numbers" and int(last[3]) == 46702792704 == sum(int(row[3]) for row in rows)
    assert sum(int(row[4]) for row in rows) == 12879925248
    for row in rows:
        assert int(row[3]) == int(row[2]) * np.prod([int(n) for n in re.findall(r"\d+", row[1])])


def test_rotary_positions_need_an_even_head():
    with pytest.raises(ValueError, match="d_head must be even, not 3"):
        PublishedConfig("odd", "decoder", 9, 6, 1, 2, 8, positions="rotary")
