"""The whole decoder-only model: token ids in, a probability for every next token out."""

import math
from typing import NamedTuple

import numpy as np

from core.attention import causal_mask
from core.block import BlockTrace, block, normalise
from core.embeddings import lookup, unembed
from core.positions import learned, rotary, sinusoidal
from core.sampling import next_token_probs
from core.softmax import softmax


class ModelTrace(NamedTuple):
    """Every intermediate of one forward pass; `...` is a batch axis or none."""

    token_ids: np.ndarray            # (..., n_tokens)
    embedded: np.ndarray             # (..., n_tokens, d_model)  rows of w_embed
    resid_pre: np.ndarray            # (..., n_tokens, d_model)  with positions: what enters the first block
    blocks: tuple[BlockTrace, ...]
    final: np.ndarray                # (..., n_tokens, d_model)  after the last norm
    logits: np.ndarray               # (..., n_tokens, vocab_size)
    probs: np.ndarray                # (..., vocab_size) after the last token; (..., n_tokens, vocab_size) where all were asked for


def init_params(config, rng, std=0.02, dtype=np.float64):
    """Random parameters as GPT-2 begins: normal with a small spread, smaller still where a layer writes to the stream.

    spread of w_o and w_out: std / √(2 n_layers); of the rest std. Gains 1; offsets and biases 0.

    config   ModelConfig
    rng      numpy Generator
    returns  {"w_embed", "w_pos" (learned positions), "blocks": [{"norm_1", "attention", "norm_2", "feed_forward"}],
             "final_norm" (pre-norm), "w_unembed" (not tied)}
    source   Radford et al. 2019, section 2.3, and the released code
    """
    d, inner = config.d_model, config.n_heads * config.d_head
    qkv_width = (config.n_heads + 2 * config.n_kv_heads) * config.d_head

    def draw(*shape, spread=std):
        return (rng.standard_normal(shape) * spread).astype(dtype)

    def norm():
        gain = {} if config.norm == "none" else {"gain": np.ones(d, dtype)}
        return gain | ({"offset": np.zeros(d, dtype)} if config.norm == "layer" and config.bias else {})

    small = std / math.sqrt(2 * config.n_layers)
    params = {"w_embed": draw(config.vocab_size, d)}
    if config.positions == "learned":
        params["w_pos"] = draw(config.n_ctx, d)
    params["blocks"] = []
    for _ in range(config.n_layers):
        attention = {"w_qkv": draw(d, qkv_width), "w_o": draw(inner, d, spread=small)}
        feed_forward = {"w_in": draw(d, config.d_ff), "w_out": draw(config.d_ff, d, spread=small)} if config.d_ff else {}
        if config.d_ff and config.activation == "swiglu":
            feed_forward["w_gate"] = draw(d, config.d_ff)
        if config.bias:
            attention |= {"b_qkv": np.zeros(qkv_width, dtype), "b_o": np.zeros(d, dtype)}
            if config.d_ff:
                feed_forward |= {"b_in": np.zeros(config.d_ff, dtype), "b_out": np.zeros(d, dtype)}
        layer = {"norm_1": norm(), "attention": attention}
        params["blocks"].append(layer | ({"norm_2": norm(), "feed_forward": feed_forward} if config.d_ff else {}))
    if config.norm_position == "pre":
        params["final_norm"] = norm()
    if not config.tied:
        params["w_unembed"] = draw(config.vocab_size, d)
    return params


def block_choices(config):
    """How `block` is to be run for this model: its activation, norm, heads, positions, and what is switched off."""
    rotate = rotary if config.positions == "rotary" else None
    return {"activation": config.activation, "norm": config.norm, "norm_position": config.norm_position, "residual": config.residual,
            "n_kv_heads": config.n_kv_heads, "rotate": rotate, "scale": None if config.scaled else 1.0}


def embed(params, token_ids, config, first=0):
    """Rows of w_embed, and the same with positions first, first + 1, … added.

    returns  (embedded, resid_pre), both (..., n_tokens, d_model)
    raises   ValueError where an id is outside the vocabulary or a position past the learned table
    """
    embedded = lookup(params["w_embed"], token_ids)
    n_tokens = embedded.shape[-2]
    if config.positions == "learned":
        return embedded, embedded + learned(params["w_pos"], n_tokens, first)
    if config.positions == "sinusoidal":
        return embedded, embedded + sinusoidal(first + n_tokens, config.d_model)[first:].astype(embedded.dtype)
    return embedded, embedded


def forward(params, token_ids, config, cache=None, *, all_probs=False, visible=None, heads_apart=True):
    """One pass through the model.

    logits = norm(stream after the last block) · w_unembedᵀ     (w_embed where the table is tied)

    token_ids  whole numbers (..., n_tokens)
    cache      list of (k, v) a layer, from earlier tokens of the same text; it is extended in place
    all_probs  probabilities after every token, not only after the last
    visible    bool (n_tokens, n_keys); the causal mask unless given (all True for a model that is not causal)
    heads_apart  False leaves each head's own share (head_out) out of the trace, which is faster
    returns    ModelTrace
    raises     ValueError where an id is outside the vocabulary, the text is empty or longer than the model's context
    source     Radford et al. 2019, section 2.3
    """
    token_ids = np.asarray(token_ids)
    n_tokens = token_ids.shape[-1]
    first = cache[0][0].shape[-2] if cache else 0
    if n_tokens == 0:
        raise ValueError("There is no token to begin with; give at least one.")
    if first + n_tokens > config.n_ctx:
        raise ValueError(f"The model reads at most {config.n_ctx} tokens; this text has {first + n_tokens}. "
                         "Shorten it or make n_ctx larger.")
    embedded, stream = embed(params, token_ids, config, first)
    resid_pre = stream
    if visible is None and config.causal:
        visible = causal_mask(n_tokens, first + n_tokens)
    traces = []
    for number, layer in enumerate(params["blocks"]):
        past = cache[number] if cache else None
        traces.append(block(stream, layer, config.n_heads, visible, past=past, heads_apart=heads_apart, **block_choices(config)))
        stream = traces[-1].resid_post
    if cache is not None:
        cache[:] = [(trace.attention.k, trace.attention.v) for trace in traces]
    final = normalise(stream, params.get("final_norm"), config.norm) if config.norm_position == "pre" else stream
    logits = unembed(final, params.get("w_unembed", params["w_embed"]))
    return ModelTrace(token_ids, embedded, resid_pre, tuple(traces), final, logits, softmax(logits if all_probs else logits[..., -1, :]))


def generate(params, token_ids, config, n_new, rng=None, temperature=1.0, top_k=None, top_p=None):
    """Continue a text, one token after the other, with a key-value cache.

    token_ids  (n_tokens,) the beginning
    n_new      at most this many new tokens; it ends earlier where the context is full
    rng        numpy Generator; may be left out at temperature 0
    returns    iterator of token ids
    raises     ValueError as `forward` and `next_token_probs` do
    """
    cache, read = [], np.asarray(token_ids)
    for _ in range(n_new):
        if (cache[0][0].shape[-2] if cache else 0) + len(read) > config.n_ctx:
            return
        trace = forward(params, read, config, cache)
        probs = next_token_probs(trace.logits[-1].astype(np.float64), temperature, top_k, top_p)
        chosen = int(probs.argmax()) if temperature == 0 else int(rng.choice(len(probs), p=probs / probs.sum()))
        yield chosen
        read = np.array([chosen])
