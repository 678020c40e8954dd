"""A small encoder that sorts messages: every token looks both ways, a learned query pools them into one vector, and that is classified."""

from typing import NamedTuple

import numpy as np

from core import transformer
from core.backward import block_backward, cross_entropy_backward, linear_backward, lookup_backward, normalise_backward, softmax_backward
from core.block import BlockTrace, block, normalise
from core.config import ModelConfig
from core.loss import checked, cross_entropy
from core.softmax import softmax
from core.transformer import block_choices, embed


class ClassifierTrace(NamedTuple):
    """Every intermediate of one forward pass; `...` is a batch axis or none."""

    token_ids: np.ndarray            # (..., n_tokens)
    resid_pre: np.ndarray            # (..., n_tokens, d_model)  embedded, with positions
    blocks: tuple[BlockTrace, ...]
    final: np.ndarray                # (..., n_tokens, d_model)  after the last norm
    pool_scores: np.ndarray          # (..., n_tokens)  final · the learned query, before the mask
    pool_pattern: np.ndarray         # (..., n_tokens)  the share of each token; sums to 1, 0 on filler
    pooled: np.ndarray               # (..., d_model)
    logits: np.ndarray               # (..., n_classes)
    probs: np.ndarray                # (..., n_classes)


class Sizes(NamedTuple):
    """The encoder's sizes (pre-norm, positions learned) and the number of classes."""

    encoder: ModelConfig
    n_classes: int


def sizes(vocab_size, n_ctx, d_model, n_heads, n_classes, n_layers=1, d_ff=None):
    """Sizes of a classifier; everything else as `ModelConfig` has it, without biases and without the causal mask.

    returns  Sizes
    raises   ValueError as ModelConfig does

    >>> sizes(9, 5, 4, 2, 3).encoder.causal
    False
    """
    return Sizes(ModelConfig(vocab_size, n_ctx, d_model, n_layers, n_heads, d_ff, bias=False, causal=False), n_classes)


def init_params(own, rng, std=0.08, dtype=np.float32):
    """Random parameters: the encoder as `core.transformer.init_params` draws it, and the two steps after it.

    own      Sizes
    returns  {"w_embed", "w_pos", "blocks", "final_norm", "w_pool": (d_model,), "w_classes": (d_model, n_classes), "b_classes"}

    >>> init_params(sizes(9, 5, 4, 2, 3), np.random.default_rng(0))["w_classes"].shape
    (4, 3)
    """
    params = transformer.init_params(own.encoder, rng, std, dtype)
    d_model = own.encoder.d_model
    return params | {"w_pool": (rng.standard_normal(d_model) * std).astype(dtype),
                     "w_classes": (rng.standard_normal((d_model, own.n_classes)) * std).astype(dtype),
                     "b_classes": np.zeros(own.n_classes, dtype)}


def forward(params, token_ids, own, real=None, *, heads_apart=True):
    """Read a message and say how probable each class is.

    pool_scores = final · w_pool;  pool_pattern = softmax(pool_scores over the real tokens)
    pooled = Σ_t pool_pattern[t] final[t];  logits = pooled w_classes + b_classes

    params     as `init_params` gives them
    token_ids  (..., n_tokens); several messages are filled up to the same length
    own        Sizes
    real       bool (..., n_tokens), False where a message is filled up: nobody looks there and it is not pooled; all True unless given
    returns    ClassifierTrace
    raises     ValueError where a message has no real token, is too long, an id is outside the vocabulary or shapes do not fit
    source     Yang et al. 2016, "Hierarchical Attention Networks" (pooling by a learned query); Lin et al. 2017

    >>> params = init_params(sizes(3, 4, 2, 1, 2), np.random.default_rng(0))
    >>> forward(params, [[1, 2], [2, 0]], sizes(3, 4, 2, 1, 2), np.array([[True, True], [True, False]])).pool_pattern[1].tolist()
    [1.0, 0.0]
    """
    token_ids = np.asarray(token_ids)
    real = np.ones(token_ids.shape, dtype=bool) if real is None else np.asarray(real)
    if real.shape != token_ids.shape:
        raise ValueError(f"real says of each token whether it is one: its shape must be {token_ids.shape}, not {real.shape}.")
    if not token_ids.size or not real.any(axis=-1).all():
        raise ValueError("A message has no token to read; write at least one word.")
    if token_ids.shape[-1] > own.encoder.n_ctx:
        raise ValueError(f"The model reads at most {own.encoder.n_ctx} tokens; this message has {token_ids.shape[-1]}. Shorten it.")
    _, stream = embed(params, token_ids, own.encoder)
    resid_pre, traces = stream, []
    for layer in params["blocks"]:
        traces.append(block(stream, layer, own.encoder.n_heads, real[..., None, :], heads_apart=heads_apart,
                            **block_choices(own.encoder)))
        stream = traces[-1].resid_post
    final = normalise(stream, params["final_norm"], own.encoder.norm)
    pool_scores = final @ params["w_pool"]
    pool_pattern = softmax(np.where(real, pool_scores, pool_scores.dtype.type(-np.inf)))
    pooled = (pool_pattern[..., None, :] @ final)[..., 0, :]
    logits = pooled @ params["w_classes"] + params["b_classes"]
    return ClassifierTrace(token_ids, resid_pre, tuple(traces), final, pool_scores, pool_pattern, pooled, logits, softmax(logits))


def loss_and_grads(params, token_ids, targets, own, real=None):
    """The loss on some messages and its gradient for every parameter.

    token_ids  (n_messages, n_tokens); targets: (n_messages,), the right class of each, below 0 where it is not counted
    returns    (loss in nats per counted message, gradients in the layout of `params`)
    raises     ValueError as `forward` and `cross_entropy` do
    """
    trace = forward(params, token_ids, own, real, heads_apart=False)
    checked(targets, trace.logits.shape)
    return cross_entropy(trace.logits, targets), backward(params, trace, cross_entropy_backward(trace.logits, targets), own)


def backward(params, trace, d_logits, own):
    """The gradients of every parameter, given the gradient for the logits of a ClassifierTrace.

    d_pattern[t] = d_pooled · final[t];  d_final[t] = pattern[t] d_pooled + d_scores[t] w_pool;  d_w_pool = Σ_t d_scores[t] final[t]

    returns  gradients in the layout of `params`
    """
    config, grads = own.encoder, dict.fromkeys(params)
    d_pooled, grads["w_classes"], grads["b_classes"] = linear_backward(trace.pooled, params["w_classes"], d_logits)
    d_pattern = (trace.final @ d_pooled[..., None])[..., 0]
    d_scores = softmax_backward(trace.pool_pattern, d_pattern)
    d_final = trace.pool_pattern[..., None] * d_pooled[..., None, :] + d_scores[..., None] * params["w_pool"]
    grads["w_pool"] = (d_scores[..., None] * trace.final).reshape(-1, config.d_model).sum(axis=0)
    last = trace.blocks[-1].resid_post if trace.blocks else trace.resid_pre
    d_stream, grads["final_norm"] = normalise_backward(last, d_final, params["final_norm"], config.norm)
    grads["blocks"] = [None] * len(params["blocks"])
    for number in reversed(range(len(params["blocks"]))):
        d_stream, grads["blocks"][number] = block_backward(trace.blocks[number], params["blocks"][number], d_stream, config.n_heads,
                                                           activation=config.activation, norm=config.norm,
                                                           norm_position=config.norm_position)
    grads["w_embed"] = lookup_backward(trace.token_ids, len(params["w_embed"]), d_stream)
    n_tokens = trace.token_ids.shape[-1]
    grads["w_pos"] = np.zeros_like(params["w_pos"])
    grads["w_pos"][:n_tokens] = d_stream.reshape(-1, n_tokens, config.d_model).sum(axis=0)
    return grads
