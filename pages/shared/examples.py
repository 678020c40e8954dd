"""The ready-made examples: token vectors and matrices, read-only, drawn once."""

from functools import cache
from typing import NamedTuple

import numpy as np


class Example(NamedTuple):
    """One sentence with everything that attention needs."""

    id: str
    title: str
    tokens: tuple[str, ...]
    x: np.ndarray                   # (n_tokens, d_model), without positions
    params: dict[str, np.ndarray]   # "w_q", "w_k", "w_v" (d_model, d_head); or "w_qkv", "w_o"
    where_from: str                 # where the numbers come from, for a person
    n_heads: int = 1
    takes_positions: bool = False   # may sinusoidal positions be added?
    causal: bool = False            # does no token look at later ones?


def frozen(array):
    """The array, read-only: examples are shared by all visitors."""
    array = np.array(array, dtype=np.float64)
    array.flags.writeable = False
    return array


@cache
def by_hand():
    """Small whole numbers: every step can be checked on paper."""
    return Example(
        "by_hand", "By hand: Bumrah bowled it", ("Bumrah", "bowled", "it"),
        frozen([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]]),
        {"w_q": frozen([[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 0]]),
         "w_k": frozen([[0, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]]),
         "w_v": frozen([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])},
        "set by hand, in whole numbers that can be checked on paper")


@cache
def four_tokens():
    """Four words of Malay, one head of width 4; numpy's legacy generator with seed 0."""
    rng = np.random.RandomState(0)  # noqa: NPY002 - the published numbers come from this generator
    x = rng.randn(4, 8)
    w_q, w_k, w_v = (frozen(rng.randn(8, 4) / np.sqrt(8)) for _ in range(3))
    return Example("four_tokens", "Four tokens: Ali makan nasi lemak", ("Ali", "makan", "nasi", "lemak"), frozen(x),
                   {"w_q": w_q, "w_k": w_k, "w_v": w_v}, "drawn at random (the example's own seed, 0), never trained")


@cache
def bank_sentence():
    """Eleven words, "the" three times; default_rng with seed 42."""
    tokens = ("the", "bank", "refused", "the", "loan", "because", "the", "money", "was", "not", "available")
    vocabulary = list(dict.fromkeys(tokens))
    rng = np.random.default_rng(42)
    w_embed = rng.normal(0, 0.5, (len(vocabulary), 16))
    w_q, w_k, w_v = (frozen(rng.normal(0, 16**-0.5, (16, 16))) for _ in range(3))
    return Example("bank_sentence", "Bank: the bank refused the loan …", tokens,
                   frozen(w_embed[[vocabulary.index(token) for token in tokens]]),
                   {"w_q": w_q, "w_k": w_k, "w_v": w_v},
                   "drawn at random (the example's own seed, 42), never trained", takes_positions=True)


@cache
def two_heads():
    """Four tokens without words, two heads of width 4; numpy's legacy generator with seed 1."""
    rng = np.random.RandomState(1)  # noqa: NPY002 - the published numbers come from this generator
    x = rng.randn(4, 8)
    params = {"w_qkv": frozen(rng.randn(8, 24) / np.sqrt(8)), "w_o": frozen(rng.randn(8, 8) / np.sqrt(8))}
    return Example("two_heads", "Two heads: four tokens", ("t0", "t1", "t2", "t3"), frozen(x), params,
                   "drawn at random (the example's own seed, 1), never trained", n_heads=2)


@cache
def four_vectors():
    """Four rows that show what a normalisation does: one feature alone, a ramp, very small numbers, all equal."""
    return Example("four_vectors", "By hand: four vectors", ("one", "ramp", "tiny", "flat"),
                   frozen([[1, 0, 0, 0], [1, 2, 3, 4], [1e-4, -1e-4, 1e-4, -1e-4], [2, 2, 2, 2]]),
                   {"gain": frozen([[1, 1, 1, 1]]), "offset": frozen([[0, 0, 0, 0]])}, "set by hand")


@cache
def feed_forward_by_hand():
    """Three words and a feed-forward layer in small whole numbers."""
    return Example("feed_forward_by_hand", "By hand: Bumrah bowled it", ("Bumrah", "bowled", "it"),
                   frozen([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]]),
                   {"w_in": frozen([[1, 0, -1, 2, 0, 1], [0, 1, 1, -1, 1, 0], [-1, 1, 0, 0, 1, -2], [1, -1, 0, 1, -1, 0]]),
                    "w_out": frozen([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, -1], [0, -1, 1, 0], [0, 0, 1, 1]])},
                   "set by hand, in whole numbers that can be checked on paper")


@cache
def block_params():
    """The parameters of the decoder block on the bank sentence: four heads, default_rng with seed 0."""
    rng = np.random.default_rng(0)
    w_qkv, w_o, w_in, w_out = (frozen(rng.normal(0, n_rows**-0.5, (n_rows, n_columns)))
                               for n_rows, n_columns in ((16, 48), (16, 16), (16, 64), (64, 16)))
    return {"attention": {"w_qkv": w_qkv, "w_o": w_o}, "feed_forward": {"w_in": w_in, "w_out": w_out}}


@cache
def nasi():
    """A one-block model of characters: default_rng with seed 42, standard normal draws times 0.1."""
    vocabulary, prompt = " aeiklmns", "nasi "
    rng = np.random.default_rng(42)
    w_embed, w_pos, w_qkv, w_o, w_in, w_out = (frozen(rng.standard_normal(shape) * 0.1)
                                               for shape in ((9, 16), (5, 16), (16, 48), (16, 16), (16, 64), (64, 16)))
    params = {"w_embed": w_embed, "w_pos": w_pos, "attention": {"w_qkv": w_qkv, "w_o": w_o},
              "feed_forward": {"w_in": w_in, "w_out": w_out}}
    return Example("nasi", "Characters: nasi␣", tuple(prompt), frozen(w_embed[[vocabulary.index(c) for c in prompt]] + w_pos), params,
                   "drawn at random (the example's own seed, 42), never trained", n_heads=2)


EXAMPLES = {example.__name__: example for example in (by_hand, four_tokens, bank_sentence, two_heads, four_vectors,
                                                        feed_forward_by_hand)}
