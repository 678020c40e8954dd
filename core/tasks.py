"""Small tasks that a small model learns in seconds, each with the places that a readable head comes to look at."""

from typing import NamedTuple

import numpy as np


class Batch(NamedTuple):
    """Some sequences and what is to be predicted after each of their tokens."""

    token_ids: np.ndarray  # (n_sequences, n_tokens)
    targets: np.ndarray    # (n_sequences, n_tokens); -1 where nothing is to be predicted


class Task(NamedTuple):
    """A task: its vocabulary, how a batch is drawn, where the answer stands, and how it is described."""

    name: str
    vocabulary: tuple[str, ...]
    n_tokens: int
    draw: object      # function of (rng, n_sequences) -> Batch
    looks_at: object  # function of a Batch -> bool (n_sequences, n_tokens, n_tokens): for each query, the keys that hold the answer
    idea: str

    def encode(self, words):
        """The ids of a list of words of this vocabulary; ValueError names a word that is not in it."""
        missing = [word for word in words if word not in self.vocabulary]
        if missing:
            raise ValueError(f"This model knows {len(self.vocabulary)} tokens, and {missing[0]!r} is not one of them.")
        return np.array([self.vocabulary.index(word) for word in words], dtype=np.int64)

    def words(self, ids):
        """The words of these ids."""
        return [self.vocabulary[i] for i in ids]


# ------------------------------------------------------------------------------------------------------- rows of digits


def reverse(length=8, n_symbols=10):
    """Read a row of digits, then write it backwards: "3 1 4 > 4 1 3".

    returns  Task; targets are counted after the ">" alone

    >>> reverse(3).n_tokens
    6
    """
    def draw(rng, n_sequences):
        digits = rng.integers(0, n_symbols, (n_sequences, length))
        return _after_sign(digits, digits[:, ::-1], n_symbols)

    def looks_at(batch):
        places = np.zeros((2 * length, 2 * length), dtype=bool)
        places[np.arange(length, 2 * length), np.arange(length - 1, -1, -1)] = True
        return np.broadcast_to(places, (len(batch.token_ids), *places.shape))

    return Task("reverse", (*map(str, range(n_symbols)), ">"), 2 * length, draw, looks_at, "write the digits backwards")


def sort(length=8, n_symbols=10):
    """Read a row of digits, then write them in order.

    >>> sort(3).n_tokens
    6
    """
    def draw(rng, n_sequences):
        digits = rng.integers(0, n_symbols, (n_sequences, length))
        return _after_sign(digits, np.sort(digits, axis=1), n_symbols)

    def looks_at(batch):
        places = batch.targets[:, :, None] == batch.token_ids[:, None, :]
        places[:, :, length:] = False
        return places

    return Task("sort", (*map(str, range(n_symbols)), ">"), 2 * length, draw, looks_at, "write the digits in order")


def _after_sign(question, answer, sign):
    """question, the sign, answer: predict each token of the answer from what stands before it."""
    whole = np.concatenate([question, np.full((len(question), 1), sign), answer], axis=1)
    targets = whole[:, 1:].copy()
    targets[:, : question.shape[1]] = -1
    return Batch(whole[:, :-1], targets)


def induction(n_tokens=32, vocab_size=32):
    """A random row that comes again and again: from its second round on, each token follows the one it followed before.

    The row's length is drawn for each sequence (a quarter to half of n_tokens), so no fixed distance leads to the answer: a model has to
    find the same token and look at what came after it.

    returns  Task; counted from the second round on
    source   Olsson et al. 2022, "In-context Learning and Induction Heads"

    >>> induction(8).n_tokens
    7
    """
    def draw(rng, n_sequences):
        period = rng.integers(n_tokens // 4, n_tokens // 2 + 1, n_sequences)
        rows = rng.permuted(np.tile(np.arange(vocab_size), (n_sequences, 1)), axis=1)
        whole = np.take_along_axis(rows, np.arange(n_tokens) % period[:, None], axis=1)
        return Batch(whole[:, :-1], np.where(np.arange(1, n_tokens) > period[:, None], whole[:, 1:], -1))

    def looks_at(batch):
        ids = batch.token_ids
        same = (ids[:, :, None] == ids[:, None, :]) & np.tri(ids.shape[1], k=-1, dtype=bool)
        after = np.zeros_like(same)
        after[:, :, 1:] = same[:, :, :-1]
        return after & (np.asarray(batch.targets) >= 0)[:, :, None]

    return Task("induction", tuple(f"t{i}" for i in range(vocab_size)), n_tokens - 1, draw, looks_at, "go on as the first time")


# ------------------------------------------------------------------------------------------------------------ sentences

SINGULAR = ("dog", "cat", "boy", "girl", "king", "bird")
PLURAL = tuple(f"{noun}s" for noun in SINGULAR)


def agreement():
    """The verb agrees with its subject, whatever nouns stand in between: "the dogs near the cat often run".

    Some subjects have an adjective, and zero to two nouns of any number follow; "." fills the rest of the row. One place is counted: the
    verb's.

    returns  Task
    source   Linzen, Dupoux & Goldberg 2016, "Assessing the Ability of LSTMs to Learn Syntax-Sensitive Dependencies"
    """
    vocabulary = (".", "the", "old", "near", "behind", "often", "runs", "run", *SINGULAR, *PLURAL)
    fill, the, old, near, _, often, runs, _ = range(8)
    first_noun, n_kinds, n_tokens = 8, len(SINGULAR), 10

    def draw(rng, n_sequences):
        ids, targets = np.full((n_sequences, n_tokens), fill), np.full((n_sequences, n_tokens), -1)
        nouns = first_noun + rng.integers(0, 2 * n_kinds, (n_sequences, 3))
        between = near + rng.integers(0, 2, (n_sequences, 2))
        n_more, described = rng.integers(0, 3, n_sequences), rng.integers(0, 2, n_sequences)
        for row, (own, words, more, has_old) in enumerate(zip(nouns.tolist(), between.tolist(), n_more.tolist(), described.tolist(),
                                                              strict=True)):
            sentence = [the, *[old] * has_old, own[0]]
            for i in range(more):
                sentence += [words[i], the, own[i + 1]]
            sentence.append(often)
            ids[row, :len(sentence)] = sentence
            targets[row, len(sentence) - 1] = runs + (own[0] >= first_noun + n_kinds)
        return Batch(ids, targets)

    def looks_at(batch):
        places = np.zeros((*batch.token_ids.shape, n_tokens), dtype=bool)
        subject = (batch.token_ids >= first_noun).argmax(axis=1)
        asks = batch.targets >= 0
        places[np.arange(len(places))[asks.any(axis=1)], asks.argmax(axis=1)[asks.any(axis=1)], subject[asks.any(axis=1)]] = True
        return places

    return Task("agreement", vocabulary, n_tokens, draw, looks_at, "the verb agrees with its subject")


def attractors(batch, first_noun=8):
    """For a batch of `agreement`: the keys that hold a noun which is not the subject.

    returns  bool (n_sequences, n_tokens, n_tokens), in the row of the verb's place alone
    """
    nouns = batch.token_ids >= first_noun
    nouns[np.arange(len(nouns)), nouns.argmax(axis=1)] = False
    return (batch.targets >= 0)[:, :, None] & nouns[:, None, :]


COLOURS = ("red", "blue", "green", "white", "black", "gold")


def pronoun(people=("king", "queen", "twins"), asks=("he", "she", "they")):
    """Three people, three colours, and a word that asks for one of them: "the king wore red . the queen wore blue . … she → blue".

    The order of the people and their colours are drawn. The answer can't be read off the asking word: the model has to find the person it
    means, and take that person's colour.

    people, asks  three nouns and the three words that mean them
    returns       Task; one place is counted, after the last word
    """
    vocabulary = (".", "the", "wore", *people, *asks, *COLOURS)
    n_people, first_person = len(people), 3
    first_colour, n_tokens = first_person + 2 * n_people, 5 * n_people + 1

    def draw(rng, n_sequences):
        order = np.stack([rng.permutation(n_people) for _ in range(n_sequences)])
        worn = np.stack([rng.permutation(len(COLOURS))[:n_people] for _ in range(n_sequences)])
        asked = rng.integers(0, n_people, n_sequences)
        ids, targets = np.zeros((n_sequences, n_tokens), dtype=np.int64), np.full((n_sequences, n_tokens), -1)
        for i in range(n_people):
            ids[:, 5 * i], ids[:, 5 * i + 1], ids[:, 5 * i + 2] = 1, first_person + order[:, i], 2
            ids[:, 5 * i + 3] = first_colour + worn[:, i]
        rows = np.arange(n_sequences)
        ids[:, -1] = first_person + n_people + order[rows, asked]
        targets[:, -1] = first_colour + worn[rows, asked]
        return Batch(ids, targets)

    def looks_at(batch):
        return batch.targets[:, :, None] == batch.token_ids[:, None, :]

    return Task("pronoun", vocabulary, n_tokens, draw, looks_at, "find whom the pronoun means, and what that person wore")


def cricket():
    """The same task in the words of this course's sentence: who overstepped is the bowler.

    returns  Task
    """
    return pronoun(("umpire", "bowler", "batter"), ("signalled", "overstepped", "struck"))._replace(
        name="cricket", idea="find who did it, and what that person wore")


def coreference():
    """The answer is the noun itself: "the king saw the dog . he → king", "… it → dog".

    Which noun fits the pronoun does not depend on where anything stands, so looking at all words alike is enough.

    returns  Task; one place is counted, after the pronoun
    """
    groups = (("king", "boy", "uncle"), ("queen", "girl", "aunt"), ("dog", "cat", "bird"))
    vocabulary = (".", "the", "saw", "he", "she", "it", *(noun for group in groups for noun in group))

    def draw(rng, n_sequences):
        kinds = np.stack([rng.permutation(3)[:2] for _ in range(n_sequences)])
        nouns = 6 + 3 * kinds + rng.integers(0, 3, (n_sequences, 2))
        asked, rows = rng.integers(0, 2, n_sequences), np.arange(n_sequences)
        ids, targets = np.zeros((n_sequences, 7), dtype=np.int64), np.full((n_sequences, 7), -1)
        ids[:, 0], ids[:, 1], ids[:, 2], ids[:, 3], ids[:, 4] = 1, nouns[:, 0], 2, 1, nouns[:, 1]
        ids[:, 6] = 3 + kinds[rows, asked]
        targets[:, 6] = nouns[rows, asked]
        return Batch(ids, targets)

    def looks_at(batch):
        return batch.targets[:, :, None] == batch.token_ids[:, None, :]

    return Task("coreference", vocabulary, 7, draw, looks_at, "name the noun that the pronoun means")


# ------------------------------------------------------------------------------------------------------------ characters

PHRASES = ("nasi lemak", "makan nasi lemak", "kami makan nasi lemak", "nasi lemak ini manis", "malam ini kami makan ikan",
           "ikan ini manis", "nasi lemak lima", "lima ikan", "enam ikan manis", "mana nasi lemak", "nasi lemak sama ikan",
           "kami makan ikan", "malam ini nasi lemak", "sama manis", "ini nasi lemak", "ikan sama nasi lemak")


def characters(phrases=PHRASES, n_tokens=5):
    """The next character of short phrases: windows of a text that repeats them in a drawn order.

    returns  Task; every place is counted
    """
    vocabulary = tuple(sorted({letter for phrase in phrases for letter in phrase} | {" "}))
    coded = [np.array([vocabulary.index(letter) for letter in f"{phrase} "]) for phrase in phrases]

    def draw(rng, n_sequences):
        text = np.concatenate([coded[i] for i in rng.integers(0, len(coded), n_sequences)])
        text = np.concatenate([text, text[:n_tokens]])
        windows = rng.integers(0, len(text) - n_tokens, n_sequences)[:, None] + np.arange(n_tokens + 1)
        return Batch(text[windows][:, :-1], text[windows][:, 1:])

    def looks_at(batch):
        return np.zeros((*batch.token_ids.shape, batch.token_ids.shape[1]), dtype=bool)  # no one place holds the answer

    return Task("nasi", vocabulary, n_tokens, draw, looks_at, "write the next character")
