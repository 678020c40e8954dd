"""Random arrays that are the same on every machine: each has its own child seed, named after what it is.

A token's vector depends on (seed, token) alone. So editing one word of a sentence changes that word's vector and no
other, and equal words have equal vectors.
"""

import hashlib

import numpy as np

from core.embeddings import lookup


def child_rng(seed, *names):
    """A random generator of its own for (seed, names).

    seed     whole number of 0 or more
    names    strings, e.g. "token", "bank"
    returns  numpy Generator (PCG64), seeded by SHA-256 of the seed and the names

    >>> bool(child_rng(1, "w_q").random() == child_rng(1, "w_q").random())
    True
    """
    text = "\x1f".join((str(int(seed)), *names))
    return np.random.default_rng(np.frombuffer(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), dtype=np.uint32))


def projection(seed, name, n_rows, n_columns):
    """A random matrix with entries of variance 1/n_rows, so that x·w keeps the size of x's entries.

    returns  (n_rows, n_columns) float64, read-only
    source   the scale of LeCun et al. 1998, "Efficient BackProp", section 4.6

    >>> projection(0, "w_q", 4, 3).shape
    (4, 3)
    """
    w = child_rng(seed, "projection", name, str(n_rows), str(n_columns)).standard_normal((n_rows, n_columns)) / np.sqrt(n_rows)
    w.flags.writeable = False
    return w


def token_vectors(tokens, seed, d_model):
    """A vector of standard normal draws for each distinct token, looked up for each token of the sentence.

    tokens   list of str
    returns  (n_tokens, d_model) float64; equal tokens have equal rows

    >>> a, b = token_vectors(["to", "be", "to"], 0, 2), token_vectors(["to", "see", "to"], 0, 2)
    >>> bool((a[0] == b[0]).all() and (a[0] == a[2]).all() and (a[1] != b[1]).all())
    True
    """
    vocabulary = {token: row for row, token in enumerate(dict.fromkeys(tokens))}
    w_embed = np.empty((len(vocabulary), d_model))
    for token, row in vocabulary.items():
        w_embed[row] = child_rng(seed, "token", token).standard_normal(d_model)
    return lookup(w_embed, [vocabulary[token] for token in tokens])
