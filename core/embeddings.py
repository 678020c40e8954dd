"""From token ids to vectors: a lookup in a table."""

import numpy as np


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
