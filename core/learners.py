"""What the training loop needs to know of each kind of model: how it begins, its loss and gradients, its answers, its arrays."""

from typing import NamedTuple

import numpy as np

from core import classifier, encoder_decoder
from core.gradients import encoder_decoder_loss_and_grads, loss_and_grads
from core.transformer import forward, init_params


class Learner(NamedTuple):
    """One kind of model, as the training loop sees it. A batch is what the task draws."""

    init: object            # function of (rng, std) -> params
    loss_and_grads: object  # function of (params, batch) -> (loss in nats per counted target, gradients in the layout of params)
    logits: object          # function of (params, batch) -> (..., n_answers), one row a target
    on_the_way: object      # function of (params, batch) -> iterator of (name, array), in the order in which they are computed


def decoder_only(config, dtype=np.float32):
    """A decoder-only model of this configuration; its batches hold token_ids and targets.

    returns  Learner
    """
    def on_the_way(params, batch):
        trace = forward(params, batch.token_ids, config)
        for number, layer in enumerate(trace.blocks):
            yield f"scores of block {number}", layer.attention.scores
            yield f"attn_out of block {number}", layer.attn_out
            yield f"resid_mid of block {number}", layer.resid_mid
            if layer.ff_out is not None:
                yield f"ff_out of block {number}", layer.ff_out
                yield f"resid_post of block {number}", layer.resid_post
        yield "the logits", trace.logits

    return Learner(
        lambda rng, std: init_params(config, rng, std, dtype),
        lambda params, batch: loss_and_grads(params, batch.token_ids, batch.targets, config),
        lambda params, batch: forward(params, batch.token_ids, config, heads_apart=False).logits,
        on_the_way)


def pairs(sizes, dtype=np.float32):
    """An encoder-decoder of these core.encoder_decoder.Sizes; its batches hold source_ids (0 where filled up), target_ids and targets.

    returns  Learner
    """
    def run(params, batch, **more):
        return encoder_decoder.forward(params, batch.source_ids, batch.target_ids, sizes.n_heads, batch.source_ids != 0, **sizes.choices,
                                       **more)

    def on_the_way(params, batch):
        trace = run(params, batch)
        for number, layer in enumerate(trace.encoder):
            yield f"scores of encoder {number}", layer.attention.scores
            yield f"resid_post of encoder {number}", layer.resid_post
        yield "the memory", trace.memory
        for number, layer in enumerate(trace.decoder):
            yield f"scores of decoder {number}", layer.self_attention.scores
            yield f"cross scores of decoder {number}", layer.cross_attention.scores
            yield f"resid_post of decoder {number}", layer.resid_post
        yield "the logits", trace.logits

    return Learner(
        lambda rng, std: encoder_decoder.init_params(sizes, rng, std, dtype),
        lambda params, batch: encoder_decoder_loss_and_grads(
            params, batch.source_ids, batch.target_ids, batch.targets, sizes.n_heads, batch.source_ids != 0, **sizes.choices),
        lambda params, batch: run(params, batch, heads_apart=False).logits,
        on_the_way)


def sorter(sizes, dtype=np.float32):
    """A classifier of these core.classifier.Sizes; its batches hold token_ids (0 where filled up) and targets, one a message.

    returns  Learner
    """
    def on_the_way(params, batch):
        trace = classifier.forward(params, batch.token_ids, sizes, batch.token_ids != 0)
        for number, layer in enumerate(trace.blocks):
            yield f"scores of block {number}", layer.attention.scores
            yield f"resid_post of block {number}", layer.resid_post
        yield "pool_scores", trace.pool_scores
        yield "the logits", trace.logits

    return Learner(
        lambda rng, std: classifier.init_params(sizes, rng, std, dtype),
        lambda params, batch: classifier.loss_and_grads(params, batch.token_ids, batch.targets, sizes, batch.token_ids != 0),
        lambda params, batch: classifier.forward(params, batch.token_ids, sizes, batch.token_ids != 0, heads_apart=False).logits,
        on_the_way)
