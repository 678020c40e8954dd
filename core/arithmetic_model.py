"""The sum behind any cell of a whole forward pass, from the token ids to the probabilities, and behind the choice of a token."""

import math

import numpy as np

from core import arithmetic
from core.arithmetic_block import explain_block
from core.arithmetic_layers import explain_feed_forward, explain_layer_norm, explain_rms_norm, written
from core.arithmetic_positions import explain_rotary
from core.positions import rotary, sinusoidal
from core.sums import Explanation, Term, explain_steps, explain_sum, number, products

WHOLE = ("token_ids", "embedded", "resid_pre", "final", "logits", "probs")
HEADS = ("q", "k", "v", "scores", "pattern", "mixed")
BLOCK = ("attn_in", "attn_out", "resid_mid", "ff_in", "hidden_pre", "hidden_post", "ff_out", "resid_post")


def model_array(trace, stage, block=0):
    """The array of one stage of a ModelTrace; those of a block from that block, those of its heads with the head as first axis.

    stage    one of WHOLE, HEADS or BLOCK
    returns  (n_tokens, …) or (n_heads, n_tokens, …)
    raises   ValueError for a stage that is not there
    """
    if stage in WHOLE:
        return getattr(trace, stage)
    layer = trace.blocks[block]
    if stage in HEADS:
        return getattr(layer.attention, stage)
    if stage in ("hidden_pre", "hidden_post"):
        return getattr(layer.feed_forward, stage)
    if stage in BLOCK:
        return getattr(layer, stage)
    raise ValueError(f"There is no stage {stage!r}; there are {', '.join((*WHOLE, *HEADS, *BLOCK))}.")


def model_matrix(trace, stage, block=0, head=0):
    """The same as a matrix: of one head where there are several, token ids as a column.

    returns  (n_tokens, …)
    """
    array = model_array(trace, stage, block)
    if stage in HEADS:
        return array[head * len(array) // trace.blocks[block].attention.q.shape[0]]  # key/value heads may be shared
    return array[:, None].astype(np.float64) if array.ndim == 1 else array


def explain_model(trace, params, config, stage, row, column, block=0, head=0):
    """Take one cell of a forward pass apart.

    trace    ModelTrace of one text, with the probabilities after every token where "probs" is asked for
    params, config  of the model
    stage    one of WHOLE, HEADS or BLOCK; row, column: in `model_matrix`
    returns  list of Explanation, in the order of the computation
    raises   ValueError for a stage, or a cell, that is not there
    """
    cells = model_matrix(trace, stage, block, head)
    if not (0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]):
        raise ValueError(f"{stage} has {cells.shape[0]} rows and {cells.shape[1]} columns; there is no cell [{row}, {column}].")
    cell, value, token = f"{stage}[{row}, {column}]", cells[row, column], int(trace.token_ids[row])
    if stage == "token_ids":
        return [explain_sum(cell, {f"place_in_the_vocabulary[{row}]": token}, value)]
    if stage in ("embedded", "resid_pre"):
        parts = {f"w_embed[{token}, {column}]": trace.embedded[row, column]}
        if stage == "resid_pre" and config.positions == "learned":
            parts[f"w_pos[{row}, {column}]"] = params["w_pos"][row, column]
        elif stage == "resid_pre" and config.positions == "sinusoidal":
            parts[f"sinusoidal[{row}, {column}]"] = sinusoidal(row + 1, config.d_model)[row, column]
        return [explain_sum(cell, parts, value)]
    if stage == "final":
        return [_final(trace, params, config, row, column)]
    if stage == "logits":
        table = params.get("w_unembed", params["w_embed"])
        terms = products("final", trace.final[row], "w_unembed" if "w_unembed" in params else "w_embed", table[column], row, None,
                         right_row=column)
        total = sum(term.value for term in terms)
        return [Explanation(cell, "product", tuple(terms), total, None, total, float(value))]
    if stage == "probs":
        return [_share(cell, "logits", trace.logits[row], row, column, value)]
    layer, own = trace.blocks[block], params["blocks"][block]
    if stage in ("q", "k") and config.positions == "rotary":
        return _turned(layer, own["attention"], stage, row, column, head)
    if stage in HEADS:
        chain = ("raw_scores", "scores") if stage == "scores" else (stage,)
        return [arithmetic.explain(layer.attention, each, row, column, head=head, x=layer.attn_in, params=own["attention"],
                                   scale=None if config.scaled else 1.0, visible=np.tri(len(trace.token_ids), dtype=bool)
                                   if config.causal else None) for each in chain]
    if stage in ("hidden_pre", "hidden_post"):
        return explain_feed_forward(layer.ff_in, own["feed_forward"], layer.feed_forward, config.activation, stage, row, column)
    return explain_block(layer, own, stage, row, column, activation=config.activation, norm=config.norm,
                         norm_position=config.norm_position, residual=config.residual)


def explain_choice(logits, sampling, temperature, token):
    """Take the probability apart that one token is drawn with: logit / temperature, softmax, and the share of what is kept.

    logits    (vocab_size,); sampling: the SamplingTrace that `core.sampling.choose` made of them; temperature: as given to it
    returns   list of Explanation, in the order of the computation

    >>> from core.sampling import choose
    >>> explain_choice(np.array([2.0, 1.0]), choose([2.0, 1.0], 0), 0, 0)[0].result
    1.0
    """
    final = float(sampling.probs[token])
    if temperature == 0:
        return [explain_sum(f"drawn_with[0, {token}]", {f"is_the_largest[0, {token}]": float(token == sampling.order[0])}, final)]
    warm, chain = np.asarray(logits, dtype=np.float64), []
    if temperature != 1:
        warm = warm / temperature
        if np.isfinite(warm[token]):
            name = f"logits_over_T[0, {token}]"
            chain.append(explain_steps(name, [(name, f"{written(float(logits[token]))} / {number(temperature)}", float(warm[token]))],
                                       warm[token]))
    chain.append(_share(f"probs[0, {token}]", "logits" if temperature == 1 else "logits_over_T", warm, 0, token, sampling.warmed[token]))
    if sampling.n_kept < len(sampling.order):
        name, numerator = f"drawn_with[0, {token}]", float(sampling.warmed[token]) if token in sampling.order[:sampling.n_kept] else 0.0
        chain.append(explain_steps(name, [(name, f"{number(numerator)} / {number(sampling.mass)}", numerator / sampling.mass)], final))
    return chain


def _turned(layer, params, stage, row, column, head):
    """A query or key with rotary positions: the two features of its pair as they were projected, and their turn."""
    turned = getattr(layer.attention, stage)
    before = layer.attention._replace(**{stage: rotary(turned, -np.arange(turned.shape[-2]))})
    d_head = turned.shape[-1]
    pair = sorted((column, (column + d_head // 2) % d_head))
    projected = [arithmetic.explain(before, stage, row, each, head=head, x=layer.attn_in, params=params) for each in pair]
    which = head * len(turned) // layer.attention.q.shape[0]
    return [*(each._replace(name=f"before_turning[{row}, {feature}]") for each, feature in zip(projected, pair, strict=True)),
            explain_rotary(stage, getattr(before, stage)[which, row], turned[which, row], row)[column]]


def _share(cell, name, scores, row, column, value):
    """One softmax probability over a vocabulary: the exponentials of a row, their sum and this token's share."""
    top = float(scores.max())
    terms = tuple(Term(f"{name}[{row}, {j}]", float(score), "max", top, math.exp(float(score) - top))
                  for j, score in enumerate(scores) if score > -np.inf)
    total = sum(term.value for term in terms)
    own = float(scores[column])
    numerator = math.exp(own - top) if own > -math.inf else 0.0
    return Explanation(cell, "exponential", terms, total, numerator, numerator / total, float(value))


def _final(trace, params, config, row, column):
    """The last norm; without one, the number of the stream itself."""
    stream, gains = trace.blocks[-1].resid_post, params.get("final_norm") or {}
    if config.norm_position == "pre" and config.norm == "layer":
        return explain_layer_norm(stream, trace.final, row, column, gain=gains.get("gain"), offset=gains.get("offset"))
    if config.norm_position == "pre" and config.norm == "rms":
        return explain_rms_norm(stream, trace.final, row, column, gain=gains.get("gain"))
    return explain_sum(f"final[{row}, {column}]", {f"resid_post[{row}, {column}]": float(stream[row, column])}, trace.final[row, column])
