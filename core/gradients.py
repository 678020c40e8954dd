"""The loss of a model and its gradient for every parameter, by backpropagation."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from core import encoder_decoder
from core.backward import (
    block_backward,
    cross_entropy_backward,
    decoder_layer_backward,
    linear_backward,
    lookup_backward,
    normalise_backward,
)
from core.loss import checked, cross_entropy
from core.optimizer import at, walk
from core.positions import rotary
from core.transformer import forward


def loss_and_grads(params, token_ids, targets, config, *, visible=None, n_threads=1):
    """Run the model, compare with what came, and go back through every step.

    token_ids  (..., n_tokens); targets: the same shape, below 0 where nothing is to be predicted
    visible    bool (n_tokens, n_tokens); the causal mask unless given
    n_threads  above 1: the batch is cut into so many parts that are computed at the same time, best with one BLAS thread each
    returns    (loss in nats per counted token, gradients in the layout of `params`)
    raises     ValueError as `forward` and `cross_entropy` do
    """
    if n_threads > 1:
        return _in_parts(params, np.asarray(token_ids), np.asarray(targets), config, visible, n_threads)
    trace = forward(params, token_ids, config, visible=visible, heads_apart=False)
    checked(targets, trace.logits.shape)
    return cross_entropy(trace.logits, targets), backward(params, trace, cross_entropy_backward(trace.logits, targets), config)


def _in_parts(params, token_ids, targets, config, visible, n_threads):
    """The same for parts of the batch at the same time; the whole is their mean, by how many targets each counts."""
    parts = [(ids, wanted) for ids, wanted in zip(np.array_split(token_ids, n_threads), np.array_split(targets, n_threads), strict=True)
             if (wanted >= 0).any()]
    with ThreadPoolExecutor(n_threads) as pool:
        found = list(pool.map(lambda part: loss_and_grads(params, *part, config, visible=visible), parts))
    shares = [float((wanted >= 0).sum() / (targets >= 0).sum()) for _, wanted in parts]
    (_, total), *others = found
    for path, array in walk(total):
        array *= array.dtype.type(shares[0])
        for (_, grads), share in zip(others, shares[1:], strict=True):
            array += at(grads, path) * array.dtype.type(share)
    return sum(loss * share for (loss, _), share in zip(found, shares, strict=True)), total


def backward(params, trace, d_logits, config):
    """The gradients of every parameter, given the gradient for the logits of a ModelTrace.

    d_logits  (..., n_tokens, vocab_size)
    returns   gradients in the layout of `params`
    """
    table = "w_embed" if config.tied else "w_unembed"
    d_stream, d_table, _ = linear_backward(trace.final, params[table].T, d_logits)
    grads = dict.fromkeys(params)
    last = trace.blocks[-1].resid_post if trace.blocks else trace.resid_pre
    if config.norm_position == "pre":
        d_stream, grads["final_norm"] = normalise_backward(last, d_stream, params["final_norm"], config.norm)
    unrotate = (lambda d, places: rotary(d, -places)) if config.positions == "rotary" else None
    grads["blocks"] = [None] * len(params["blocks"])
    for number in reversed(range(len(params["blocks"]))):
        d_stream, grads["blocks"][number] = block_backward(
            trace.blocks[number], params["blocks"][number], d_stream, config.n_heads, activation=config.activation, norm=config.norm,
            norm_position=config.norm_position, residual=config.residual, n_kv_heads=config.n_kv_heads, unrotate=unrotate,
            scale=None if config.scaled else 1.0)
    grads["w_embed"] = lookup_backward(trace.token_ids, len(params["w_embed"]), d_stream)
    if config.tied:
        grads["w_embed"] = grads["w_embed"] + d_table.T
    else:
        grads["w_unembed"] = d_table.T
    if "w_pos" in params:
        n_tokens = trace.token_ids.shape[-1]
        grads["w_pos"] = np.zeros_like(params["w_pos"])
        grads["w_pos"][:n_tokens] = d_stream.reshape(-1, n_tokens, d_stream.shape[-1]).sum(axis=0)
    return grads


def encoder_decoder_loss_and_grads(params, source_ids, target_ids, targets, n_heads, source_visible=None, *, activation="relu",
                                   norm_position="post"):
    """The loss of an encoder-decoder on one pair of texts or several, and its gradient for every parameter.

    source_ids      (..., n_sources); target_ids: (..., n_targets), what the decoder reads; targets: (..., n_targets), what comes after
                    each, below 0 where nothing is to be predicted
    source_visible  bool (..., n_sources), False where a source is filled up
    returns         (loss in nats per counted token, gradients in the layout of `params`)
    raises          ValueError as `core.encoder_decoder.forward` and `cross_entropy` do
    """
    trace = encoder_decoder.forward(params, source_ids, target_ids, n_heads, source_visible, activation=activation,
                                    norm_position=norm_position, heads_apart=False)
    loss, pre = cross_entropy(trace.logits, targets), norm_position == "pre"
    w_embed = params["w_embed"]
    grads = dict.fromkeys(params)
    d_stream, d_table, _ = linear_backward(trace.out, w_embed.T, cross_entropy_backward(trace.logits, targets))
    choices = {"activation": activation, "norm_position": norm_position}

    def final(last, d_after, which):
        d_before, d_norm = normalise_backward(last, d_after, params.get(which))
        if which in params:
            grads[which] = d_norm
        return d_before

    if pre:
        d_stream = final(trace.decoder[-1].resid_post if trace.decoder else trace.target, d_stream, "final_norm_decoder")
    d_memory = np.zeros_like(trace.memory)
    grads["decoder"], grads["encoder"] = [None] * len(params["decoder"]), [None] * len(params["encoder"])
    for number in reversed(range(len(params["decoder"]))):
        d_stream, d_looked_at, grads["decoder"][number] = decoder_layer_backward(
            trace.decoder[number], params["decoder"][number], d_stream, trace.memory, n_heads, **choices)
        d_memory += d_looked_at
    d_target = d_stream
    d_stream = final(trace.encoder[-1].resid_post if trace.encoder else trace.source, d_memory, "final_norm_encoder") if pre else d_memory
    for number in reversed(range(len(params["encoder"]))):
        d_stream, grads["encoder"][number] = block_backward(trace.encoder[number], params["encoder"][number], d_stream, n_heads, **choices)
    scale, vocab_size = w_embed.dtype.type(w_embed.shape[1] ** 0.5), len(w_embed)
    grads["w_embed"] = d_table.T + scale * (lookup_backward(source_ids, vocab_size, d_stream)
                                            + lookup_backward(target_ids, vocab_size, d_target))
    return loss, grads


def numeric_gradient(loss, params, path, index, step=1e-5):
    """The gradient of one parameter, measured: the slope between two losses.

    numeric = (loss(w + step) - loss(w - step)) / (2 step)

    loss     function of params -> float, best in float64
    params   nested arrays; the one at `path` is changed for the measurement and put back
    path     where the array stands, e.g. ("blocks", 0, "attention", "w_o"); index: which number of it
    returns  (numeric gradient, (loss with w + step, loss with w - step))

    >>> numeric_gradient(lambda params: float(params["w"][0] ** 2), {"w": np.array([3.0])}, ("w",), (0,), step=0.5)
    (6.0, (12.25, 6.25))
    """
    array = at(params, path)
    kept, losses = array[index], []
    for sign in (1, -1):
        array[index] = kept + sign * step
        losses.append(loss(params))
    array[index] = kept
    return (losses[0] - losses[1]) / (2 * step), tuple(losses)
