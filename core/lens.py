"""Looking inside a model: what its heads look at, what its stream would predict, and what each part adds to a logit.

Attention weights say what was mixed; they do not by themselves say why a token was predicted. Switching a part off, and adding up what each
part writes to a logit, say more.
"""

import copy
from typing import NamedTuple

import numpy as np

from core.block import normalise
from core.embeddings import unembed
from core.softmax import softmax


class LensReading(NamedTuple):
    """What the model would say before any block and after each, as probabilities."""

    probs: np.ndarray   # (n_layers + 1, n_tokens, vocab_size)
    wanted: np.ndarray  # (n_layers + 1, n_tokens): the probability of one token, that of the right answer
    rank: np.ndarray    # (n_layers + 1, n_tokens): its place among all tokens, 1 for the most probable one


def previous_token_score(pattern):
    """How much a head looks at the token just before: the mean weight on it, over all queries but the first.

    pattern  (..., n_tokens, n_tokens), rows sum to 1
    returns  (...), from 0 to 1; 0 for a single token

    >>> float(previous_token_score(np.array([[1.0, 0.0], [1.0, 0.0]])))
    1.0
    """
    before = np.diagonal(pattern, offset=-1, axis1=-2, axis2=-1)
    return before.mean(axis=-1) if before.shape[-1] else np.zeros(pattern.shape[:-2])


def first_token_score(pattern):
    """How much a head looks at the first token: the mean weight on it, over all queries but the first.

    returns  (...), from 0 to 1; 0 for a single token

    >>> float(first_token_score(np.array([[1.0, 0.0], [0.25, 0.75]])))
    0.25
    """
    first = pattern[..., 1:, 0]
    return first.mean(axis=-1) if first.shape[-1] else np.zeros(pattern.shape[:-2])


def duplicate_token_score(pattern, token_ids):
    """How much a head looks back at the same token: the weight on its earlier places, over the queries whose token came before.

    token_ids  (n_tokens,)
    returns    (...), from 0 to 1; NaN where no token comes twice

    >>> float(duplicate_token_score(np.array([[1.0, 0.0], [0.5, 0.5]]), [7, 7]))
    0.5
    """
    return _score(pattern, _same_before(token_ids))


def induction_score(pattern, token_ids):
    """How much a head looks at what followed last time: the weight on the places just after earlier places of the same token.

    token_ids  (n_tokens,)
    returns    (...), from 0 to 1; NaN where no token comes twice
    source     Olsson et al. 2022, "In-context Learning and Induction Heads"

    >>> float(induction_score(np.array([[1.0, 0, 0], [0.5, 0.5, 0], [0.2, 0.7, 0.1]]), [7, 8, 7]))
    0.7
    """
    same = _same_before(token_ids)
    after = np.zeros_like(same)
    after[:, 1:] = same[:, :-1]
    return _score(pattern, after & np.tri(len(after), dtype=bool))


def _same_before(token_ids):
    """bool (n, n): is the key an earlier place of the query's token?"""
    ids = np.asarray(token_ids)
    return (ids[:, None] == ids) & np.tri(len(ids), k=-1, dtype=bool)


def _score(pattern, places):
    """The mean weight on `places`, over the queries that have any."""
    rows = places.any(axis=-1)
    if not rows.any():
        return np.full(pattern.shape[:-2], np.nan)
    return (pattern * places).sum(axis=-1)[..., rows].mean(axis=-1)


def without_heads(params, heads, d_head):
    """The parameters with some heads switched off: what they would write to the stream is 0.

    heads    [(block, head)]
    returns  a copy in the layout of `params`
    """
    changed = copy.deepcopy(params)
    for block, head in heads:
        changed["blocks"][block]["attention"]["w_o"][head * d_head:(head + 1) * d_head] = 0
    return changed


def logit_lens(trace, params, config):
    """What the model would predict if it ended after each block: the final norm and the table, applied to the stream there.

    The norm takes that stream's own mean and spread.

    returns  (n_layers + 1, ..., n_tokens, vocab_size); the first is before any block, the last equals trace.logits
    source   nostalgebraist 2020, "interpreting GPT: the logit lens"
    """
    streams = [trace.resid_pre, *(block.resid_post for block in trace.blocks)]
    table = params.get("w_unembed", params["w_embed"])
    pre = config.norm_position == "pre"
    return np.stack([unembed(normalise(stream, params["final_norm"], config.norm) if pre else stream, table) for stream in streams])


def read_lens(trace, params, config, wanted):
    """The logit lens as probabilities, and how far the wanted token is from the first place.

    wanted   (n_tokens,) the token that is followed at each position
    returns  LensReading
    """
    probs = softmax(logit_lens(trace, params, config))
    own = np.take_along_axis(probs, np.asarray(wanted)[None, :, None], axis=-1)
    return LensReading(probs, own[..., 0], 1 + (probs > own).sum(axis=-1))


def cut_after(params, n_blocks):
    """The same model without its later blocks. What it predicts is what the logit lens shows after so many blocks.

    returns  a layout that shares the arrays of `params`

    >>> len(cut_after({"blocks": [{}, {}]}, 1)["blocks"])
    1
    """
    return params | {"blocks": params["blocks"][:n_blocks]}


def logit_contributions(trace, params, config, position, token):
    """What each part of a pre-norm model adds to one logit, with the final norm's root held as it was.

    logit = Σ_parts (centred(part) / root · gain) · w_token (+ offset · w_token)

    trace    ModelTrace of one text
    returns  {name: float}: "token", "position", "block 0 head 0", …, "block 0 biases", "block 0 feed-forward", …, "offset"; they sum to
             the logit
    raises   ValueError for a post-norm model, where the norms in between mix the parts
    source   Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits" (direct contributions)
    """
    if config.norm_position != "pre":
        raise ValueError("Contributions add up only in a pre-norm model; post-norm normalises the stream between the parts.")
    stream = trace.blocks[-1].resid_post[position] if trace.blocks else trace.resid_pre[position]
    norm, w = params["final_norm"], params.get("w_unembed", params["w_embed"])[token]
    layer = config.norm == "layer"
    centred = stream - stream.mean() if layer else stream
    root = np.sqrt((centred * centred).mean() + (1e-5 if layer else 1e-6))
    direction = w * norm.get("gain", 1.0) / root

    def adds(part):
        return float((part - part.mean() if layer else part) @ direction)

    found = {"token": adds(trace.embedded[position]), "position": adds(trace.resid_pre[position] - trace.embedded[position])}
    for number, (block, own) in enumerate(zip(trace.blocks, params["blocks"], strict=True)):
        for head, part in enumerate(block.attention.head_out):
            found[f"block {number} head {head}"] = adds(part[position])
        if "b_o" in own["attention"]:
            found[f"block {number} biases"] = adds(own["attention"]["b_o"])
        if block.ff_out is not None:
            found[f"block {number} feed-forward"] = adds(block.ff_out[position])
    if "offset" in norm:
        found["offset"] = float(norm["offset"] @ w)
    return found
