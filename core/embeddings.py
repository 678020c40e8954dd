"""From token ids to vectors: a lookup in a table; and how alike two vectors are."""

from typing import NamedTuple

import numpy as np

from core.linear import linear
from core.softmax import as_float


def lookup(w_embed, token_ids):
    """One row of the table per token.

    x[t] = w_embed[token_ids[t]]     (the same as the one-hot row of token t times w_embed)

    w_embed    (vocab_size, d_model)
    token_ids  whole numbers of any shape
    returns    (*shape of token_ids, d_model)
    raises     ValueError where an id is not a row of the table
    source     Vaswani et al. 2017, section 3.4

    >>> lookup(np.array([[1.0], [2.0]]), [1, 0, 1]).tolist()
    [[2.0], [1.0], [2.0]]
    """
    token_ids = np.asarray(token_ids)
    if token_ids.size and token_ids.dtype.kind not in "iu":
        raise ValueError(f"Token ids are whole numbers, not {token_ids.dtype}.")
    token_ids = token_ids.astype(np.int64)
    vocab_size = w_embed.shape[0]
    if token_ids.size and (token_ids.min() < 0 or token_ids.max() >= vocab_size):
        raise ValueError(f"Token ids run from {token_ids.min()} to {token_ids.max()}; this table has rows 0 to {vocab_size - 1}.")
    return w_embed[token_ids]


def one_hot(token_ids, vocab_size, dtype=np.float64):
    """A row of zeros with a single 1 at each token's id.

    row[t, i] = 1 where i = token_ids[t], else 0

    returns  (*shape of token_ids, vocab_size); one_hot(ids, n) @ w_embed equals lookup(w_embed, ids)
    raises   ValueError where an id is outside the vocabulary

    >>> one_hot([1], 3).tolist()
    [[0.0, 1.0, 0.0]]
    """
    return lookup(np.eye(vocab_size, dtype=dtype), token_ids)


def unembed(x, w_embed):
    """Logits with a tied table: each token's vector compared with every row of the table that made it.

    logits = x w_embedᵀ

    x        (..., d_model)
    w_embed  (vocab_size, d_model)
    returns  (..., vocab_size)
    raises   ValueError where x and the table differ in width
    source   Press & Wolf 2017, "Using the Output Embedding to Improve Language Models"

    >>> unembed(np.array([[2.0]]), np.array([[1.0], [3.0]])).tolist()
    [[2.0, 6.0]]
    """
    x = as_float(x)
    if x.shape[-1] != w_embed.shape[1]:
        raise ValueError(f"Token vectors have {x.shape[-1]} features and the rows of the table {w_embed.shape[1]}; they must be the same.")
    return linear(x, w_embed.T)


def cosine(x):
    """How alike the directions of every two rows are: 1 the same, 0 at right angles, -1 opposite.

    cosine[i, j] = x[i]·x[j] / (|x[i]| |x[j]|);  0 where a row is all zeros

    x        (n, d)
    returns  (n, n)

    >>> cosine([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]]).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    unit = _unit(x)
    return unit @ unit.T


def _unit(x):
    """Each row divided by its length; by its largest number first, so that no square overflows or vanishes."""
    x = as_float(x)
    largest = np.abs(x).max(axis=-1, keepdims=True, initial=0)
    even = x / np.where(largest == 0, x.dtype.type(1), largest)
    length = np.sqrt((even * even).sum(axis=-1, keepdims=True))
    return even / np.where(length == 0, x.dtype.type(1), length)


def nearest(x, row, n=5):
    """The rows most alike `row` by cosine, itself left out.

    x        (n, d)
    row      0 to n - 1
    returns  list of (row number, cosine), best first; ties by row number; at most n
    raises   ValueError for a row that is not there

    >>> nearest([[1.0, 0.0], [0.0, 1.0], [2.0, 0.1]], 0, 1)[0][0]
    2
    """
    unit = _unit(x)
    if not 0 <= row < len(unit):
        raise ValueError(f"There are {len(unit)} rows, counted from 0; there is no row {row}.")
    alike = (unit * unit[row]).sum(axis=-1)  # row by row, so that equal rows tie exactly
    order = sorted((other for other in range(len(alike)) if other != row), key=lambda other: (-alike[other], other))
    return [(other, float(alike[other])) for other in order[:n]]


class Projection(NamedTuple):
    """The view of some vectors from where they spread most."""

    points: np.ndarray     # (n, n_dims)
    directions: np.ndarray # (n_dims, d), at right angles, length 1
    shares: np.ndarray     # (n_dims,) of the whole variance


def mean_cosines(alike, one, other):
    """How alike the words of two groups are within their groups, and across.

    alike    (n_words, n_words) cosines; one, other: the rows of each group
    returns  (mean over the pairs of different words of the same group, mean over the pairs across), NaN where there is no pair

    >>> mean_cosines(np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.0]]), [0, 1], [2])
    (0.5, 0.125)
    """
    pairs = [alike[a, b] for group in (one, other) for i, a in enumerate(group) for b in group[i + 1:]]
    across = [alike[a, b] for a in one for b in other]
    return tuple(float(np.mean(found)) if found else np.nan for found in (pairs, across))


def principal_components(x, n_dims=2):
    """Principal component analysis by singular value decomposition.

    centred = U S Vᵀ;  points = centred V;  shares = S² / ΣS²

    The sign of a direction is free; here its largest entry is positive. Directions beyond the rank are filled with zeros.

    x        (n, d)
    returns  Projection
    raises   ValueError where there is no row
    source   Pearson 1901; Jolliffe 2002, "Principal Component Analysis", section 3.5

    >>> principal_components([[0.0, 0.0], [2.0, 0.0]], 1).points.tolist()
    [[-1.0], [1.0]]
    """
    x = as_float(x)
    if not len(x):
        raise ValueError("A view needs at least 1 row, not 0.")
    wide = x.astype(np.promote_types(x.dtype, np.float32), copy=False)  # no decomposition is made in float16
    centred = wide - wide.mean(axis=0)
    _, strength, directions = np.linalg.svd(centred, full_matrices=False)
    rank = int((strength > strength.max(initial=0) * max(x.shape) * np.finfo(wide.dtype).eps).sum())
    kept = np.zeros((n_dims, x.shape[1]), dtype=wide.dtype)
    shares = np.zeros(n_dims, dtype=wide.dtype)
    n = min(n_dims, rank)
    kept[:n] = directions[:n]
    kept *= np.where(kept[np.arange(n_dims), np.abs(kept).argmax(axis=1)] < 0, -1, 1)[:, None]
    total = (strength * strength).sum()
    shares[:n] = strength[:n] ** 2 / (total if total else 1)
    return Projection(*(part.astype(x.dtype, copy=False) for part in (centred @ kept.T, kept, shares)))
