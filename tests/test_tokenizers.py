"""Text becomes words: nothing but white space is lost, and nothing is changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tokenizers import split_words

ANY_TEXT = st.text(st.one_of(st.characters(), st.sampled_from(" \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u2028\u3000\u200b")))


def naive_split(text):
    """One character at a time: white space ends a word."""
    words, word = [], ""
    for character in text + " ":
        if not character.isspace():
            word += character
        elif word:
            words.append(word)
            word = ""
    return words


@pytest.mark.parametrize(("text", "words"), [
    ("The bank refused the loan", ["The", "bank", "refused", "the", "loan"]),
    ("The bank,  the loan.", ["The", "bank,", "the", "loan."]),
    ("\tone\n two \r\n", ["one", "two"]),
    ("a\u00a0b\u3000c", ["a", "b", "c"]),
    ("na\u00efve nai\u0308ve", ["na\u00efve", "nai\u0308ve"]),
    ("<b> $x$ -> 10 10", ["<b>", "$x$", "->", "10", "10"]),
    ("\U0001f469\u200d\U0001f469\u200d\U0001f467", ["\U0001f469\u200d\U0001f469\u200d\U0001f467"]),
])
def test_words_keep_case_punctuation_and_order(text, words):
    assert split_words(text) == words


@pytest.mark.parametrize(("text", "words"), [("", []), ("   ", []), (" \n\t ", []), ("\u200b", ["\u200b"])])
def test_empty_and_blank_texts_have_no_word_and_a_zero_width_space_is_one(text, words):
    """T06."""
    assert split_words(text) == words


@given(ANY_TEXT)
def test_any_text_is_cut_at_white_space_alone(text):
    words = split_words(text)
    assert words == naive_split(text)
    assert all(words)
    assert "".join(words) == "".join(character for character in text if not character.isspace())


def test_a_word_of_5000_characters_is_one_word():
    assert split_words("a" * 5000 + " b") == ["a" * 5000, "b"]
