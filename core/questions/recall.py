"""Six questions to recall what the course rests on; the numbers in their answers are computed here."""

import numpy as np

from core.arithmetic import explain
from core.attention import causal_mask, projection_counts, self_attention
from core.costs import layer_costs, mixing_ratio
from core.draws import child_rng
from core.experiments import mask_three_ways, scaling_stream
from core.order import reordered
from core.positions import sinusoidal
from core.questions.asking import Question, Shown, Slip, in_words, numbered, on_paper
from core.sums import explain_steps


def why_scale(widths=(4, 64, 512), n_keys=16):
    """Why the scores are divided by √d_k."""
    rows = scaling_stream(widths, 42)
    q = [child_rng(d, "recall", "q").standard_normal(d) for d in widths]
    scores = np.stack([child_rng(d, "recall", "k").standard_normal((n_keys, d)) @ each for d, each in zip(widths, q, strict=True)])
    given = Shown("Raw scores, one query a row", scores, tuple(map(str, widths)), numbered(n_keys), "width d", "key")
    return Question(
        "Three queries of three widths, each compared with 16 keys; all numbers are drawn at random. **Why are such scores divided by √d_k "
        "before the softmax?**", "choice", 1,
        ("so that the weights of each row sum to 1", "so that their spread is the same at every width, and the softmax does not saturate",
         "so that no score is below 0", "so that the products are cheaper to compute"), (given,),
        (("A sum of d products of independent numbers of variance 1 has the standard deviation √d. Wide heads would push the softmax "
          "into a corner, where one weight is near 1 and almost no gradient is left. Measured on 1,000 queries:"),
         *(f"d = {row.d}: standard deviation {row.std:.1f}; largest of 16 weights {row.top_unscaled:.2f} undivided, {row.top_scaled:.2f} "
           "divided by √d" for row in rows)),
        title="Why √d_k", topic="attention", url="scaling")


def why_flat(tokens, x, params):
    """Why one row of a pattern is flat: every key has the same dot product with its query."""
    trace = self_attention(x, params["w_q"], params["w_k"], params["w_v"])
    row = int(np.ptp(trace.pattern, axis=1).argmin())
    features = numbered(trace.q.shape[1])
    given = (*(Shown(name, rows, tokens, features, "token", "feature") for name, rows in (("Queries q", trace.q), ("Keys k", trace.k))),
             Shown("Weights", trace.pattern, tokens, tokens, "query", "key", "weight"))
    return Question(
        f"In this example, row {row} (“{tokens[row]}”) gives every word the same weight. **Why is it flat?** Its queries and keys are "
        f"below.", "choice", 2,
        ("its query is all zeros", "a mask hides the scores of this row", "every key has the same dot product with its query",
         "the softmax always makes the middle row flat"), given,
        (*(explain(trace, "raw_scores", row, column) for column in range(len(tokens))),
         (f"Its query is {in_words(trace.q[row])}: it reads one feature, and in that one the keys have "
          f"{in_words(trace.k[:, int(abs(trace.q[row]).argmax())])}, all the same."),
         "Equal scores get equal weights: " + ", ".join(f"{weight:.4f}" for weight in trace.pattern[row]) + "."),
        title="Why a row is flat", topic="attention", url="attention")


def what_order_does(x, params):
    """What shuffling the words does where no positions are added."""
    order = np.roll(np.arange(len(x)), 1)
    bare, placed = (float(abs(reordered(x, params["w_q"], params["w_k"], params["w_v"], order, pe).difference).max())
                    for pe in (None, sinusoidal(*x.shape)))
    return Question(
        "The words of a sentence are **shuffled**. No positions are added and nothing is masked. **What becomes of each word's output in "
        "an attention layer?**", "choice", 0,
        ("it stays the same and moves along with its word", "it changes, because its neighbours are others now", "it becomes 0",
         "only the first and the last word's outputs change"),
        working=("A weighted mean over all words does not depend on the order in which they stand: attention sees a set.",
                 (f"Run on four words, shuffled: the outputs differ by at most {bare:.1g} without positions, which is rounding, and by "
                  f"{on_paper(placed, 3)} with sinusoidal positions.")),
        title="Order without positions", topic="vectors", url="positions")


def what_it_costs(n=50, d=512):
    """The cost of attention against recurrence at one size."""
    cost = layer_costs(n, d)
    right = mixing_ratio(cost)
    return Question(
        f"A text of n = {n} tokens, vectors of d = {d}. Along the text, self-attention takes about n²·d multiplications, a recurrent "
        "layer n·d². **How many times as many does the recurrent layer take?**", "number", right, tolerance=0.0051,
        hint="n and d cancel; it can be done on paper.", slips=(Slip(1 / right, "this is the other way round."),),
        working=(f"n²·d = {n} × {n} × {d} = {cost.attention_mixing:,}", f"n·d² = {n} × {d} × {d} = {cost.recurrent_mixing:,}",
                 explain_steps("ratio", [("ratio", f"{d} / {n}", right)], right),
                 ("This counts the mixing along the text alone (Vaswani et al. 2017, table 1). With the projections, attention takes "
                  f"{cost.attention_layer:,} and the recurrent layer {cost.recurrent_layer:,}; but attention needs {cost.attention_steps} "
                  f"step and recurrence {cost.recurrent_steps}, one after the other.")),
        title="The cost at n 50, d 512", topic="cost", url="memory-and-compute")


def why_mask_first(tokens, x, params):
    """Why hidden scores become −∞ before the softmax, and not 0 after it."""
    trace = self_attention(x, params["w_q"], params["w_k"], params["w_v"])
    tried = mask_three_ways(trace.scores, causal_mask(len(tokens)))
    given = Shown("Weights without a mask", tried.unmasked, tokens, tokens, "query", "key", "weight")
    return Question(
        "To make this pattern causal, the scores of later words are set to −∞ **before** the softmax. **What goes wrong if instead the "
        "weights of later words are set to 0 after it?**", "choice", 3,
        ("nothing, both come to the same", "the weights of earlier words become negative", "the last row becomes 0",
         "most rows no longer sum to 1"), (given,),
        ("The hidden words have already taken their share of the softmax. Zeroed after it, the rows sum to "
         + ", ".join(f"{total:.3f}" for total in tried.zeroed_sums) + ".",
         "With −∞ before it they sum to " + ", ".join(f"{total:.3f}" for total in tried.before.sum(axis=1)) + "."),
        title="Mask before the softmax", topic="attention", url="causal-mask")


def why_heads(d_model=512, n_heads=8):
    """Why attention is split into heads."""
    d_head = d_model // n_heads
    many, one = projection_counts(d_model, n_heads, d_head), projection_counts(d_model, 1, d_model)
    return Question(
        f"**Why is attention split into {n_heads} heads of width {d_head}, instead of one head of width {d_model}?**", "choice", 2,
        ("it needs fewer parameters", "each head reads its own part of the text",
         "each head has its own pattern, at the same number of parameters", "the heads can be computed one after the other"),
        working=("One head gives each token one row of weights: one way to share out its attention. Several heads give it several.",
                 f"{n_heads} heads of {d_head}: {many[0]:,} numbers in w_q, w_k and w_v, {many[1]:,} in w_o",
                 f"1 head of {d_model}: {one[0]:,} and {one[1]:,}"),
        title="Why heads", topic="attention", url="many-heads")
