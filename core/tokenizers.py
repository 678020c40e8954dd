"""Text becomes pieces, pieces become ids; and back, exactly."""

import re
from collections import Counter

from core.byte_pairs import CUTS, join_pair, readable, train_steps

UNKNOWN = "<unk>"


def split_words(text):
    """Cut a text at white space; the pieces keep their case and punctuation.

    Runs of white space separate words and are not pieces themselves, so a text of spaces alone has no piece.

    returns  list of str, in reading order

    >>> split_words("The bank,  the loan")
    ['The', 'bank,', 'the', 'loan']
    """
    return text.split()


class WordTokenizer:
    """Words and the white space between them are the pieces; what training did not see is unknown.

    >>> words = WordTokenizer.train("to be or not to be")
    >>> words.pieces("to be"), words.decode(words.encode("to be"))
    (['to', ' ', 'be'], 'to be')
    """

    def __init__(self, vocabulary):
        self.vocabulary = [UNKNOWN, *vocabulary]
        self.ids = {piece: i for i, piece in enumerate(self.vocabulary)}

    @classmethod
    def train(cls, text, vocab_size=None):
        """The most frequent pieces of `text` (ties: first seen first), at most vocab_size with the unknown one."""
        counts = Counter(re.findall(r"\s+|\S+", text))
        return cls([piece for piece, _ in counts.most_common(None if vocab_size is None else max(vocab_size - 1, 0))])

    def pieces(self, text):
        """list of str; joined they are the text again."""
        return re.findall(r"\s+|\S+", text)

    def encode(self, text):
        """list of int; 0 for a piece that training did not see, whose text is then lost."""
        return [self.ids.get(piece, 0) for piece in self.pieces(text)]

    def decode(self, ids):
        """The text of these ids; an unknown piece reads <unk>. ValueError for an id that is not in the vocabulary."""
        return "".join(_look_up(self.vocabulary, ids))


class CharTokenizer:
    """One piece a character (a Unicode code point).

    >>> CharTokenizer.train("nasi ").encode("sin")
    [4, 2, 3]
    """

    def __init__(self, vocabulary):
        self.vocabulary = list(vocabulary)
        self.ids = {piece: i for i, piece in enumerate(self.vocabulary)}

    @classmethod
    def train(cls, text):
        """The distinct characters of `text`, in code point order."""
        return cls(sorted(set(text)))

    def pieces(self, text):
        """list of str, one character each."""
        return list(text)

    def encode(self, text):
        """list of int. ValueError, naming the characters, where the vocabulary lacks one."""
        missing = sorted(set(text) - set(self.ids))
        if missing:
            raise ValueError(f"This vocabulary lacks {', '.join(map(repr, missing[:8]))}{' and others' * (len(missing) > 8)}; "
                             f"it has {''.join(self.vocabulary)[:60]!r}.")
        return [self.ids[piece] for piece in text]

    def decode(self, ids):
        """The text of these ids. ValueError for an id that is not in the vocabulary."""
        return "".join(_look_up(self.vocabulary, ids))


def _look_up(vocabulary, ids):
    """The pieces of these ids; ValueError for one that is not there."""
    found = []
    for i in ids:
        if not 0 <= i < len(vocabulary):
            known = f"ids run from 0 to {len(vocabulary) - 1}" if vocabulary else "there is no id"
            raise ValueError(f"Id {i} is not in a vocabulary of {len(vocabulary)}: {known}.")
        found.append(vocabulary[i])
    return found


class BytePairTokenizer:
    """Byte-level byte-pair encoding: start from the 256 bytes, merge the most frequent pair, again and again.

    Every string has pieces, and decode(encode(text)) is the text, whatever it holds. Ties go to the pair whose bytes come first
    (left piece, then right piece, compared as bytes).

    source  Sennrich, Haddow & Birch 2016; Radford et al. 2019, section 2.2 (on bytes)

    >>> tokenizer = BytePairTokenizer.train("aaaa aaaa", n_merges=2)
    >>> tokenizer.pieces("aaa")
    ['aa', 'a']
    """

    def __init__(self, merges, history=()):
        self.merges = [(bytes(left), bytes(right)) for left, right in merges]
        self.ranks = {}
        for rank, pair in enumerate(self.merges):
            self.ranks.setdefault(pair, rank)  # a pair can come up again when a later merge makes its left or right piece anew
        self.vocabulary = [bytes([i]) for i in range(256)] + [left + right for left, right in self.merges]
        self.ids = {}
        for i, piece in enumerate(self.vocabulary):
            self.ids.setdefault(piece, i)
        self.history = list(history)

    @classmethod
    def train(cls, text, n_merges=200):
        """Learn at most n_merges merges from `text`. `train_steps` gives them one by one."""
        history = list(train_steps(Counter(CUTS.findall(text)), n_merges))
        return cls([(merge.left, merge.right) for merge in history], history)

    def byte_pieces(self, text):
        """list of bytes; joined they are text.encode() (lone surrogates pass through)."""
        found = []
        for cut in CUTS.findall(text):
            found += self._merged(cut.encode("utf-8", "surrogatepass"))
        return found

    def _merged(self, raw):
        """The pieces of the bytes of one cut: the earliest learned pair first, wherever it stands."""
        parts = [raw[i:i + 1] for i in range(len(raw))]
        while len(parts) > 1:
            ranked = [(self.ranks.get(pair, len(self.ranks)), pair) for pair in zip(parts, parts[1:], strict=False)]
            rank, pair = min(ranked)
            if rank == len(self.ranks):
                break
            parts = join_pair(parts, pair)
        return parts

    def pieces(self, text):
        """list of str to read: a piece that is part of a character shows its bytes, such as <F0 9F>."""
        return [readable(piece) for piece in self.byte_pieces(text)]

    def encode(self, text):
        """list of int."""
        return [self.ids[piece] for piece in self.byte_pieces(text)]

    def decode(self, ids):
        """The text of these ids; bytes that are no text become U+FFFD. ValueError for an id outside the vocabulary."""
        raw = b"".join(_look_up(self.vocabulary, ids))
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return raw.decode("utf-8", "replace")
