"""Questions about the way from text to vectors: byte pairs, vectors that are alike, positions."""

import math

import numpy as np

from core.arithmetic_positions import explain_sinusoidal
from core.arithmetic_vectors import explain_cosine
from core.byte_pairs import readable, train_steps
from core.embeddings import cosine
from core.positions import rotary, sinusoidal
from core.questions.asking import CALCULATOR, PAPER, TWO_DECIMALS, Question, Slip, in_words, kind, mixed, on_paper

WORDS = ("low", "lower", "newest", "widest", "slow", "new", "west", "tower", "wet", "nest", "old", "told")


def _corpus(rng):
    """Three words with counts, how often each pair of letters stands side by side in them, and the first merge."""
    words = {WORDS[i]: int(rng.integers(1, 7)) for i in rng.permutation(len(WORDS))[:3]}
    pairs = {}
    for word, times in words.items():
        for left, right in zip(word, word[1:], strict=False):
            pairs[left + right] = pairs.get(left + right, 0) + times
    return words, pairs, next(train_steps(words, 1), None)


def _listed(words):
    return ", ".join(f"**{word}** {times}×" for word, times in words.items())


def _side_by_side(words, pair):
    """Where a pair stands: one line a word that has it."""
    return [f"{word}: {word.count(pair)} in the word × {times} of the word = {word.count(pair) * times}" for word, times in words.items()
            if pair in word]


@kind("vectors", "tokens", "The next merge")
def next_merge(rng):
    """Which pair of letters byte-pair training joins first."""
    words, pairs, merge = _corpus(rng)
    if merge is None or merge.ties:
        return None
    right = readable(merge.left + merge.right)
    others = sorted((pair for pair in pairs if pair != right), key=lambda pair: -pairs[pair])[:3]
    if merge.count < 3 or len(others) < 3:
        return None
    options, place = mixed(rng, [right, *others])
    return Question(f"A training text holds the words {_listed(words)}, still cut into letters. Which pair does byte-pair training join "
                    "first? (Of equally frequent pairs it would take the one that comes first in the alphabet.)", "choice", place,
                    tuple(f"{pair[0]} + {pair[1]}" for pair in options), hint=PAPER,
                    working=(*_side_by_side(words, right), f"{right[0]} + {right[1]} stands side by side {merge.count} times.",
                             "The others: " + ", ".join(f"{pair[0]} + {pair[1]} {pairs[pair]} times" for pair in others) + "."))


@kind("vectors", "tokens", "How often a pair stands there")
def pair_count(rng):
    """How often the most frequent pair stands side by side."""
    words, _, merge = _corpus(rng)
    if merge is None or merge.ties:
        return None
    pair = readable(merge.left + merge.right)
    n_words = sum(pair in word for word in words)
    if n_words < 2 or merge.count == n_words:
        return None
    return Question(f"A training text holds the words {_listed(words)}, still cut into letters. How often do **{pair[0]}** and "
                    f"**{pair[1]}** stand side by side, in this order, in the whole text?", "whole", int(merge.count), hint=PAPER,
                    slips=(Slip(n_words, "this counts each word once; it has to be counted as often as it occurs."),),
                    working=(*_side_by_side(words, pair), f"Together {merge.count} times."))


@kind("vectors", "positions", "A sinusoidal position")
def sinusoidal_entry(rng):
    """One number of a table of sinusoidal positions."""
    position, feature = int(rng.integers(1, 7)), int(rng.integers(4))
    pe = sinusoidal(position + 1, 4)
    right, angle = float(pe[position, feature]), position * (1.0, 0.01)[feature // 2]
    other = float(pe[position, feature + (1 if feature % 2 == 0 else -1)])
    degrees = (math.cos if feature % 2 else math.sin)(math.radians(angle))
    if abs(right) < 0.03 or abs(right - other) < 0.05:
        return None
    return Question(f"Sinusoidal positions with d_model = 4: pairs of features turn by 1 and by 1/100 a position; even features are sines, "
                    f"odd ones cosines, in radians. What is **feature {feature}** at **position {position}**?", "number", right,
                    tolerance=TWO_DECIMALS, hint=CALCULATOR,
                    slips=(Slip(other, "this is the other one of the pair; even features are sines, odd ones cosines."),
                           Slip(degrees, "the calculator counts in degrees; set it to radians.")),
                    working=(explain_sinusoidal(pe, position, feature),))


@kind("vectors", "positions", "Rotary: positions move")
def rotary_shift(rng):
    """Which of four moves keeps a rotary score? Every move is computed."""
    i, j, step = int(rng.integers(3, 8)), int(rng.integers(3)), int(rng.integers(2, 9))
    moves = ((i + step, j + step), (i + step, j), (i, j + step), (i + step, j + step + 1))  # the first one keeps the distance
    q, k = (rng.integers(1, 4, 4).astype(float) for _ in range(2))
    before, *after = (float((rotary([q], [at_q]) @ rotary([k], [at_k]).T)[0, 0]) for at_q, at_k in ((i, j), *moves))
    if abs(after[0] - before) > 1e-9 or min(abs(score - before) for score in after[1:]) < 0.1 or i == j + step:
        return None
    options, place = mixed(rng, [f"query at position {at_q}, key at position {at_k}" for at_q, at_k in moves])
    return options and Question(
        f"With rotary positions, a query stands at position {i} and a key at position {j}. Which move leaves their score q·k **the same, "
        "whatever the vectors q and k are**?", "choice", place, options,
        working=(f"The score depends on q, on k and on the distance of their positions. Before the move it is {i} − {j} = {i - j}.",
                 *(f"{at_q} − {at_k} = {on_paper(at_q - at_k)}: with q = {in_words(q)} and k = {in_words(k)} the score goes from "
                   f"{on_paper(before, 4)} to {on_paper(score, 4)}" for (at_q, at_k), score in zip(moves, after, strict=True))))


@kind("vectors", "embeddings", "How alike two vectors are")
def alike(rng):
    """The cosine of two small vectors whose lengths are whole numbers."""
    short, long = (np.array(pair, float)[rng.permutation(2)] * rng.choice([-1, 1], 2) + 0.0
                   for pair in ((3, 4), [(3, 4), (6, 8), (5, 0), (2, 0)][rng.integers(4)]))
    right, dot = float(cosine([short, long])[0, 1]), float(short @ long)
    if abs(right) < 0.05 or abs(right) > 0.99:
        return None
    return Question(f"How alike are the directions of x[0] = {in_words(short)} and x[1] = {in_words(long)}? Give their **cosine**.",
                    "number",
                    right, tolerance=0.001, hint="It can be done on paper: the lengths are whole numbers.",
                    slips=(Slip(dot, "this is the dot product; it has still to be divided by both lengths."),
                           Slip(-right, "look at the signs again.")),
                    working=tuple(explain_cosine("x", np.stack([short, long]), 0, 1, right)))


@kind("vectors", "positions", "What adding positions does")
def position_added(rng):
    """One number of a token vector with its sinusoidal position added."""
    x = rng.integers(-3, 4, 4).astype(float)
    feature = int(rng.integers(2))
    right = float(x[feature] + sinusoidal(1, 4)[0, feature])
    return Question(f"The token at **position 0** has the vector {in_words(x)}. What is its **feature {feature}** after its sinusoidal "
                    "position is added? (sin 0 = 0, cos 0 = 1; even features are sines.)", "whole", right, hint=PAPER,
                    slips=(Slip(float(x[feature]) + 1 - feature, "sine and cosine changed places."),),
                    working=(f"pe[0, {feature}] = {'cos' if feature else 'sin'}(0) = {feature}.",
                             f"{on_paper(x[feature])} + {feature} = {on_paper(right)}."))


KINDS = (next_merge, pair_count, sinusoidal_entry, rotary_shift, alike, position_added)
