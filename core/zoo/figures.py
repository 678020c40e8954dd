"""What is measured on a trained model, always on sequences that training never drew."""

import numpy as np

from core import lens, tasks, training
from core.transformer import forward

FRESH = 1000  # sequences, from a seed of their own


def fresh(task, n=FRESH):
    """Sequences that training never draws: its batches come from [seed, 1], these from [4096, 2].

    returns  a batch
    """
    return task.draw(np.random.default_rng([4096, 2]), n)


def places(params, recipe):
    """Accuracy; how much the heads look at the places that hold the answer; accuracy with these heads off, and with another one off.

    "heads" are those of the block that looks most whose weight there is at least half of the best one's; "another" is the one of the other
    heads in that block whose loss costs most.

    returns  {figure: number or text}
    """
    batch, learner = fresh(recipe.task), recipe.learner
    looks = head_looks(params, recipe, batch)
    block = int(looks.max(axis=1).argmax())
    named = [int(head) for head in np.flatnonzero(looks[block] >= looks[block].max() / 2)]
    found = {"accuracy": training.accuracy(learner, params, batch), "whole answers": training.whole_answers(learner, params, batch),
             "block": block, "heads": named, "looks": float(looks.max()),
             "looks untrained": float(head_looks(recipe.begin(), recipe, batch).max()),
             "without them": without(params, recipe, [(block, head) for head in named], batch)}
    others = [without(params, recipe, [(block, head)], batch) for head in range(looks.shape[1]) if head not in named]
    return found | ({"without another": min(others)} if others else {})


def without(params, recipe, heads, batch):
    """Accuracy with some heads switched off.

    heads    [(block, head)]
    returns  float from 0 to 1
    """
    return training.accuracy(recipe.learner, lens.without_heads(params, heads, recipe.config.d_head), batch)


def agreement(params, recipe):
    """As `places`; and how much the head that looks most at the subject looks at the nouns in between.

    returns  {figure: number or text}
    """
    found, batch = places(params, recipe), fresh(recipe.task)
    between = head_looks(params, recipe, batch, tasks.attractors(batch))
    return found | {"attractors": float(between[found["block"]][head_looks(params, recipe, batch)[found["block"]].argmax()])}


def induction(params, recipe):
    """As `places`; and the previous-token head of the first block, with accuracy without it and without the block's other heads.

    returns  {figure: number or text}
    """
    batch = fresh(recipe.task)
    trace = forward(params, batch.token_ids, recipe.config, heads_apart=False)
    scores = [float(lens.previous_token_score(head).mean()) for head in trace.blocks[0].attention.pattern.swapaxes(0, 1)]
    best = int(np.argmax(scores))
    others = [without(params, recipe, [(0, head)], batch) for head in range(len(scores)) if head != best]
    return places(params, recipe) | {"previous-token head": best, "previous-token score": max(scores),
                                     "without the previous-token head": without(params, recipe, [(0, best)], batch),
                                     "without its neighbour": min(others)}


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
