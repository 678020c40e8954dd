"""Causal mask: hide the future before the softmax, not after it."""


import numpy as np
import streamlit as st

from core import arithmetic, attention, draws, experiments
from pages.shared import charts, controls, lesson, plots, text
from pages.shared.controls import Cell, Grid

PAGE = "causal_mask"
MASKS = ("causal", "none", "padding", "causal + padding", "blind row")

left, right = st.columns([3, 1.2], vertical_alignment="bottom")
with left:
    example, notes = controls.sentence(PAGE, ("four_tokens", "bank_sentence", "by_hand"))
with right:
    x = controls.with_positions(PAGE, example)
mask = controls.choice(PAGE, "mask", "Mask", MASKS)
tokens, n_tokens = example.tokens, len(example.tokens)
lesson.remarks(notes)

lesson.say("A decoder writes from left to right, so no position may look at a later one. The **causal mask** sets the scores of later keys "
           "to −∞ **before** the softmax; their weights come out as exactly 0 and the rest still sums to 1. An encoder reads the whole "
           "text and uses no causal mask. A **padding mask** hides filler tokens; it serves another purpose, and both can be combined.")
lesson.formula(r"\text{score}_{ij} \leftarrow -\infty \quad \text{for } j > i")
lesson.ask(PAGE, "Zero the future weights after the softmax instead. What do the rows then sum to?",
           ["1, as before", "1 or less", "more than 1"], 1,
           "The softmax has already shared out the whole 1, some of it to the future. Only the last row, which has no future, keeps its 1.")

visible = attention.causal_mask(n_tokens) if "causal" in mask else np.ones((n_tokens, n_tokens), dtype=bool)
if "padding" in mask:
    n_padding = controls.whole(PAGE, "n_padding", "Filler tokens at the end", 0, n_tokens - 1, min(1, n_tokens - 1))
    visible = visible & attention.padding_mask([n_tokens - n_padding], n_tokens)[0]
elif mask == "blind row":
    visible[0] = False
    lesson.say("The first query may look at nothing here. Its weights and its output are all **0**: there is nothing to mix. Code that "
               "fills in a large negative number instead of −∞ gives this row equal weights, which nobody asked for; plain −∞ without care "
               "gives NaN.")
boost = controls.stop(PAGE, "boost", "Add this to the scores of later keys, to see which way of masking holds", (0, 2, 10, 100, 1000), 0)

w_q, w_k, w_v = example.params.values()
bias = boost * ~attention.causal_mask(n_tokens)
trace = attention.self_attention(x, w_q, w_k, w_v, visible, bias=bias)
ways = experiments.mask_three_ways(trace.scores, visible)

picked = controls.cell(PAGE, {"weight": Grid(tokens, tokens), "mix": Grid(tokens, controls.features(trace.v.shape[1]), "Query", "Feature")},
                       Cell("weight", min(1, n_tokens - 1), 0))
frame = (picked.row, picked.column if picked.stage == "weight" else None)
sums = ", ".join(f"{total:.3f}" for total in ways.zeroed_sums[:8]) + (" …" if n_tokens > 8 else "")
hides = not visible.all()
looks = (
    ("scores", "Scores; −∞ where the mask hides" if hides else "Scores; nothing is hidden", trace.scores, "value", "score",
     {"hidden": ~visible}),
    ("before", "Masked before the softmax: " + ("rows that see a key sum to 1" if mask == "blind row" else "rows sum to 1"), trace.pattern,
     "weight", "weight", {}),
    ("zeroed", "Zeroed after it: rows sum to " + ("less" if hides else "1, nothing is zeroed"), ways.zeroed, "weight", "weight", {}),
    ("renormalised", "Zeroed after it, then renormalised", ways.renormalised, "weight", "weight", {}),
)
for place, (name, title, z, quantity, word, more) in zip([*st.columns(2), *st.columns(2)], looks, strict=True):
    with place:
        chart = f"{PAGE}.{name}"
        finite = z[np.isfinite(z) & (visible | (name != "scores"))]
        figure = charts.heatmap(z, tokens, tokens, title=title, quantity=quantity, name=word, clicked=frame, **more, **lesson.look())
        span = f"values from {finite.min():.3g} to {finite.max():.3g}" if finite.size else "all values undefined"
        lesson.picture(figure, chart, f"{title}. {n_tokens} queries as rows, {int((~visible).sum())} cells hidden; {span}.",
                       controls.on_click(PAGE, chart, "weight"))

if not hides:
    lesson.say("With no mask the last three pictures are the same: nothing is hidden, so nothing is zeroed, and every row sums to 1. This "
               "is how an encoder reads.")
else:
    lesson.say(f"Row sums when the hidden weights are zeroed after the softmax: **{sums}**. What is hidden still leaks through the "
               f"denominator: change a hidden score and these weights change.")
    blind = int((~visible.any(axis=-1)).sum())
    rounded = int(np.isnan(ways.renormalised).any(axis=-1).sum()) - blind
    if blind:
        lesson.say("Renormalising the row that sees nothing is **0/0**, which is undefined; masking before the softmax gives it zeros.")
    if rounded:
        lesson.say(f"Renormalising fails here: **{rounded} row{'s' * (rounded != 1)} came to 0/0**, because every weight that was left had "
                   f"been rounded to 0. Masking before the softmax is not disturbed.")
    else:
        lesson.say("Elsewhere renormalising gives the same numbers as masking first, with an extra step. But when a hidden score "
                   "dominates, all that is left may have been rounded to 0, and 0/0 is undefined: move the slider above to see it.")

where = f"query {picked.row} {text.quoted(tokens[picked.row])}, " + (
    f"feature {picked.column}" if picked.stage == "mix" else f"key {picked.column} {text.quoted(tokens[picked.column])}")
if picked.stage == "weight" and not visible[picked.row, picked.column]:
    where += ": hidden by the mask, so its weight is 0"
stages = ["mixed"] if picked.stage == "mix" else ["raw_scores", "scores", "pattern"]
lesson.arithmetic(where, [arithmetic.explain(trace, stage, picked.row, picked.column, visible=visible, bias=bias if boost else None)
                           for stage in stages])

lesson.heading("Change a later word")
changed = controls.pick(PAGE, "changed", "Give this word another vector", text.options(tokens), n_tokens - 1)
other = x.copy()
other[changed] = draws.child_rng(st.session_state["seed"], "changed", tokens[changed]).standard_normal(x.shape[1])
moved = {}
for name, seen in (("with the causal mask", attention.causal_mask(n_tokens)), ("with no mask", None)):
    moved[name] = experiments.moved(attention.self_attention(x, w_q, w_k, w_v, seen).mixed,
                                    attention.self_attention(other, w_q, w_k, w_v, seen).mixed)
tallest = max(float(distances.max()) for distances in moved.values()) or 1.0
for place, (name, distances) in zip(st.columns(2), moved.items(), strict=True):
    with place:
        still = int((distances == 0).sum())
        figure = plots.bars(tokens, distances, title=f"How far each output moves {name}", y_title="largest change",
                             y_range=(0, 1.15 * tallest), dark=lesson.dark())
        lesson.picture(figure, f"{PAGE}.moved.{len(name)}", f"Largest change of each position's output {name}, when word {changed} "
                       f"changes: {still} of {n_tokens} do not move.")
if changed:
    lesson.say(f"With the mask, the {changed} position{'s' * (changed != 1)} before the changed word do{'es' * (changed == 1)} not move at "
               f"all; without it, earlier outputs move as well.")
else:
    lesson.say("The first word was changed, and no position stands before it: every output may move, mask or not.")
if n_tokens > 1:
    lesson.say(f"That is why a decoder can be trained on all positions at once: these {n_tokens} tokens give {n_tokens - 1} "
               f"example{'s' * (n_tokens > 2)} in one pass, each a beginning and the token after it:")
    shown = [text.short(token, 30) for token in tokens]
    lesson.words("\n".join(f"{' '.join(shown[:i])}  →  {shown[i]}" for i in range(1, min(n_tokens, 7))))
else:
    lesson.say("A text of one token has no next token to learn from.")

lesson.weights(f"They are {example.where_from}. A pattern from random weights means nothing.")
rows_seen = visible.any(axis=-1)
lesson.check("rows that see something sum to 1", abs(trace.pattern[rows_seen].sum(axis=-1) - 1).max(initial=0.0), 1e-12)
lesson.check("hidden weights are exactly 0", abs(trace.pattern[~visible]).max(initial=0.0), 0.0)
lesson.check("a changed word moves no earlier output under the causal mask",
             moved["with the causal mask"][:changed].max(initial=0.0), 1e-12)
lesson.ran(attention.causal_mask, attention.attend)
lesson.script("Causal mask", (attention.self_attention, experiments.mask_three_ways),
              {"x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "visible": visible, "bias": bias}, """
    trace = self_attention(x, w_q, w_k, w_v, visible, bias=bias)
    show("scores", trace.scores)
    show("pattern", trace.pattern)
    show("mixed", trace.mixed)
    ways = mask_three_ways(trace.scores, visible)
    show("zeroed", ways.zeroed)
    show("zeroed_sums", ways.zeroed_sums)
    """, tokens)
lesson.source("Vaswani et al. 2017, section 3.2.3")
