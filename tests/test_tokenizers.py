"""Text becomes pieces and ids, and ids become the very text again."""

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.byte_pairs import train_steps
from core.tokenizers import UNKNOWN, BytePairTokenizer, CharTokenizer, WordTokenizer, split_words

ANY_CHARACTER = st.one_of(st.characters(), st.characters(categories=["Cs"]),
                          st.sampled_from(" \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u2028\u3000\u200b"))
ANY_TEXT = st.text(ANY_CHARACTER)
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"  # three people and two joiners
ODD_TEXTS = [
    "", " ", "   ", "\u200b", "  Hello World.", "import tensorflow as ", "a  b\n\n c\t", "1234567890 2024", "caf\u00e9 cafe\u0301",
    "\U0001f600", FAMILY, "\U0001f44d\U0001f3fd", "\U0001f1f2\U0001f1fe", "\ud800", "\ud83d\ude00",
    "\udcff x", "\x00", "<unk>", "a <unk> b", "\ufffd", "\u4f60\u597d", "a" * 100,
]
LEARNED = BytePairTokenizer.train("the bank refused the loan because the money was not there; caf\u00e9 \U0001f600\U0001f600 " * 3, 60)


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


# --- words ----------------------------------------------------------------------------------------------------------

def test_words_are_learned_most_frequent_first_and_ties_in_the_order_they_came():
    """Spaces come 5 times, to and be twice, or and not once."""
    words = WordTokenizer.train("to be or not to be")
    assert words.vocabulary == [UNKNOWN, " ", "to", "be", "or", "not"]
    assert words.encode("be not  to") == [3, 1, 5, 0, 2]
    assert words.pieces("be not  to") == ["be", " ", "not", "  ", "to"]
    assert words.decode([3, 1, 5, 0, 2]) == "be not<unk>to"


@pytest.mark.parametrize(("vocab_size", "vocabulary"), [
    (0, [UNKNOWN]), (1, [UNKNOWN]), (2, [UNKNOWN, " "]), (3, [UNKNOWN, " ", "to"]), (6, [UNKNOWN, " ", "to", "be", "or", "not"]),
    (99, [UNKNOWN, " ", "to", "be", "or", "not"]), (None, [UNKNOWN, " ", "to", "be", "or", "not"]),
])
def test_a_vocabulary_of_words_has_at_most_the_size_asked_for(vocab_size, vocabulary):
    assert WordTokenizer.train("to be or not to be", vocab_size).vocabulary == vocabulary


@given(ANY_TEXT)
def test_words_that_were_trained_on_come_back_exactly(text):
    words = WordTokenizer.train(text)
    assert words.decode(words.encode(text)) == text
    assert 0 not in words.encode(text)
    assert "".join(words.pieces(text)) == text
    assert all(words.pieces(text))


@pytest.mark.parametrize("text", ODD_TEXTS)
@pytest.mark.parametrize("kind", [WordTokenizer, CharTokenizer, BytePairTokenizer])
def test_odd_texts_come_back_exactly(kind, text):
    """T02, T04, T06: spaces in all places, joined emoji, composed and decomposed accents, lone surrogates, and the unknown word as text."""
    tokenizer = kind.train(text)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert LEARNED.decode(LEARNED.encode(text)) == text


# --- characters -----------------------------------------------------------------------------------------------------

@given(ANY_TEXT, st.data())
def test_characters_that_were_trained_on_come_back_exactly(text, data):
    characters = CharTokenizer.train(text)
    assert characters.vocabulary == sorted(set(text))
    other = data.draw(st.text(st.sampled_from(text))) if text else ""
    assert characters.decode(characters.encode(other)) == other
    assert characters.encode(other) == [sorted(set(text)).index(character) for character in other]
    assert characters.pieces(other) == list(other)


def test_characters_of_the_worked_example(worked):
    example = worked["nasi_forward"]
    characters = CharTokenizer.train("".join(reversed(example["vocab"])) * 2)
    assert characters.vocabulary == example["vocab"]
    assert characters.encode(example["prompt"]) == [7, 1, 8, 3, 0]


def test_characters_that_are_missing_are_named():
    with pytest.raises(ValueError, match=r"This vocabulary lacks 'b', '\\ud800'; it has 'acx'\."):
        CharTokenizer.train("acx").encode("ab\ud800a")
    with pytest.raises(ValueError, match="lacks 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i' and others; it has 'a'"):
        CharTokenizer.train("a").encode("abcdefghij")


# --- byte pairs -----------------------------------------------------------------------------------------------------

@settings(max_examples=200)
@given(ANY_TEXT)
def test_any_text_comes_back_exactly_from_byte_pairs_that_never_saw_it(text):
    raw = text.encode("utf-8", "surrogatepass")
    ids, pieces = LEARNED.encode(text), LEARNED.byte_pieces(text)
    assert LEARNED.decode(ids) == text
    assert b"".join(pieces) == raw
    assert [LEARNED.vocabulary[i] for i in ids] == pieces
    assert all(pieces)
    assert len(LEARNED.pieces(text)) == len(ids) <= len(raw)
    bare = BytePairTokenizer([])
    assert bare.encode(text) == list(raw)
    assert bare.decode(list(raw)) == text


@given(ANY_TEXT)
def test_any_text_comes_back_exactly_from_byte_pairs_that_learned_it(text):
    tokenizer = BytePairTokenizer.train(text * 3, n_merges=30)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@given(st.text("ab ", max_size=40), st.text("abc ", max_size=20), st.integers(0, 12))
def test_a_text_is_cut_by_the_merges_in_the_order_they_were_learned(learned, text, n_merges):
    """Replayed one after the other over each word, where no pair was learned twice."""
    tokenizer = BytePairTokenizer.train(learned, n_merges)
    if len(set(tokenizer.merges)) < len(tokenizer.merges):
        return
    expected = []
    for word in cuts_of_letters(text):
        row = "|" + "|".join(word) + "|"
        for left, right in tokenizer.merges:
            left, right = left.decode(), right.decode()
            row = re.sub(rf"(?<=\|){left}\|{right}(?=\|)", left + right, row)
        expected += row.strip("|").split("|")
    assert tokenizer.pieces(text) == expected


def cuts_of_letters(text):
    """Letters with one space before them, and runs of other spaces: enough for texts of letters and spaces."""
    words, spaces = [], 0
    for place, character in enumerate(text):
        if character == " ":
            spaces += 1
            continue
        if place and text[place - 1] != " ":
            words[-1] += character
            continue
        if spaces > 1:
            words.append(" " * (spaces - 1))
        words.append(" " * min(spaces, 1) + character)
        spaces = 0
    return [*words, " " * spaces] if spaces else words


def test_training_keeps_its_history_and_the_vocabulary_starts_with_the_bytes():
    tokenizer = BytePairTokenizer.train("low low low lower", n_merges=2)
    assert tokenizer.vocabulary[:256] == [bytes([i]) for i in range(256)]
    assert tokenizer.vocabulary[256:] == [b"lo", b"low"]
    assert [(merge.left, merge.right, merge.count) for merge in tokenizer.history] == [(b"l", b"o", 4), (b"lo", b"w", 4)]
    assert tokenizer.history == list(train_steps({"low": 1, " low": 2, " lower": 1}, 2))
    assert tokenizer.encode("low slow") == [257, 32, 115, 257]
    assert BytePairTokenizer(tokenizer.merges).encode("low slow") == [257, 32, 115, 257]


def test_overlapping_pairs_are_merged_from_the_left():
    """T10: aaa becomes aa a, aaaa becomes aa aa."""
    tokenizer = BytePairTokenizer([(b"a", b"a")])
    assert [tokenizer.pieces("a" * n) for n in (1, 2, 3, 4)] == [["a"], ["aa"], ["aa", "a"], ["aa", "aa"]]


def test_the_pair_learned_first_is_merged_first_wherever_it_stands():
    assert BytePairTokenizer([(b"b", b"c"), (b"a", b"b")]).pieces("abc") == ["a", "bc"]
    assert BytePairTokenizer([(b"a", b"b"), (b"b", b"c")]).pieces("abc") == ["ab", "c"]


def test_a_pair_that_was_learned_twice_keeps_its_first_rank():
    merges = [(b"b", b"c"), (b"a", b"b"), (b"b", b"c")]
    assert BytePairTokenizer(merges).pieces("abc") == ["a", "bc"]
    assert BytePairTokenizer(merges).encode("bc") == [256]


def test_no_merge_crosses_a_cut():
    tokenizer = BytePairTokenizer.train("ab ab ab, ab, ab1 ab1 " * 4, n_merges=50)
    assert not any(piece.decode().strip(" ") not in ("", "a", "b", "ab", ",", "1") for piece in tokenizer.vocabulary[256:])


@pytest.mark.parametrize(("text", "n_bytes"), [("\U0001f600", 4), (FAMILY, 18), ("\U0001f44d\U0001f3fd", 8), ("\U0001f1f2\U0001f1fe", 8)])
def test_a_piece_that_is_part_of_a_character_shows_its_bytes(text, n_bytes):
    """T02: joined, the pieces' bytes are the text, and no label is a replacement character."""
    bare = BytePairTokenizer([])
    assert len(bare.byte_pieces(text)) == n_bytes
    assert bare.pieces(text) == [f"<{byte:02X}>" for byte in text.encode()]
    for tokenizer in (bare, LEARNED, BytePairTokenizer.train(text * 3, 3)):
        assert b"".join(tokenizer.byte_pieces(text)) == text.encode()
        assert "\ufffd" not in "".join(tokenizer.pieces(text))


def test_composed_and_decomposed_accents_stay_apart():
    """T02: no silent normalising."""
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert LEARNED.encode(composed) != LEARNED.encode(decomposed)
    assert [LEARNED.decode(LEARNED.encode(text)) for text in (composed, decomposed)] == [composed, decomposed]


@pytest.mark.parametrize("text", ["a" * 5000, "ab" * 2500, "supercalifragilisticexpialidocious" * 147, "\u4f60" * 5000])
def test_a_word_of_5000_characters_takes_less_than_2_seconds(text):
    """T08: trained on and cut."""
    started = time.perf_counter()
    tokenizer = BytePairTokenizer.train(text, n_merges=200)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert time.perf_counter() - started < 2


@given(st.lists(st.integers(0, 255), max_size=8))
@example([0xF0, 0x9F])
@example([0xED, 0xA0, 0x80])
def test_ids_in_any_order_have_a_text(ids):
    """Bytes that are no text become U+FFFD, as Python's own decoder has it."""
    raw = bytes(ids)
    try:
        expected = raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        expected = raw.decode("utf-8", "replace")
    assert LEARNED.decode(ids) == expected


@pytest.mark.parametrize("tokenizer", [WordTokenizer.train("a"), CharTokenizer.train("ab"), BytePairTokenizer([])],
                         ids=lambda tokenizer: type(tokenizer).__name__)
def test_ids_outside_the_vocabulary_are_refused_with_the_ids_there_are(tokenizer):
    last = len(tokenizer.vocabulary) - 1
    for wrong in (-1, last + 1):
        with pytest.raises(ValueError, match=f"Id {wrong} is not in a vocabulary of {last + 1}: ids run from 0 to {last}"):
            tokenizer.decode([0, wrong])
    assert tokenizer.decode(iter([0, last])) == tokenizer.decode([0, last]) != ""


def test_an_empty_vocabulary_has_no_id():
    with pytest.raises(ValueError, match="Id 0 is not in a vocabulary of 0: there is no id"):
        CharTokenizer.train("").decode([0])
    assert CharTokenizer.train("").encode("") == CharTokenizer.train("").pieces("") == []
