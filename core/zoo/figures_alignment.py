"""What is measured on the model of dates, always on dates that training never drew in any form."""

import copy

import numpy as np

from core import encoder_decoder, tasks_dates, training

FRESH = 1000  # dates


def measured(params, recipe):
    """Accuracy by characters and by whole dates; how much the head of the cross-attention that looks most looks at what is being written;
    the same before training; and how many whole dates are right with that head off, and with another one off.

    returns  {figure: number, text or list}
    """
    dates, learner = tasks_dates.draw(np.random.default_rng([4096, 2]), FRESH, fresh=True), recipe.learner
    looks = looked(params, recipe, dates)
    layer, head = np.unravel_index(looks.mean(axis=-1).argmax(), looks.shape[:2])
    off = {(i, h): training.whole_answers(learner, without(params, i, h, recipe.config), dates) for i, h in np.ndindex(looks.shape[:2])}
    return {"accuracy": training.accuracy(learner, params, dates), "whole answers": training.whole_answers(learner, params, dates),
            "best head": f"layer {layer} head {head}", "looks": float(looks[layer, head].mean()),
            "looks by character": [round(float(each), 4) for each in looks[layer, head]],
            "looks untrained": float(looked(recipe.begin(), recipe, dates).mean(axis=-1).max()), "without it": off.pop((layer, head)),
            "without another": min(off.values(), default=float("nan"))}


def looked(params, recipe, dates):
    """The mean weight that each head of the cross-attention puts on the characters that say the one being written.

    returns  (n_layers, n_heads, 8): the eight digits of an ISO date, the hyphens left out
    """
    where = tasks_dates.looks_at(dates)
    digits = np.flatnonzero(where.any(axis=(0, 2)))
    trace = encoder_decoder.forward(params, dates.source_ids, dates.target_ids, recipe.config.n_heads, dates.source_ids != 0,
                                    **recipe.config.choices, heads_apart=False)
    return np.array([[(head * where).sum(axis=-1).mean(axis=0)[digits] for head in layer.cross_attention.pattern.swapaxes(0, 1)]
                     for layer in trace.decoder], dtype=np.float64)


def without(params, layer, head, sizes):
    """The parameters with one head of the cross-attention switched off: what it would write to the stream is 0.

    returns  a copy in the layout of `params`
    """
    changed, d_head = copy.deepcopy(params), sizes.d_model // sizes.n_heads
    changed["decoder"][layer]["cross_attention"]["w_o"][head * d_head:(head + 1) * d_head] = 0
    return changed
