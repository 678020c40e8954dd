"""The pages on positions and on why attention: any text, drawn numbers against independent sums, worked examples, addresses, scripts."""

import functools
import math
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from core import draws
from pages.shared import examples
from tests.page_tools import (
    attention_by_hand,
    drawn,
    everything_said,
    notes,
    panel,
    picture,
    pictures,
    recomputed,
    shown,
    visit,
    widget,
)
from tests.test_scripts import agree, printed

SCHEMES = ("sinusoidal", "learned table", "rotary", "ALiBi", "order experiment")
TEXTS = ("", "the", "to be", " ".join(f"w{i}" for i in range(5000)), "👩‍👩‍👧", "سلام", "<b>x</b> $x$ %{x} ![x](http://e.vil/x)", "a a a a")
BANK = examples.bank_sentence()


@functools.cache
def scheme(name, **more):
    return visit("positions", positions__scheme=name, **more)


def part(name, **more):
    return scheme("sinusoidal", positions__part=name, **more)


def bank(**more):
    return scheme("order experiment", positions__example=BANK.title, **more)


def holds(at):
    assert not at.exception and not at.error, [error.value for error in at.error]
    checks = shown(at, "check")
    assert len(checks) >= 2 and all(residual <= allowed for _, residual, allowed in checks)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:12])
@pytest.mark.parametrize("name", SCHEMES)
def test_any_text_is_taken_by_every_scheme(name, text):
    at = visit("positions", positions__scheme=name, text=text)
    holds(at)
    assert 3 <= len(pictures(at)) + (name == "learned table") <= 4 and panel(at)
    assert "e.vil" not in "".join(line.value for line in at.markdown) and all("e.vil" not in each.title + each.alt for each in pictures(at))


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:12])
@pytest.mark.parametrize("more", [{}, {"why_attention.tanh": "true", "why_attention.rho": "1.5"}], ids=["plain", "tanh"])
def test_any_text_is_taken_by_why_attention(text, more):
    at = visit("why-attention", text=text, **more)
    holds(at)
    assert len(pictures(at)) == 4 and "e.vil" not in "".join(line.value for line in at.markdown)


# -------------------------------------------------------------------------------------------------------- sinusoidal


@pytest.mark.parametrize("n, d", [(50, 16), (7, 5), (2, 1)])
def test_the_table_follows_the_formula_and_the_printed_digits(n, d, worked):
    pe = drawn(part("waves", positions__n_positions=str(n), positions__d_model=str(d)), "pe:")
    expected = [[(math.cos if i % 2 else math.sin)(p / 10000 ** (2 * (i // 2) / d)) for i in range(d)] for p in range(n)]
    assert_allclose(pe, expected, rtol=0, atol=1e-12)
    if d == 16:
        assert (pe[:3, :6].round(2) == worked["sinusoidal"]["first_rows_2dp"]).all()


def test_waves_and_clocks_are_the_picked_pair_and_position():
    at = part("waves", positions__row="7 · 7", positions__column="4 · 4")
    pe = drawn(at, "pe:")
    sin, cos = (trace["y"] for trace in picture(at, "The waves of pair 2").spec["data"])
    assert (sin == pe[:, 4]).all() and (cos == pe[:, 5]).all()
    clocks = picture(at, "The 8 clocks at position 7").spec["data"]
    assert (clocks[0]["customdata"] == pe[7].reshape(8, 2)).all()
    for pair in range(8):
        x, y = clocks[1]["x"][3 * pair:3 * pair + 2], clocks[1]["y"][3 * pair:3 * pair + 2]
        assert_allclose([x[1] - x[0], y[1] - y[0]], pe[7, 2 * pair:2 * pair + 2], atol=1e-12)


def test_the_dot_products_are_the_printed_ones_and_depend_on_the_gap_alone(worked):
    at = part("distance")
    near, far = (trace["y"] for trace in picture(at, "Dot product against").spec["data"] if trace["mode"] == "lines+markers")
    dots = drawn(at, "pe[a]")
    for gap, dot in worked["sinusoidal"]["dots_from_10"].items():
        assert near[int(gap)] == pytest.approx(dot, abs=1e-8) and dots[10, 10 + int(gap)] == pytest.approx(dot, abs=1e-8)
        assert f"{dot:.4f}" in everything_said(at)
    assert far[5] == pytest.approx(worked["sinusoidal"]["dot_30_35"], abs=1e-8) and dots[30, 35] == pytest.approx(dots[10, 15], abs=1e-12)
    rise = re.search(r"from gap (\d+) to (\d+) it rises", everything_said(at))
    assert near[int(rise[2])] > near[int(rise[1])] and all(near[i + 1] < near[i] for i in range(int(rise[1])))


def test_an_odd_width_says_that_its_dot_products_depend_on_the_position():
    at = part("distance", positions__d_model="5")
    near, far = (trace["y"] for trace in picture(at, "Dot product against").spec["data"] if trace["mode"] == "lines+markers")
    said = everything_said(at)
    assert abs(near - far).max() > 1e-6 and "depends on the position as well" in said and "gap alone" not in said
    holds(at)


@pytest.mark.parametrize("p, k", [(10, 5), (0, 0), (49, 20)])
def test_the_shift_matrix_moves_a_position_on(p, k):
    at = part("shift", positions__p=str(p), positions__k=str(k))
    rows, matrix = drawn(at, f"p = {p}"), drawn(at, f"R({k})")
    exact = [[(math.cos if i % 2 else math.sin)(at_ / 10000 ** (2 * (i // 2) / 16)) for i in range(16)] for at_ in (p, p + k)]
    assert_allclose(rows[[0, 2]], exact, rtol=0, atol=1e-12)
    assert_allclose(np.einsum("ij,j->i", matrix, rows[0]), rows[2], rtol=0, atol=1e-12)
    assert abs(rows[3]).max() < 1e-12
    holds(at)


def test_an_odd_width_has_no_shift_matrix_and_the_rest_stays():
    at = part("shift", positions__d_model="5")
    (remark,) = shown(at, "remark")
    assert "d_model must be even" in remark and drawn(at, "p = 10").shape == (2, 5)
    holds(at)


# ----------------------------------------------------------------------------------------- learned, rotary and ALiBi


def test_past_the_end_of_the_table_one_sentence_says_so_and_the_page_stays():
    at = scheme("learned table", positions__first="6")
    (remark,) = shown(at, "remark")
    assert "positions 0 to 7; position 10 has no row" in remark and len(pictures(at)) == 2
    holds(at)
    fits = scheme("learned table", positions__first="3")
    assert not shown(fits, "remark")
    x = draws.token_vectors(["the", "umpire", "warned", "the", "bowler"], 1, 8)
    assert_allclose(drawn(fits, "Word vector"), x + drawn(fits, "w_pos")[3:8], rtol=0, atol=1e-12)


def test_only_the_offset_counts_unless_the_layouts_are_mixed():
    """N12."""
    for layout, score in (("half", "-1.1558727"), ("interleaved", "-0.2585787")):
        at = scheme("rotary", positions__layout=layout)
        here, there = drawn(at, "q·k at positions"), drawn(at, "The same, all positions 100")
        assert_allclose(here, there, atol=1e-12)
        assert all(here[m, n] == pytest.approx(here[m - 1, n - 1], abs=1e-12) for m in range(1, 8) for n in range(1, 8))
        assert abs(drawn(at, "Difference")).max() < 1e-12 and f"{score}, {score}, {score}" in everything_said(at)
    said = everything_said(at)
    assert "-1.1426397, 1.9220756, 2.9598507, 4.0297995" in said and "-1.9841106, 1.9599007, 2.4623779, 4.0197997" in said
    mixed = scheme("rotary", positions__layout="mixed")
    assert abs(drawn(mixed, "Difference")).max() > 0.1 and "-1.0214320, -0.3804432" in everything_said(mixed)
    holds(mixed)


@pytest.mark.parametrize("n_heads, first, last", [(1, 2**-8, 2**-8), (8, 1 / 2, 1 / 256), (12, 1 / 2, 2**-3.5), (16, 2**-0.5, 2**-8)])
def test_alibi_slopes_and_biases(n_heads, first, last):
    at = scheme("ALiBi", positions__n_heads=str(n_heads), positions__head=str(n_heads - 1))
    slopes = picture(at, "Slopes").spec["data"][0]["y"]
    assert len(slopes) == n_heads and slopes[0] == pytest.approx(first) and slopes[-1] == pytest.approx(last)
    bias, weights = drawn(at, "Bias"), drawn(at, "Weights")
    for i in range(8):
        raised = [math.exp(-last * (i - j)) for j in range(i + 1)]
        assert_allclose(bias[i, :i + 1], [-last * (i - j) for j in range(i + 1)], atol=1e-12)
        assert np.isnan(bias[i, i + 1:]).all() and (weights[i, i + 1:] == 0).all()
        assert_allclose(weights[i, :i + 1], np.array(raised) / sum(raised), atol=1e-12)


# --------------------------------------------------------------------------------------------------- the order experiment


def bank_by_hand(added=False, causal=False):
    x = np.array(BANK.x)
    if added:
        x += [[(math.cos if i % 2 else math.sin)(p / 10000 ** (2 * (i // 2) / 16)) for i in range(16)] for p in range(11)]
    return attention_by_hand(x, *BANK.params.values(), np.tril(np.ones((11, 11), bool)) if causal else None)


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_the_bank_sentence_gives_what_was_worked_by_hand(added, causal, worked):
    """All four checks of the worked example: equal rows for "the" without positions, different ones with them; the mask's weights."""
    at = bank(positions__positions=str(added).lower(), positions__causal=str(causal).lower())
    expected = bank_by_hand(added, causal)
    before, after = drawn(at, "Output: the sentence"), drawn(at, "Output: the words")
    assert_allclose(before, expected["mixed"], rtol=0, atol=1e-12)
    the = worked["bank_sentence"]["positions_of_the"]
    gap = abs(before[the] - before[the[0]]).max()
    assert (gap < 1e-12) == (not added and not causal)
    assert_allclose(drawn(at, "Each word"), after[::-1] - before, rtol=0, atol=1e-12)
    assert (abs(drawn(at, "Each word")).max() < 1e-12) == (not added and not causal)
    name = {(False, False): "weights_without_positions", (True, False): "full_weights", (True, True): "causal_weights"}.get((added, causal))
    if name:
        assert_allclose(expected["pattern"], worked["bank_sentence"][name], rtol=0, atol=5e-9)
    if causal:
        assert np.triu(expected["pattern"], 1).max() == worked["bank_sentence"]["largest_weight_on_the_future_causal"]
    if added and causal:
        assert expected["pattern"][1, :2].round(3).tolist() == worked["bank_sentence"]["bank_attends_causal_3dp"]
    (said,) = [line for line in shown(at, "words") if line.startswith("Equal words")]
    spread = np.ptp(before[the], axis=0).max()
    assert '"the" stands at 0, 3, 6' in said and float(said.split()[-2]) == pytest.approx(spread, rel=0.06, abs=1e-15)
    holds(at)


def test_the_table_holds_all_four_settings():
    (table,) = [line for line in shown(bank(), "say") if line.startswith("| |")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")[2:]]
    for (_, change, gap), (added, causal) in zip(cells, ((False, False), (False, True), (True, False), (True, True)), strict=True):
        at = bank(positions__positions=str(added).lower(), positions__causal=str(causal).lower())
        assert float(change) == float(f"{abs(drawn(at, 'Each word')).max():.2g}")
        assert float(gap) == float(f"{np.ptp(drawn(at, 'Output: the sentence')[[0, 3, 6]], axis=0).max():.2g}")


@pytest.mark.parametrize("title, after", [("dog bites man", "man bites dog"), ("Bumrah bowled it", "it bowled Bumrah"),
                                          ("the umpire warned the bowler", "the bowler warned the umpire")])
def test_a_preset_turned_round(title, after):
    at = scheme("order experiment", positions__example=title)
    assert shown(at, "words")[0] == f"before: {title}\nafter:  {after}"
    assert picture(at, "Output: the words").matrix.rows == after.split() and abs(drawn(at, "Each word")).max() < 1e-12


def test_own_words_are_swapped_and_shuffled():
    at = scheme("order experiment", text="a b c d", positions__change="two words swapped", positions__one="1 · b", positions__other="3 · d")
    assert shown(at, "words")[0].endswith("after:  a d c b")
    for number in ("1", "2", "20"):
        at = scheme("order experiment", text="a b c d", positions__change="shuffled", positions__shuffle=number)
        after = shown(at, "words")[0].split("after:  ")[1].split()
        assert sorted(after) == list("abcd") and after != list("abcd") and abs(drawn(at, "Each word")).max() < 1e-12
    at = scheme("order experiment", text="a b a")
    assert any("leaves the sentence as it was" in remark for remark in shown(at, "remark"))
    holds(scheme("order experiment", text="a b a", positions__positions="true"))


# ----------------------------------------------------------------------------------------------------- why attention


@functools.cache
def why(**more):
    return visit("why-attention", **{f"why_attention.{key}": value for key, value in more.items()})


def curve(at):
    return [trace["y"] for trace in picture(at, "Norm of").spec["data"] if trace["mode"] == "lines+markers"]


@pytest.mark.parametrize("rho", ["0.5", "0.9", "1.0", "1.5"])
def test_without_tanh_the_norm_is_rho_to_the_distance(rho):
    at = visit("why-attention", text=" ".join(f"w{i}" for i in range(40)), **{"why_attention.rho": rho})
    norms, line = curve(at)
    assert len(norms) == 40
    for distance, norm in enumerate(norms):
        assert norm / float(rho) ** distance == pytest.approx(1, abs=1e-10) and line[distance] == pytest.approx(float(rho) ** distance)
    holds(at)


def test_with_tanh_the_norm_is_that_of_finite_differences():
    at = why(tanh="true", rho="1.4", width="4")
    (norms, _), states = curve(at), drawn(at, "The state after")
    tokens = ["The", "umpire", "warned", "the", "bowler", "after", "he"]
    x, w_x = draws.token_vectors(tokens, 1, 8), draws.projection(1, "w_x", 8, 4)
    q, r = np.linalg.qr(draws.child_rng(1, "w_h").standard_normal((4, 4)))
    w_h = 1.4 * q * np.sign(np.diag(r))

    def onward(state, t):
        for word in x[t + 1:]:
            state = np.tanh(word @ w_x + state @ w_h)
        return state

    state = np.zeros(4)
    for t in range(7):
        state = np.tanh(x[t] @ w_x + state @ w_h)
        assert_allclose(states[t], state, atol=1e-12)
        slopes = [(onward(state + step, t) - onward(state - step, t)) / 2e-6 for step in 1e-6 * np.eye(4)]
        assert np.linalg.norm(slopes, 2) == pytest.approx(norms[6 - t], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("more, distance", [({}, 2), ({"earlier": "1 · umpire"}, 5),
                                            ({"earlier": "6 · he", "later": "1 · umpire"}, 5), ({"earlier": "6 · he"}, 0)])
def test_the_distance_is_counted_from_the_two_words(more, distance):
    at = why(**more)
    assert shown(at, "words")[0].endswith(f"distance {distance}")
    holds(at)


def test_the_formula_follows_the_switch_and_the_axis_says_that_it_is_logarithmic():
    for tanh in ("true", "false"):
        at = why(tanh=tanh)
        (formula,) = shown(at, "formula")
        assert ("tanh" in formula) == (tanh == "true")
        axis = picture(at, "Norm of").spec["layout"]["yaxis"]
        assert axis["title"]["text"] == "spectral norm, log scale" and len(axis["tickvals"]) >= 3


def test_one_word_is_counted_as_one():
    at = visit("why-attention", text="a")
    said = everything_said(at) + " ".join(each.alt for each in pictures(at))
    assert not re.search(r"\b1 (words|steps)\b|\b0 steps\b", said) and "no distance to bridge" in said
    holds(at)


def test_a_longer_example_brings_its_own_two_words():
    at = visit("why-attention")
    widget(at, "why_attention.example").set_value(1).run()
    assert shown(at, "words")[0] == '"bowler" → "he": distance 13' and not at.exception
    widget(at, "why_attention.example").set_value(0).run()
    assert shown(at, "words")[0] == '"bowler" → "he": distance 2'
    assert round(0.9**20, 4) == 0.1216 and "0.1216" in shown(at, "ask")[0][3]


# ------------------------------------------------------------------------------------------- addresses, panels, scripts


LINKS = [("positions", f"positions.{key}", value, held, {f"positions.{name}": more for name, more in needs.items()})
         for key, value, held, needs in (
    ("scheme", "ALiBi", "ALiBi", {}), ("guess", "it changes", "it changes", {}), ("n_positions", "20", 20, {}), ("d_model", "5", 5, {}),
    ("part", "shift", "shift", {}), ("row", "3 · 3", 3, {}), ("column", "2 · 2", 2, {}), ("p", "3", 3, {"part": "shift"}),
    ("k", "7", 7, {"part": "shift"}), ("stage", "R(k)", "R(k)", {"part": "shift"}), ("n_ctx", "12", 12, {"scheme": "learned table"}),
    ("first", "9", 9, {"scheme": "learned table"}), ("layout", "mixed", "mixed", {"scheme": "rotary"}),
    ("vectors", "random", "random", {"scheme": "rotary"}), ("moved", "1000", 1000, {"scheme": "rotary"}),
    ("n_heads", "3", 3, {"scheme": "ALiBi"}), ("head", "2", 2, {"scheme": "ALiBi"}),
    ("example", "Bumrah bowled it", 1, {"scheme": "order experiment"}),
    ("change", "shuffled", "shuffled", {"scheme": "order experiment"}), ("positions", "true", True, {"scheme": "order experiment"}),
    ("causal", "true", True, {"scheme": "order experiment"}),
    ("shuffle", "5", 5, {"scheme": "order experiment", "change": "shuffled"}),
    ("one", "1 · bites", 1, {"scheme": "order experiment", "change": "two words swapped"}),
    ("other", "0 · dog", 0, {"scheme": "order experiment", "change": "two words swapped"}))]
LINKS += [("why-attention", f"why_attention.{key}", value, held, {}) for key, value, held in (
    ("example", "The bowler whom the umpire had warned twice before the tea break said that he was sorry", 1),
    ("guess", "about 50 %", "about 50 %"),
    ("earlier", "1 · umpire", 1), ("later", "7 · overstepped", 7), ("rho", "1.25", 1.25), ("width", "16", 16), ("tanh", "true", True),
    ("row", "2 · warned", 2), ("column", "3 · 3", 3))]


@pytest.mark.parametrize("url, key, value, held, needs", LINKS, ids=[link[1] for link in LINKS])
def test_a_link_sets_its_control_and_a_broken_one_is_named(url, key, value, held, needs):
    at = visit(url, **needs, **{key: value})
    assert widget(at, key).value == held and not notes(at)
    holds(at)
    broken = visit(url, **needs, **{key: "nonsense"})
    assert [line.split(" = ")[0] for line in notes(broken)] == [key] and widget(broken, key).value != "nonsense"
    holds(broken)


PANELS = [("positions", {"positions.row": "7 · 7", "positions.column": "3 · 3"}, "pe:", (7, 3)),
          ("positions", {"positions.part": "distance"}, "pe[a]", (10, 15)),
          ("positions", {"positions.part": "shift", "positions.column": "5 · 5"}, "p = 10", (1, 5)),
          ("positions", {"positions.part": "shift", "positions.row": "3 · difference"}, "p = 10", (3, 0)),
          ("positions", {"positions.part": "shift", "positions.stage": "R(k)", "positions.row": "3 · 3", "positions.column": "2 · 2"},
           "R(5)", (3, 2)),
          ("positions", {"positions.scheme": "learned table", "positions.row": "2 · warned"}, "Word vector", (2, 0)),
          ("positions", {"positions.scheme": "rotary"}, "q·k at", (3, 1)), ("positions", {"positions.scheme": "ALiBi"}, "Bias", (7, 0)),
          ("positions", {"positions.scheme": "ALiBi", "positions.stage": "weight"}, "Weights", (7, 0)),
          *(("positions", {"positions.scheme": "order experiment", "positions.positions": "true", "positions.stage": stage}, title, (0, 0))
            for stage, title in (("before", "Output: the sentence"), ("after", "Output: the words"), ("difference", "Each word"))),
          *(("why-attention", {"why_attention.tanh": tanh}, "The state", (4, 0)) for tanh in ("true", "false"))]


@pytest.mark.parametrize("url, asked, title, cell", PANELS)
def test_the_panel_done_again_comes_to_the_number_drawn(url, asked, title, cell):
    at = visit(url, **asked)
    value = drawn(at, title)[cell]
    lines = panel(at)
    (held,) = [line.removeprefix("value on this page: ") for line in lines if line.startswith("value on this page: ")]
    assert float(held) == value
    assert recomputed(lines)[-1][1] == pytest.approx(value, abs=1e-9)


def test_the_scripts_print_the_pages(tmp_path):
    for number, (at, names) in enumerate((
            (part("waves"), {"pe": "pe:"}), (part("distance"), {"dots": "pe[a]"}), (part("shift"), {"R": "R(5)"}),
            (part("shift", positions__d_model="5"), {}),
            (scheme("learned table"), {"sum": "Word vector"}), (scheme("ALiBi", positions__n_heads="3"), {"pattern": "Weights"}),
            (scheme("rotary", positions__layout="mixed"), {"scores": "q·k at", "shifted": "The same", "difference": "Difference"}),
            (bank(positions__positions="true"),
             {"before": "Output: the sentence", "after": "Output: the words", "difference": "Each word"}),
            (scheme("order experiment", text='" \\ سلام'), {"before": "Output: the sentence"}),
            (why(tanh="true"), {"states": "The state"}))):
        (folder := tmp_path / str(number)).mkdir()
        found = printed(at, folder)
        agree(found, {name: drawn(at, title) for name, title in names.items()})
        if "norms" in found:
            assert_allclose(found["norms"][0], curve(at)[0], rtol=1e-12)
            assert_allclose(found["weights"][0], picture(at, "Weights of").spec["data"][0]["y"], rtol=1e-12)
