"""Questions about size and cost: parameters, the cache of keys and values, and how work grows with the text."""

from core.accounting import count_parameters, forward_flops, kv_cache_bytes_per_token
from core.config import ModelConfig
from core.costs import layer_costs, mixing_ratio
from core.questions.asking import PAPER, Question, Slip, kind, on_paper
from core.sums import explain_steps, explain_sum


def _config(d_model=8, n_heads=2, n_layers=1, vocab_size=10, n_kv_heads=None):
    """A model without biases and norms, so that its matrices alone are counted."""
    return ModelConfig(vocab_size, 16, d_model, n_layers, n_heads, n_kv_heads=n_kv_heads, norm="none", bias=False, positions="none")


@kind("cost", "parameters", "Parameters of a block")
def block_parameters(rng):
    """How many numbers the matrices of one block hold."""
    d = int(rng.choice([2, 4, 8, 10, 20, 100]))
    rows = [row for row in count_parameters(_config(d)).rows if row.part in ("qkv", "attn_out", "feed_forward")]
    right = sum(row.count for row in rows)
    return Question(f"A block has d_model = {d} and d_ff = 4 · d_model, with no biases and no learned norms. How many parameters do its "
                    "matrices hold: w_q, w_k, w_v, w_o, w_in and w_out together?", "whole", right, hint=PAPER,
                    slips=(Slip(11 * d * d, "w_o is missing."), Slip(4 * d * d, "the feed-forward layer is missing."),
                           Slip(8 * d * d, "attention is missing.")),
                    working=(explain_sum("block", {f"{row.name} ({' × '.join(map(str, row.shape))})": row.count for row in rows}, right),
                             f"In short: 4 d² + 8 d² = 12 · {d}²."))


@kind("cost", "parameters", "A table of embeddings")
def embedding_parameters(rng):
    """How many numbers a tied table of embeddings holds."""
    vocab_size, d = int(rng.choice([50, 100, 300, 1000])), int(rng.choice([4, 8, 16, 32]))
    (row,) = (row for row in count_parameters(_config(d, vocab_size=vocab_size)).rows if row.part == "embedding")
    return Question(f"A model has a vocabulary of {vocab_size} tokens and d_model = {d}. It uses one table both to look tokens up and to "
                    "make logits (tied). How many parameters does the table hold?", "whole", row.count,
                    slips=(Slip(2 * row.count, "a tied table is held once, though it is used twice."),), hint=PAPER,
                    working=(explain_steps("w_embed", [("w_embed", f"{vocab_size} × {d}", row.count)], row.count),))


@kind("cost", "memory-and-compute", "The cache of one token")
def cache_of_a_token(rng):
    """How many bytes the cache of keys and values keeps of one token."""
    n_layers, n_kv_heads, d_head = int(rng.choice([2, 4, 10, 12])), int(rng.choice([1, 2, 4])), int(rng.choice([4, 8, 10, 16]))
    n_heads = n_kv_heads * int(rng.choice([1, 2, 4]))
    config = _config(n_heads * d_head, n_heads, n_layers, n_kv_heads=n_kv_heads)
    right = kv_cache_bytes_per_token(config, 2)
    return Question(f"A model has {n_layers} blocks; each has {n_heads} query heads and {n_kv_heads} key/value "
                    f"head{'s' * (n_kv_heads > 1)} of width {d_head}. Numbers take 2 bytes. How many **bytes** does its cache keep of "
                    f"one token?",
                    "whole", right, hint=PAPER,
                    slips=(Slip(right // 2, "there is a factor of 2 missing: keys and values, and 2 bytes for each number."),
                           Slip(right * n_heads // n_kv_heads, "the cache keeps key/value heads, not query heads."),
                           Slip(right // n_layers, "this is one block; every block keeps its own.")),
                    working=(explain_steps("bytes", [("bytes", f"2 × {n_layers} × {n_kv_heads} × {d_head} × 2", right)], right),
                             "The first 2 is for keys and values, the last for the bytes of a number."))


@kind("cost", "memory-and-compute", "A longer text")
def longer_text(rng):
    """How the scores and the other work grow with the length of a text."""
    times, part = int(rng.integers(2, 7)), ["scores", "feed_forward"][rng.integers(2)]
    short, long = (getattr(forward_flops(_config(), n), part) for n in (10, 10 * times))
    right = long // short
    name = "the multiplications that compare queries with keys" if part == "scores" else "the multiplications of the feed-forward layers"
    return Question(f"A text becomes **{times} times** as long. How many times as many are {name}?", "whole", right,
                    hint=PAPER,
                    slips=(Slip(times, "that would hold if each token met a fixed number of others; here each meets "
                                       "all.") if part == "scores"
                           else Slip(times**2, "that would hold if every token met every other; here each goes through alone."),),
                    working=((f"{'Every token is compared with every token' if part == 'scores' else 'Each token goes through alone'}: "
                              f"from 10 to {10 * times} tokens a small model counts {short:,} and {long:,} operations."),
                             f"{long:,} / {short:,} = {right}"))


@kind("cost", "memory-and-compute", "n²·d against n·d²")
def attention_against_recurrence(rng):
    """The ratio of the work that mixes tokens in a recurrent layer and in attention."""
    n, d = (int(size) for size in (rng.choice([10, 20, 50, 100, 200]), rng.choice([40, 100, 200, 400, 800])))
    cost = layer_costs(n, d)
    right = mixing_ratio(cost)
    if n == d:
        return None
    return Question(f"For a text of n = {n} tokens and vectors of d = {d}, a self-attention layer takes about n²·d multiplications along "
                    "the text, a recurrent layer n·d². **How many times as many** does the recurrent layer take?", "number", right,
                    hint=PAPER, tolerance=1e-3,
                    slips=(Slip(1 / right, "this is the other way round."),),
                    working=(f"n²·d = {n} × {n} × {d} = {cost.attention_mixing:,}", f"n·d² = {n} × {d} × {d} = {cost.recurrent_mixing:,}",
                             explain_steps("ratio", [("ratio", f"{cost.recurrent_mixing} / {cost.attention_mixing}", right)], right),
                             f"In short: d / n = {d} / {n} = {on_paper(d / n)}."))


KINDS = (block_parameters, embedding_parameters, cache_of_a_token, longer_text, attention_against_recurrence)
