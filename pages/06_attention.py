"""Attention: compare, scale, normalise, mix."""

import math

import streamlit as st

from core import arithmetic, attention
from pages.shared import charts, controls, editor, lesson, text, trained
from pages.shared.controls import Cell, Grid

PAGE = "attention"

example, notes = controls.sentence(PAGE, ("by_hand", "four_tokens", "bank_sentence", trained.one_head))
lesson.remarks(notes)
x = controls.with_positions(PAGE, example)
if example.causal:
    example = trained.ask(PAGE, trained.one_head)
    x = example.x
if example.id == "by_hand":
    example, notes = editor.edited(PAGE, example)
    lesson.remarks(notes)
    x = example.x
tokens = example.tokens
w_q, w_k, w_v = (example.params[name] for name in ("w_q", "w_k", "w_v"))
visible = trained.visible(example)
trace = attention.self_attention(x, w_q, w_k, w_v, visible)
d_head = trace.q.shape[1]
root = f"√{d_head}"

lesson.say("Each word's **query** is compared with every word's **key** by a dot product. The scores are scaled, a **softmax** turns each "
           "row into weights that sum to 1, and the weights mix the **values**. Four steps, four pictures. Click any cell to see its sum.")
lesson.formula(r"\text{attention}(Q, K, V) = \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_{\text{head}}}}\right) V")

row, where = (len(tokens) - 1, "last") if example.causal else (0, "first")  # under a causal mask the first row sees one key
high, low = int(trace.scores[row].argmax()), int(trace.scores[row].argmin())
lesson.ask(PAGE, "After scaling, a query's score for one key is 2 higher than for another. How many times the weight does it get?",
           ["2 times", "e² ≈ 7.4 times", "it depends on the other keys"], 1,
           f"Both weights share the same denominator, so their ratio is e to the difference of the scores. In the {where} row here the "
           f"scores differ by up to {trace.scores[row, high] - trace.scores[row, low]:.4g}, and those weights are "
           f"{trace.pattern[row, high]:.4g} and {trace.pattern[row, low]:.4g}.")

STEPS = {"compare": "raw_scores", "scale": "scores", "normalise": "pattern", "mix": "mixed"}
feature_names = controls.features(trace.v.shape[1])
picked = controls.cell(PAGE, {"compare": Grid(tokens, tokens), "scale": Grid(tokens, tokens), "normalise": Grid(tokens, tokens),
                              "mix": Grid(tokens, feature_names, "Query", "Feature")}, Cell("normalise", row, 0))

limit = float(abs(trace.raw_scores).max())
looks = {
    "compare": ("1 · compare: q·k", "value", "raw score", {"limit": limit}),
    "scale": (f"2 · scale: ÷ {root}", "value", "score", {"limit": limit}),
    "normalise": ("3 · normalise: softmax of the row", "weight", "weight", {}),
    "mix": ("4 · mix: Σ weight × value", "value", "mixed value", {"column_title": "feature"}),
}
places = [*st.columns(2), *st.columns(2)]
for place, (step, (title, quantity, name, more)) in zip(places, looks.items(), strict=True):
    z = getattr(trace, STEPS[step])
    columns = feature_names if step == "mix" else tokens
    same = step == picked.stage
    figure = charts.heatmap(z, tokens, columns, title=title, quantity=quantity, name=name, **lesson.look(),
                            clicked=(picked.row, picked.column if same or (step != "mix" and picked.stage != "mix") else None), **more)
    with place:
        chart = f"{PAGE}.{step}"
        lesson.picture(figure, chart, f"{title}. {len(tokens)} queries as rows; values from {z.min():.3g} to {z.max():.3g}.",
                       controls.on_click(PAGE, chart, step))

chain = list(STEPS.values())[: list(STEPS).index(picked.stage) + 1] if picked.stage != "mix" else ["mixed"]
explanations = [arithmetic.explain(trace, stage, picked.row, picked.column, params=example.params, visible=visible) for stage in chain]
looked_at = f"feature {picked.column}" if picked.stage == "mix" else f"key {picked.column} {text.quoted(tokens[picked.column])}"
lesson.arithmetic(f"query {picked.row} {text.quoted(tokens[picked.row])}, {looked_at}", explanations)

if example.id == "by_hand":
    query, ones = ", ".join(map(arithmetic.number, trace.q[1])), arithmetic.number(trace.k[0, 1])
    lesson.say(f"**Why is the second row flat?** The query of *bowled* is [{query}], and every key has a {ones} in its second place. So "
               f"all three scores tie at {arithmetic.number(trace.q[1, 1])}/{root} = {trace.scores[1, 0]:.4f}, and each word gets "
               f"{trace.pattern[1, 0]:.4f}.")

if example.causal:
    trained.say(PAGE, example, [trace.pattern])
lesson.weights(f"They are {example.where_from}. A pattern from random weights means nothing; it only shows how the arithmetic works."
               if example.id not in ("by_hand", "edited") else f"They are {example.where_from}. They were not learned from text.")
lesson.say("Attention weights say what was mixed into each position. They do not say why a model decided something (Jain & Wallace 2019; "
           "Wiegreffe & Pinter 2019).")
lesson.check("every row of the weights sums to 1", abs(trace.pattern.sum(axis=-1) - 1).max(), 1e-12)
lesson.check("scores times √d give the raw scores", abs(trace.scores * math.sqrt(d_head) - trace.raw_scores).max(), 1e-9)
lesson.ran(attention.attend)
lesson.script("Attention", (attention.self_attention,), {"x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "visible": visible}, """
    trace = self_attention(x, w_q, w_k, w_v, visible)
    for name in ("raw_scores", "scores", "pattern", "mixed"):
        show(name, getattr(trace, name))
    """, tokens)
lesson.source("Vaswani et al. 2017, section 3.2.1", "Jain & Wallace 2019", "Wiegreffe & Pinter 2019")
