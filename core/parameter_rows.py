"""The arrays of a published model, part by part: name, shape, how often, and why."""

import math
from typing import NamedTuple

from core.published_config import GATED


class ParameterRow(NamedTuple):
    """One kind of array: its path as `init_params` has it ([i]: in each layer, [j]: in each expert), and why it has this size."""

    name: str
    shape: tuple[int, ...]
    times: int     # how often it occurs
    count: int     # numbers in all of them together
    reason: str
    part: str      # "embedding", "norm", "qkv", "attn_out", "feed_forward", "logits", "pooler" or "relative"
    active: int    # numbers that one token uses: less than count for experts alone


def row(name, shape, reason, part, times=1, used=None):
    """A ParameterRow with its counts: count = times · product of the shape; used is how many of them one token uses.

    >>> row("w", (2, 3), "", "norm", times=4, used=1)[3::3]
    (24, 6)
    """
    size = math.prod(shape)
    return ParameterRow(name, tuple(shape), times, times * size, reason, part, (times if used is None else used) * size)


def embedding_rows(c):
    """What stands before the first block.

    returns  list of ParameterRow
    """
    d = c.d_model
    rows = [row("w_embed", (c.vocab_size, d), "one row a token of the vocabulary" + ("; also the output's" if c.tied and c.head else ""),
                "embedding")]
    if c.positions == "learned":
        rows.append(row("w_pos", (c.n_ctx, d), "one row a position", "embedding"))
    if c.n_token_types:
        rows.append(row("w_types", (c.n_token_types, d), "one row for each kind of segment", "embedding"))
    if c.positions == "relative":
        stacks = 2 if c.kind == "encoder-decoder" else 1
        rows.append(row("w_relative", (c.n_buckets, c.n_heads), "one number a bucket of distances and head, one table a stack", "relative",
                        stacks))
    return rows + (norm_rows(c, "embedding_norm") if c.embedding_norm else [])


def norm_rows(c, name, times=1, width=None):
    """A norm: a gain for each feature, and an offset where it has one.

    returns  list of ParameterRow; none for norm "none"
    """
    width = c.d_model if width is None else width
    rows = [] if c.norm == "none" else [row(f"{name}.gain", (width,), "one a feature", "norm", times)]
    offset = c.norm == "layer" and "norm" in c.biases
    return rows + ([row(f"{name}.offset", (width,), "one a feature", "norm", times)] if offset else [])


def block_rows(c, block, times, attentions):
    """One stack of `times` equal blocks: its attentions, its feed-forward layer, and a norm for each.

    returns  list of ParameterRow
    """
    rows, norms = [], 0
    for attention in attentions:
        norms += 1
        rows += norm_rows(c, f"{block}.norm_{norms}", times)
        rows += (latent_rows if c.latent else attention_rows)(c, f"{block}.{attention}", times)
        rows += norm_rows(c, f"{block}.norm_{norms}_after", times) if c.norms_per_block == 4 else []
    if not (c.d_ff or c.experts):
        return rows
    if c.norms_per_block > 1:
        norms += 1
        rows += norm_rows(c, f"{block}.norm_{norms}", times)
    n_dense = c.experts.n_dense_layers if c.experts else times
    if n_dense:
        rows += feed_forward_rows(c, f"{block}.feed_forward", c.d_ff, n_dense)
    if c.experts:
        rows += expert_rows(c, block, times - n_dense)
    return rows + (norm_rows(c, f"{block}.norm_{norms}_after", times) if c.norms_per_block == 4 else [])


def attention_rows(c, name, times):
    """Fused queries, keys and values, and what joins the heads: d_model · (n_heads + 2 n_kv_heads) · d_head + n_heads · d_head · d_model.

    returns  list of ParameterRow
    """
    inner, width = c.n_heads * c.d_head, (c.n_heads + 2 * c.n_kv_heads) * c.d_head
    rows = [row(f"{name}.w_qkv", (c.d_model, width), "d_model × (n_heads + 2 n_kv_heads) · d_head", "qkv", times),
            row(f"{name}.w_o", (inner, c.d_model), "n_heads · d_head × d_model", "attn_out", times)]
    if "qkv" in c.biases:
        rows.append(row(f"{name}.b_qkv", (width,), "one a column of w_qkv", "qkv", times))
    if "o" in c.biases:
        rows.append(row(f"{name}.b_o", (c.d_model,), "one a feature", "attn_out", times))
    if c.qk_norm:
        rows += [row(f"{name}.{which}_norm.gain", (c.d_head,), "one a feature of a head", "norm", times) for which in "qk"]
    return rows


def latent_rows(c, name, times):
    """Latent attention: down to a narrow vector, a norm, and up to every head.

    returns  list of ParameterRow
    source   DeepSeek-AI 2024, "DeepSeek-V2", section 2.1
    """
    m, heads, d = c.latent, c.n_heads, c.d_model
    query = heads * (m.d_nope + m.d_rope)
    if m.q_rank is None:
        rows = [row(f"{name}.w_q", (d, query), "d_model × n_heads · (d_nope + d_rope)", "qkv", times)]
    else:
        rows = [row(f"{name}.w_q_down", (d, m.q_rank), "d_model × q_rank", "qkv", times), *norm_rows(c, f"{name}.q_norm", times, m.q_rank),
                row(f"{name}.w_q_up", (m.q_rank, query), "q_rank × n_heads · (d_nope + d_rope)", "qkv", times)]
    return [*rows, row(f"{name}.w_kv_down", (d, m.kv_rank + m.d_rope), "d_model × (kv_rank + d_rope)", "qkv", times),
            *norm_rows(c, f"{name}.kv_norm", times, m.kv_rank),
            row(f"{name}.w_kv_up", (m.kv_rank, heads * (m.d_nope + m.d_value)), "kv_rank × n_heads · (d_nope + d_value)", "qkv", times),
            row(f"{name}.w_o", (heads * m.d_value, d), "n_heads · d_value × d_model", "attn_out", times)]


def feed_forward_rows(c, name, d_ff, times, used=None, inner="d_ff"):
    """Two matrices, or three where there is a gate, with their biases.

    returns  list of ParameterRow
    """
    gated, d = c.activation in GATED, c.d_model
    rows = [("w_in", (d, d_ff), f"d_model × {inner}"), ("w_out", (d_ff, d), f"{inner} × d_model")]
    rows += [("w_gate", (d, d_ff), f"d_model × {inner}, the gate")] if gated else []
    rows += [("b_in", (d_ff,), "one a hidden feature"), ("b_out", (d,), "one a feature")] if "ff" in c.biases else []
    rows += [("b_gate", (d_ff,), "one a hidden feature")] if gated and "gate" in c.biases else []
    return [row(f"{name}.{array}", shape, reason, "feed_forward", times, used) for array, shape, reason in rows]


def expert_rows(c, block, times):
    """The router and the experts of `times` layers; one token uses n_used of them, and all shared ones.

    returns  list of ParameterRow
    source   Jiang et al. 2024, "Mixtral of Experts", section 2.1; DeepSeek-AI 2024, "DeepSeek-V3", section 2.1.2 (shared experts)
    """
    e = c.experts
    rows = [row(f"{block}.router.w", (c.d_model, e.n_experts), "d_model × n_experts", "feed_forward", times)]
    if e.router_bias:
        rows.append(row(f"{block}.router.b", (e.n_experts,), "one an expert", "feed_forward", times))
    rows += feed_forward_rows(c, f"{block}.experts[j]", e.d_expert, times * e.n_experts, times * e.n_used, "d_expert")
    return rows + (feed_forward_rows(c, f"{block}.shared[j]", e.d_expert, times * e.n_shared, inner="d_expert") if e.n_shared else [])
