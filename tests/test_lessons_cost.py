"""The page of memory and compute: what it says and draws, against numbers that were published or are worked out here."""

import re

import numpy as np
import pytest

from tests.page_tools import everything_said, panel, picture, pictures, recomputed, shown, visit, widget
from tests.test_scripts import printed as script_prints

PUBLISHED = {"llama-2-7b": 524288, "llama-3-8b": 131072, "llama-2-70b": 327680, "opt-13b": 819200, "gpt2-xl": 307200,
             "llama-3.1-405b": 516096, "qwen2.5-72b": 327680, "qwen3-32b": 262144, "deepseek-v3": 70272, "bert-large-uncased": 0}
LLAMA = 8030261248


def opened(view="KV cache", **more):
    """The page with this view."""
    return visit("memory-and-compute", **{f"memory_and_compute.{key}": value for key, value in ({"view": view} | more).items()})


def table(at, head):
    """The cells of the Markdown table whose first line holds these words, row by row."""
    (found,) = [each for each in shown(at, "say") if each.startswith("|") and head in each.split("\n")[0]]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found.split("\n")[2:]]


def last(at):
    """The name and the value of the last step in the panel, recomputed from its operands."""
    return recomputed(panel(at))[-1]


def curve(at, title, name):
    """x and y of a line in a picture."""
    (found,) = [each for each in picture(at, title).spec["data"] if each["name"] == name]
    return np.asarray(found["x"]), np.asarray(found["y"])


def test_the_cache_of_every_model_can_be_read_and_is_the_published_one(tmp_path):
    at = opened(batch="4")
    lines = {line[0]: line for line in table(at, "model")}
    assert {name: int(lines[name][1].replace(",", "")) for name in PUBLISHED} == PUBLISHED
    assert lines["llama-3-8b"][2:] == ["8,192", "1", "14.96"] and lines["gpt2"][3] == f"{2 * 2 * 12 * 768 * 1024 / 2**30:.4g}"
    assert all(re.fullmatch(r"[\d,.]*", cell) for line in lines.values() for cell in line[3:])  # one unit a column, in its head
    assert "2 × 32 × 8 × 128 × 2 = **131,072 bytes** a token. 4 × 8,192 tokens take **4.295 GB = 4 GiB**" in everything_said(at)
    heads = table(at, "key/value heads")
    left = 24 * 2**30 - 2 * LLAMA
    assert [line[1:3] for line in heads] == [["8", "131,072"], ["32", "524,288"], ["1", "16,384"]]
    assert heads[0][4] == f"{left // (4 * 131072):,}" and [line[3] for line in heads] == ["4", "16", "0.5"]
    x, y = curve(at, "Cache against context", "as it is (GQA)")
    np.testing.assert_allclose(y, x * 4 * 131072 / 2**30)
    assert last(at) == ("cache_GiB[0]", 4)
    widget(at, "memory_and_compute.cache_number").set_value(1).run()
    assert last(at)[1] == pytest.approx(left / (4 * 131072))
    found = script_prints(at, tmp_path)
    assert found["as it is (GQA)"].tolist() == [[131072, 131072 * 8192 * 4, left // (4 * 131072)]]


def test_latent_attention_encoders_and_sizes_that_do_not_fit():
    at = opened(model="deepseek-v3", context="131072")
    assert [line[2] for line in table(at, "key/value heads")] == ["70,272", "4,997,120"] and any(
        "The weights alone take more than 24 GiB" in sentence for sentence in shown(at, "warn"))
    assert "keeps **no cache**" in everything_said(opened(model="bert-base-uncased"))
    at = opened(model="your own sizes", n_kv_heads="64")
    assert any("32 heads can't share 64 key/value heads" in sentence for sentence in shown(at, "warn")) and len(pictures(at)) == 2
    at = opened(model="qwen3-32b")
    assert "2 × 64 × 8 × 128 × 2 = **262,144 bytes**" in everything_said(at)


def test_memory_is_drawn_part_by_part_and_taken_apart(tmp_path):
    at = opened("memory", context="1024")
    drawn = {each["name"]: np.asarray(each["x"]) * 2**30 for each in picture(at, "What lies in memory").spec["data"]}
    np.testing.assert_allclose(drawn["weights"], LLAMA * np.array([4, 2, 1, 0.5, 4, 2]))
    np.testing.assert_allclose(drawn["gradients"], LLAMA * np.array([0, 0, 0, 0, 4, 2]))
    np.testing.assert_allclose(drawn["optimizer (m, v, master copy)"], LLAMA * np.array([0, 0, 0, 0, 8, 12]))
    np.testing.assert_allclose(drawn["cache"], 1024 * 131072 * np.array([1, 1, 1, 1, 0, 0]))
    n, d = 1024, 4096  # streams, q and mixed, k and v, pattern, three hidden; then the last stream, its norm and the logits
    kept = 32 * (n * (4 * d + 2 * d + 2 * 1024 + 3 * 14336) + 32 * n * n) + n * (2 * d + 128256)
    np.testing.assert_allclose(drawn["activations"], kept * np.array([0, 0, 0, 0, 4, 2]))
    cells = {line[0]: line[1:] for line in table(at, "gradients")}
    assert cells["read, int8"] == [f"{LLAMA / 2**30:.4g}", "", "", "", "0.125", f"{(LLAMA + 1024 * 131072) / 2**30:.4g}"]
    widget(at, "memory_and_compute.memory_number").set_value(15).run()
    assert last(at) == ("activations_GiB[0]", pytest.approx(2 * kept / 2**30))
    assert script_prints(at, tmp_path)["learn, mixed 16/32"].tolist() == [[2 * LLAMA, 2 * LLAMA, 12 * LLAMA, 2 * kept, 0]]
    widget(at, "memory_and_compute.pattern").set_value(False).run()
    assert last(at)[1] == pytest.approx(2 * (kept - 32 * 32 * n * n) / 2**30)
    at = opened("memory", model="mixtral-8x7b")
    assert any("core can't run mixtral-8x7b: it has experts" in sentence for sentence in shown(at, "warn")) and not at.exception


def test_operations_and_the_rule_of_two(tmp_path):
    at = opened("FLOPs", context="1024", model="gpt2", trained_on="10")
    matrices = 12 * 12 * 768**2 + 50257 * 768
    decode = 2 * matrices + 4 * 12 * 768 * 1024
    assert last(at)[1] == 1024 * decode
    x, y = curve(at, "FLOPs of one token against", "counted")
    np.testing.assert_allclose(y, 2 * matrices + 4 * 12 * 768 * x)
    assert set(curve(at, "FLOPs of one token against", "2 · N")[1]) == {2 * 124439808}
    assert f"**{abs(2 * 124439808 - decode) / decode:.2%} too low**" in everything_said(at)
    assert "6 × 124,439,808 × 10,000,000,000 = **7.466·10¹⁸ FLOPs**" in everything_said(at)
    found = script_prints(at, tmp_path)
    assert found["prefill"].sum() == 1024 * decode and found["decode"].sum() == decode
    at = opened("FLOPs", model="t5-small")
    assert any("count one stack at a time" in sentence for sentence in shown(at, "warn")) and "A whole training" in everything_said(at)
    assert "there is no decode" in everything_said(opened("FLOPs", model="bert-base-uncased"))


def test_the_roof_of_a_machine_from_its_data_sheet(tmp_path):
    at = opened("roofline", batch="16", pass_number="decode, batch 16")
    weights = 2 * (LLAMA - 128256 * 4096 - 65 * 4096)  # less the input table and the gains of the norms
    flops = 16 * (weights + 4 * 32 * 4096 * 8192)
    n_bytes = weights + 16 * 8192 * 131072
    assert last(at)[1] == pytest.approx(16 / (n_bytes / 2039e9)) and flops / n_bytes < 312e12 / 2039e9
    lines = {line[0]: line for line in table(at, "limited by")}
    assert [line[4] for line in lines.values()] == ["arithmetic", "memory", "memory"] and "It is an upper bound" in everything_said(at)
    x, y = curve(at, "Roofs", "NVIDIA A100 80GB SXM")
    np.testing.assert_allclose(y, np.minimum(312e12, x * 2039e9))
    np.testing.assert_allclose(script_prints(at, tmp_path)["decode, batch 16"], [[flops / (n_bytes / 2039e9), n_bytes / 2039e9,
                                                                                   16 / (n_bytes / 2039e9)]])


def press(at, label):
    (button,) = [button for button in at.button if button.label == label]
    return button.click().run()


def test_this_machine_is_measured_when_asked_and_stops_when_told():
    at = opened("roofline", machine="this machine, measured")
    assert any("Press “Measure this machine”" in sentence for sentence in shown(at, "say"))
    press(at, "Measure this machine")
    assert at.session_state["_running"] and "Measuring: " in everything_said(at)
    press(at, "Stop")
    watch = at.session_state["_stopwatches"]["machine"]
    assert not at.session_state["_running"] and ("stopped before the end" in everything_said(at)) != watch.over
    watch.go(60)
    at.run()
    peak = float(re.search(r"peak ([\d.]+)·10", everything_said(at))[1])
    assert not at.exception and peak > 0 and last(at)[1] > 0 and len(pictures(at)[0].spec["data"]) >= 4


def test_attention_and_recurrence_are_counted_and_then_measured(worked, tmp_path):
    at, given = opened("attention and recurrence"), worked["complexity"]
    assert [line[1:] for line in table(at, "attention | recurrence")] == [
        [f"{given['self_attention_n2d']:,}", f"{given['recurrent_nd2']:,}"],
        [f"{given['whole_layer_attention_4nd2+2n2d']:,}", f"{given['whole_layer_recurrent_2nd2']:,}"], ["1", "50"]]
    assert "**10.24 times**" in everything_said(at) and "**exactly at n = d = 512**" in everything_said(at)
    (x, attention), (_, recurrence) = (curve(at, "Mixing along", name) for name in ("attention", "recurrence"))
    assert ((attention > recurrence) == (x > 512)).all() and attention[x == 512] == recurrence[x == 512]
    (_, attention), (_, recurrence) = (curve(at, "Whole layers", name) for name in ("attention", "recurrence"))
    assert (attention > recurrence).all()
    assert script_prints(at, tmp_path)["counted"].tolist() == [[1280000, 13107200, 54988800, 26214400, 1, 50]]
    widget(at, "memory_and_compute.layer_number").set_value(4).run()
    assert last(at) == ("ratio[0]", 10.24) and not any("Seconds" in each.title for each in pictures(at))
    press(at, "Measure")
    at.session_state["_stopwatches"]["lengths"].go(60)
    at.run()
    assert not at.exception and "none is promised to cross" in everything_said(at)
    x, seconds = curve(at, "Seconds", "attention, measured")
    lengths, line = curve(at, "Seconds", "a line ∝ n²")
    assert (seconds > 0).all() and x.tolist() == lengths.tolist() and line[-1] == seconds[-1]
    np.testing.assert_allclose(line, seconds[-1] * (lengths / lengths[-1]) ** 2)
    slope, error = np.polyfit(np.log(x[-4:]), np.log(seconds[-4:]), 1, cov=True)
    assert f"attention grows like **n^{slope[0]:.2f} ± {error[0, 0] ** 0.5:.2f}**" in everything_said(at)
    assert "the address does not hold them" in everything_said(at)
    grown = seconds[1] / seconds[0]
    assert f"From n = 16 to 32 attention's count grows **4 times**, its measured time **{grown:.3g} times**." in everything_said(at)
    assert ("starting a call costs the same" in everything_said(at)) == (grown < 4)


def test_attention_in_blocks_gives_the_same_numbers_from_fewer_scores(tmp_path):
    at = opened("same numbers, less memory", tokens="64", query_block="16", key_block="8", query="37")
    said = everything_said(at)
    assert "**98.3 kB = 96 KiB**" in said and "**128 scores** at once, **1.024 kB = 1 KiB**, in 32 blocks" in said
    (gap,) = [residual for name, residual, _ in shown(at, "check") if name == "attention in blocks is attention"]
    assert gap <= 1e-12
    name, total = last(at)
    assert name == "sum[query 37, block 4]" and curve(at, "Query 37", "sum so far")[1][-1] == pytest.approx(total)
    x, scores = curve(at, "Bytes of scores", "8 keys at a time")
    assert (scores == 8 * 8 * x).all()
    found = script_prints(at, tmp_path)
    assert found["compared"].tolist() == [[64 * 64, 3 * 8 * 64 * 64, 128, 1024, 32]] and found["sum so far"][0][-1] == pytest.approx(total)


def test_the_query_to_begin_with_shows_what_the_view_is_about():
    at = opened("same numbers, less memory")
    query = widget(at, "memory_and_compute.query").value
    tops, sums = (curve(at, f"Query {query}", f"{name} so far")[1] for name in ("largest score", "sum"))
    rose = [block for block in range(1, len(tops)) if tops[block] > tops[block - 1]]
    assert rose and rose[-1] >= len(tops) // 2
    assert f"rose **{len(rose)} times** after its first block, in blocks {', '.join(map(str, rose))};" in everything_said(at)
    assert last(at)[1] == pytest.approx(sums[-1], rel=1e-14) and "Before the first block m = −∞, z = 0 and o = 0" in everything_said(at)
    widget(at, "memory_and_compute.query").set_value(255).run()
    assert f"rose **0 times** after that, and nothing had to be multiplied. Query {query} shows more." in everything_said(at)
