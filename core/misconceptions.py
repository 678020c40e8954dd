"""Nine things that people believe about attention, each as an experiment that can show on a text that it is wrong.

Each function returns a Found. `refuted` says whether this text shows it; False says no more than that this text does not.
"""

from typing import NamedTuple

import numpy as np

from core import arithmetic
from core.attention import attend, causal_mask, self_attention
from core.classifier import forward
from core.draws import projection, token_vectors
from core.experiments import mask_three_ways, moved
from core.order import equal_words, largest_gap, reordered
from core.softmax import softmax
from core.sums import explain_steps, explain_sum, number
from core.transformer import init_params


class Found(NamedTuple):
    """What an experiment came to on one text."""

    refuted: bool  # did it show that the belief is wrong?
    figures: dict  # {name: number}: what there is to say of it
    arrays: dict   # {name: array}: what there is to see of it


def knows_order(x, w_q, w_k, w_v):
    """"Attention knows the order of the words." Turn the text round and compare what each word gets.

    x        (n_tokens, d_model), without positions; no mask
    returns  Found: "gap", the largest difference of a word's output; "before", "after" (n_tokens, d_head), a row a word

    >>> knows_order(np.eye(2), *[np.eye(2)] * 3).refuted
    True
    """
    trace = reordered(x, w_q, w_k, w_v, np.arange(len(x))[::-1])
    gap = float(abs(trace.difference).max(initial=0.0))
    another_order = bool((x != x[::-1]).any())
    return Found(another_order and gap < 1e-9, {"gap": gap}, {"before": trace.before.mixed, "after": trace.matched})


def understands_meaning(tokens, x, w_q, w_k, w_v):
    """"Attention understands what a word means." Compare the same word at two places, whatever it means there.

    tokens   list of str; x: (n_tokens, d_model), equal tokens have equal rows; no positions, no mask
    returns  Found: "gap", the largest difference between rows of the pattern of equal words; "places" of the first word that comes
             again; "pattern" (n_tokens, n_tokens)

    >>> understands_meaning(["a", "b", "a"], np.eye(2)[[0, 1, 0]], *[np.eye(2)] * 3).refuted
    True
    """
    pattern = self_attention(x, w_q, w_k, w_v).pattern
    places = list(equal_words(tokens).values())
    gap = max((largest_gap(pattern[each]) for each in places), default=np.nan)
    return Found(bool(gap < 1e-12), {"gap": float(gap), "n_words": len(places)},
                 {"pattern": pattern, "places": np.array(places[0] if places else [], dtype=int)})


def random_patterns_mean_something(tokens, seed, n_seeds=200, d_model=8, d_head=4):
    """"A pattern says something, also in a model that never learned." Draw the model again and again: does the favourite stay?

    The last word's favourite is the key with its largest weight. The seeds are seed, seed + 1, …

    returns  Found: "share", the part of the seeds in which the commonest favourite is it; "n_words", different ones; "favourites"
             (n_tokens,) counts; "pattern", "other" (n_tokens, n_tokens) of the first two seeds. Not refuted where all words are the same.
    """
    patterns = []
    for each in range(seed, seed + n_seeds):
        x = token_vectors(tokens, each, d_model)
        q, k = (x @ projection(each, name, d_model, d_head) for name in ("w_q", "w_k"))
        patterns.append(attend(q, k, k).pattern)
    places = [list(tokens).index(tokens[pattern[-1].argmax()]) for pattern in patterns]  # of equal words the first
    favourites = np.bincount(places, minlength=len(tokens))
    share, n_words = float(favourites.max() / n_seeds), len(set(tokens))
    return Found(share < 0.5 and n_words > 1, {"share": share, "n_seeds": n_seeds, "n_words": n_words},
                 {"favourites": favourites, "pattern": patterns[0], "other": patterns[1]})


def words_are_tokens(words, pieces, text):
    """"A token is a word." Count both.

    words, pieces  lists: the words of a text, and the pieces that a tokenizer cuts it into
    returns        Found: "counts" of words, tokens, characters and bytes

    >>> words_are_tokens(["low"], [b"l", b"ow"], "low").arrays["counts"].tolist()
    [1, 2, 3, 3]
    """
    counts = np.array([len(words), len(pieces), len(text), len(text.encode())])
    return Found(len(words) != len(pieces), {"n_words": len(words), "n_tokens": len(pieces)}, {"counts": counts})


def every_token_sees_all(x, w_q, w_k, w_v, other):
    """"Every token sees the whole sentence." In a decoder: change the last word, and look which outputs notice.

    other    (d_model,) another vector for the last word
    returns  Found: "n_seen" by the first word; "moved" (n_tokens,) the largest change of each output; "pattern", "visible"
    """
    visible = causal_mask(len(x))
    before, after = (self_attention(each, w_q, w_k, w_v, visible) for each in (x, np.vstack([x[:-1], other])))
    change = moved(before.mixed, after.mixed)
    return Found(len(x) > 1 and not change[:-1].any() and bool(change[-1]), {"n_seen": int(visible[0].sum())},
                 {"moved": change, "pattern": before.pattern, "visible": visible})


def weights_explain(token_ids, params, own):
    """"The attention weights are why the model answered so." Turn a trained classifier's weights round, and ask it again.

    The largest share of a word becomes the smallest: softmax of minus the scores. All else stays.

    token_ids  (n_tokens,); own: core.classifier.Sizes
    returns    Found: "distance", the part of the weight that moved to other words; "shares", "turned" (n_tokens,); "probs", "other"
               (n_classes,). Refuted where a quarter of the weight or more moved and the answer is the same.
    source     after Jain & Wallace 2019, "Attention is not Explanation", section 4
    """
    trace = forward(params, token_ids, own)
    turned = softmax(-trace.pool_scores)
    other = softmax(turned @ trace.final @ params["w_classes"] + params["b_classes"])
    distance = float(abs(turned - trace.pool_pattern).sum() / 2)
    kind = int(trace.probs.argmax())
    return Found(distance >= 0.25 and kind == int(other.argmax()),
                 {"distance": distance, "kind": kind, "probability": float(trace.probs[kind]), "with others": float(other[kind])},
                 {"shares": trace.pool_pattern, "turned": turned, "probs": trace.probs, "other": other})


def more_context_helps(token_ids, context_ids, params, own):
    """"The more context, the better." Put a sentence about something else before a message, and ask a trained classifier again.

    returns  Found: "kind" of the message alone, "alone" and "with it", its probability then; "probs", "other" (n_classes,).
             Refuted where the probability falls by 0.01 or more.
    """
    alone, other = (forward(params, ids, own).probs for ids in (token_ids, np.concatenate([context_ids, token_ids])))
    kind = int(alone.argmax())
    return Found(bool(alone[kind] - other[kind] >= 0.01),
                 {"kind": kind, "alone": float(alone[kind]), "with it": float(other[kind]), "answer": int(other.argmax())},
                 {"probs": alone, "other": other})


def masking_afterwards_is_as_good(x, w_q, w_k, w_v, other):
    """"Whether one masks before or after the softmax is the same." Zero the future weights after it, and look at the rows.

    other    (d_model,) another vector for the last word, to see whether the past notices
    returns  Found: "least", the smallest row sum; "leak", the largest change of an earlier weight; "sums" (n_tokens,);
             "masked", "zeroed" (n_tokens, n_tokens)
    """
    visible = causal_mask(len(x))
    ways = mask_three_ways(self_attention(x, w_q, w_k, w_v).scores, visible)
    after = mask_three_ways(self_attention(np.vstack([x[:-1], other]), w_q, w_k, w_v).scores, visible)
    leak = float(abs(after.zeroed - ways.zeroed)[:-1].max(initial=0.0))
    return Found(bool(ways.zeroed_sums.min() < 1 - 1e-9), {"least": float(ways.zeroed_sums.min()), "leak": leak},
                 {"sums": ways.zeroed_sums, "masked": ways.before, "zeroed": ways.zeroed})


def more_heads_more_parameters(configs):
    """"More heads, more parameters." Draw the attention of models that differ in their heads alone, and count what was drawn.

    configs  ModelConfig, one for each number of heads
    returns  Found: "n_heads", "counts" (n,), the numbers in the attention of the first block

    >>> from core.config import ModelConfig
    >>> more_heads_more_parameters([ModelConfig(9, 5, 4, 1, n_heads) for n_heads in (1, 2)]).arrays["counts"].tolist()
    [80, 80]
    """
    counts = []
    for config in configs:
        drawn = init_params(config, np.random.default_rng(0))["blocks"][0]["attention"]
        counts.append(sum(array.size for array in drawn.values()))
    counts = np.array(counts)
    return Found(len(counts) > 1 and bool((counts == counts[0]).all()), {"count": int(counts[0])},
                 {"n_heads": np.array([config.n_heads for config in configs]), "counts": counts})


# ------------------------------------------------------------------------------------------- the sums behind the verdicts


def explain_order(found, x, w_q, w_k, w_v):
    """The same number of the first word, as the sum over the text and over the text turned round: the same terms in another order.

    returns  list of Explanation
    """
    trace = reordered(x, w_q, w_k, w_v, np.arange(len(x))[::-1])
    last = len(x) - 1
    after = arithmetic.explain(trace.after, "mixed", last, 0)
    return [arithmetic.explain(trace.before, "mixed", 0, 0), after._replace(value=float(found.arrays["after"][0, 0]))]


def explain_meaning(found, x, w_q, w_k, w_v):
    """The same weight in the rows of the same word at two places; of the first word where none comes twice."""
    trace = self_attention(x, w_q, w_k, w_v)
    rows = found.arrays["places"][:2].tolist() or [0]
    return [arithmetic.explain(trace, stage, row, 0) for row in rows for stage in ("raw_scores", "scores", "pattern")]


def explain_share(found):
    """The commonest favourite's part of all random models."""
    most = int(found.arrays["favourites"].max())
    return [explain_steps("share", [("share", f"{most} / {found.figures['n_seeds']}", most / found.figures["n_seeds"])],
                          found.figures["share"])]


def explain_tokens(found):
    """Tokens for each word."""
    words, tokens = found.figures["n_words"], found.figures["n_tokens"]
    return [explain_steps("tokens_per_word", [("tokens_per_word", f"{tokens} / {words}", tokens / words)], tokens / words)]


def explain_sight(found, x, w_q, w_k, w_v):
    """The one weight of the first word, and the first of the last word, behind a causal mask."""
    trace, visible = self_attention(x, w_q, w_k, w_v, found.arrays["visible"]), found.arrays["visible"]
    return [arithmetic.explain(trace, stage, row, 0, visible=visible) for row in dict.fromkeys((0, len(x) - 1))
            for stage in ("raw_scores", "scores", "pattern")]


def explain_turn(found):
    """The weight that moved to other words: the sum of what words gained."""
    gained = np.maximum(found.arrays["turned"] - found.arrays["shares"], 0)
    return [explain_sum("moved", {f"gained[{i}]": float(each) for i, each in enumerate(gained)}, found.figures["distance"])]


def explain_loss(found):
    """What the probability lost."""
    alone, with_it = found.figures["alone"], found.figures["with it"]
    return [explain_steps("lost", [("lost", f"{number(alone)} - {number(with_it)}", alone - with_it)], alone - with_it)]


def explain_row_sum(found):
    """The smallest row sum of the weights that were zeroed after the softmax."""
    row = int(found.arrays["sums"].argmin())
    parts = {f"zeroed[{row}, {j}]": float(weight) for j, weight in enumerate(found.arrays["zeroed"][row])}
    return [explain_sum(f"row_sum[{row}]", parts, found.figures["least"])]


def explain_heads(config):
    """The numbers in the attention of a block, whatever the number of heads."""
    d, total = config.d_model, 4 * config.d_model**2 + 4 * config.d_model
    return [explain_steps("parameters", [("w_qkv", f"{d} × 3 × {d}", 3 * d * d), ("b_qkv", f"3 × {d}", 3 * d), ("w_o", f"{d} × {d}", d * d),
                                         ("b_o", f"{d} × 1", d), ("parameters", f"{3 * d * d} + {3 * d} + {d * d} + {d}", total)],
                          total)]
