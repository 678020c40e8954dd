"""What is measured on a trained model, always on sequences that training never drew."""

import numpy as np

from core import lens, training
from core.transformer import forward

FRESH = 1000  # sequences, from a seed of their own


def fresh(task, n=FRESH):
    """Sequences that training never draws: its batches come from [seed, 1], these from [4096, 2].

    returns  a batch
    """
    return task.draw(np.random.default_rng([4096, 2]), n)


def places(params, recipe):
    """Accuracy; how much each head looks at the places that hold the answer; accuracy without the best head, and without another.

    returns  {figure: number or text}
    """
    batch, learner, config = fresh(recipe.task), recipe.learner, recipe.config
    looks = head_looks(params, recipe, batch)
    best = np.unravel_index(looks.argmax(), looks.shape)
    without = {(block, head): training.accuracy(learner, lens.without_heads(params, [(block, head)], config.d_head), batch)
               for block in range(config.n_layers) for head in range(config.n_heads)}
    others = [value for head, value in without.items() if head != best]
    return {"accuracy": training.accuracy(learner, params, batch), "whole answers": training.whole_answers(learner, params, batch),
            "best head": f"block {best[0]} head {best[1]}", "looks": float(looks.max()), "without it": without[best],
            "without another": min(others, default=float("nan"))}


def head_looks(params, recipe, batch=None, where=None):
    """The mean weight that each head puts on the places that hold the answer, over the queries that are asked.

    where    bool (n_sequences, n_tokens, n_tokens), the task's own places unless given
    returns  (n_layers, n_heads)
    """
    batch = fresh(recipe.task) if batch is None else batch
    where = recipe.task.looks_at(batch) if where is None else where
    trace = forward(params, batch.token_ids, recipe.config, heads_apart=False)
    asked = where.any(axis=-1)
    return np.array([[(head * where).sum(axis=-1)[asked].mean() for head in layer.attention.pattern.swapaxes(0, 1)]
                     for layer in trace.blocks], dtype=np.float64)


def nasi(params, recipe):
    """P("l" after "nasi "), and the loss on fresh windows.

    returns  {figure: number}
    """
    batch = fresh(recipe.task)
    trace = forward(params, recipe.task.encode("nasi "), recipe.config)
    return {"accuracy": training.accuracy(recipe.learner, params, batch),
            "P(l | nasi␣)": float(trace.probs[recipe.task.vocabulary.index("l")]),
            "loss": float(recipe.learner.loss_and_grads(params, batch)[0])}
