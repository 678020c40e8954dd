"""The key-value cache: with it a step reads its new tokens alone, without it the whole text again. Both are run here and counted.

Counted are the multiply-adds of the matrix products: one multiplication and one addition for each number of a row times a column.
Norms, softmax, bends and position waves are left out; they grow with the rows, not with rows times columns.
"""

from typing import NamedTuple

import numpy as np

from core.sums import explain_steps, explain_sum
from core.transformer import forward


class MultiplyAdds(NamedTuple):
    """How many multiply-adds each kind of matrix product took, over all blocks."""

    qkv: int           # normed stream · w_qkv
    scores: int        # queries · keys
    mixed: int         # pattern · values
    attn_out: int      # joined heads · w_o
    feed_forward: int  # · w_in, · w_out (and · w_gate)
    logits: int        # final · table

    @property
    def total(self):
        """All of them."""
        return sum(self)


def multiply_adds(config, n_new, n_past=0):
    """The multiply-adds of one forward pass, by formula, for n_new tokens after n_past whose keys and values are kept.

    qkv      n_layers · n_new · d_model · (n_heads + 2 n_kv_heads) · d_head
    scores   n_layers · n_heads · n_new · (n_past + n_new) · d_head          (mixed: the same)
    attn_out n_layers · n_new · n_heads · d_head · d_model
    feed_forward  n_layers · n_new · 2 · d_model · d_ff                      (3 instead of 2 for swiglu)
    logits   n_new · d_model · vocab_size

    Scores are counted as they are computed: hidden ones too, which the mask then removes.

    returns  MultiplyAdds

    >>> from core.config import ModelConfig
    >>> multiply_adds(ModelConfig(3, 4, 2, 1, 1, d_ff=2), 1, 1)
    MultiplyAdds(qkv=12, scores=4, mixed=4, attn_out=4, feed_forward=8, logits=6)
    """
    rows, inner, n_keys = config.n_layers * n_new, config.n_heads * config.d_head, n_past + n_new
    return MultiplyAdds(
        qkv=rows * config.d_model * (config.n_heads + 2 * config.n_kv_heads) * config.d_head,
        scores=rows * n_keys * inner, mixed=rows * n_keys * inner, attn_out=rows * inner * config.d_model,
        feed_forward=rows * (3 if config.activation == "swiglu" else 2) * config.d_model * config.d_ff,
        logits=n_new * config.d_model * config.vocab_size)


def counted(trace, params):
    """The multiply-adds of a pass that has run, from the arrays that were really multiplied: numbers on the left · columns on the right.

    trace    ModelTrace of one text
    params   the parameters it ran with
    returns  MultiplyAdds
    """
    qkv = scores = mixed = attn_out = feed_forward = 0
    for block, layer in zip(trace.blocks, params["blocks"], strict=True):
        attention = block.attention
        qkv += block.attn_in.size * layer["attention"]["w_qkv"].shape[1]
        scores += attention.raw_scores.size * attention.q.shape[-1]
        mixed += attention.pattern.size * attention.v.shape[-1]
        attn_out += attention.mixed.size * layer["attention"]["w_o"].shape[1]
        if block.feed_forward is not None:
            widened = [layer["feed_forward"][name].shape[1] for name in ("w_in", "w_gate") if name in layer["feed_forward"]]
            feed_forward += block.ff_in.size * sum(widened)
            feed_forward += block.feed_forward.hidden_post.size * layer["feed_forward"]["w_out"].shape[1]
    table = params.get("w_unembed", params["w_embed"])
    return MultiplyAdds(qkv, scores, mixed, attn_out, feed_forward, trace.final.size * len(table))


def cache_bytes(config, n_tokens, bytes_per_number):
    """The size of the cache for a text: a key and a value for each token, in every key/value head of every block.

    bytes = 2 · n_layers · n_kv_heads · n_tokens · d_head · bytes_per_number

    returns  int
    source   Pope et al. 2022, "Efficiently Scaling Transformer Inference"

    >>> from core.config import ModelConfig
    >>> cache_bytes(ModelConfig(3, 4, 2, 1, 1), 5, 8)
    160
    """
    return 2 * config.n_layers * config.n_kv_heads * n_tokens * config.d_head * bytes_per_number


def explain_multiply_adds(config, n_new, n_past, found, step=0):
    """The formula of `multiply_adds` with its numbers in it, against what was counted.

    found    MultiplyAdds as `counted` found them; step: the number of the step, for the names
    returns  list of Explanation: one for each part, then their sum

    >>> from core.config import ModelConfig
    >>> tiny = ModelConfig(3, 4, 2, 1, 1, d_ff=2)
    >>> explain_multiply_adds(tiny, 1, 1, multiply_adds(tiny, 1, 1))[1].terms[0].right_name
    '1 × 1 × 1 × (1 + 1) × 2'
    """
    c = config
    looks = f"{c.n_layers} × {c.n_heads} × {n_new} × ({n_past} + {n_new}) × {c.d_head}"
    written = {"qkv": f"{c.n_layers} × {n_new} × {c.d_model} × ({c.n_heads} + 2 × {c.n_kv_heads}) × {c.d_head}", "scores": looks,
               "mixed": looks, "attn_out": f"{c.n_layers} × {n_new} × {c.n_heads} × {c.d_head} × {c.d_model}",
               "feed_forward": f"{c.n_layers} × {n_new} × {3 if c.activation == 'swiglu' else 2} × {c.d_model} × {c.d_ff}",
               "logits": f"{n_new} × {c.d_model} × {c.vocab_size}"}
    expected = multiply_adds(config, n_new, n_past)._asdict()
    parts = [explain_steps(f"{name}[{step}]", [(f"{name}[{step}]", expression, expected[name])], getattr(found, name))
             for name, expression in written.items()]
    return [*parts, explain_sum(f"multiply_adds[{step}]", {f"{name}[{step}]": count for name, count in expected.items()}, found.total)]


class CacheStep(NamedTuple):
    """One step of writing, run with the cache and without it."""

    positions: range          # of the tokens that the step reads with the cache; without it: all from 0
    read: tuple[int, ...]     # their ids
    chosen: int               # the next token: the largest logit, the first of equals
    cached: MultiplyAdds      # counted on what ran with the cache
    full: MultiplyAdds        # counted on what ran without it
    cached_formula: MultiplyAdds
    full_formula: MultiplyAdds
    bytes: int                # held by the cache after the step, as it lies in memory
    bytes_formula: int
    cached_logits: np.ndarray  # (vocab_size,) after the last token
    full_logits: np.ndarray    # (vocab_size,)
    gap: float                # the largest difference between the two, over all tokens read in the step


class Totals(NamedTuple):
    """The multiply-adds of all steps together."""

    cached: int    # with the cache
    full: int      # without it
    times: float   # full / cached


def totals(steps):
    """What all steps of `side_by_side` cost together.

    returns  Totals
    """
    cached, full = sum(step.cached.total for step in steps), sum(step.full.total for step in steps)
    return Totals(cached, full, full / cached)


def side_by_side(params, token_ids, config, n_new):
    """Read a prompt, then n_new tokens of its own writing, each step once with a key-value cache and once without.

    Step 0 reads the prompt; each later step reads the token that the step before chose, at the position after the last.

    token_ids  (n_tokens,) the prompt
    returns    list of CacheStep, n_new + 1 of them
    raises     ValueError where the text would be longer than the model's context
    source     Pope et al. 2022, "Efficiently Scaling Transformer Inference"
    """
    ids = [int(i) for i in token_ids]
    if len(ids) + n_new > config.n_ctx:
        raise ValueError(f"The model reads at most {config.n_ctx} tokens; {len(ids)} and {n_new} more are {len(ids) + n_new}.")
    read, cache, steps = list(ids), [], []
    for _ in range(n_new + 1):
        n_past = len(ids) - len(read)
        cached = forward(params, np.array(read), config, cache, heads_apart=False)
        full = forward(params, np.array(ids), config, heads_apart=False)
        chosen = int(cached.logits[-1].argmax())
        steps.append(CacheStep(
            range(n_past, len(ids)), tuple(read), chosen, counted(cached, params), counted(full, params),
            multiply_adds(config, len(read), n_past), multiply_adds(config, len(ids)),
            sum(part.nbytes for kept in cache for part in kept), cache_bytes(config, len(ids), cached.logits.itemsize),
            cached.logits[-1], full.logits[-1], float(abs(cached.logits - full.logits[n_past:]).max())))
        read = [chosen]
        ids.append(chosen)
    return steps
