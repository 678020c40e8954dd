"""Three schemes of the page on positions: a learned table, rotary positions, ALiBi."""

import numpy as np
import streamlit as st

from core import arithmetic, arithmetic_positions, attention, draws, experiments, order, positions, sums
from pages.shared import controls, lesson, plots
from pages.shared.controls import Cell, Grid, features
from pages.shared.waves import heat, named

PAGE = "positions"
LAYOUTS = {"half": ("half", "half"), "interleaved": ("interleaved", "interleaved"), "mixed": ("interleaved", "half")}  # of q, of k


def learned(own, seed):
    """A table with a row for each position that was trained, and no more."""
    lesson.say("A **learned table** has one row a position, trained like any weight (GPT-2). It ends at the last position of the training: "
               "n_ctx rows, positions 0 to n_ctx − 1. Go past the end.")
    left, right = st.columns(2)
    with left:
        n_ctx = controls.whole(PAGE, "n_ctx", "Rows of the table, n_ctx", 4, 32, 8)
    with right:
        first = controls.whole(PAGE, "first", "Position of the first word", 0, 40, 0)
    w_pos = draws.child_rng(seed, "w_pos").standard_normal((n_ctx, 8))
    tokens = own or ["the", "umpire", "warned", "the", "bowler"]
    try:
        rows = positions.learned(w_pos, len(tokens), first)
    except ValueError as fault:
        tokens = tokens[:n_ctx]
        first = n_ctx - len(tokens)
        rows = positions.learned(w_pos, len(tokens), first)
        lesson.remarks([f"{fault} Until then the pictures keep {len(tokens)} words at positions {first} to {n_ctx - 1}."])
    x, columns, places = draws.token_vectors(tokens, seed, 8), features(8), features(n_ctx)
    summed = x + rows
    picked = controls.cell(PAGE, {"sum": Grid(tokens, columns, "Word", "Feature")}, Cell("sum", 0, 0))
    at, left, right = (picked.row, picked.column), *st.columns(2)
    with left:
        heat("w_pos", w_pos, places, columns, f"w_pos: {n_ctx} rows", (first + at[0], at[1]), row_title="position", column_title="feature")
    with right:
        heat("sum", summed, tokens, columns, "Word vector + row of its position", at, row_title="word", column_title="feature")
    place = first + at[0]
    lesson.arithmetic(f"word {at[0]}{named(tokens, at[0])} at position {place}, feature {at[1]}", [sums.explain_sum(
        f"sum[{at[0]}, {at[1]}]", {f"x[{at[0]}, {at[1]}]": x[at], f"w_pos[{place}, {at[1]}]": w_pos[place, at[1]]}, summed[at])])
    lesson.check("what was added is the table's rows", abs(summed - x - w_pos[first:first + len(tokens)]).max(), 1e-12)
    lesson.check("every word has a row of its own", max(0, first + len(tokens) - n_ctx), 0)
    lesson.weights(f"Table and word vectors are drawn at random (seed {seed}); nothing was trained, so the rows mean nothing.")
    lesson.ran(positions.learned)
    lesson.script("Positions", (positions.learned,), {"w_pos": w_pos, "x": x, "first": first},
                  'show("sum", x + learned(w_pos, len(x), first))', tokens)
    lesson.source("Vaswani et al. 2017, section 3.5", "Radford et al. 2019, section 2.3")


def rotary(own, seed):
    """Queries and keys are turned; only the offset counts."""
    lesson.formula(r"\begin{gathered} (a, b) \to (a\cos p\omega - b\sin p\omega,\; a\sin p\omega + b\cos p\omega) \\ "
                   r"q_m \cdot k_n = f(m - n) \end{gathered}")
    lesson.say("**Rotary** positions add nothing. They turn each pair of features of q and k by an angle that grows with the position. "
               "Both turn, so q·k keeps only the difference of the angles: **only the offset counts**.")
    lesson.say("Which features form a pair differs: “half” pairs i with i + d/2 (GPT-NeoX, Llama in Hugging Face); “interleaved” pairs 2i "
               "with 2i + 1 (the paper, GPT-J). “mixed” turns q interleaved and k by halves, a mistake: see what it does.")
    left, middle, right = st.columns(3)
    with left:
        layout = controls.choice(PAGE, "layout", "Layout of the pairs", LAYOUTS)
    with middle:
        drawn = controls.choice(PAGE, "vectors", "q and k", ("by hand", "random")) == "random"
    with right:
        moved = controls.stop(PAGE, "moved", "Move all positions on by", (0, 1, 10, 100, 1000), 100)
    q, k = draws.child_rng(seed, "rotary").standard_normal((2, 8)) if drawn else np.array([[1.0, 0, 1, 0], [0.5, 1, -1, 2]])
    for_q, for_k = LAYOUTS[layout]
    trace, n = order.offsets(q, k, 8, moved, for_q, for_k), 8
    picked = controls.cell(PAGE, {"score": Grid(features(n), features(n), "Query at", "Key at")}, Cell("score", 3, 1))
    at, limit = (picked.row, picked.column), float(max(abs(trace.scores).max(), abs(trace.shifted).max()))
    look = {"name": "q·k", "row_title": "query at position", "column_title": "key at position", "limit": limit}
    further = [str(place + moved) for place in range(n)]
    left, right = st.columns(2)
    with left:
        heat("here", trace.scores, features(n), features(n), "q·k at positions 0 to 7", at, **look)
        heat("gap", trace.difference, features(n), features(n), f"Difference: at most {abs(trace.difference).max():.1e}", at, **look)
    with right:
        heat("moved", trace.shifted, further, further, f"The same, all positions {moved} further on", at, **look)
        lines = {f"key at {start}": order.score_by_offset(q, k, start, 16, for_q, for_k) for start in (0, 10, 100)}
        lesson.picture(plots.curves(range(16), lines, title="q·k against the offset, key at three places", x_title="offset", y_title="q·k",
                                    dark=lesson.dark()), f"{PAGE}.offset", f"q·k for offsets 0 to 15 and the layout {layout}; the key "
                       f"stands at 0, 10 and 100. At offset 2: {', '.join(f'{line[2]:.4g}' for line in lines.values())}.")
    both = [order.score_by_offset(q, k, start, 3, for_q, for_k)[2] for start in (1, 8, 100)]
    lesson.say("Offset 2, query and key at (3, 1), (10, 8) and (102, 100): "
               f"**{', '.join(f'{score:.7f}' for score in both)}**. " + ("The score depends on the place as well: the layouts are mixed."
                                                                       if layout == "mixed" else "One number: only the offset counts."))
    example = np.array([[1.0, 2, 3, 4]])
    lesson.say("x = [1, 2, 3, 4] at position 1:\n\n| layout | x turned | length before, after |\n|:--|:--|:--|\n" + "\n".join(
        f"| {name} | {', '.join(f'{value:.7f}' for value in turned)} | {experiments.lengths(example)[0]:.7f}, "
        f"{experiments.lengths([turned])[0]:.7f} |" for name in ("half", "interleaved")
        for turned in positions.rotary(example, [1], layout=name)))
    turns = [arithmetic_positions.explain_rotary(name, before, after[place], place, way)[-1] for name, before, after, place, way in (
        ("q_turned", q, trace.q_turned, at[0], for_q), ("k_turned", k, trace.k_turned, at[1], for_k))]
    lesson.arithmetic(f"query at position {at[0]}{named(own, at[0])}, key at position {at[1]}{named(own, at[1])}; of the turned vectors "
                      "the last feature is written out", [*turns, arithmetic_positions.explain_dot(
                          "scores", ("q_turned", trace.q_turned), ("k_turned", trace.k_turned), *at, trace.scores[at])])
    lesson.check("a rotation keeps the length", abs(experiments.lengths(trace.q_turned) - experiments.lengths([q])).max(), 1e-12)
    if layout != "mixed":
        lesson.check(f"moving all positions on by {moved} changes no score", abs(trace.difference).max(), 1e-11)
    lesson.check("position 0 turns nothing", abs(trace.q_turned[0] - q).max(), 0.0)
    lesson.weights(f"q and k are {f'drawn at random (seed {seed}), they mean nothing' if drawn else 'set by hand'}; positions are "
                   "computed.")
    lesson.ran(positions.rotary, order.offsets)
    lesson.script("Positions", (order.offsets,), {"q": q, "k": k, "moved": moved, "for_q": for_q, "for_k": for_k}, """
    trace = offsets(q, k, 8, moved, for_q, for_k)
    show("scores", trace.scores)
    show("shifted", trace.shifted)
    show("difference", trace.difference)
    """)
    lesson.source("Su et al. 2021, section 3.4.2", "Vaswani et al. 2017, section 3.2.1")


def alibi(own, seed):
    """A penalty on the scores that grows with the distance; nothing is added to any vector."""
    lesson.formula(r"\begin{gathered} \text{score}_{ij} = \frac{q_i \cdot k_j}{\sqrt d} - m_h\,(i - j) \\ "
                   r"m_h = 2^{-8h/n} \text{ for } h = 1 \dots n \end{gathered}")
    lesson.say("**ALiBi** leaves vectors alone and subtracts from each score: the farther back the key, the more. Each head has its own "
               "slope m. The formula holds for 1, 2, 4, 8, 16 heads; for other counts the heads take the slopes of the power of two below, "
               "then every other slope of the one above, as the released code does.")
    tokens = own or ["the", "umpire", "warned", "the", "bowler", "after", "he", "overstepped"]
    n, (left, right) = len(tokens), st.columns(2)
    with left:
        n_heads = controls.whole(PAGE, "n_heads", "Heads", 1, 16, 8)
    with right:
        head = controls.whole(PAGE, "head", "Head to look at", 0, n_heads - 1, 0)
    slopes, bias, visible = positions.alibi_slopes(n_heads), positions.alibi_bias(n_heads, n), attention.causal_mask(n)
    zeros = np.zeros((n, 1))
    trace = attention.attend(zeros, zeros, np.eye(n), visible, bias=bias[head])
    picked = controls.cell(PAGE, {"bias": Grid(tokens, tokens), "weight": Grid(tokens, tokens)}, Cell("bias", n - 1, 0))
    at = (picked.row, picked.column)
    lesson.picture(plots.bars([str(h) for h in range(n_heads)], slopes, title=f"Slopes of {n_heads} head{'s' * (n_heads > 1)}",
                              y_title="slope m", y_range=(0, 1.15 * float(slopes.max())), digits=2, dark=lesson.dark()),
                   f"{PAGE}.slopes", f"ALiBi slopes of {n_heads} heads, the largest {slopes.max():.4g}, the smallest {slopes.min():.4g}.")
    left, right = st.columns(2)
    with left:
        heat("bias", bias[head], tokens, tokens, f"Bias of head {head}; −∞ where the causal mask hides", at, "bias", hidden=~visible,
             name="bias")
    with right:
        heat("weight", trace.pattern, tokens, tokens, "Weights if all q·k were 0", at, "weight", quantity="weight", name="weight")
    lesson.say("With equal q·k the bias alone decides, and nearer words weigh more. A large slope looks at the last few words, a small one "
               "far back. The penalty is defined for every distance, so no table ends.")
    if picked.stage == "bias":
        explanations = [arithmetic_positions.explain_alibi(bias, head, *at)]
    else:
        explanations = [arithmetic.explain(trace, "pattern", *at, q=zeros, k=zeros, visible=visible, bias=bias[head])]
    lesson.arithmetic(f"head {head}: query {at[0]}{named(tokens, at[0])}, key {at[1]}{named(tokens, at[1])}"
                      + (": hidden by the causal mask" if not visible[at] else ""), explanations)
    lesson.check("every row of the weights sums to 1", abs(trace.pattern.sum(axis=-1) - 1).max(), 1e-12)
    lesson.check("each word's own bias is 0", abs(np.diagonal(bias, axis1=1, axis2=2)).max(), 0.0)
    lesson.weights("Slopes and biases are computed, set by the formula; nothing is trained or drawn at random.")
    lesson.ran(positions.alibi_slopes, positions.alibi_bias)
    lesson.script("Positions", (positions.alibi_bias, attention.attend, attention.causal_mask),
                  {"n_heads": n_heads, "head": head, "n": n}, """
    show("slopes", alibi_slopes(n_heads))
    bias = alibi_bias(n_heads, n)
    show("bias", bias[head])
    show("pattern", attend(np.zeros((n, 1)), np.zeros((n, 1)), np.eye(n), causal_mask(n), bias=bias[head]).pattern)
    """, tokens)
    lesson.source("Press, Smith & Lewis 2021, section 3, and its released code", "Vaswani et al. 2017, section 3.2.1")
