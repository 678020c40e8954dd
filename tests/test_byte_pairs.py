"""Byte-pair training: the paper's example, ties and overlaps, and a full recount for every merge as the reference."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.byte_pairs import CUTS, Merge, join_pair, readable, train_steps

ANY_TEXT = st.text(st.one_of(st.characters(), st.characters(categories=["Cs"]), st.sampled_from(" \t\n\r\x1c\x85\xa0_09a\u0308")))
FEW_LETTERS = st.text("ab", max_size=14) | st.text("abc", max_size=14) | st.text("a", max_size=14)
PAPER = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def naive_join(parts, pair):
    """By recursion on the front of the list."""
    if len(parts) < 2:
        return list(parts)
    if tuple(parts[:2]) == pair:
        return [parts[0] + parts[1], *naive_join(parts[2:], pair)]
    return [parts[0], *naive_join(parts[1:], pair)]


def naive_train(words, n_merges):
    """Count every pair of every word afresh for each merge. Gives (merges, the words as they end)."""
    split = [([bytes([b]) for b in word.encode("utf-8", "surrogatepass")] if isinstance(word, str) else
              [part.encode() if isinstance(part, str) else part for part in word], count) for word, count in words.items()]
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for parts, count in split:
            for left, right in zip(parts, parts[1:]):
                counts[left, right] = counts.get((left, right), 0) + count
        most = max(counts.values(), default=0)
        if most < 2:
            break
        best, *ties = sorted(pair for pair, count in counts.items() if count == most)
        merges.append(Merge(*best, most, tuple(ties[:8])))
        split = [(naive_join(parts, best), count) for parts, count in split]
    return merges, [parts for parts, _ in split]


# --- the paper's example --------------------------------------------------------------------------------------------

def test_the_papers_example_with_an_end_of_word_mark():
    """T10: e+s wins its tie with s+t and t+</w>, then es+t, est+</w>, l+o (tied with o+w), lo+w."""
    merges = list(train_steps({(*word, "</w>"): count for word, count in PAPER.items()}, 5))
    assert [(merge.left + merge.right).decode() for merge in merges] == ["es", "est", "est</w>", "lo", "low"]
    assert [merge.count for merge in merges] == [9, 9, 9, 7, 7]
    assert merges[0].ties == ((b"s", b"t"), (b"t", b"</w>"))
    assert merges[1].ties == ((b"t", b"</w>"),)
    assert [merge.ties for merge in merges[2:]] == [(), ((b"o", b"w"),), ()]


def test_two_runs_are_the_same_whatever_the_order_of_the_words():
    runs = [list(train_steps(dict(words), 50)) for words in (PAPER.items(), PAPER.items(), reversed(PAPER.items()), sorted(PAPER.items()))]
    assert runs[0] == runs[1] == runs[2] == runs[3]


@pytest.mark.parametrize(("word", "expected"), [("a", ["a"]), ("aa", ["aa"]), ("aaa", ["aa", "a"]), ("aaaa", ["aa", "aa"]),
                                                ("aaaaa", ["aa", "aa", "a"]), ("baaab", ["b", "aa", "a", "b"]), ("", [])])
def test_overlapping_pairs_are_joined_from_the_left(word, expected):
    """T10."""
    assert join_pair(list(word), ("a", "a")) == expected


def test_overlapping_pairs_are_counted_where_they_stand():
    """In aaaa the pair a+a stands at 3 places; merged it leaves aa aa, where aa+aa stands once, and one is too few."""
    assert list(train_steps({"aaaa": 1}, 9)) == [Merge(b"a", b"a", 3, ())]
    assert [(m.left, m.right, m.count) for m in train_steps({"aaaa": 2}, 9)] == [(b"a", b"a", 6), (b"aa", b"aa", 2)]
    assert [(m.left, m.right, m.count) for m in train_steps({"aaa": 2}, 9)] == [(b"a", b"a", 4), (b"aa", b"a", 2)]


def test_ties_go_to_the_left_piece_then_to_the_right_piece_compared_as_bytes():
    """Z comes before a, and é (C3 A9) after z, also in capital letters elsewhere."""
    first = list(train_steps({"ab": 2, "Zz": 2, "aB": 2}, 1))[0]
    assert (first.left, first.right, first.ties) == (b"Z", b"z", ((b"a", b"B"), (b"a", b"b")))
    assert next(train_steps({"zé": 1, "éz": 1, "éé": 1, "zz": 4}, 1)).left == b"z"
    assert next(train_steps({"é": 2, "zz": 2}, 1)).left == b"z"


def test_at_most_8_ties_are_told():
    merge = next(train_steps({chr(97 + i) * 2: 3 for i in range(12)}, 1))
    assert merge == Merge(b"a", b"a", 3, tuple((letter, letter) for letter in (b"b", b"c", b"d", b"e", b"f", b"g", b"h", b"i")))


# --- against a full recount -----------------------------------------------------------------------------------------

@settings(max_examples=300)
@given(st.dictionaries(FEW_LETTERS, st.integers(1, 3), max_size=6), st.integers(0, 40))
def test_training_is_what_a_full_recount_for_each_merge_gives(words, n_merges):
    """With ties, overlaps and pairs that come up again; counts and ties too."""
    assert list(train_steps(words, n_merges)) == naive_train(words, n_merges)[0]


@settings(max_examples=100)
@given(st.text("abc", max_size=120))
def test_one_long_word_is_what_a_full_recount_gives(word):
    assert list(train_steps({word: 1}, 60)) == naive_train({word: 1}, 60)[0]


@given(st.dictionaries(ANY_TEXT, st.integers(1, 4), max_size=6))
def test_any_text_trains_as_a_full_recount_does(words):
    assert list(train_steps(words, 20)) == naive_train(words, 20)[0]


@given(st.dictionaries(st.lists(st.sampled_from(["a", "b", "ab", b"ba", b"\xff"]), max_size=8).map(tuple), st.integers(1, 3), max_size=5))
def test_words_may_come_as_pieces_of_their_own(words):
    """Two ways to the same bytes, such as a+b and ab, are one piece from then on."""
    assert list(train_steps(words, 30)) == naive_train(words, 30)[0]


@given(st.dictionaries(FEW_LETTERS, st.integers(1, 3), max_size=6))
def test_a_shorter_training_is_the_beginning_of_a_longer_one(words):
    """Each merge is given when it is made, so that progress can be shown, and asking for fewer changes none."""
    steps = train_steps(words, 30)
    first = [merge for _, merge in zip(range(3), steps)]
    assert first == list(train_steps(words, 3))
    assert first + list(steps) == list(train_steps(words, 30))


@pytest.mark.parametrize(("words", "n_merges"), [({}, 5), ({"": 9}, 5), ({"a": 9}, 5), ({"ab": 1}, 5), ({"ab": 2}, 0), ({(): 3}, 5)])
def test_where_no_pair_stands_twice_there_is_nothing_to_learn(words, n_merges):
    assert list(train_steps(words, n_merges)) == []


def test_the_words_given_are_left_alone():
    words = {("a", "a", "b"): 2, "aab": 3}
    list(train_steps(words, 5))
    assert words == {("a", "a", "b"): 2, "aab": 3}


@given(st.lists(st.sampled_from([b"a", b"b"]), max_size=20), st.sampled_from([(b"a", b"a"), (b"a", b"b"), (b"b", b"b")]))
def test_joining_is_the_recursion_and_loses_no_byte(parts, pair):
    before = list(parts)
    assert join_pair(parts, pair) == naive_join(parts, pair)
    assert b"".join(join_pair(parts, pair)) == b"".join(parts)
    assert parts == before


# --- cuts and reading -----------------------------------------------------------------------------------------------

@given(ANY_TEXT)
def test_cuts_lose_no_character(text):
    cuts = CUTS.findall(text)
    assert "".join(cuts) == text
    assert all(cuts)


@pytest.mark.parametrize(("text", "cuts"), [
    ("The bank,  the loan.", ["The", " bank", ",", " ", " the", " loan", "."]),
    ("in 2024 x2", ["in", " 2024", " x", "2"]),
    ("a  b  12  ?!", ["a", " ", " b", " ", " 12", " ", " ?!"]),
    ("snake_case (a)", ["snake", "_", "case", " (", "a", ")"]),
    ("  \n a  ", ["  \n", " a", "  "]),
    ("na\u00efve \u4f60\u597d", ["na\u00efve", " \u4f60\u597d"]),
    ("", []),
    ("   ", ["   "]),
])
def test_cuts_keep_a_space_with_the_word_after_it(text, cuts):
    assert CUTS.findall(text) == cuts


def test_a_part_of_a_character_is_read_as_its_bytes():
    """T02: never a replacement character; half a surrogate pair can't be shown, so it is bytes too."""
    smiley = "\U0001f600".encode()
    assert readable(smiley) == "\U0001f600"
    assert readable(smiley[:2]) == "<F0 9F>"
    assert readable(smiley[2:]) == "<98 80>"
    assert readable("\ud800".encode("utf-8", "surrogatepass")) == "<ED A0 80>"
    assert readable(b" low") == " low"
    assert readable(b"") == ""


@given(st.binary(max_size=6))
def test_any_bytes_can_be_read_and_shown(piece):
    shown = readable(piece)
    assert shown.encode() == piece or shown == "<" + " ".join(f"{byte:02X}" for byte in piece) + ">"
