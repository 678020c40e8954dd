"""The page of parameters: what it prints against counts worked elsewhere, what its bars draw, and what becomes of a paste."""

import csv
import functools
import json
import re
import subprocess
import sys
import types

import pytest

from core import ledger, pasted
from core.published_figures import FIGURES
from core.published_models import MODELS
from pages.shared import counting, ledgers, sources
from tests.page_tools import everything_said, panel, picture, pictures, shown, visit

ROWS = ("**once**", "**each**", "**without**", "**block matrices**", "**used**")


@functools.cache
def page(**asked):
    """The page with these settings; it is only read from."""
    at = visit("parameters", **{f"parameters__{name}": value for name, value in asked.items()})
    assert not at.exception and not at.error
    return at


def table(at, head):
    """The cells of the Markdown table whose head holds this, row by row."""
    (found,) = [said for said in shown(at, "say") if said.startswith("|") and head in said.split("\n")[0]]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found.split("\n")[2:]]


def whole(cell):
    """The exact number of a cell."""
    return int(re.match(r"\**([\d,]+)", cell)[1].replace(",", ""))


def totals(at):
    """{line of the table of totals: its exact numbers, model by model}."""
    rows = {next(name for name in ROWS if name in row[0]): row[1:] for row in table(at, "what is counted")}
    return {name: [whole(cell) for cell in cells if "(" in cell] for name, cells in rows.items()}


def bars(at):
    """The numbers drawn: {name of the series: lengths}; the title names what is counted."""
    (drawn,) = pictures(at)
    names = [trace["name"] for trace in drawn.spec["data"] if trace["type"] == "bar" and trace["name"] != "rows"]
    assert drawn.title.startswith(f"{names[0]}: " if len(names) == 1 else ("all ", "one ", "the "))
    assert any(line.value.startswith(":small[Click a bar to ") for line in at.markdown)
    return {trace["name"]: trace["x"].tolist() for trace in drawn.spec["data"] if trace["type"] == "bar" and trace["name"] != "rows"}


def checked(at):
    """The names of the checks at the foot."""
    return [name for name, _, _ in shown(at, "check")]


def test_the_toy_is_what_the_sliders_begin_with(worked):
    expected = worked["parameters"]["toy (vocab 65, context 64, d 64, 2 layers)"]
    at = page()
    assert totals(at)[ROWS[0]] == [expected["total"]]
    assert bars(at) == {"my sizes": [expected["embeddings"], 2 * expected["per_block"], 2 * 64]}
    assert panel(at)[-1] == "embeddings 8,256 + all blocks 99,968 + final norm 128 = 108,352"
    assert any("init_params makes arrays" in name for name in checked(at))


def test_gpt2_by_every_count_and_beside_another():
    at = page(what="a published model", other="mixtral-8x7b", scale="numbers", open="all blocks")
    assert {name: pair[0] for name, pair in totals(at).items()} == dict(zip(
        ROWS, (124439808, 163037184, 85056000, 84934656, 124439808), strict=True))
    assert {name: pair[1] for name, pair in totals(at).items() if name in (ROWS[0], ROWS[4])} == {
        ROWS[0]: 46702792704, ROWS[4]: 12879925248}
    assert table(at, "ratio")[0][-1] == "375.3"  # 46,702,792,704 / 124,439,808
    drawn = bars(at)
    assert drawn["gpt2"] == [12 * 2362368, 12 * 4722432, 12 * 3072, 0] and sum(drawn["mixtral-8x7b"]) == 46702792704 - 2 * 131072000 - 4096
    assert any("equal to the last digit" in said for said in shown(at, "say"))
    assert sum("the count is equal to the published figure" in name for name in checked(at)) == 2
    shares = bars(page(what="a published model", other="mixtral-8x7b", open="all blocks"))
    assert shares["gpt2"][1] == pytest.approx(100 * 12 * 4722432 / 124439808)


def test_an_array_stands_framed_among_its_like_with_its_arithmetic():
    at = page(what="a published model", open="one block › attention › w_qkv")
    lines = panel(at)
    assert lines[0] == "gpt2: one block › attention › w_qkv" and lines[2] == "value on this page: 1,769,472"
    assert lines[4:6] == ["shape: 768 × 2,304; why: d_model × (n_heads + 2 n_kv_heads) · d_head = 768 × (12 + 2 · 12) · 64",
                          "768 × 2,304 = 1,769,472 numbers, 1 time: 1 × 1,769,472 = 1,769,472"]
    figure = picture(at, "gpt2: one block › attention").spec
    (frame,) = figure["layout"]["shapes"]
    assert frame["y0"] == 0 and bars(at)["gpt2"] == [768 * 2304, 768 * 768, 2304, 768]


def test_a_click_on_a_bar_opens_it(monkeypatch):
    taken = {}
    monkeypatch.setattr(counting.lesson, "picture", lambda figure, key, alt, on_click: taken.setdefault("click", on_click))
    at = visit("parameters")
    monkeypatch.undo()
    with monkeypatch.context() as patch:
        state = {"chart.parameters.bars": {"selection": {"points": [{"point_index": 1}]}}}
        fake = types.SimpleNamespace(session_state=state)
        patch.setattr(counting.controls, "st", fake)
        patch.setattr(counting, "st", fake)
        taken["click"]()
    labels = at.selectbox(key="parameters.open").options
    assert labels[state["parameters.open"]] == "all blocks"


def test_what_is_open_stays_open_by_its_name_when_the_model_changes():
    at = visit("parameters", parameters__open="final norm")
    at.button_group(key="parameters.what").set_value("a published model").run()
    at.selectbox(key="parameters.model").set_value(list(MODELS).index("llama-3-8b")).run()
    assert panel(at)[0] == "llama-3-8b: final norm"
    at.button(key="parameters.up").click().run()
    assert panel(at)[0] == "llama-3-8b: the whole model" and not at.exception
    at.selectbox(key="parameters.model").set_value(list(MODELS).index("transformer-base-2017")).run()
    (said,) = [said for said in shown(at, "say") if "differ by 1,917,504. " in said]
    assert "can't be reproduced exactly" in said and "rounded" not in said
    assert any("equal to the last digit" in said or "the published figure is rounded" in said
               for said in shown(page(what="a published model", model="gpt3-175b"), "say"))


def test_the_rule_its_error_and_the_heads():
    at = page(what="a published model", view="12 · d²")
    assert [row[1] for row in table(at, "12 · d² for")] == ["768", "7,087,872", "7,077,888", "9,984", "0.1409 %", "12.02"]
    at = page(view="heads")
    assert table(at, "head width") == [[str(n), str(768 // n), "2,362,368", "4,722,432", "3,072", "**7,087,872**"]
                                       for n in (1, 2, 3, 4, 6, 12)]
    assert any("each hold 786,432 numbers in w_q, w_k and w_v together and 262,144 in w_o" in said for said in shown(at, "say"))
    drawn = picture(at, "Numbers in the attention").spec["data"][0]["x"].tolist()
    assert drawn == [2362368 - 2 * (12 - n) * 64 * 769 for n in (12, 6, 4, 3, 2, 1)]


def test_the_tables_are_a_large_share_of_a_small_model():
    drawn = picture(page(view="the tables' share"), "Share of the tables").spec
    shares = dict(zip(drawn["layout"]["yaxis"]["ticktext"], drawn["data"][0]["x"], strict=True))
    assert set(shares) == {"my sizes", *MODELS} and round(shares["gpt2"], 1) == 31.6 and shares["gpt3-175b"] < 0.5
    assert shares["my sizes"] == pytest.approx(100 * 8256 / 108352)
    ends = dict(zip(drawn["layout"]["yaxis"]["ticktext"], drawn["data"][1]["text"], strict=True))
    assert (ends["gpt2"], ends["my sizes"]) == (" 31.6 % of 124.4\xa0M", " 7.6 % of 108.4\xa0K")


def at_click(monkeypatch, view, row, **asked):
    """What the controls hold after a click on a row of the chart of this view."""
    taken = {}
    monkeypatch.setattr(ledgers.lesson, "picture", lambda figure, key, alt, on_click: taken.update(click=on_click, key=key, figure=figure))
    visit("parameters", parameters__view=view, **asked)
    monkeypatch.undo()
    with monkeypatch.context() as patch:
        state = {f"chart.{taken['key']}": {"selection": {"points": [{"point_index": row(taken["figure"].table[0])}]}}}
        for module in (ledgers.controls, ledgers):
            patch.setattr(module, "st", types.SimpleNamespace(session_state=state))
        taken["click"]()
    return state


def test_a_click_on_any_list_shows_the_sum_behind_its_number(monkeypatch):
    assert at_click(monkeypatch, "12 · d²", lambda names: names.index("gpt2-medium"))["parameters.sum_of"] == 2
    assert at_click(monkeypatch, "the tables' share", lambda names: names.index("my sizes"), parameters__sum_of="gpt2")[
        "parameters.sum_of"] == 0
    twice = {"parameters__what": "a published model", "parameters__other": "gpt2"}
    assert at_click(monkeypatch, "12 · d²", lambda names: names.index("gpt2 again"), **twice)["parameters.sum_of"] == 0
    assert at_click(monkeypatch, "heads", lambda names: names.index("3 key/value heads"))["parameters.shared"] == 3
    for asked, value, sums in (
            ({"view": "12 · d²", "sum_of": "gpt2"}, "12.02", (
                "together: attention 2,362,368 + feed-forward 4,722,432 + norms 3,072 = 7,087,872",
                "7,087,872 / 589,824 = 12.01693", "the rule says 12 × 589,824 = 7,077,888, 9,984 less than the block")),
            ({"view": "the tables' share", "sum_of": "gpt2"}, "31.6 %", ("w_pos: 1,024 × 768 = 786,432",
             "of the whole model: 39,383,808 / 124,439,808 = 31.65 %")),
            ({"view": "heads", "shared": "1 key/value head"}, f"{2362368 - 2 * 11 * 64 * 769:,}", (
                "w_qkv: d_model × (n_heads + 2 n_kv_heads) · d_head = 768 × (12 + 2 · 1) · 64 = 688,128", "b_o: one a feature = 768"))):
        lines = panel(page(**asked))
        assert lines[2] == f"value on this page: {value}" and set(sums) <= set(lines)
    assert len([shape for shape in picture(page(view="heads", shared="1 key/value head"), "Numbers in the").spec["layout"]["shapes"]
                if shape["y0"] < 5 < shape["y1"]]) == 1


def test_the_ledger_as_a_table_a_file_and_a_script(tmp_path):
    at = page(what="a published model", model="mixtral-8x7b", view="all arrays")
    *rows, last = table(at, "why this shape")
    assert sum(whole(row[3]) for row in rows) == whole(last[3].strip("*")) == 46702792704
    for row in rows:
        numbers = [int(n.replace(",", "")) for n in (*row[1].split(" × "), row[2])]
        product = 1
        for n in numbers:
            product *= n
        assert product == whole(row[3])
    assert at.get("download_button")[0].proto.label == "Download this ledger as CSV"
    assert [ledgers._file(name) for name in ("my sizes", "gpt2", counting.LAST)] == ["my-sizes", "gpt2", "last-sizes-that-worked"]
    assert len(list(csv.reader(ledger.as_csv(MODELS["mixtral-8x7b"]).splitlines()))) == len(rows) + 2
    file = tmp_path / "parameters.py"
    file.write_text(at.session_state["_below"]["script"][0](), encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", "-W", "error", file], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    assert printed[printed.index("total") + 1] == "[46702792704]" and printed[printed.index("active") + 1] == "[12879925248]"
    assert sum(line.endswith(f"x {row[2].replace(',', '')}") for line in printed for row in rows) >= len(rows)


def test_impossible_sizes_get_a_sentence_and_the_sliders_stay():
    for asked, sentence in (({"n_heads": "5"}, "can't be cut into 5 equal heads. Head counts that work: 1, 2, 4, 8, 16, 32, 64"),
                            ({"n_kv_heads": "3"}, "4 heads can't share 3 key/value heads evenly. Key/value head counts that work: 1, 2, 4"),
                            ({"n_heads": "64", "scheme": "rotary"}, "d_head must be even, not 1")):
        at = page(**asked)
        (said,) = shown(at, "warn")
        assert sentence in said and totals(at)[ROWS[0]] == [108352] and "Until then the toy is counted below." in said
        assert list(bars(at)) == ["the toy"] and panel(at)[0] == "the toy: the whole model" and "| the toy |" in everything_said(at)
        assert "my sizes" not in everything_said(at) + str(checked(at))
        assert all(str(at.session_state[f"parameters.{name}"]) == value for name, value in asked.items())
    assert not shown(page(n_heads="5", d_head="16"), "warn")


def test_impossible_sizes_leave_the_last_ones_of_this_visit_that_worked():
    at = visit("parameters", parameters__n_layers="5", parameters__d_model="1024")
    expected = totals(at)
    at.slider(key="parameters.n_heads").set_value(13).run()
    (said,) = shown(at, "warn")
    assert "d_model 1,024 can't be cut into 13" in said and "256, 512, 1,024. Or" in said
    assert said.endswith("Until then the last sizes that worked are counted below.")
    assert totals(at) == expected and list(bars(at)) == [counting.LAST] and panel(at)[0] == f"{counting.LAST}: the whole model"
    assert "width 1,024, 5 blocks, 4 heads of width 256" in everything_said(at) and "my sizes" not in everything_said(at)
    at.slider(key="parameters.n_heads").set_value(8).run()
    assert not shown(at, "warn") and list(bars(at)) == ["my sizes"]


def test_every_published_figure_says_where_it_stands_and_that_is_cited_where_it_is_shown():
    always = {sources.cited(name).cite for name in shown(page(), "source")}
    assert set(ledgers.CITES) | {"transformer-base-2017"} == set(MODELS)
    for name, figure in FIGURES.items():
        cited = always | {sources.cited(name).cite for name in ledgers.CITES.get(name, ())}
        named = {source.cite for source in sources.SOURCES if source.cite in figure.source} - {"Hugging Face"}
        assert named and named <= cited and "public files" not in figure.source, name
    at = page(what="a published model", other="mixtral-8x7b", scale="numbers", open="all blocks")
    assert "keras-hub (numbers of parameters)" in shown(at, "source")


def test_presets_set_the_sliders():
    at = visit("parameters")
    for name, total in (("GPT-2 small", 124439808), ("SmolLM2-135M", 134515008), ("the toy", 108352)):
        at.button(key=f"parameters.preset.{name}").click().run()
        assert totals(at)[ROWS[0]] == [total] and not at.exception


PASTE = "parameters.config"
LONG = json.dumps({"model_type": "gpt2", "n_embd": 8, **{f"field{i}": i for i in range(400)}})
MARKUP = '{"model_type": "<b>QZX</b> ![x](http://example.org/a.png) $x$", "n_embd": 8}'


def in_address(at):
    """What the address holds of the paste."""
    held = at.query_params.get(PASTE, "")
    return held if isinstance(held, str) else held[0]


def test_a_paste_is_counted_kept_and_put_into_the_address():
    at = visit("parameters", parameters__what="a pasted config.json")
    assert totals(at)[ROWS[0]] == [124439808] and PASTE not in at.query_params
    at.button(key=f"{PASTE}.1").click().run()
    assert totals(at)[ROWS[0]] == [8030261248] and at.text_area(key=PASTE).value == pasted.READY["Llama 3 8B"]
    assert any("takes at most 330,000 characters; a longer text is not taken over" in line.value for line in at.markdown)
    kept = in_address(at)
    again = visit("parameters", parameters__what="a pasted config.json", **{PASTE: kept})
    assert totals(again) == totals(at) and len(kept) < 400
    for text, sentence in (("{'a': 1}", "single quotes"), (MARKUP, "this reader knows gpt2"), (LONG, '"vocab_size" is missing'),
                           ("", "nothing here yet"), ("x" * 250_000, "250,000 characters")):
        at.text_area(key=PASTE).set_value(text).run()
        assert not at.exception and not at.error and at.text_area(key=PASTE).value == text
        assert list(bars(at)) == ["GPT-2 small, ready-made"] and panel(at)[0] == "GPT-2 small, ready-made: the whole model"
        assert "the pasted file" not in "".join(shown(at, "say")) + str(checked(at))
        assert [sentence in said for said in shown(at, "words")] == [True] and totals(at)[ROWS[0]] == [124439808]
        assert in_address(at) == (text if len(text) <= 2000 else "")
        assert any("does not hold what you pasted" in line.value for line in at.markdown) == (len(text) > 2000)
        assert all("QZX" not in str(element.proto) for element in at._tree
                   if hasattr(element, "proto") and getattr(element, "type", "") not in ("text", "text_area"))
    at.text_area(key=PASTE).set_value(pasted.READY["Mixtral 8x7B"][:-2] + ', "**odd**": 1, "_name_or_path": "<i>mine</i>"}').run()
    (said,) = shown(at, "words")
    assert "does not know it: **odd**." in said and 'calls itself "<i>mine</i>"' in said and "rope_theta" in said
    assert totals(at)[ROWS[4]] == [12879925248] and "odd" not in in_address(at)
    at.button_group(key="parameters.what").set_value("my own sizes").run()
    assert PASTE not in at.query_params and totals(at)[ROWS[0]] == [108352]
