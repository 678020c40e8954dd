"""How long byte-pair training takes, against counting every pair afresh for each merge.

    python tests/benchmarks/byte_pairs.py [--merges 200] [--rounds 3]

The texts are drawn from a seeded generator, in three kinds:
  Zipf      word-like strings, the r-th of them with a frequency in proportion to 1/r, as words of a language have
  few       words that hardly ever come twice, so that nearly every word of the text is a word of its own
  one word  a single run of letters without any cut, as a script without spaces has: nothing to share, nothing to skip

Both ways get the same words and must give the same merges. "Full recount" runs through the words once per merge, counts the
pairs, takes the best and merges it; it shares the words, too, so the ratio is what the kept counts alone are worth. Times are
the least of the rounds, the two ways by turns. Quote ratios, not seconds.
"""

import argparse
import sys
import time
from collections import Counter, deque
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # so that it runs as a script

from core.byte_pairs import CUTS, train_steps  # noqa: E402

LETTERS, SHARES = list("etaoinshrdlcumwfgypbvk"), np.array([12, 9, 8, 8, 7, 7, 6, 6, 6, 4, 4, 3, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1], dtype=float)


def words_of_letters(rng, n):
    """n strings of 2 to 11 letters, some letters more often than others."""
    letters = rng.choice(LETTERS, size=(n, 11), p=SHARES / SHARES.sum())
    return ["".join(row[:length]) for row, length in zip(letters, rng.integers(2, 12, size=n))]


def text_of(kind, size, rng):
    """A text of `size` characters."""
    if kind == "Zipf":
        words = words_of_letters(rng, 5000)
        ranks = 1 / np.arange(1, len(words) + 1)
        drawn = [words[i] for i in rng.choice(len(words), size=size, p=ranks / ranks.sum())]
    else:
        drawn = words_of_letters(rng, size)
    return ("" if kind == "one word" else " ").join(drawn)[:size]


def full_recount(words, n_merges):
    """The merges as (left, right, count), every pair counted afresh for each."""
    split = {word: [bytes([byte]) for byte in word.encode()] for word in words}
    merges = []
    for _ in range(n_merges):
        pairs = Counter()
        for word, parts in split.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += words[word]
        if not pairs:
            break
        count = max(pairs.values())
        if count < 2:
            break
        left, right = min(pair for pair, times in pairs.items() if times == count)
        merges.append((left, right, count))
        for word, parts in split.items():
            joined, i = [], 0
            while i < len(parts):
                both = i + 1 < len(parts) and parts[i] == left and parts[i + 1] == right
                joined.append(left + right if both else parts[i])
                i += 2 if both else 1
            split[word] = joined
    return merges


def kept_counts(words, n_merges):
    return [(merge.left, merge.right, merge.count) for merge in train_steps(words, n_merges)]


def train_from_text(text, n_merges):
    """Cutting and counting the words included."""
    return deque(train_steps(Counter(CUTS.findall(text)), n_merges), 0)


def seconds(run, *arguments):
    start = time.perf_counter()
    result = run(*arguments)
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--merges", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{arguments.merges} merges, least of {arguments.rounds} rounds\n")
    for kind in ("Zipf", "few", "one word"):
        words = Counter(CUTS.findall(text_of(kind, 100_000, np.random.default_rng(0))))
        fast, slow = [], []
        for _ in range(arguments.rounds):
            taken, kept = seconds(kept_counts, words, arguments.merges)
            fast.append(taken)
            taken, counted = seconds(full_recount, words, arguments.merges)
            slow.append(taken)
            assert kept == counted, "the two ways do not agree"
        print(f"{kind:9} 100 kB, {len(words):6,} different words, {len(kept)} merges, the same: "
              f"kept counts {min(fast):.3f} s, full recount {min(slow):.3f} s, ratio {min(fast) / min(slow):.3f}")
    print("\nhow the time grows, cutting and counting the words included")
    for kind in ("Zipf", "few", "one word"):
        times = {}
        for size in (25_000, 50_000, 100_000, 200_000):
            text = text_of(kind, size, np.random.default_rng(0))
            times[size] = min(seconds(train_from_text, text, arguments.merges)[0] for _ in range(arguments.rounds))
        print(f"{kind:9} " + ", ".join(f"{size // 1000} kB {taken:.3f} s ({taken / times[25_000]:.1f}×)" for size, taken in times.items()))


if __name__ == "__main__":
    main()
