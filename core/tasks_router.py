"""Messages to an online academy, sorted into five kinds. All are generated, from sentences that were written for this."""

import re
from typing import NamedTuple

import numpy as np

from core.router_sentences import AFTER, BEFORE, BLANKS, TRAINING

CLASSES = ("certificate", "payment", "access", "content", "other")
FILLER, UNKNOWN = "·", "<unk>"
N_TOKENS = 48


class Batch(NamedTuple):
    """Some messages and their kinds."""

    token_ids: np.ndarray  # (n_messages, n_tokens); 0 where a message is filled up
    targets: np.ndarray    # (n_messages,) the number of the kind


def words(text):
    """The words of a message in small letters; punctuation is left out.

    >>> words("My certificate wasn't sent!")
    ['my', 'certificate', "wasn't", 'sent']
    """
    return re.findall(r"[^\W_]+(?:'[^\W_]+)?", text.lower().replace("’", "'"))


def _vocabulary():
    """Every word that can come in training, sorted, after the filler and the sign for unknown words."""
    texts = [*BEFORE, *AFTER, *(text for texts in BLANKS.values() for text in texts),
             *(re.sub(r"\{\w+\}", " ", text) for texts in TRAINING.values() for text in texts)]
    return (FILLER, UNKNOWN, *sorted({word for text in texts for word in words(text)}))


VOCABULARY = _vocabulary()
NUMBERS = {word: number for number, word in enumerate(VOCABULARY)}


def encode(text):
    """The ids of a message's words; a word that training never used becomes the sign for unknown words.

    returns  whole numbers (n_words,)
    raises   ValueError with a sentence for a person: no word, or too many

    >>> [VOCABULARY[i] for i in encode("My zebra?")]
    ['my', '<unk>']
    """
    found = words(text)
    if not found:
        raise ValueError("There is no word to read; write a message of at least one word.")
    if len(found) > N_TOKENS:
        raise ValueError(f"The model reads at most {N_TOKENS} words; this one has {len(found):,}. Shorten it.")
    return np.array([NUMBERS.get(word, NUMBERS[UNKNOWN]) for word in found])


def filled(template, rng):
    """A sentence with its blanks filled at random.

    >>> filled("my {thing}", np.random.default_rng(0)) in [f"my {thing}" for thing in BLANKS["thing"]]
    True
    """
    return re.sub(r"\{(\w+)\}", lambda blank: BLANKS[blank[1]][rng.integers(len(BLANKS[blank[1]]))], template)


def batch(texts, kinds):
    """Messages and the numbers of their kinds as ids, filled up to the longest.

    >>> batch(["hello", "my password"], [4, 2]).token_ids.shape
    (2, 2)
    """
    coded = [encode(text) for text in texts]
    token_ids = np.zeros((len(coded), max(map(len, coded))), dtype=np.int64)
    for row, ids in enumerate(coded):
        token_ids[row, :len(ids)] = ids
    return Batch(token_ids, np.asarray(kinds))


def messages(rng, n_messages, templates):
    """Messages of all kinds alike: a greeting or none, a sentence with its blanks filled, a closing or none.

    returns  (texts, kinds), kinds as numbers
    """
    kinds, texts = rng.integers(0, len(CLASSES), n_messages), []
    for kind in kinds:
        own = templates[CLASSES[kind]]
        parts = (BEFORE[rng.integers(len(BEFORE))], filled(own[rng.integers(len(own))], rng), AFTER[rng.integers(len(AFTER))])
        texts.append(" ".join(part for part in parts if part))
    return texts, kinds


def _small_words():
    """The numbers of the words that tell no kind: those of greetings and closings, and those in the sentences of three kinds or more."""
    own = [{word for text in texts for word in words(re.sub(r"\{\w+\}", " ", text))} for texts in TRAINING.values()]
    polite = {word for text in (*BEFORE, *AFTER) for word in words(text)}
    return np.array([NUMBERS[word] for word in VOCABULARY[2:] if word in polite or sum(word in each for each in own) >= 3])


SMALL = _small_words()


def draw(rng, n_messages):
    """Messages for training, with some words made unknown so that the model learns to do without any one of them.

    Of each message up to six in ten words become unknown, the share drawn for it. Three in ten of the messages that are to be called
    "other" are sentences of any kind in which every word that could tell the kind is unknown ("my <unk> <unk> was not <unk>"): so the
    model learns not to guess from the small words.

    returns  Batch
    """
    texts, kinds = messages(rng, n_messages, TRAINING)
    emptied = rng.random(n_messages) < np.where(kinds == CLASSES.index("other"), 0.3, 0)
    others, _ = messages(rng, n_messages, TRAINING)
    own = batch([other if empty else text for text, other, empty in zip(texts, others, emptied, strict=True)], kinds)
    hidden = rng.random(own.token_ids.shape) < 0.6 * rng.random((n_messages, 1))
    hidden |= emptied[:, None] & ~np.isin(own.token_ids, SMALL)
    return Batch(np.where(hidden & (own.token_ids != 0), NUMBERS[UNKNOWN], own.token_ids), own.targets)


class Router(NamedTuple):
    """The task as the training loop and the zoo see it."""

    name: str = "router"
    vocabulary: tuple[str, ...] = VOCABULARY
    classes: tuple[str, ...] = CLASSES
    idea: str = "say what a message is about"
    draw: object = draw
