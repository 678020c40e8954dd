"""The pages: any text, every preset to its printed digits, every sum equal to the number drawn, and what the course says."""

import functools
import html
import json
import re

import numpy as np
import pytest

from pages.shared import beliefs, examples, syllabus, theme
from tests.page_tools import (
    LESSONS,
    NUMBER,
    PICTURELESS,
    TOKEN_PAGES,
    URLS,
    WORDLESS,
    attention_by_hand,
    drawn,
    everything_said,
    go,
    matrices,
    panel,
    picture,
    pictures,
    recomputed,
    shown,
    strings,
    visit,
    widget,
)

FORTY = " ".join(f"w{i}" for i in range(40))
each_page = pytest.mark.parametrize("url", URLS)
each_lesson = pytest.mark.parametrize("url", LESSONS)
each_token_page = pytest.mark.parametrize("url", TOKEN_PAGES)


@functools.cache
def opened(url):
    """The plain page, only read from."""
    return visit(url)


def preset(name):
    """The token vectors and the three matrices of an example."""
    example = examples.EXAMPLES[name]()
    return example.x, *(example.params[matrix] for matrix in ("w_q", "w_k", "w_v"))


def tables_of(sentence):
    """The cells of a Markdown table, row by row, without its head."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in sentence.split("\n")[2:]]


def table_with(at, head):
    """The Markdown table whose head holds these words."""
    (sentence,) = [sentence for sentence in shown(at, "say") if sentence.startswith("|") and head in sentence.split("\n")[0]]
    return tables_of(sentence)


# --------------------------------------------------------------------------------------------------- what every page has


@each_page
def test_a_page_has_one_title_and_asks_its_question(url):
    at, lesson = opened(url), syllabus.by_url(url)
    assert not at.exception and [title.value for title in at.title] == [lesson.title]
    assert shown(at, "say")[0] == f"**{lesson.question}**"
    assert sum(lesson.question in sentence for sentence in shown(at, "say")) == 1


@each_page
def test_every_picture_has_words_for_those_who_do_not_see_it(url):
    alts = [each.alt for each in pictures(opened(url))]
    assert (alts or url in PICTURELESS) and all(len(alt) > 20 for alt in alts) and len(set(alts)) == len(alts)


@pytest.mark.parametrize("url, text", [(url, text) for url in LESSONS for text in (
    [""] if url in WORDLESS - {"misconceptions"} else ["", "the bank refused the loan", "the", FORTY])],
    ids=lambda value: value[:12] or "preset")
def test_every_check_on_the_page_holds(url, text):
    at = visit(url, text=text)
    (label,) = [box.label for box in at.expander if box.label.startswith("Checked here")]
    hold, of = re.match(r"Checked here: (\d+) of (\d+) hold", label).groups()
    assert hold == of and int(of) >= 2 and not at.error and "fails" not in everything_said(at)


@each_lesson
def test_a_lesson_names_its_sources_and_where_its_numbers_come_from(url):
    at = opened(url)
    (sources,) = [line.value for line in at.markdown if line.value.startswith(":small[Sources: ")]
    assert "Vaswani et al. 2017" in sources
    (origin,) = shown(at, "weights")
    assert re.search(r"at random|set by hand|set by|by hand", origin)


@each_lesson
def test_random_numbers_are_said_to_mean_nothing(url):
    at = visit(url, text="the bank refused")
    assert re.search(r"means? nothing|Nothing here is trained|not meaning", " ".join(shown(at, "weights")))


@each_lesson
def test_the_prediction_says_yes_to_the_marked_answer_alone(url):
    at = visit(url)
    ((question, answers, right, because),) = shown(at, "ask")
    radio = widget(at, f"{syllabus.by_url(url).key}.guess")
    assert radio.options == answers and radio.value is None and question in radio.label
    assert because not in everything_said(at)
    for number, answer in enumerate(answers):
        radio.set_value(answer).run()
        (said,) = [line.value for line in at.markdown if line.value.endswith(because)]
        assert said.startswith("**Yes.**") == (number == right) and (number == right or answers[right] in said)
        radio = widget(at, f"{syllabus.by_url(url).key}.guess")


@each_page
def test_previous_and_next_lead_through_the_syllabus(url):
    before, after = syllabus.neighbours(syllabus.by_url(url))
    links = {link.proto.label: link.proto.page for link in opened(url).get("page_link")}
    assert {label: page for label, page in links.items() if label.startswith(("Back: ", "Next: "))} == {
        **({f"Back: {before.title}": "" if before is syllabus.LESSONS[0] else before.url} if before else {}),
        **({f"Next: {after.title}": after.url} if after else {})}


@each_lesson
def test_a_lesson_shows_the_function_that_ran(url):
    (code,) = [block.value for block in opened(url).code if block.language == "python"]
    assert code.startswith("def ") and '"""' in code


@each_page
def test_a_page_drawn_for_the_dark_theme_has_light_type(url):
    at = visit(url, theme="dark")
    assert not at.exception
    assert all(each.spec["layout"]["font"]["color"] == theme.DARK.text for each in pictures(at))
    assert all(each.spec["layout"]["font"]["color"] == theme.LIGHT.text for each in pictures(opened(url)))


@each_page
def test_the_same_address_draws_the_same_page(url):
    asked = {"text": "to be or not to be", "seed": "5"}
    assert [each.raw for each in pictures(visit(url, **asked))] == [each.raw for each in pictures(visit(url, **asked))]


@each_token_page
def test_another_seed_draws_other_numbers(url):
    one, other = (pictures(visit(url, text="to be", seed=seed)) for seed in ("1", "2"))
    assert all(a.raw != b.raw for a, b in zip(one, other, strict=True) if "layout" in a.spec and "heatmap" in a.raw)


def test_the_map_shows_all_lessons_in_order_and_links_to_each():
    at, lessons = opened("welcome"), syllabus.LESSONS[1:]
    (drawing,) = pictures(at)
    assert drawing.spec["data"][0]["customdata"] == [lesson.title for lesson in lessons]
    links = [link.proto.page for link in at.get("page_link") if not link.proto.label.startswith("Next")]
    assert links == [lesson.url for lesson in lessons]
    assert all(lesson.title in drawing.alt for lesson in lessons)


def test_a_click_on_the_map_opens_the_page():
    at = visit("welcome")
    at.session_state["_go"] = "scaling"  # what the click's callback leaves
    assert [title.value for title in at.run().title] == ["Scaling and saturation"]


@each_lesson
@pytest.mark.parametrize("text", ["", "the bank refused"], ids=["preset", "own"])
def test_the_range_in_a_pictures_words_is_that_of_its_numbers(url, text):
    for each in pictures(visit(url, text=text)):
        said = re.search(rf"(?:[Vv]alues|features,) from ({NUMBER}) to ({NUMBER})", each.alt)
        if said:
            numbers = each.matrix.values[np.isfinite(each.matrix.values)]
            assert (float(said[1]), float(said[2])) == (float(f"{numbers.min():.3g}"), float(f"{numbers.max():.3g}")), each.alt


# ------------------------------------------------------------------------------------------------------------- any text


TEXTS = {
    "one word": "the", "three equal words": "the the the", "two words": "to be", "forty words": FORTY, "a long word": "a" * 5000,
    "emoji": "😀 👩‍👩‍👧 👍🏽 🇮🇳 ❤\ufe0f", "right to left": "سلام שלום a", "CJK": "你好 世界", "accents": "cafe\u0301 naïve",
    "tags": "<b> </b> <s> <br> &amp; <sub>2</sub> <|endoftext|>", "Markdown": "$x$ -> a -- b", "templates": "%{x} %{y}",
    "numbers": "1 2 10 2024-01", "an image": "![x](http://example.org/a.png)", "an override": "a\u202eb c", "quotes": "\" ' \"\"\" \\ `x`",
    "a zero-width space": "\u200b", "controls": "a\x00b\x1bc d", "Streamlit signs": ":heart: :red[x] # * _u_ 1.",
}
SHOWN = {"a long word": ["a" * 13 + "…"], "an override": ["ab", "c"], "a zero-width space": ["‹U+200B›"], "accents": ["café", "naïve"],
         "an image": ["![x](http://e…"], "controls": ["abc", "d"]}
WORD_BY_WORD = ("q·k", "1", "2", "3", "Scores", "Masked", "Zeroed", "Pattern")  # pictures with the words on both axes


@functools.cache
def with_text(url, name):
    return visit(url, text=TEXTS[name])


@pytest.mark.parametrize("url, name", [(url, name) for url in URLS for name in (
    ("tags", "controls") if url in WORDLESS else TEXTS)])  # where no word of it is drawn, a few are enough
def test_any_text_is_taken(url, name):
    at = with_text(url, name)
    assert not at.exception and not at.error and len(at.title) == 1 and (pictures(at) or url in PICTURELESS)


@each_token_page
@pytest.mark.parametrize("name", TEXTS)
def test_every_word_of_the_text_has_a_row_and_a_column_and_its_name(url, name):
    words = SHOWN.get(name) or TEXTS[name].split()
    squares = [each.matrix for each in pictures(with_text(url, name)) if each.title.startswith(WORD_BY_WORD)]
    assert squares
    for matrix in squares:
        assert matrix.overlay.shape == (len(words), len(words))
        if len(matrix.rows) == len(matrix.columns) == len(words):
            assert matrix.rows == matrix.columns == words
        else:  # too many for the axis: some stand there, all in the hover text
            assert set(matrix.rows) < set(words) and all(f"<b>{word}</b>" in " ".join(matrix.cells["text"]) for word in words)


@pytest.mark.parametrize("url, text", [(url, text) for url in URLS for text in (
    ["\u3000"] if url in WORDLESS else ["", "   ", "\t\n", "\u3000", "\x00\u202e"])], ids=ascii)
def test_a_text_without_words_shows_the_example_and_says_so(url, text):
    at = visit(url, text=text)
    assert not at.exception and len(pictures(at)) == len(pictures(opened(url)))
    assert [each.raw for each in pictures(at)] == [each.raw for each in pictures(opened(url))]
    if text and url not in WORDLESS:
        assert any("no word" in remark for remark in shown(at, "remark"))


@pytest.mark.parametrize("url", ["welcome", *TOKEN_PAGES])
def test_a_text_of_5000_words_is_cut_with_a_sentence_that_names_both_numbers(url):
    at = visit(url, text=" ".join(f"w{i}" for i in range(5000)))
    (remark,) = shown(at, "remark")
    assert "5,000" in remark and "40" in remark and not at.exception
    assert [info.value for info in at.info] == [remark]
    assert all(max(matrix.overlay.shape) <= 64 for each in pictures(at) for matrix in matrices(each.spec))


@pytest.mark.parametrize("url", ["welcome", *TOKEN_PAGES])
def test_what_was_left_out_of_a_text_is_said(url):
    assert shown(visit(url, text="a\u202eb\x07 c"), "remark") == ["2 invisible control characters were left out of your text."]


MARKER = "<i>QZX</i>&QZX; $QZX$ **QZX** :red[QZX] `QZX` [QZX](http://example.org) ![QZX](http://example.org/a.png) <QZX onload=x>"
INERT = ("text", "code", "text_input", "selectbox", "plotly_chart", "arrow_data_frame", "dataframe")  # shown as they are; figures below


@each_page
@pytest.mark.parametrize("more", [{}, {"tables": "true"}], ids=["", "tables"])
def test_the_persons_own_words_stand_in_nothing_that_interprets_them(url, more):
    at = visit(url, text=MARKER, **more)
    assert not at.exception
    for element in at._tree:
        if getattr(element, "type", None) not in INERT and hasattr(element, "proto"):
            assert "QZX" not in str(element.proto), element.type
        assert "QZX" not in str(getattr(element, "label", "")) + str(getattr(element, "help", ""))
    assert url in WORDLESS or url == "welcome" or any("QZX" in block.value for block in at.code)


@each_page
def test_the_persons_own_words_are_escaped_in_every_figure(url):
    for each in pictures(visit(url, text=MARKER)):
        assert "QZX" not in each.title and "QZX" not in each.alt
        for text in strings(each.spec):
            assert not re.search(r"<i>|</i>|<QZX|&QZX", text)
    for each in pictures(visit(url, text=" ".join(["<i>QZX</i>"] * 40))):  # labels are thinned: the hover text carries them
        assert not any("<i>" in text for text in strings(each.spec))


@each_token_page
def test_one_word_looks_at_itself_alone(url):
    at = with_text(url, "one word")
    for each in pictures(at):
        if each.title.startswith(("3", "Masked", "Zeroed", "Pattern")):
            assert each.matrix.values.tolist() == [[1.0]]


@pytest.mark.parametrize("mask", ["causal", "none", "padding"])
def test_one_word_under_any_mask_has_weight_1(mask):
    assert drawn(visit("causal-mask", text="the", causal_mask__mask=mask), "Masked").tolist() == [[1.0]]


def patterns_of(at):
    """The patterns of all heads: one picture each, or one figure without a title of its own."""
    return [matrix for each in pictures(at) if each.title.startswith("Pattern") or not each.title for matrix in matrices(each.spec)]


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8])
def test_one_word_has_weight_1_in_every_head(n_heads):
    at = visit("many-heads", text="the", many_heads__n_heads=str(n_heads))
    patterns = patterns_of(at)
    assert len(patterns) == n_heads and all(matrix.values.tolist() == [[1.0]] for matrix in patterns)


def rows_agree(matrix):
    return np.abs(matrix - matrix[0]).max() < 1e-12


def test_equal_words_get_equal_weights_and_outputs_without_positions():
    at = visit("attention", text="the the the", attention__positions="false")
    np.testing.assert_allclose(drawn(at, "3"), np.full((3, 3), 1 / 3), atol=1e-15)
    assert rows_agree(drawn(at, "4"))
    at = visit("attention", text="the the the")
    assert not rows_agree(drawn(at, "3")) and not rows_agree(drawn(at, "4"))


def test_equal_words_under_the_causal_mask_share_among_those_they_see():
    at = visit("causal-mask", text="the the the", causal_mask__positions="false")
    np.testing.assert_allclose(drawn(at, "Masked"), [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3] * 3], atol=1e-15)


def test_equal_words_in_many_heads_without_positions():
    at = visit("many-heads", text="the the the", many_heads__positions="false")
    assert all(np.abs(drawn(at, f"Pattern of head {head}") - 1 / 3).max() < 1e-15 for head in (0, 1))
    assert rows_agree(drawn(at, "The output"))


def test_editing_one_word_changes_that_words_vector_alone():
    before, after = (drawn(visit("queries-keys-values", text=text), "q =") for text in ("the bank refused", "the bank agreed"))
    assert (before[:2] == after[:2]).all() and (before[2] != after[2]).all()


def test_equal_words_have_equal_vectors_without_positions():
    x = drawn(visit("queries-keys-values", text="the bank the", queries_keys_values__positions="false"), "x")
    assert (x[0] == x[2]).all() and (x[0] != x[1]).all()


# ------------------------------------------------------------------------------------------------ presets, printed digits


def printed(matrix, digits):
    return [[float(f"{value:.{digits}f}") for value in row] for row in matrix]


def test_by_hand_prints_the_published_weights_and_output(worked):
    at, given = opened("attention"), worked["by_hand"]
    assert drawn(at, "1").tolist() == [[1, 5, 3], [2, 2, 2], [1, 3, 2]]
    assert printed(drawn(at, "3"), 4) == given["weights_4dp"] and printed(drawn(at, "4"), 3) == given["output_3dp"]
    np.testing.assert_allclose(drawn(at, "2"), given["scores"], atol=6e-9)
    assert picture(at, "3").matrix.rows == picture(at, "3").matrix.columns == given["tokens"]


def test_by_hand_shows_its_queries_keys_and_values(worked):
    for stage, letter in (("query", "q"), ("key", "k"), ("value", "v")):
        at = visit("queries-keys-values", queries_keys_values__stage=stage)
        given = worked["by_hand"]
        assert drawn(at, "x").tolist() == given["X"] and drawn(at, f"w_{letter}").tolist() == given[f"W_{letter}"]
        assert drawn(at, f"{letter} =").tolist() == given[letter.upper()]


def test_by_hand_explains_its_flat_row_and_only_there():
    assert any("every key has a 1 in its second place" in sentence for sentence in shown(opened("attention"), "say"))
    at = visit("attention", attention__edit="true", attention__x="1 0 1 0; 0 1 0 1; 1 1 0 1")
    assert "flat" not in everything_said(at) + everything_said(visit("attention", text="a b"))


def choose(url, name):
    """The page with this ready-made example."""
    title = examples.EXAMPLES[name]().title
    return visit(url, **{f"{url.replace('-', '_')}.example": title})


def test_four_tokens_prints_the_published_weights_and_scores(worked):
    at, given = choose("attention", "four_tokens"), worked["four_tokens"]
    assert printed(drawn(at, "3"), 2) == given["printed_weights_2dp"]
    assert printed(drawn(at, "2"), 2)[3] == given["scores_lemak_2dp"]
    np.testing.assert_allclose(drawn(at, "4"), given["output"], atol=6e-9)


def test_four_tokens_under_the_causal_mask_prints_the_published_weights_and_row_sums(worked):
    at, given = opened("causal-mask"), worked["four_tokens_causal"]
    assert printed(drawn(at, "Masked"), 2) == given["printed_weights_2dp"]
    np.testing.assert_allclose(drawn(at, "Zeroed after it:").sum(axis=1), given["after_softmax_mistake_row_sums"], atol=6e-9)
    assert "**0.892, 0.658, 0.851, 1.000**" in everything_said(at)
    np.testing.assert_allclose(drawn(at, "Zeroed after it, then"), given["weights"], atol=6e-9)
    assert (np.isnan(drawn(at, "Scores")) == np.triu(np.ones((4, 4)), 1)).all()


def test_bank_sentence_prints_the_published_weights_with_and_without_positions(worked):
    given = worked["bank_sentence"]
    at = choose("attention", "bank_sentence")
    np.testing.assert_allclose(drawn(at, "3"), given["full_weights"], atol=6e-9)
    assert np.abs(np.diff(drawn(at, "4")[given["positions_of_the"]], axis=0)).max() > 0.01
    at = visit("attention", attention__example=examples.bank_sentence().title, attention__positions="false")
    np.testing.assert_allclose(drawn(at, "3"), given["weights_without_positions"], atol=6e-9)
    assert rows_agree(drawn(at, "3")[given["positions_of_the"]]) and rows_agree(drawn(at, "4")[given["positions_of_the"]])


def test_bank_sentence_under_the_causal_mask_prints_the_published_weights(worked):
    weights = drawn(choose("causal-mask", "bank_sentence"), "Masked")
    np.testing.assert_allclose(weights, worked["bank_sentence"]["causal_weights"], atol=6e-9)
    assert printed(weights[1:2, :2], 3) == [worked["bank_sentence"]["bank_attends_causal_3dp"]]
    assert (weights[np.triu_indices(11, 1)] == 0).all()


def test_scaling_prints_the_published_table(worked):
    assert [[float(cell) for cell in row] for row in table_with(opened("scaling"), "std of q·k")] == worked["scaling"]["printed"]


def test_two_heads_prints_the_published_weights_and_output(worked):
    at, given = opened("many-heads"), worked["two_heads"]
    for head in (0, 1):
        weights = drawn(at, f"Pattern of head {head}")
        assert printed(weights[-1:], 2) == [given["printed_last_token_2dp"][head]]
        np.testing.assert_allclose(weights, given["weights"][head], atol=6e-9)
    np.testing.assert_allclose(drawn(at, "The output"), given["output"], atol=6e-9)
    assert any("head 0: 0.27 0.18 0.26 0.28\nhead 1: 0.21 0.23 0.36 0.20" in words for words in shown(at, "words"))


def test_the_budget_of_many_heads_is_that_of_one(worked):
    given = worked["multi_head_budget"]
    (_, *many), (_, *one) = table_with(opened("many-heads"), "d_model 512")
    assert many == one == [f"{given['W_q+W_k+W_v, 8 heads of 64']:,}", f"{given['W_o']:,}"] == ["786,432", "262,144"]


# ------------------------------------------------------------------------------------------------------- the arithmetic


CELLS = [(0, 0), (2, 1), (1, 2)]
STAGES = [  # page, step, head, what the panel ends with, the picture that holds the number
    ("queries-keys-values", "query", None, "q", "q ="), ("queries-keys-values", "key", None, "k", "k ="),
    ("queries-keys-values", "value", None, "v", "v ="), ("queries-keys-values", "score", None, "raw_scores", "q·k"),
    ("attention", "compare", None, "raw_scores", "1"), ("attention", "scale", None, "scores", "2"),
    ("attention", "normalise", None, "pattern", "3"), ("attention", "mix", None, "mixed", "4"),
    ("causal-mask", "weight", None, "pattern", "Masked"),
    ("many-heads", "weight", "head 0", "pattern", "Pattern of head 0"), ("many-heads", "weight", "head 1", "pattern", "Pattern of head 1"),
    ("many-heads", "head's share", "head 0", "head_out", "What head 0 adds"),
    ("many-heads", "head's share", "head 1", "head_out", "What head 1 adds"), ("many-heads", "output", "head 1", "out", "The output"),
    ("scaling", None, None, "slope", "Slopes"),
]


def turn(at, url, **settings):
    """The person sets controls of the page."""
    for name, value in settings.items():
        if value is not None:
            widget(at, f"{url.replace('-', '_')}.{name}").set_value(value)
    return at.run()


@pytest.mark.parametrize("text", ["", "the bank refused the loan"], ids=["preset", "own"])
@pytest.mark.parametrize("url, stage, head, name, title", STAGES, ids=str)
def test_the_sum_behind_a_cell_comes_to_the_number_drawn_in_it(url, stage, head, name, title, text):
    at = turn(visit(url, text=text), url, stage=stage, head=head)
    for row, column in CELLS:
        lines = panel(turn(at, url, row=row, column=column))
        cell, value = recomputed(lines)[-1]
        number = drawn(at, title)[row, column]
        assert cell == f"{name}[{row}, {column}]"
        assert abs(value - number) <= 1e-9 * max(1, abs(number))
        assert [float(line.removeprefix("value on this page: ")) for line in lines if line.startswith("value")] == [number]


@pytest.mark.parametrize("url, stage", [("causal-mask", "mix"), ("many-heads", "mixed")])
def test_the_sum_behind_a_mixed_value_is_the_weighted_mean_of_the_values(url, stage):
    at = visit(url)
    for row, column in CELLS:
        turn(turn(at, url, stage=stage), url, row=row, column=column)
        if url == "causal-mask":
            expected = attention_by_hand(*preset("four_tokens"), np.tri(4) > 0)["mixed"]
        else:
            example = examples.two_heads()
            expected = drawn(at, "Pattern of head 0") @ (example.x @ example.params["w_qkv"])[:, 16:20]
        cell, value = recomputed(panel(at))[-1]
        assert cell == f"mixed[{row}, {column}]" and abs(value - expected[row, column]) < 1e-12


PRODUCT = rf"(\w+)\[(\d+), (\d+)\] × (\w+)\[(\d+), (\d+)\] = ({NUMBER}) × ({NUMBER}) = "


@pytest.mark.parametrize("name", ["by_hand", "four_tokens", "bank_sentence"])
def test_every_operand_of_the_sum_is_the_number_that_its_name_says(name):
    arrays = dict(zip(("x", "w_q", "w_k", "w_v"), preset(name), strict=True))
    at = choose("queries-keys-values", name)
    if name == "bank_sentence":
        turn(at, "queries-keys-values", positions=False)
    arrays |= attention_by_hand(*arrays.values())
    checked = 0
    for stage in ("query", "key", "value", "score"):
        turn(turn(at, "queries-keys-values", stage=stage), "queries-keys-values", row=2, column=1)
        for left, i, j, right, k, m, a, b in re.findall(PRODUCT, "\n".join(panel(at))):
            assert abs(float(a) - arrays[left][int(i), int(j)]) < 1e-12 and abs(float(b) - arrays[right][int(k), int(m)]) < 1e-12
            checked += 1
    assert checked == 3 * arrays["x"].shape[1] + arrays["q"].shape[1]


def test_the_chain_of_by_hand_reads_as_on_paper():
    line = panel(opened("attention"))[1]
    assert line.startswith("2×0 + 0×1 + 1×1 = 1 → 1×0.5774 = 0.5774 → e^(") and line.endswith("= 0.07022")


def framed(each):
    """The cells that a picture frames by themselves: (row, column)."""
    return {(shape["y0"] + 0.5, shape["x0"] + 0.5) for shape in each.spec["layout"]["shapes"]
            if shape["x1"] - shape["x0"] == shape["y1"] - shape["y0"] == 1}


@pytest.mark.parametrize("url, stage, title", [
    ("queries-keys-values", "query", "q ="), ("queries-keys-values", "score", "q·k"), ("attention", "normalise", "3"),
    ("attention", "mix", "4"), ("causal-mask", "weight", "Masked"), ("many-heads", "weight", "Pattern of head 0"),
    ("many-heads", "output", "The output"), ("scaling", None, "Slopes")])
def test_the_picked_cell_is_framed_in_its_picture(url, stage, title):
    at = turn(turn(visit(url), url, stage=stage), url, row=2, column=1)
    assert framed(picture(at, title)) == {(2, 1)}


def test_a_hidden_cell_has_weight_0_and_says_why():
    at = turn(visit("causal-mask"), "causal-mask", row=1, column=3)
    assert "hidden by the mask" in panel(at)[0] and recomputed(panel(at))[-1] == ("pattern[1, 3]", 0.0)


def test_the_panel_names_the_two_words():
    at = turn(visit("attention", text="alpha beta gamma"), "attention", row=2, column=0)
    assert panel(at)[0] == 'query 2 "gamma", key 0 "alpha"'


def test_the_panel_keeps_a_long_word_short():
    assert all(len(line) < 400 for url in TOKEN_PAGES for line in panel(with_text(url, "a long word")))


# ----------------------------------------------------------------------------------------------------------- many heads


@pytest.mark.parametrize("n_heads", [3, 5, 6, 7])
def test_an_impossible_number_of_heads_gives_the_counts_that_work_and_the_page_stays(n_heads):
    at = visit("many-heads", many_heads__n_heads=str(n_heads))
    (remark,) = shown(at, "remark")
    assert not at.exception and f"into {n_heads} equal heads" in remark and "1, 2, 4, 8" in remark
    assert [each.raw for each in pictures(at)] == [each.raw for each in pictures(opened("many-heads"))] and len(at.get("page_link")) >= 1


@pytest.mark.parametrize("d_model, n_heads, n_tokens", [(8, 1, 2), (8, 8, 3), (16, 2, 5), (32, 8, 4), (64, 4, 1), (64, 5, 3)])
def test_the_shapes_in_the_table_are_those_of_the_arrays(d_model, n_heads, n_tokens):
    at = visit("many-heads", text=" ".join("abcde"[:n_tokens]), many_heads__d_model=str(d_model), many_heads__n_heads=str(n_heads))
    h = n_heads if d_model % n_heads == 0 else 2
    d_head = d_model // h
    shapes = {row[0]: tuple(map(int, row[1].split(" × "))) for row in table_with(at, "shape")}
    assert shapes == {"x": (n_tokens, d_model), "x·w_qkv": (n_tokens, 3 * d_model), "split": (h, n_tokens, d_head),
                      "attend": (h, n_tokens, n_tokens), "mix": (h, n_tokens, d_head), "join": (n_tokens, d_model),
                      "·w_o": (n_tokens, d_model)}
    assert [matrix.values.shape for matrix in patterns_of(at)] == [(n_tokens, n_tokens)] * h
    assert drawn(at, "The queries").shape == drawn(at, "The output").shape == (n_tokens, d_model)
    assert f"columns h·{d_head} to (h+1)·{d_head} − 1" in everything_said(at)


def test_the_heads_shares_add_up_to_the_output_and_every_row_to_1():
    at = visit("many-heads", text="to be or not", many_heads__n_heads="4")
    shares = []
    for head in range(4):
        widget(at, "many_heads.head").set_value(f"head {head}").run()
        shares.append(drawn(at, f"What head {head} adds"))
        assert np.abs(drawn(at, f"Pattern of head {head}").sum(axis=1) - 1).max() < 1e-12
    assert np.abs(sum(shares) - drawn(at, "The output")).max() < 1e-12


def test_eight_heads_stand_in_one_figure_with_the_head_that_was_asked_for_framed():
    at = visit("many-heads", text="to be or", many_heads__n_heads="8", many_heads__head="head 5")
    (joint,) = [each for each in pictures(at) if len(matrices(each.spec)) == 8]
    shapes = joint.spec["layout"]["shapes"]
    assert {shape["xref"] for shape in shapes if shape["x1"] - shape["x0"] == 1} == {"x6"}
    assert [f"head {h}" in note["text"] for h, note in enumerate(joint.spec["layout"]["annotations"])] == [True] * 8


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8])
def test_scores_are_divided_by_the_root_of_the_heads_width_not_of_the_models(n_heads):
    at = visit("many-heads", text="to be", many_heads__d_model="64", many_heads__n_heads=str(n_heads))
    (factor,) = [float(match[1]) for match in (re.search(rf" × scale = {NUMBER} × ({NUMBER}) = ", line) for line in panel(at)) if match]
    assert abs(factor - (64 / n_heads) ** -0.5) < 1e-15


@pytest.mark.parametrize("name, width", [("by_hand", 3), ("four_tokens", 4), ("bank_sentence", 16)])
def test_the_divisor_shown_is_the_root_of_the_heads_width(name, width):
    at = choose("attention", name)
    assert picture(at, "2").title.endswith(f"÷ √{width}")
    np.testing.assert_allclose(drawn(at, "2") * width**0.5, drawn(at, "1"), rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------------------------------------------- queries and keys


@pytest.mark.parametrize("d_model, d_head", [(8, 4), (4, 32), (32, 2), (16, 16)])
@pytest.mark.parametrize("stage", ["query", "key", "value", "score"])
def test_every_shape_in_a_title_is_the_shape_drawn(d_model, d_head, stage):
    at = visit("queries-keys-values", text="to be or not to be", queries_keys_values__d_model=str(d_model),
               queries_keys_values__d_head=str(d_head), queries_keys_values__stage=stage)
    for each, shape in zip(pictures(at), [(6, d_model), (d_model, d_head), (6, d_head), (6, 6)], strict=True):
        said = re.search(r": (\d+)[a-z ]* × (\d+)", each.title)
        assert each.matrix.overlay.shape == shape == (int(said[1]), int(said[2]))
        assert each.title.split(":")[1] in each.alt


def test_the_pictures_multiply_up_to_the_queries_and_scores():
    at = visit("queries-keys-values", text="to be or not")
    np.testing.assert_allclose(drawn(at, "x") @ drawn(at, "w_q"), drawn(at, "q ="), atol=1e-12)
    scores, q = drawn(at, "q·k"), drawn(at, "q =")
    widget(at, "queries_keys_values.stage").set_value("key").run()
    np.testing.assert_allclose(q @ drawn(at, "k =").T, scores, atol=1e-12)


@pytest.mark.parametrize("text", ["", "to be or not"])
def test_tied_matrices_make_the_scores_symmetric_and_untied_ones_do_not(text):
    untied = visit("queries-keys-values", text=text)
    gap = np.abs(drawn(untied, "q·k") - drawn(untied, "q·k").T).max()
    assert gap > 0 and f"**{gap:.4g}**" in everything_said(untied)
    tied = visit("queries-keys-values", text=text, queries_keys_values__tied="true")
    assert np.abs(drawn(tied, "q·k") - drawn(tied, "q·k").T).max() < 1e-12 and "because w_q and w_k are tied" in everything_said(tied)


# ------------------------------------------------------------------------------------------------------------- attention


def test_the_ratio_of_two_weights_is_e_to_the_difference_of_their_scores():
    at = visit("attention", attention__guess="2 times")
    said = " ".join(line.value for line in at.markdown)
    found = re.search(rf"differ by up to ({NUMBER}), and those weights are ({NUMBER}) and ({NUMBER})\.", said)
    difference, high, low = map(float, found.groups())
    assert abs(np.log(high / low) - difference) < 1e-3
    assert abs(np.ptp(drawn(at, "2")[0]) - difference) < 1e-3


@pytest.mark.parametrize("text", ["", "to be or not to be that is"])
def test_softmax_runs_over_the_keys(text):
    weights = drawn(visit("attention", text=text), "3")
    assert np.abs(weights.sum(axis=1) - 1).max() < 1e-12 and np.abs(weights.sum(axis=0) - 1).max() > 1e-3


# ------------------------------------------------------------------------------------------------------ editing by hand


EDITS = {"x": "1 2 0.5 -1; 0 0 0 0; 3 1 4 1", "w_q": "1 0 0; 0 1 0; 0 0 1; 1 1 1", "w_k": "0.1 0.2 0.3; 1 1 1; -1 0 1; 0 0 0",
         "w_v": "1 2 3; 4 5 6; 7 8 9; 10 11 12"}


def as_matrix(text):
    return np.array([[float(entry) for entry in row.split()] for row in text.split(";")])


def edit(url, **matrices_as_text):
    """The page with these matrices of by_hand typed in."""
    page = url.replace("-", "_")
    return visit(url, **{f"{page}.edit": "true", **{f"{page}.{name}": text for name, text in matrices_as_text.items()}})


@pytest.mark.parametrize("names", [("x",), ("w_q",), ("w_k",), ("w_v",), ("x", "w_q", "w_k", "w_v")], ids="+".join)
def test_everything_follows_an_edited_matrix(names):
    at = edit("attention", **{name: EDITS[name] for name in names})
    arrays = dict(zip(("x", "w_q", "w_k", "w_v"), preset("by_hand"), strict=True)) | {name: as_matrix(EDITS[name]) for name in names}
    expected = attention_by_hand(*arrays.values())
    for title, name in (("1", "raw_scores"), ("2", "scores"), ("3", "pattern"), ("4", "mixed")):
        np.testing.assert_allclose(drawn(at, title), expected[name], atol=1e-12)
    assert "typed in by you" in shown(at, "weights")[0] and shown(at, "remark") == []
    assert abs(recomputed(panel(at))[-1][1] - expected["pattern"][0, 0]) < 1e-12
    at = edit("queries-keys-values", **{name: EDITS[name] for name in names})
    for title, array in (("x", arrays["x"]), ("w_q", arrays["w_q"]), ("q =", expected["q"]), ("q·k", expected["raw_scores"])):
        np.testing.assert_allclose(drawn(at, title), array, atol=1e-12)


@pytest.mark.parametrize("url", ["attention", "queries-keys-values"])
@pytest.mark.parametrize("name", ["x", "w_q", "w_k", "w_v"])
@pytest.mark.parametrize("broken, said", [("1 2", "1 row"), ("", "0 rows"), (None, "row 2")], ids=["rows", "empty", "entry"])
def test_a_broken_matrix_is_named_with_its_row_and_the_examples_own_stays(url, name, broken, said):
    broken = "; ".join(["1 2 3" + " 4" * (name == "x"), "1 2 x" + " 4" * (name == "x"), *["0 0 0" + " 0" * (name == "x")] * 2][
        :3 if name == "x" else 4]) if broken is None else broken
    at = edit(url, **{name: broken})
    (remark,) = shown(at, "remark")
    assert not at.exception and remark.startswith(f"{name} can't be read: ") and said in remark
    assert [each.raw for each in pictures(at)] == [each.raw for each in pictures(opened(url))]


def test_the_grid_shows_the_matrix_that_was_typed():
    at = edit("attention", w_q=EDITS["w_q"])
    grids = [frame.value.to_numpy() for frame in at.dataframe]
    assert any(grid.shape == (4, 3) and (grid == as_matrix(EDITS["w_q"])).all() for grid in grids) and len(grids) == 4


def test_large_numbers_overflow_nothing():
    at = edit("attention", x="1e6 1e6 1e6 1e6; -1e6 0 0 0; 1e6 0 0 -1e6", w_q="1e6 0 0; 0 1e6 0; 0 0 1e6; 0 0 0")
    assert not at.exception and np.isfinite(drawn(at, "3")).all() and np.abs(drawn(at, "3").sum(axis=1) - 1).max() < 1e-12
    ((*_, because),) = shown(at, "ask")
    assert not re.search(r"\b(inf|nan)\b", because + everything_said(at))


# ---------------------------------------------------------------------------------------------------------- causal mask


@pytest.mark.parametrize("text", ["", "to be or not to be", "the"])
def test_a_changed_word_moves_no_earlier_output_under_the_mask_and_every_one_without(text):
    at = visit("causal-mask", text=text)
    n = len(text.split()) or 4
    for changed in range(n):
        widget(at, "causal_mask.changed").set_value(changed).run()
        masked, free = (picture(at, f"How far each output moves with {kind}").spec["data"][0]["y"] for kind in ("the", "no mask"))
        assert (masked[:changed] == 0).all() and (masked[changed:] > 0).all() and (free > 0).all()
        said = "no position stands before it" if changed == 0 else f"the {changed} position{'s' * (changed > 1)} before the changed word"
        assert said in everything_said(at)


def test_a_word_added_at_the_end_changes_no_earlier_row_under_the_mask():
    short, long = (drawn(visit("causal-mask", text=text), "Masked") for text in ("to be or", "to be or not"))
    np.testing.assert_allclose(long[:3, :3], short, atol=1e-12)
    short, long = (drawn(visit("causal-mask", text=text, causal_mask__mask="none"), "Masked") for text in ("to be or", "to be or not"))
    assert (np.abs(long[:3, :3] - short) > 1e-6).all()


def visible_and_weights(mask, **more):
    at = visit("causal-mask", causal_mask__mask=mask, **more)
    return ~np.isnan(drawn(at, "Scores")), drawn(at, "Masked"), at


@pytest.mark.parametrize("mask, hidden", [
    ("causal", np.triu(np.ones((4, 4)), 1)), ("none", np.zeros((4, 4))), ("padding", [[0, 0, 0, 1]] * 4),
    ("causal + padding", [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1]]),
    ("blind row", [[1] * 4, *[[0] * 4] * 3])], ids=lambda value: value if isinstance(value, str) else "")
def test_each_mask_hides_its_cells_and_the_rest_shares_1(mask, hidden):
    visible, weights, at = visible_and_weights(mask)
    hidden = np.asarray(hidden, bool)
    assert (visible == ~hidden).all() and (weights[hidden] == 0).all() and not at.exception
    sums = weights.sum(axis=1)
    assert np.abs(sums - (~hidden).any(axis=1)).max() < 1e-12
    expected = attention_by_hand(*preset("four_tokens"), np.where(hidden.all(axis=1)[:, None], True, ~hidden))["pattern"]
    np.testing.assert_allclose(weights[sums > 0], expected[sums > 0], atol=1e-12)


@pytest.mark.parametrize("mask", ["causal", "none", "padding", "causal + padding", "blind row"])
def test_table_and_words_of_the_scores_tell_what_the_picture_shows(mask):
    visible, _, at = visible_and_weights(mask, tables="true")
    table = at.dataframe[0].value.drop(columns="row").to_numpy(float)
    assert (np.isfinite(table) == visible).all()  # no number where the picture says −∞
    low, high = re.search(rf"values from ({NUMBER}) to ({NUMBER})\.", picture(at, "Scores").alt).groups()
    assert (float(low), float(high)) == tuple(float(f"{value:.3g}") for value in (table[visible].min(), table[visible].max()))


def test_a_row_that_sees_nothing_is_zero_and_the_page_says_so():
    _, weights, at = visible_and_weights("blind row")
    assert (weights[0] == 0).all() and "may look at nothing" in everything_said(at) and "all **0**" in everything_said(at)
    turn(at, "causal-mask", stage="mix", row=0, column=0)
    assert recomputed(panel(at))[-1] == ("mixed[0, 0]", 0.0)


def test_titles_and_words_follow_the_mask():
    for mask, hides in (("causal", True), ("none", False), ("padding", True), ("causal + padding", True), ("blind row", True)):
        at = opened("causal-mask") if mask == "causal" else visit("causal-mask", causal_mask__mask=mask)
        said, titles = everything_said(at), [drawing.title for drawing in pictures(at)]
        assert any("−∞" in title for title in titles) == hides and any("nothing is hidden" in title for title in titles) != hides
        assert ("Row sums when" in said) == hides and ("every row sums to 1" in said) != hides
        assert ("is **0/0**" in said) == (mask == "blind row")
        assert any("rows that see a key" in title for title in titles) == (mask == "blind row")


def test_masking_after_the_softmax_fails_where_a_later_score_dominates():
    _, weights, at = visible_and_weights("causal", causal_mask__boost="1000")
    renormalised = drawn(at, "Zeroed after it, then")
    np.testing.assert_allclose(weights, drawn(opened("causal-mask"), "Masked"), atol=1e-12)
    assert np.isnan(renormalised[:3]).all() and not np.isnan(renormalised[3]).any()
    assert "**3 rows came to 0/0**" in everything_said(at)
    assert "0/0**" not in everything_said(opened("causal-mask"))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_text_gives_one_example_fewer_than_it_has_words(n):
    at = visit("causal-mask", text=" ".join("abcde"[:n]))
    examples_of_text = [line for words in shown(at, "words") for line in words.split("\n") if "  →  " in line]
    said = f"these {n} tokens give {n - 1} example{'s' * (n > 2)}" if n > 1 else "no next token to learn from"
    assert len(examples_of_text) == n - 1 and said in everything_said(at)
    assert n == 1 or examples_of_text[-1] == f"{' '.join('abcde'[:n - 1])}  →  {'abcde'[n - 1]}"


# ----------------------------------------------------------------------------------------------------------------- scaling


def lines_of(at, title):
    return {trace["name"]: trace for trace in picture(at, title).spec["data"]}


def test_the_spread_of_the_scores_follows_the_root_of_d_and_stays_1_when_divided():
    lines = lines_of(opened("scaling"), "Standard deviation")
    d = lines["√d"]["x"]
    assert d.tolist() == [2.0**i for i in range(11)]
    np.testing.assert_allclose(lines["√d"]["y"], np.sqrt(d), rtol=1e-12)
    np.testing.assert_allclose(lines["as they are"]["y"] / np.sqrt(d), 1, atol=0.05)
    np.testing.assert_allclose(lines["divided by √d"]["y"], 1, atol=0.05)


def test_without_division_the_softmax_saturates_and_its_gradient_goes():
    at = opened("scaling")
    top, entropy, gradient = (lines_of(at, title)["as they are"]["y"] for title in ("Largest", "Entropy", "Gradient"))
    assert all(np.diff(top) > 0) and all(np.diff(entropy) < 0) and top[-1] > 0.9 and gradient[-1] < gradient[2] / 3
    assert all(np.ptp(lines_of(at, title)["divided by √d"]["y"][2:]) < 0.1 for title in ("Largest", "Entropy", "Gradient"))


@pytest.mark.parametrize("d, scaled", [(1, True), (64, True), (64, False), (1024, False)])
def test_the_sentence_and_the_marks_name_the_chosen_width(d, scaled):
    at = visit("scaling", scaling__d=str(d), scaling__scaled=str(scaled).lower())
    (sentence,) = [sentence for sentence in shown(at, "say") if sentence.startswith("At **d = ")]
    numbers = [float(number) for number in re.findall(rf"\*\*({NUMBER})\*\*", sentence)]
    for title, number in zip(("Standard deviation", "Largest", "Entropy", "Gradient"), numbers, strict=True):
        lines = lines_of(at, title)
        value = lines["divided by √d" if scaled else "as they are"]["y"][int(np.log2(d))]
        assert abs(value - number) < 1e-3 * value and lines[f"d = {d}"]["x"] == [d] and lines[f"d = {d}"]["y"] == [value]


def test_a_low_temperature_is_sharper_and_a_high_one_flatter():
    at = opened("scaling")
    frames = {float(frame["name"]): frame["data"][0]["y"] for frame in picture(at, "Weights").spec["frames"]}
    largest = [frames[temperature].max() for temperature in sorted(frames)]
    assert largest == sorted(largest, reverse=True) and largest[0] > 0.99 and largest[-1] < 0.3
    assert "small T saturates, large T flattens" in everything_said(at)


@pytest.mark.parametrize("temperature", ["0.05", "0.1", "0.5", "1.0", "20.0"])
def test_bars_and_slopes_are_those_of_the_softmax_at_this_temperature(temperature):
    at = visit("scaling", scaling__scores="3 1 -2.5 0", scaling__temperature=temperature)
    raised = np.exp((np.array([3, 1, -2.5, 0]) - 3) / float(temperature))
    p = raised / raised.sum()
    slopes = -np.outer(p, p) * (1 - np.eye(4))
    slopes -= np.diag(slopes.sum(axis=1))  # 1 - p as the sum of the others: exact near a corner too
    np.testing.assert_allclose(picture(at, "Weights").spec["data"][0]["y"], p, rtol=1e-12)
    np.testing.assert_allclose(drawn(at, "Slopes"), slopes, rtol=1e-12)
    assert picture(at, "Slopes").matrix.rows == ["3", "1", "-2.5", "0"]
    assert f"**{np.linalg.norm(slopes):.4g}**" in everything_said(at)


@pytest.mark.parametrize("scores, broken", [("1000 1001 1002", {"float16", "float32", "float64"}), ("88 89 90", {"float16", "float32"}),
                                            ("11 12 13", {"float16"}), ("-1000 -1001 -1002", {"float16", "float32", "float64"}),
                                            ("0 1 2", set()), ("10000 1 1", {"float16", "float32", "float64"})])
def test_what_overflows_is_shown_and_subtracting_the_maximum_saves_it(scores, broken):
    rows = {row[0]: row[1:] for row in table_with(visit("scaling", scaling__large=scores), "precision")}
    assert set(rows) == {"float16", "float32", "float64"}
    assert {name for name, (_, plain, _) in rows.items() if "NaN" in plain} == broken
    given = np.array([float(score) for score in scores.split()])
    raised = np.exp(given - given.max())
    for name, (_, _, shifted) in rows.items():
        np.testing.assert_allclose(np.array(shifted.split(), float), raised / raised.sum(), atol=1e-3 if name == "float16" else 1e-6)


def test_scores_that_can_not_be_read_keep_the_list_and_say_what_would_work():
    for bad in ("1", "a b", "nan 1", "1e400 1", "1 " * 9, ""):
        at = visit("scaling", scaling__scores=bad)
        assert not at.exception and "takes 2 to 8 numbers" in shown(at, "remark")[0]
        assert picture(at, "Slopes").matrix.rows == ["2", "1", "0.5", "-1"]


# ------------------------------------------------------------------------------------------------------------------ tables


def numbers_of(each):
    """The numbers of a picture, as its table should hold them: rows by columns."""
    found = matrices(each.spec)
    if found:
        return np.concatenate([matrix.values for matrix in found])
    if each.spec["data"][0].get("name") == "hands":
        return each.spec["data"][0]["customdata"]
    named = {trace.get("name"): trace for trace in each.spec["data"]}
    if "ids" in named:  # the boxes of the pieces, an id in each
        return np.array([[float("nan") if word == "none" else float(word)] for word in named["ids"]["text"]])
    lying = [trace["x"] for trace in each.spec["data"] if trace.get("orientation") == "h" and trace["name"] != "rows"]
    if lying:
        return np.stack(lying, axis=1)
    if "points" in named:
        return np.stack([named["points"]["x"], named["points"]["y"]], axis=1)
    if "frames" in each.spec:
        return np.stack([frame["data"][0]["y"] for frame in each.spec["frames"]])
    series = [trace["y"] for trace in each.spec["data"] if trace["type"] == "bar" or trace.get("mode") in ("lines+markers", "lines")]
    return np.stack(series, axis=1)


@each_page
@pytest.mark.parametrize("more", [{}, {"text": "the bank <b> the", "many_heads.n_heads": "8"}], ids=["preset", "own"])
def test_every_picture_of_numbers_has_a_table_with_the_same_numbers(url, more):
    at = visit(url, tables="true", **{key: value for key, value in more.items() if "." not in key or url == "many-heads"})
    drawn_numbers = [numbers_of(each) for each in pictures(at) if each.spec["data"][0].get("name") != "boxes"]
    tables = [frame.value for frame in at.dataframe]
    assert len(tables) == len(drawn_numbers) and not at.exception
    for table, numbers in zip(tables, drawn_numbers, strict=True):
        held = table.drop(columns="row").to_numpy(float)
        assert np.array_equal(np.where(np.isfinite(held), held, np.nan), numbers, equal_nan=True)


def test_a_table_names_its_rows_and_columns_by_number_and_word():
    table = visit("attention", text="the <b> the", tables="true").dataframe[0].value
    assert table["row"].tolist() == ["0 · the", "1 · <b>", "2 · the"] and list(table.columns) == ["row", "0 · the", "1 · <b>", "2 · the"]


@each_page
def test_there_is_no_table_unless_it_is_asked_for(url):
    assert not opened(url).dataframe


# ----------------------------------------------------------------------------------------------------- what the course says


FORBIDDEN = [
    r"attention( weights?| patterns?)? (explain|understand|decide|know|think|want)s?\b", r"because it attends",
    r"\b(model|transformer|head)s? (understand|think|know)s?\b", r"low(er)? temperature\W+(\w+\W+){0,4}(flat|random|creative)",
    r"high(er)? temperature\W+(\w+\W+){0,4}sharp", r"divided by the (square )?root of (the )?(model|d_model)",
    r"coming soon|\bTODO\b|lorem ipsum",
]


@each_page
@pytest.mark.parametrize("pattern", FORBIDDEN)
def test_no_page_says_what_is_not_so(url, pattern):
    at = opened(url)
    lesson = syllabus.by_url(url)
    asks = " ".join(f"{question} {' '.join(answers)} {because}" for question, answers, _, because in shown(at, "ask"))
    said = " ".join([everything_said(at), asks, lesson.question, lesson.idea, *(each.alt + each.title for each in pictures(at))])
    for belief in beliefs.BELIEFS if url == "misconceptions" else ():  # said there to be refuted
        said = said.replace(belief.said, "")
    assert not re.search(pattern, said.replace("*", ""), re.IGNORECASE)


def test_the_attention_page_says_that_weights_are_no_reasons():
    said = everything_said(opened("attention"))
    assert "do not say why" in said and "Jain & Wallace 2019" in said and "Wiegreffe & Pinter 2019" in said


def test_the_causal_page_tells_the_two_masks_apart_and_says_where_each_belongs():
    said = everything_said(opened("causal-mask"))
    assert "padding mask" in said and "another purpose" in said and "decoder" in said and "encoder" in said


def test_the_scaling_page_speaks_of_the_heads_width():
    assert "head's width" in syllabus.by_url("scaling").question


@each_page
def test_the_page_sends_plain_json_and_no_stray_nan_text(url):
    for each in pictures(opened(url)):
        assert "NaN" not in json.dumps(json.loads(each.raw)) and html.unescape(each.alt) == each.alt


def test_going_through_all_pages_with_a_sentence_keeps_it():
    at = visit("welcome", text="the bank refused the loan")
    for url in [*URLS, *reversed(URLS)]:
        go(at, url)
        assert not at.exception and not at.error and widget(at, "text").value == "the bank refused the loan"
