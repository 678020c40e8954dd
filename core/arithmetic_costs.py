"""The sum behind every number of memory and work: sizes in, bytes and operations out."""

import math

from core.accounting import count_parameters, forward_flops, kv_cache_bytes_per_token
from core.memory import GB, GIB, PRECISIONS, TRAINING, stored_bytes
from core.roofline import attainable, ridge
from core.sums import explain_steps, explain_sum, number


def _units(name, n_bytes):
    """The same bytes in both units, as steps; the last one is in GiB."""
    return [(f"{name}_{unit}[0]", f"{number(n_bytes)} / {size}", n_bytes / size) for unit, size in (("GB", GB), ("GiB", GIB))]


def explain_cache(config, n_tokens, batch, bytes_per_value):
    """The cache of `batch` texts of n_tokens, from the factors to GiB.

    returns  list of Explanation

    >>> from core.config import ModelConfig
    >>> from core.accounting import published
    >>> explain_cache(published(ModelConfig(3, 4, 2, 1, 1, d_ff=2)), 4, 1, 2)[0].terms[0].right_name
    '2 × 1 × 1 × 2 × 2'
    """
    c, per_token = config, kv_cache_bytes_per_token(config, bytes_per_value)
    n_layers = c.n_decoder_layers or c.n_layers
    factors = (f"{n_layers} × ({c.latent.kv_rank} + {c.latent.d_rope}) × {bytes_per_value}" if c.latent else
               f"2 × {n_layers} × {c.n_kv_heads} × {c.d_head} × {bytes_per_value}")
    total = per_token * n_tokens * batch
    steps = [("bytes_per_token[0]", factors if per_token else "0", per_token),
             ("cache[0]", f"{per_token} × {n_tokens} × {batch}", total), *_units("cache", total)]
    return [explain_steps("cache_GiB[0]", steps, total / GIB)]


def explain_fit(memory_bytes, weight_bytes, bytes_per_token, batch):
    """How many tokens a text fit beside the weights, before rounding down.

    returns  list of Explanation

    >>> explain_fit(100, 40, 7, 2)[0].terms[-1].right_name
    '60 / (7 × 2)'
    """
    left = memory_bytes - weight_bytes
    tokens = left / (bytes_per_token * batch)
    return [explain_steps("tokens[0]", [("left[0]", f"{memory_bytes} - {weight_bytes}", left),
                                        ("tokens[0]", f"{number(left)} / ({bytes_per_token} × {batch})", tokens)], tokens)]


def _parameters(config, active=False):
    """All parameters as the sum of the model's parts."""
    parts = {}
    for row in count_parameters(config).rows:
        parts[f"{row.part}[0]"] = parts.get(f"{row.part}[0]", 0) + (row.active if active else row.count)
    return explain_sum("parameters[0]", parts, sum(parts.values()))


def explain_weights(config, precision):
    """The bytes of all weights at a precision, from the parts of the model to GiB.

    returns  list of Explanation

    >>> from core.config import ModelConfig
    >>> explain_weights(ModelConfig(3, 4, 2, 1, 1, d_ff=2), "16 bit")[1].terms[0].right_name
    '62 × 2'
    """
    count, size = count_parameters(config).total, PRECISIONS[precision]
    total = stored_bytes(count, size)
    return [_parameters(config), explain_steps("weights_GiB[0]", [("weights[0]", f"{count} × {number(size)}", count * size),
                                                                     *_units("weights", total)], total / GIB)]


def explain_training(config, how, kept, part):
    """One part of the memory of a training, to GiB.

    part     "gradients", "optimizer", "weights" or "activations"
    returns  list of Explanation

    >>> from core.config import ModelConfig
    >>> explain_training(ModelConfig(3, 4, 2, 1, 1, d_ff=2), "mixed 16/32", [], "optimizer")[1].terms[0].right_name
    '62 × (4 + 4 + 4)'
    """
    size, count = TRAINING[how], count_parameters(config).total
    if part == "activations":
        numbers = sum(each.count for each in kept)
        total = numbers * size["kept"]
        arrays = [explain_steps(f"{each.name}[0]", [(f"{each.name}[0]", each.formula, each.count)], each.count) for each in kept]
        arrays.append(explain_sum("kept[0]", {f"{each.name}[0]": each.count for each in kept}, numbers))
        return [*arrays, explain_steps("activations_GiB[0]", [("activations[0]", f"{numbers} × {size['kept']}", total),
                                                                 *_units("activations", total)], total / GIB)]
    each = f"({size['m']} + {size['v']} + {size['master']})" if part == "optimizer" else str(size[part])
    total = count * (size["m"] + size["v"] + size["master"] if part == "optimizer" else size[part])
    return [_parameters(config), explain_steps(f"{part}_GiB[0]", [(f"{part}[0]", f"{count} × {each}", total), *_units(part, total)],
                                               total / GIB)]


def explain_flops(config, n_new, n_past):
    """The operations of one pass, part by part, and their sum.

    config   PublishedConfig
    returns  list of Explanation
    raises   ValueError for an encoder-decoder

    >>> from core.accounting import published
    >>> from core.config import ModelConfig
    >>> explain_flops(published(ModelConfig(3, 4, 2, 1, 1, d_ff=2)), 1, 1)[1].terms[0].right_name
    '2 × 1 × 1 × 1 × (1 + 1) × 2'
    """
    c, work = config, forward_flops(config, n_new, n_past)
    rows = [row for row in count_parameters(c).rows if len(row.shape) == 2]
    d_key, d_value = (c.latent.d_nope + c.latent.d_rope, c.latent.d_value) if c.latent else (c.d_head, c.d_head)
    pairs = f"2 × {c.n_layers} × {c.n_heads} × {n_new} × ({n_past} + {n_new})"
    written = {part: f"2 × {n_new} × {sum(row.active for row in rows if row.part == part)}" for part in ("qkv", "attn_out", "feed_forward")}
    written |= {"scores": f"{pairs} × {d_key}", "mixed": f"{pairs} × {d_value}",
                "logits": f"2 × {n_new} × {c.vocab_size if c.head else 0} × {c.d_model}"}
    return [*(explain_steps(f"{part}[0]", [(f"{part}[0]", written[part], count)], count) for part, count in work._asdict().items()),
            explain_sum("operations[0]", {f"{part}[0]": count for part, count in work._asdict().items()}, work.total)]


def explain_bound(one, peak, bandwidth):
    """What a roofline allows a pass: from its operations and bytes to tokens a second.

    one      Pass
    returns  list of Explanation

    >>> from core.roofline import Pass
    >>> explain_bound(Pass("decode", 40, 8, 2, 1), 100.0, 5.0)[0].result
    0.5
    """
    rate = attainable(one.intensity, peak, bandwidth)
    seconds = one.flops / rate
    memory = one.intensity < ridge(peak, bandwidth)
    steps = [("bytes[0]", f"{one.weight_bytes} + {one.cache_bytes}", one.bytes),
             ("intensity[0]", f"{one.flops} / {one.bytes}", one.intensity),
             ("ridge[0]", f"{number(peak)} / {number(bandwidth)}", peak / bandwidth),
             ("rate[0]", f"{number(one.intensity)} × {number(bandwidth)}" if memory else number(peak), rate),
             ("seconds[0]", f"{one.flops} / {number(rate)}", seconds),
             ("tokens_per_second[0]", f"{one.n_tokens} / {number(seconds)}", one.n_tokens / seconds)]
    return [explain_steps("tokens_per_second[0]", steps, one.n_tokens / seconds)]


def explain_layer_costs(costs):
    """The four counts of one layer, with n and d in them, and how many times the one mixing is of the other.

    costs    LayerCosts
    returns  list of Explanation

    >>> from core.costs import layer_costs
    >>> explain_layer_costs(layer_costs(2, 3))[0].terms[0].right_name
    '2² × 3'
    """
    n, d = costs.n, costs.d
    written = {"attention_mixing": f"{n}² × {d}", "recurrent_mixing": f"{n} × {d}²", "attention_layer": f"4 × {n} × {d}² + 2 × {n}² × {d}",
               "recurrent_layer": f"2 × {n} × {d}²"}
    found = [explain_steps(f"{name}[0]", [(f"{name}[0]", expression, getattr(costs, name))], getattr(costs, name))
             for name, expression in written.items()]
    ratio = costs.recurrent_mixing / costs.attention_mixing
    return [*found, explain_steps("ratio[0]", [("ratio[0]", f"{costs.recurrent_mixing} / {costs.attention_mixing}", ratio)], ratio)]


def explain_running_sum(trace, key_block, row, query=None):
    """One query's running sum, block of keys after block, up to the sum that the softmax divides by; every number is the trace's.

    sum[block] = sum[block - 1] · exp(top[block - 1] - top[block]) + Σ exp(score - top[block])

    Hidden keys add nothing and are left out; so are blocks of hidden keys alone.

    trace    BlocksTrace that kept its scores
    query    its number in the text, for the names; row unless given
    returns  list of Explanation
    raises   ValueError for a query that sees nothing

    >>> from core.query_blocks import attend_in_blocks
    >>> explain_running_sum(attend_in_blocks([[1.0]], [[1.0]], [[1.0]], keep=True), 1, 0)[0].terms[0].right_name
    'exp(1 - 1)'
    """
    scores, tops, sums, added = (each[row].tolist() for each in (trace.scores, trace.tops, trace.sums, trace.added))
    if not math.isfinite(tops[-1]):
        raise ValueError(f"Query {row} sees no key, so there is nothing to sum.")
    steps, query, before = [], row if query is None else query, None
    for block, (top, total, own) in enumerate(zip(tops, sums, added, strict=True)):
        seen = [score for score in scores[block * key_block:(block + 1) * key_block] if math.isfinite(score)]
        if not seen:
            continue
        steps.append((f"weights[query {query}, block {block}]", " + ".join(f"exp({number(score)} - {number(top)})" for score in seen), own))
        shrunk = "0" if before is None else f"{number(sums[before])} × exp({number(tops[before])} - {number(top)})"
        steps.append((f"sum[query {query}, block {block}]", f"{shrunk} + {number(own)}", total))
        before = block
    return [explain_steps(steps[-1][0], steps, sums[-1])]
