"""The forward pass and generation pages: the worked example, every sum behind a cell, the cases, and the cache."""

import math
import re

import numpy as np
import pytest

from core import transformer
from core.config import ModelConfig
from pages.shared import architecture, passes
from tests.page_tools import drawn, everything_said, panel, picture, pictures, recomputed, shown, visit, widget
from tests.test_lessons_block import set_to
from tests.test_scripts import NASTY, agree
from tests.test_scripts import printed as script_prints
from tests.test_transformer import nasi

PASS, MADE = "forward-pass", "generation"
TITLES = {"scores": "scores, head {}", "pattern": "pattern, head {}", "logits": "logits", "+ positions": "+ positions"}


def bars(at, title):
    """The heights of the bars of the picture whose title starts like this, by trace; one alone as an array."""
    data = picture(at, title).spec["data"]
    return {trace["name"]: trace["y"] for trace in data} if len(data) > 1 else data[0]["y"]


# -------------------------------------------------------------------------------------------------------- forward pass


def test_nasi_comes_out_as_worked(worked):
    given = worked["nasi_forward"]
    at = visit(PASS)
    for head, expected in enumerate(given["attention_weights"]):
        set_to(at, PASS, head=f"head {head}", stage="pattern")
        np.testing.assert_allclose(drawn(at, f"pattern, head {head}"), expected, atol=6e-9)
    set_to(at, PASS, stage="logits")
    np.testing.assert_allclose(drawn(at, "logits")[-1], given["logits_last"], atol=6e-9)
    set_to(at, PASS, stage="probabilities")
    matrix = picture(at, "probabilities").matrix
    vocabulary = [" " if name == "␣" else name for name in matrix.columns]
    assert {letter: round(float(p), 3) for letter, p in zip(vocabulary, matrix.values[-1], strict=True)} == given["next_char"]
    for stage, name in (("+ positions", "embedding"), ("attention writes", "attention writes"), ("feed-forward writes", "mlp writes")):
        set_to(at, PASS, stage=stage)
        assert np.linalg.norm(drawn(at, stage)[-1]) == pytest.approx(given["residual_norms_last_token"][name], abs=1e-8)


def test_the_drawing_names_every_step_with_its_shape(worked):
    drawing = pictures(visit(PASS))[0].spec
    texts = " ".join(note["text"] for note in drawing["layout"]["annotations"])
    shapes = dict(worked["nasi_forward"]["shapes"])
    for name, shape in (("embedded", shapes["embed"]), ("scores", shapes["scores"]), ("stream out", shapes["after mlp"]),
                        ("attention<br>writes", shapes["after attn"]), ("logits", shapes["logits"]), ("widen", [5, 64])):
        assert f"<b>{name}</b><br>{' × '.join(map(str, shape))} = {math.prod(shape)}" in texts
    assert drawing["data"][0]["customdata"] == list(passes.STEPS)


READS = {  # what each array is computed from, by the formulas on the page
    "embedded": {"token ids"}, "+ positions": {"embedded"}, "norm 1": {"+ positions"}, "q": {"norm 1"}, "k": {"norm 1"}, "v": {"norm 1"},
    "scores": {"q", "k"}, "pattern": {"scores"}, "mixed": {"pattern", "v"}, "attention writes": {"mixed"},
    "between": {"+ positions", "attention writes"}, "norm 2": {"between"}, "widen": {"norm 2"}, "bend": {"widen"},
    "feed-forward writes": {"bend"}, "stream out": {"between", "feed-forward writes"}, "final norm": {"stream out"},
    "logits": {"final norm"}, "probabilities": {"logits"}}


def test_the_arrows_lead_from_what_is_read_to_what_is_computed():
    """Every arrow begins at a box's edge, or on an arrow out of that box, and ends at a box's edge."""
    lines = dict.fromkeys(passes.STEPS, "2 × 2")
    notes = architecture.decoder_only(lines, ("a", "b", "c")).spec["layout"]
    boxes = [(shape["x0"], shape["x1"], shape["y0"], shape["y1"]) for shape in notes["shapes"] if shape["type"] == "rect"]
    bent = {path[-1]: path for path in ([tuple(map(float, point.split(","))) for point in shape["path"][1:].split(" L")]
                                        for shape in notes["shapes"] if shape["type"] == "path")}

    def box_at(x, y):
        (found,) = [name for name, (x0, x1, y0, y1) in zip(lines, boxes, strict=True) if x0 - 1e-9 <= x <= x1 + 1e-9
                    and y0 - 1e-9 <= y <= y1 + 1e-9] or [None]
        return found

    found = {}
    for note in (note for note in notes["annotations"] if note["showarrow"]):
        tail = (round(note["ax"], 6), round(note["ay"], 6))
        start = bent.get(tail, [tail])[0]
        if box_at(*start) is None:  # branches off the stream's line
            (start,) = [path[0] for path in bent.values() if start in path[1:] and box_at(*path[0])]
        found.setdefault(box_at(note["x"], note["y"]), set()).add(box_at(*start))
    assert found == READS


def test_arrows_past_other_blocks_are_dotted():
    lines = dict.fromkeys(passes.STEPS, "2 × 2")

    def dotted(**more):
        shapes = architecture.decoder_only(lines, ("a", "b", "c"), **more).spec["layout"]["shapes"]
        return sum(shape["line"].get("dash") == "dot" for shape in shapes)

    assert [dotted(), *(dotted(block=block, n_layers=3) for block in range(3))] == [0, 1, 2, 1]


@pytest.mark.parametrize("asked", [
    {}, {"forward_pass__weights": "trained", "forward_pass__prompt": "kan"},
    {"text": "to be <b>", "forward_pass__n_layers": "2", "forward_pass__n_heads": "4"}], ids=["", "trained", "own"])
def test_every_step_of_the_way_is_drawn_and_each_cell_is_its_sum(asked):
    at = visit(PASS, **asked)
    layers = "text" in asked
    if layers:
        set_to(at, PASS, block="block 1", head="head 3")
    for stage in passes.STEPS:
        set_to(at, PASS, stage=stage)
        values = drawn(at, stage if stage not in ("q", "k", "v") else f"{stage},")
        row, column = 2, min(1, values.shape[1] - 1)
        set_to(at, PASS, row=row, column=column)
        _, value = recomputed(panel(at))[-1]
        matrix = picture(at, stage if stage not in ("q", "k", "v") else f"{stage},").matrix
        if stage == "scores":
            set_to(at, PASS, row=2, column=0)
            _, value = recomputed(panel(at))[-1]
            column = 0
        assert value == pytest.approx(matrix.overlay[row, column], abs=1e-9), stage
        assert f"**Step {list(passes.STEPS).index(stage)} of {len(passes.STEPS) - 1}: {stage}.**" in everything_said(at)


def test_the_steps_follow_each_other_as_the_formulas_say():
    """Each array again from the ones before it, on the numbers drawn."""
    at = visit(PASS)
    seen = {}
    for stage in passes.STEPS:
        set_to(at, PASS, stage=stage)
        seen[stage] = next(each for each in pictures(at) if each.key == "chart.forward_pass.array").matrix.overlay
    params, _ = nasi()
    own = params["blocks"][0]

    def norm(x):
        return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)

    def close(stage, expected):
        np.testing.assert_allclose(seen[stage], expected, atol=1e-12)

    ids = seen["token ids"][:, 0].astype(int)
    assert [" aeiklmns"[i] for i in ids] == list("nasi ")
    close("embedded", params["w_embed"][ids])
    close("+ positions", seen["embedded"] + params["w_pos"])
    close("norm 1", norm(seen["+ positions"]))
    for name, first in (("q", 0), ("k", 16), ("v", 32)):
        close(name, seen["norm 1"] @ own["attention"]["w_qkv"][:, first:first + 8])
    raised = np.where(np.tri(5) > 0, np.exp(seen["q"] @ seen["k"].T / math.sqrt(8)), 0)
    close("pattern", raised / raised.sum(1, keepdims=True))
    close("mixed", seen["pattern"] @ seen["v"])
    close("between", seen["+ positions"] + seen["attention writes"])
    close("norm 2", norm(seen["between"]))
    close("widen", seen["norm 2"] @ own["feed_forward"]["w_in"])
    close("bend", np.maximum(seen["widen"], 0))
    close("feed-forward writes", seen["bend"] @ own["feed_forward"]["w_out"])
    close("stream out", seen["between"] + seen["feed-forward writes"])
    close("final norm", norm(seen["stream out"]))
    close("logits", seen["final norm"] @ params["w_embed"].T)
    close("probabilities", np.exp(seen["logits"]) / np.exp(seen["logits"]).sum(1, keepdims=True))


def test_the_buttons_walk_through_all_steps_and_round():
    at = visit(PASS)
    for stage in [*passes.STEPS][1:] + [*passes.STEPS][:1]:
        at.button(key="forward_pass.on").click().run()
        assert at.session_state["forward_pass.stage"] == stage and not at.exception
    at.button(key="forward_pass.back").click().run()
    assert at.session_state["forward_pass.stage"] == "probabilities"


def test_logits_and_probabilities_of_the_picked_position_stand_as_bars(worked):
    at = visit(PASS, forward_pass__stage="probabilities")
    given = worked["nasi_forward"]
    np.testing.assert_allclose(bars(at, "Logits after position 4"), given["logits_last"], atol=6e-9)
    assert [round(float(p), 3) for p in bars(at, "Probabilities after position 4")] == list(given["next_char"].values())
    set_to(at, PASS, row=1)
    np.testing.assert_allclose(bars(at, "Probabilities after position 1"), drawn(at, "probabilities")[1], atol=1e-15)


def test_random_and_trained_stand_side_by_side_on_the_same_text(worked):
    at = visit(PASS, forward_pass__view="random and trained")
    random, trained = bars(at, "Random"), bars(at, "Trained")
    assert [round(float(p), 3) for p in random] == list(worked["nasi_forward"]["next_char"].values())
    assert trained.argmax() == " aeiklmns".index("l") and trained.max() > 0.5 and trained.sum() == pytest.approx(1)
    at = visit(PASS, forward_pass__view="every position", forward_pass__weights="trained")
    np.testing.assert_allclose(drawn(at, "Next-character")[-1], trained, atol=1e-12)
    assert recomputed(panel(at))[-1][1] == pytest.approx(trained[0], abs=1e-12)


def test_every_position_predicts_and_the_loss_is_that_of_what_came():
    at = visit(PASS, forward_pass__view="every position")
    probs = drawn(at, "Next-character")
    np.testing.assert_allclose(probs.sum(axis=1), 1, atol=1e-12)
    ids = [" aeiklmns".index(letter) for letter in "nasi "]
    loss = -sum(math.log(probs[t, ids[t + 1]]) for t in range(4)) / 4
    assert f"**{loss:.4f}**" in everything_said(at) and f"**{math.log(9):.4f}**" in everything_said(at)


@pytest.mark.parametrize("asked", [{}, {"text": "the bank refused", "forward_pass__n_layers": "3"}], ids=["preset", "own"])
@pytest.mark.parametrize("how", ["change the last token", "append a token"])
def test_a_later_token_moves_earlier_outputs_only_without_the_causal_mask(asked, how):
    at = visit(PASS, forward_pass__view="later tokens", forward_pass__how=how, **asked)
    moved = bars(at, "How far")
    assert (moved["with the causal mask"] <= 1e-12).all() and (moved["without it"] > 1e-6).all()
    said = everything_said(at)
    assert "causal mask" in said and "padding mask" in said and "decoder-only" in said and "BERT, has no causal mask" in said


def test_the_untrained_loss_is_ln_of_the_vocabulary():
    at = visit(PASS, forward_pass__view="before training")
    curves = {trace["name"]: trace["y"] for trace in picture(at, "Loss before").spec["data"]}
    assert curves["random weights"][:2] == pytest.approx([math.log(9)] * 2, rel=0.02)
    assert (curves["even guessing, ln 9"] == math.log(9)).all() and curves["random weights"][-1] > 1.3 * math.log(9)
    said = everything_said(at)
    tokens = int(re.search(r"on ([\d,]+) random tokens", said)[1].replace(",", ""))
    assert tokens >= 1000 and "−ln(1/V) = ln V" in said


def test_the_page_says_what_a_real_gpt_has_more():
    said = everything_said(visit(PASS))
    for word in ("Scale", "Batches", "gains and offsets", "biases", "dropout", "Fused kernels", "mixed precision", "steps are the same"):
        assert word in said


def test_heads_that_do_not_fit_are_explained_in_the_configs_own_words():
    at = visit(PASS, text="a b c", forward_pass__n_heads="3")
    with pytest.raises(ValueError) as why:
        ModelConfig(4, 32, 16, 1, 3)
    assert any(remark.startswith(str(why.value)) for remark in shown(at, "remark")) and not at.exception


@pytest.mark.parametrize("prompt", ["nasi lemak", "xyz", "", "<b>"])
def test_what_the_small_model_can_not_read_gets_a_sentence(prompt):
    at = visit(PASS, forward_pass__prompt=prompt)
    (remark,) = shown(at, "remark")
    assert remark.startswith("“What the model reads” can't be read: ") and "1 to 5 characters" in remark
    assert not prompt or prompt not in remark
    assert drawn(at, "token ids").shape == (5, 1)


def test_an_own_text_is_its_characters_and_its_vocabulary_their_set():
    at = visit(PASS, text="banana <b>" + "x" * 40, forward_pass__stage="probabilities")
    matrix = picture(at, "probabilities").matrix
    assert matrix.columns == ["␣", "<", ">", "a", "b", "n", "x"] and matrix.overlay.shape == (32, 7)
    assert any("50 characters. The first 32" in remark for remark in shown(at, "remark"))


def test_an_own_model_is_drawn_from_the_seed_and_its_spread():
    one, same, other, wide = (drawn(visit(PASS, text="a b", forward_pass__stage="embedded", **more), "embedded") for more in (
        {}, {}, {"seed": "2"}, {"forward_pass__spread": "0.2"}))
    assert (one == same).all() and (one != other).all()
    np.testing.assert_allclose(wide, 2 * one, rtol=1e-12)


# ---------------------------------------------------------------------------------------------------------- generation


def typed(numbers, kind="logits", **more):
    return visit(MADE, generation__source="typed in", generation__kind=kind, generation__numbers=numbers,
                 **{f"generation__{name}": str(value) for name, value in more.items()})


def by_id(at):
    """{id: probability that the next token is drawn with}, as drawn."""
    each = picture(at, "What the next token").spec
    return dict(zip([int(label) for label in each["layout"]["xaxis"]["ticktext"]], each["data"][0]["y"], strict=True))


@pytest.mark.parametrize("numbers, p, kept", [(".4 .3 .2 .1", 0.8, [0, 1, 2]), (".5 .41 .09", 0.9, [0, 1]), (".3 .1 .1 .5", 0.8, [0, 3])])
def test_top_p_keeps_the_token_that_crosses_it(numbers, p, kept):
    at = typed(numbers, "probabilities", top_p=p)
    found = by_id(at)
    assert sorted(i for i, share in found.items() if share) == kept
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    given = [float(number) for number in numbers.split()]
    mass = sum(given[i] for i in kept)
    assert mass >= p - 1e-12 and f"**{mass:.4f}** of the whole" in everything_said(at)
    two = bars(at, "Softmax at T")
    np.testing.assert_allclose(two["kept"] + two["cut off"], sorted(given, reverse=True), atol=1e-12)
    assert two["kept"].sum() == pytest.approx(mass)


@pytest.mark.parametrize("temperature, expected", [
    (0, [1, 0, 0]), (0.5, [0.8668133321973347, 0.11731042782619835, 0.015876239976466762]),
    (2, [0.506480391055654, 0.3071958857184984, 0.1863237232258476])])
def test_temperatures_to_the_last_digit(temperature, expected):
    found = by_id(typed("2 1 0", temperature=temperature))
    assert [found[i] for i in range(3)] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("temperature, first", [(0.001, 1), (1, 0.6652410), (100, 0.3366722)])
def test_more_temperatures(temperature, first):
    assert by_id(typed("2 1 0", temperature=temperature))[0] == pytest.approx(first, abs=5e-8)


@pytest.mark.parametrize("temperature, kept", [(0.5, [0]), (1, [0, 1]), (2, [0, 1, 2])])
def test_temperature_comes_before_top_p(temperature, kept):
    at = typed("3 2 1 0", temperature=temperature, top_p=0.8)
    assert sorted(i for i, share in by_id(at).items() if share) == kept
    assert "**1. temperature, 2. top-k, 3. top-p**" in everything_said(at)


def test_of_equal_logits_the_smaller_id_comes_first():
    at = typed("1 3 3 1", temperature=0)
    assert by_id(at)[1] == 1 and "of equal ones the smaller id" in everything_said(at)
    assert [i for i, share in by_id(typed("1 3 3 1", top_k=1)).items() if share] == [1]


def test_the_presets_set_the_controls():
    at = visit(MADE, generation__source="typed in", generation__top_k="2")
    at.button(key="generation.preset.4").click().run()
    assert [at.session_state[f"generation.{name}"] for name in ("kind", "numbers", "temperature", "top_k", "top_p")] == [
        "probabilities", ".3 .1 .1 .5", 1, 0, 0.8]
    assert sorted(i for i, share in by_id(at).items() if share) == [0, 3]


@pytest.mark.parametrize("more", [{}, {"temperature": 0}, {"temperature": 0.5}, {"temperature": 2, "top_k": 4, "top_p": 0.7},
                                  {"top_p": 0.5}], ids=str)
def test_the_panel_leads_to_the_probability_drawn(more):
    at = typed("2 -1.5 0.25 2 1", **more)
    for token in (0, 1, 4):
        set_to(at, MADE, token=token)
        assert recomputed(panel(at))[-1][1] == pytest.approx(by_id(at)[token], abs=1e-12)


@pytest.mark.parametrize("numbers, kind, words", [
    ("a b", "logits", "entry 1"), ("1", "logits", "it has 1"), ("0 0", "probabilities", "0 or more"),
    ("-1 2", "probabilities", "0 or more")])
def test_numbers_that_can_not_be_read_get_a_sentence(numbers, kind, words):
    at = typed(numbers, kind)
    (remark,) = shown(at, "remark")
    assert words in remark and "2 1 0 is shown" in remark and len(by_id(at)) == 3


def test_the_model_writes_the_same_from_the_same_seed():
    at = visit(MADE, generation__view="write", generation__n_new="30")
    (lines,) = shown(at, "words")
    first, again, other = (line.split(": ", 1)[1] for line in lines.split("\n"))
    assert first == again != other and len(first.split(" → ")[1]) == 30
    probs = bars(at, "Probability that each")
    assert len(probs) == 30 and (probs > 0).all()
    set_to(at, MADE, at_token=7)
    assert recomputed(panel(at))[-1][1] == pytest.approx(probs[7], abs=1e-12)
    assert "reads **5 tokens** at most" in everything_said(at) and "window slides" in everything_said(at)


def test_greedy_writing_is_the_largest_each_time_on_the_last_five():
    at = visit(MADE, generation__view="write", generation__temperature="0", generation__weights="random", generation__n_new="12")
    params, config = nasi()
    ids = [" aeiklmns".index(letter) for letter in "nasi "]
    for _ in range(12):
        ids.append(int(transformer.forward(params, ids[-5:], config).logits[-1].argmax()))
    written = "".join(" aeiklmns"[i] for i in ids[5:]).replace(" ", "␣")
    assert shown(at, "words")[0].split("\n")[0].endswith(f"→ {written}")


@pytest.mark.parametrize("scheme", ["learned", "rotary"])
@pytest.mark.parametrize("precision, allowed", [("float64", 1e-10), ("float32", 1e-5)])
def test_with_the_cache_positions_go_on_and_logits_stay(scheme, precision, allowed):
    at = visit(MADE, generation__view="KV cache", generation__scheme=scheme, generation__precision=precision, generation__n_layers="2")
    for step, position in enumerate((5, 6, 7), 1):
        set_to(at, MADE, step=step)
        assert f"reads 1 token, at position **{position}**" in everything_said(at)
        chips = next(trace for trace in picture(at, f"Step {step}").spec["data"] if trace["name"] == "ids")
        assert [int(label) for label in chips["text"]] == list(range(position + 1))
        logits = bars(at, f"Logits after step {step}")
        assert abs(logits["with the cache"] - logits["without"]).max() <= allowed


def test_the_table_of_the_cache_counts_what_the_formula_says():
    at = visit(MADE, generation__view="KV cache", generation__step="2")
    (table,) = [sentence for sentence in shown(at, "say") if sentence.startswith("| step 2 |")]
    rows = {cells[0]: [int(cell.strip("* ").replace(",", "")) for cell in cells[1:]] for cells in (
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")[2:])}
    # one block, two heads of 8, d_model 16, d_ff 64, 9 characters; 1 new token after 6, or 7 at once
    expected = {"w_qkv": (16 * 48, 7), "q · k": (2 * 7 * 8, 7), "pattern · v": (2 * 7 * 8, 7), "w_o": (16 * 16, 7),
                "w_in, w_out": (2 * 16 * 64, 7), "w_embedᵀ": (16 * 9, 7)}
    for name, (one, times) in expected.items():
        assert rows[name] == [one, one * times]
    assert rows["**all**"] == [sum(one for one, _ in expected.values()), 7 * sum(one for one, _ in expected.values())]
    assert rows["cache, bytes"] == [2 * 2 * 7 * 8 * 8, 0]
    assert recomputed(panel(at))[-1][1] == rows["**all**"][0]
    # all steps: "nasi " is 5 tokens, then one at a time; what grows with the keys is counted apart
    same, looks = 16 * 48 + 16 * 16 + 2 * 16 * 64 + 16 * 9, 2 * 2 * 8
    cached = 8 * same + looks * (5 * 5 + 6 + 7 + 8)
    full = (5 + 6 + 7 + 8) * same + looks * (25 + 36 + 49 + 64)
    assert rows["**steps 0 to 3**"] == [cached, full]
    said = everything_said(at)
    assert f"**{full / cached:.2f} times** as many" in said and "4 steps choose 4 tokens" in said
    assert f"give {rows['**all**'][0]:,} and {rows['**all**'][1]:,} for this step and {2 * 2 * 7 * 8 * 8:,} bytes" in said


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_what_the_page_says_of_a_text_that_slides_out_of_the_context_holds(positions):
    """Read anew without its first token: which scores and values stay."""
    config = ModelConfig(7, 8, 16, 2, 2, positions=positions)
    params = transformer.init_params(config, np.random.default_rng(0), std=0.5)
    long, short = (transformer.forward(params, ids, config).blocks for ids in ([3, 1, 4, 1, 5, 2], [1, 4, 1, 5, 2]))
    kept = [[abs(getattr(a.attention, name)[cut] - getattr(b.attention, name)).max() < 1e-12 for name, cut in (
        ("k", np.s_[:, 1:]), ("v", np.s_[:, 1:]), ("raw_scores", np.s_[:, 1:, 1:]))] for a, b in zip(long, short, strict=True)]
    assert kept == [[False, positions == "rotary", positions == "rotary"], [False, False, False]]
    said = everything_said(visit(MADE, generation__view="KV cache"))
    assert "in the first block the scores and values of the tokens that are left stay as they were; in later blocks they change" in said


def test_the_view_of_both_models_says_where_both_come_from():
    (random,), (both,) = (shown(visit(PASS, **more), "weights") for more in ({}, {"forward_pass__view": "random and trained"}))
    assert "trained here" not in random and "The random weights are drawn at random" in both
    assert "never trained" in both and "The trained weights are those of the example" in both and "trained here for" in both


def test_the_prediction_quotes_the_shares_of_the_ready_made_model(worked):
    shares = worked["nasi_forward"]["next_char"]
    for more in ({}, {"text": "a b", "forward_pass__spread": "0.5"}, {"forward_pass__weights": "trained"}):
        ((question, answers, right, because),) = shown(visit(PASS, **more), "ask")
        assert "spread of 0.1" in question and answers[right] == "all within a few times of each other"
        assert f"The smallest is {min(shares.values()):.3f}, the largest {max(shares.values()):.3f}; an even share is 1 in 9" in because
        assert max(shares.values()) < 5 * min(shares.values()) and max(shares, key=shares.get) == " "


# ------------------------------------------------------------------------------------------------------------ both pages


@pytest.mark.parametrize("asked", [{}, {"text": NASTY}, {"text": "a"}], ids=["preset", "nasty", "one character"])
def test_the_scripts_print_the_pages(asked, tmp_path):
    at = visit(PASS, forward_pass__stage="logits", **asked)
    agree(script_prints(at, tmp_path), {"logits": drawn(at, "logits")})
    at = visit(MADE, generation__temperature="0.7", generation__top_k="3", **asked)
    found = script_prints(at, tmp_path)
    order = [int(i) for i in np.ravel(found["order"])]
    np.testing.assert_allclose(np.ravel(found["probs"])[order], picture(at, "What the next").spec["data"][0]["y"], atol=1e-12)
    at = visit(MADE, generation__view="KV cache", **asked)
    found = script_prints(at, tmp_path)
    np.testing.assert_allclose(np.ravel(found["step 0 positions"]), range(len((asked.get("text") or "nasi ")[:24])))


def test_one_character_alone_stands_before_nothing():
    at = visit(PASS, text="a", forward_pass__view="later tokens")
    assert not at.exception and any("one character" in remark for remark in shown(at, "remark"))
    assert widget(at, "forward_pass.new").options == ["0 · a"]
