"""Writing on past the end of the context: the window slides, and what the model reads is computed anew for every token."""

from typing import NamedTuple

import numpy as np

from core.sampling import SamplingTrace, choose
from core.transformer import forward


class WrittenToken(NamedTuple):
    """One token that a model wrote."""

    window: tuple[int, ...]   # the ids that it read: at most n_ctx, the last of the text
    logits: np.ndarray        # (vocab_size,)
    sampling: SamplingTrace   # how its logits became the probabilities that it was drawn with
    chosen: int


def write(params, token_ids, config, n_new, rng=None, temperature=1.0, top_k=None, top_p=None):
    """Continue a text for as long as wanted: each token is chosen after reading the last n_ctx tokens, positions counted from 0.

    No key-value cache is kept: as soon as the window slides, every token is counted from another place, and part of what it had read is
    gone. With learned positions all keys and values change with that. With rotary ones the keys and queries of the first block all turn
    alike, so that its scores stay, and its values stay too; the keys and values of later blocks change. While the text fits the context,
    the tokens are those of `core.transformer.generate` from the same rng.

    token_ids  (n_tokens,) the beginning, at least one
    rng        numpy Generator; may be left out at temperature 0
    returns    list of WrittenToken, n_new of them
    raises     ValueError as `forward` and `choose` do
    """
    ids, written = [int(i) for i in token_ids], []
    for _ in range(n_new):
        window = tuple(ids[-config.n_ctx:])
        logits = forward(params, np.array(window, dtype=np.int64), config, heads_apart=False).logits[-1].astype(np.float64)
        sampling = choose(logits, temperature, top_k, top_p)
        probs = sampling.probs
        chosen = int(probs.argmax()) if temperature == 0 else int(rng.choice(len(probs), p=probs / probs.sum()))
        written.append(WrittenToken(window, logits, sampling, chosen))
        ids.append(chosen)
    return written
