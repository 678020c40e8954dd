"""Encoder and decoder of the 2017 Transformer: the decoder looks at itself, then at the encoder."""

from typing import NamedTuple

import numpy as np

from core.attention import MultiHeadTrace, causal_mask, multi_head_attention
from core.block import BlockTrace, block, normalise
from core.embeddings import lookup, unembed
from core.feed_forward import FeedForwardTrace, feed_forward
from core.positions import sinusoidal
from core.softmax import as_float, softmax


class DecoderLayerTrace(NamedTuple):
    """Every intermediate of one decoder layer."""

    resid_pre: np.ndarray             # (..., n_targets, d_model)
    self_attention: MultiHeadTrace    # masked: no position looks at a later one
    resid_mid: np.ndarray             # after self-attention
    cross_attention: MultiHeadTrace   # queries from the decoder, keys and values from the encoder
    resid_cross: np.ndarray           # after cross-attention
    feed_forward: FeedForwardTrace
    resid_post: np.ndarray


class EncoderDecoderTrace(NamedTuple):
    """Every intermediate of one forward pass; `...` is a batch axis or none."""

    source: np.ndarray                          # (..., n_sources, d_model)  embedded, with positions
    encoder: tuple[BlockTrace, ...]
    memory: np.ndarray                          # (..., n_sources, d_model)  what the decoder looks at
    target: np.ndarray                          # (..., n_targets, d_model)
    decoder: tuple[DecoderLayerTrace, ...]
    out: np.ndarray                             # (..., n_targets, d_model)
    logits: np.ndarray                          # (..., n_targets, vocab_size)
    probs: np.ndarray                           # (..., n_targets, vocab_size)


class Sizes(NamedTuple):
    """The sizes and choices of an encoder-decoder; both stacks have n_layers layers."""

    vocab_size: int
    d_model: int
    d_ff: int
    n_layers: int
    n_heads: int
    activation: str = "relu"
    norm_position: str = "post"

    @property
    def choices(self):
        """How `forward` is to be run for these sizes."""
        return {"activation": self.activation, "norm_position": self.norm_position}


def init_params(sizes, rng, std=0.08, dtype=np.float32):
    """Random parameters: matrices and table normal with spread `std`, gains 1, offsets 0; no other biases.

    sizes    Sizes
    rng      numpy Generator
    returns  {"w_embed", "encoder": [layer, …], "decoder": [layer, …]}, with two final norms for norm_position "pre"

    >>> sorted(init_params(Sizes(3, 4, 8, 1, 2), np.random.default_rng(0))["decoder"][0])
    ['cross_attention', 'feed_forward', 'norm_1', 'norm_2', 'norm_3', 'self_attention']
    """
    d, d_ff = sizes.d_model, sizes.d_ff

    def draw(*shape):
        return (rng.standard_normal(shape) * std).astype(dtype)

    def norm():
        return {"gain": np.ones(d, dtype), "offset": np.zeros(d, dtype)}

    def layer(*attentions):
        parts = {name: {"w_qkv": draw(d, 3 * d), "w_o": draw(d, d)} for name in attentions}
        parts["feed_forward"] = {"w_in": draw(d, d_ff), "w_out": draw(d_ff, d)}
        return parts | {f"norm_{number + 1}": norm() for number in range(len(parts))}

    params = {"w_embed": draw(sizes.vocab_size, d), "encoder": [layer("attention") for _ in range(sizes.n_layers)],
              "decoder": [layer("self_attention", "cross_attention") for _ in range(sizes.n_layers)]}
    return params | ({"final_norm_encoder": norm(), "final_norm_decoder": norm()} if sizes.norm_position == "pre" else {})


def decoder_layer(x, memory, params, n_heads, visible=None, memory_visible=None, *, activation="relu", norm="layer", norm_position="post",
                  heads_apart=True):
    """Masked self-attention, cross-attention, feed-forward; each added to the stream and normalised.

    post:  x = norm(x + self(x));  x = norm(x + cross(x, memory));  x = norm(x + feed_forward(x))
    pre:   the norm stands before each step instead

    x               (..., n_targets, d_model)
    memory          (..., n_sources, d_model), the encoder's output; not normalised again
    params          {"self_attention", "cross_attention": {"w_qkv", "w_o", …}, "feed_forward": {…}, "norm_1", "norm_2", "norm_3"}
    visible         bool over (n_targets, n_targets); the causal mask unless given
    memory_visible  bool over (n_targets, n_sources), to hide filler of the source
    heads_apart     False leaves head_out out of the trace, which is faster
    returns         DecoderLayerTrace
    raises          ValueError where sizes do not fit
    source          Vaswani et al. 2017, sections 3.1 and 3.2.3

    >>> takes_values, nothing = {"w_qkv": np.array([[0.0, 0.0, 1.0]]), "w_o": np.eye(1)}, {"w_in": np.eye(1), "w_out": np.zeros((1, 1))}
    >>> params = {"self_attention": takes_values, "cross_attention": takes_values, "feed_forward": nothing}
    >>> decoder_layer([[2.0]], [[5.0]], params, 1, norm="none").resid_post.tolist()  # 2, and 2 from itself, and 5 from the memory
    [[9.0]]
    """
    x = as_float(x)
    if norm_position not in ("pre", "post"):
        raise ValueError(f'norm_position is {norm_position!r}; it can be "pre" or "post".')
    pre = norm_position == "pre"
    visible = causal_mask(x.shape[-2]) if visible is None else visible

    def read(stream, which):
        return normalise(stream, params.get(which), norm) if pre else stream

    def after(stream, written, which):
        if written.shape[-1] != stream.shape[-1]:
            raise ValueError(f"The stream has {stream.shape[-1]} features and what is written to it {written.shape[-1]}; "
                             "they must be the same.")
        return stream + written if pre else normalise(stream + written, params.get(which), norm)

    own = multi_head_attention(read(x, "norm_1"), params["self_attention"], n_heads, visible, heads_apart=heads_apart)
    mid = after(x, own.out, "norm_1")
    cross = multi_head_attention(read(mid, "norm_2"), params["cross_attention"], n_heads, memory_visible, memory, heads_apart=heads_apart)
    crossed = after(mid, cross.out, "norm_2")
    fed = feed_forward(read(crossed, "norm_3"), params["feed_forward"], activation)
    return DecoderLayerTrace(x, own, mid, cross, crossed, fed, after(crossed, fed.out, "norm_3"))


def forward(params, source_ids, target_ids, n_heads, source_visible=None, *, activation="relu", norm_position="post", heads_apart=True):
    """The whole encoder–decoder on one pair of sentences, or on several pairs at once.

    Embeddings are multiplied by √d_model and get sinusoidal positions; the table is shared by source, target and output.

    params          {"w_embed": (vocab_size, d_model), "encoder": [layer, …], "decoder": [layer, …]}, with "final_norm_encoder" and
                    "final_norm_decoder" for norm_position "pre"
    source_ids      (..., n_sources); target_ids: (..., n_targets); several sources are filled up to the same length
    source_visible  bool (..., n_sources), False where a source is filled up: nobody looks there, in neither stack; all True unless given
    heads_apart     False leaves each head's own share (head_out) out of the trace, which is faster
    returns         EncoderDecoderTrace
    raises          ValueError where an id is outside the vocabulary or sizes do not fit
    source          Vaswani et al. 2017, section 3

    >>> trace = forward({"w_embed": np.array([[2.0], [4.0]]), "encoder": [], "decoder": []}, [0], [1], 1)
    >>> trace.out.tolist(), trace.logits.tolist()  # position 0 adds sin(0) = 0
    ([[4.0]], [[8.0, 16.0]])
    """
    w_embed = as_float(params["w_embed"])
    d_model = w_embed.shape[1]

    def embed(ids):
        rows = lookup(w_embed, ids)
        return rows * w_embed.dtype.type(d_model**0.5) + sinusoidal(rows.shape[-2], d_model).astype(w_embed.dtype)

    if np.shape(source_ids)[:-1] != np.shape(target_ids)[:-1]:
        raise ValueError(f"Each source needs its target; there are ids of shape {np.shape(source_ids)} and {np.shape(target_ids)}.")
    if source_visible is not None:
        if np.shape(source_visible) != np.shape(source_ids):
            raise ValueError(f"source_visible says of each source token whether it may be looked at: its shape must be "
                             f"{np.shape(source_ids)}, not {np.shape(source_visible)}.")
        source_visible = np.asarray(source_visible)[..., None, :]  # the same row for every query
    choices = {"activation": activation, "norm_position": norm_position, "heads_apart": heads_apart}
    source = stream = embed(source_ids)
    encoder = []
    for layer in params["encoder"]:
        encoder.append(block(stream, layer, n_heads, source_visible, **choices))
        stream = encoder[-1].resid_post
    memory = normalise(stream, params.get("final_norm_encoder")) if norm_position == "pre" else stream
    target = stream = embed(target_ids)
    decoder = []
    for layer in params["decoder"]:
        decoder.append(decoder_layer(stream, memory, layer, n_heads, None, source_visible, **choices))
        stream = decoder[-1].resid_post
    out = normalise(stream, params.get("final_norm_decoder")) if norm_position == "pre" else stream
    logits = unembed(out, w_embed)
    return EncoderDecoderTrace(source, tuple(encoder), memory, target, tuple(decoder), out, logits, softmax(logits))


def write(params, source_ids, start, n_new, n_heads, **choices):
    """Write the target one token after the other, each time the token with the largest logit (greedy).

    source_ids  (n_sources,)
    start       the id that every target begins with
    n_new       how many tokens to write
    choices     further arguments of `forward`
    returns     list of n_new ids, without `start`
    raises      ValueError as `forward` does

    >>> write({"w_embed": np.array([[2.0], [4.0]]), "encoder": [], "decoder": []}, [0], 0, 2, 1)  # the largest row always wins
    [1, 1]
    """
    target = [start]
    for _ in range(n_new):
        target.append(int(forward(params, source_ids, target, n_heads, heads_apart=False, **choices).logits[-1].argmax()))
    return target[1:]


def who_sees_whom(n_sources, n_targets):
    """Which token may take from which, in the three families, over the source and then the target.

    encoder-only: all see all;  decoder-only: the past alone;  encoder–decoder: the source sees the source, the target the source and
    its own past

    returns  {"encoder-only", "decoder-only", "encoder–decoder": bool (n, n)}, n = n_sources + n_targets; True = may look
    raises   ValueError for a negative count
    source   Vaswani et al. 2017, section 3.2.3; Devlin et al. 2019 (encoder-only); Radford et al. 2018 (decoder-only)

    >>> who_sees_whom(1, 1)["decoder-only"].tolist()
    [[True, False], [True, True]]
    """
    if n_sources < 0 or n_targets < 0:
        raise ValueError(f"A sentence has 0 tokens or more, not {n_sources} in the source and {n_targets} in the target.")
    n = n_sources + n_targets
    both = causal_mask(n)
    both[:n_sources, :n_sources] = True
    return {"encoder-only": np.ones((n, n), dtype=bool), "decoder-only": causal_mask(n), "encoder–decoder": both}
