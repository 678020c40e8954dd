"""What a person typed: cleaned, cut and made safe to draw, for every text there can be."""

import html
import re
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pages.shared import text

ANYTHING = st.text(st.characters(), max_size=80)  # surrogates too
OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # of the reading direction
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
ODD = ["\u200b", "\u200d", "\u2060", "\ufeff", "\xad", "\xa0", "\u3000", "\u2028", "\x00", "\x1b", "\ud800", "\u202e", "\u2067", FAMILY]


@given(ANYTHING)
@example("\ud83d\ude00")
@example("e\u0301")
def test_a_cleaned_text_holds_no_control_or_half_character_and_says_what_was_left_out(raw):
    cleaned = text.clean(raw)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n\r" for c in cleaned.text)
    assert not set(cleaned.text) & set(OVERRIDES)
    cleaned.text.encode("utf-8")
    assert bool(cleaned.notes) == (cleaned.text != unicodedata.normalize("NFC", raw))


@given(ANYTHING)
def test_cleaning_twice_is_cleaning_once(raw):
    once = text.clean(raw).text
    assert text.clean(once) == (once, ())


@pytest.mark.parametrize("plain", ["The bank, the loan", "schön naïve", "你好 世界", "سلام", FAMILY, "a\tb\nc", "<b>&amp;$x$", "  two  "])
def test_ordinary_text_is_left_alone(plain):
    assert text.clean(plain) == (plain, ())


@pytest.mark.parametrize("raw, cleaned, number", [
    ("a\x00b", "ab", "1 invisible"), ("\x07\x1bx", "x", "2 invisible"), ("a\u202eb", "ab", "1 "), ("\ud800", "", "1 "),
    ("\u2066x\u2069", "x", "2 "),
])
def test_what_was_left_out_is_counted(raw, cleaned, number):
    result = text.clean(raw)
    assert result.text == cleaned and result.notes[0].startswith(number)


def test_nothing_is_as_good_as_an_empty_text():
    assert text.clean(None) == text.clean("") == ("", ())


def test_accents_are_composed():
    assert text.clean("cafe\u0301").text == "caf\u00e9"


@pytest.mark.parametrize("n", [0, 1, 39, 40])
def test_up_to_the_limit_nothing_is_cut(n):
    assert text.cut(["w"] * n) == (["w"] * n, ())


@pytest.mark.parametrize("n, written", [(41, "41"), (5000, "5,000")])
def test_what_is_cut_is_said_with_both_numbers(n, written):
    tokens, (sentence,) = text.cut([str(i) for i in range(n)])
    assert tokens == [str(i) for i in range(40)] and f" {written} words" in sentence and " 40 " in sentence


@given(ANYTHING)
def test_a_visible_token_hides_no_control_direction_mark_or_zero_width_space(token):
    shown = text.visible(token)
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp", "Zs") for c in shown)
    assert not set(shown) & set(OVERRIDES + "\u061c\u200e\u200f\u200b\u2060\ufeff\xad")
    shown.encode("utf-8")


@given(ANYTHING)
def test_only_what_can_be_seen_stays_as_it_is(token):
    kept = [c for c in token if not unicodedata.category(c).startswith(("C", "Z"))]
    assert [c for c in re.sub(r"‹U\+[0-9A-F]{4,6}›|[␣⏎⇥]", "", text.visible(token)) if c in kept] == \
        [c for c in re.sub(r"‹U\+[0-9A-F]{4,6}›|[␣⏎⇥]", "", token) if c in kept]


@pytest.mark.parametrize("token", [*ODD, "\u200d\u200d", "\u200c\u200d\ufe0f", "\ufe0f", "\u3164", "\u2800", "\U000e0041"], ids=ascii)
def test_no_token_looks_like_nothing(token):
    invisible = "\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f\u3164\u2800\xad"
    assert any(c not in invisible and unicodedata.category(c) not in ("Cf", "Cc", "Zs", "Zl", "Zp") for c in text.visible(token))


def test_spaces_line_breaks_and_tabs_have_signs():
    assert text.visible(" \n\t\r") == "␣⏎⇥⏎"


def test_joined_emoji_and_accents_stay_whole():
    for token in (FAMILY, "e\u0301", "👍🏽", "🇮🇳", "❤\ufe0f"):
        assert text.visible(token) == token


@given(ANYTHING, st.integers(1, 60))
def test_a_short_token_is_at_most_so_long_and_begins_as_the_whole(token, length):
    shown = text.short(token, length)
    assert len(shown) <= length
    assert shown == text.visible(token) or (shown[-1] == "…" and text.visible(token).startswith(shown[:-1]))


@given(ANYTHING)
@example("<b>")
@example("&amp;")
@example("&#60;script&#62;")
@example("a&lt")
def test_a_plotly_label_holds_no_markup_of_the_persons_own(token):
    label = text.plotly(token)
    assert "<" not in label and not re.search(r"&(?!(?:amp|lt|gt);)", label)
    assert label.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == text.short(token)


@pytest.mark.parametrize("token", ["<b>", "<s>", "</s>", "<br>", "<sub>2</sub>", "<unk>", "<|endoftext|>", "&amp;", "%{x}", "$x$"])
def test_a_token_that_looks_like_markup_reads_as_typed(token):
    assert html.unescape(text.plotly(token)) == token


@given(st.lists(ANYTHING, max_size=6))
def test_options_are_numbered_from_0_and_never_equal(tokens):
    options = text.options(tokens)
    assert len(set(options)) == len(tokens)
    assert [option.split(" · ")[0] for option in options] == [str(i) for i in range(len(tokens))]


@given(ANYTHING)
def test_a_quoted_token_is_one_short_line(token):
    assert re.fullmatch(r'"[^\n\r]{0,40}"', text.quoted(token))


# ------------------------------------------------------------------------------------------------------- matrices


NUMBER = st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-90)


@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_a_matrix_written_as_text_reads_back(n_rows, n_columns, data):
    row = st.lists(NUMBER, min_size=n_columns, max_size=n_columns)
    matrix = np.array(data.draw(st.lists(row, min_size=n_rows, max_size=n_rows)))
    rows, fault = text.parse_matrix(text.matrix_text(matrix), n_rows, n_columns)
    assert fault is None
    np.testing.assert_allclose(rows, matrix, rtol=1e-11, atol=0)


@pytest.mark.parametrize("raw", ["1 2;3 4", "1,2;3,4", " 1  2 ; 3\t4 ;", "1 2\n3 4", "+1 2.0; 3. 4e0", "1, 2; 3, 4"])
def test_a_matrix_may_be_written_in_many_ways(raw):
    assert text.parse_matrix(raw, 2, 2) == ([[1.0, 2.0], [3.0, 4.0]], None)


HOSTILE = [
    *(f"{entry} 1; 1 1" for entry in ("nan", "inf", "-inf", "1e400", "1e99", "１", "٣", "0x10", "1_0", "1e", "1j", "1.5.5", "²", "1e6000",
                                      "1000001", "--1", "−1", "1" * 100_000)),
    "", " ", ";", ";;;", "\x00", "1 2", "1 2 3; 4 5 6", "1; 2", "a b; c d", "1 2; 3", "[[1,2],[3,4]]", "__import__('os'); 1",
    "1" * 100_000, "1 " * 50_000, ";" * 100_000, "1;" * 50_000,
]


@pytest.mark.parametrize("raw", HOSTILE, ids=lambda raw: ascii(raw[:20]))
def test_a_matrix_that_can_not_be_read_gives_a_sentence(raw):
    rows, fault = text.parse_matrix(raw, 2, 2)
    assert rows is None and re.fullmatch(r"[a-z].{5,150}\.", fault)


@given(ANYTHING)
def test_any_text_gives_a_matrix_or_a_sentence(raw):
    rows, fault = text.parse_matrix(raw, 2, 2)
    assert (rows is None) != (fault is None)
    assert rows is None or np.shape(rows) == (2, 2)


@pytest.mark.parametrize("raw, said", [
    ("1 2; 3", "row 2 has 1 number; it needs 2."), ("1 2; 3 4; 5 6", "it has 3 rows"), ("1 2", "it has 1 row;"),
    ("1 2; 3 x", "entry 2 of row 2"), ("1 2 3; 3 4", "row 1 has 3 numbers; it needs 2."),
])
def test_the_sentence_names_the_row_and_what_it_needs(raw, said):
    assert text.parse_matrix(raw, 2, 2)[1].startswith(said)


def test_a_wide_table_becomes_a_list_in_a_narrow_window_and_all_else_stays():
    wide = "Before.\n\n| a | b | c | d |\n|:--|--:|--:|--:|\n| **x** | 1 | | 3 |\n| | 4 | 5 | 6 |\n\nAfter | all."
    assert text.narrow(wide) == "Before.\n\n- **x**: b 1 · d 3\n- b 4 · c 5 · d 6\n\nAfter | all."
    small = "| a | b | c |\n|:--|--:|--:|\n| x | 1 | 2 |"
    assert text.narrow(small) == small
    assert text.narrow(f"{small}\n\n{wide}") == f"{small}\n\n{text.narrow(wide)}"
