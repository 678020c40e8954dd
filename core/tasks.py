"""Small tasks that a small model learns in seconds, each with what its attention should come to look at."""

from typing import NamedTuple

import numpy as np


class Batch(NamedTuple):
    """Some sequences and what is to be predicted after each of their tokens."""

    token_ids: np.ndarray  # (n_sequences, n_tokens)
    targets: np.ndarray    # (n_sequences, n_tokens); -1 where nothing is to be predicted


class Task(NamedTuple):
    """A task: its vocabulary, how a batch is drawn, and how it is described."""

    name: str
    vocabulary: tuple[str, ...]
    n_tokens: int
    draw: object           # function of (rng, n_sequences) -> Batch
    idea: str


def reverse(length=8, n_symbols=10):
    """Read a row of digits, then write it backwards: "3 1 4 > 4 1 3".

    returns  Task; targets are counted after the ">" alone

    >>> reverse(3).n_tokens
    6
    """
    vocabulary = (*map(str, range(n_symbols)), ">")

    def draw(rng, n_sequences):
        digits = rng.integers(0, n_symbols, (n_sequences, length))
        return _after_sign(digits, digits[:, ::-1], n_symbols)

    return Task("reverse", vocabulary, 2 * length, draw, "write the digits backwards")


def sort(length=8, n_symbols=10):
    """Read a row of digits, then write them in order.

    >>> sort(3).n_tokens
    6
    """
    vocabulary = (*map(str, range(n_symbols)), ">")

    def draw(rng, n_sequences):
        digits = rng.integers(0, n_symbols, (n_sequences, length))
        return _after_sign(digits, np.sort(digits, axis=1), n_symbols)

    return Task("sort", vocabulary, 2 * length, draw, "write the digits in order")


def _after_sign(question, answer, sign):
    """question, the sign, answer: predict each token of the answer from what stands before it."""
    whole = np.concatenate([question, np.full((len(question), 1), sign), answer], axis=1)
    targets = whole[:, 1:].copy()
    targets[:, : question.shape[1]] = -1
    return Batch(whole[:, :-1], targets)


def induction(n_tokens=32, vocab_size=32):
    """A random row that comes twice: the second time, each token follows the one it followed the first time.

    >>> induction(8).n_tokens
    7
    """
    def draw(rng, n_sequences):
        half = np.stack([rng.permutation(vocab_size)[: n_tokens // 2] for _ in range(n_sequences)])
        whole = np.concatenate([half, half], axis=1)
        targets = whole[:, 1:].copy()
        targets[:, : n_tokens // 2 - 1] = -1
        return Batch(whole[:, :-1], targets)

    return Task("induction", tuple(f"t{i}" for i in range(vocab_size)), n_tokens - 1, draw, "go on as the first time")
