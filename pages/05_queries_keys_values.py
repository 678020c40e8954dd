"""Queries, keys, values: three projections of the same vector."""

import streamlit as st

from core import arithmetic, attention, experiments
from pages.shared import charts, controls, editor, lesson, text
from pages.shared.controls import Cell, Grid

PAGE = "queries_keys_values"

d_model = d_head = 16
left, middle, right = st.columns(3, vertical_alignment="bottom")
if controls.own_tokens()[0]:
    with left:
        d_model = controls.stop(PAGE, "d_model", "Features of a token, d_model", (4, 8, 16, 32), 8)
    with middle:
        d_head = controls.stop(PAGE, "d_head", "Features of the head, d_head", (2, 4, 8, 16, 32), 4)
with left:
    example, notes = controls.sentence(PAGE, ("by_hand", "four_tokens", "bank_sentence"), d_model, d_head)
with right:
    tied = controls.switch(PAGE, "tied", "Tie w_q and w_k", help="Uses the same matrix for queries and for keys.")
    x = controls.with_positions(PAGE, example)
lesson.remarks(notes)
if example.id == "by_hand":
    example, notes = editor.edited(PAGE, example)
    lesson.remarks(notes)
    x = example.x

tokens, params = example.tokens, dict(example.params)
if tied:
    params["w_k"] = params["w_q"]
    lesson.remarks(["w_q and w_k are tied: the keys are made with w_q, and the example's own w_k is not used."])
trace = attention.self_attention(x, *params.values())
n_tokens, d_model = x.shape
d_head = trace.q.shape[1]

lesson.say("Attention is a soft look-up. Each token asks with its **query**, is found by its **key**, and hands over its **value**. In a "
           "database one key matches; here every key matches a little. All three come from the same token vector, by a matrix each.")
lesson.formula(r"q = x\,W_q \qquad k = x\,W_k \qquad v = x\,W_v")
lesson.ask(PAGE, "Token A gives token B a high score. Must B give A the same?", ["yes, a dot product is symmetric", "no"], 1,
           "The score of A for B is q of A times k of B; the other way round it is q of B times k of A. These are different vectors. Tie "
           "the two matrices with the switch above and the scores become symmetric.")

head_features, model_features = controls.features(d_head), controls.features(d_model)
picked = controls.cell(PAGE, {
    "query": Grid(tokens, head_features, "Token", "Feature"), "key": Grid(tokens, head_features, "Token", "Feature"),
    "value": Grid(tokens, head_features, "Token", "Feature"), "score": Grid(tokens, tokens)}, Cell("query", 0, 0))
letter = {"query": "q", "key": "k", "value": "v", "score": "q"}[picked.stage]
is_score = picked.stage == "score"
cell = (picked.row, None if is_score else picked.column)

pictures = (
    (f"x: {n_tokens} tokens × {d_model} features", x, tokens, model_features, "x", (picked.row, None), None, ("token", "feature")),
    (f"w_{letter}: {d_model} × {d_head}", params[f"w_{letter}"], model_features, head_features, "entry",
     None if is_score else (None, picked.column), None, ("feature of x", f"feature of {letter}")),
    (f"{letter} = x·w_{letter}: {n_tokens} × {d_head}", getattr(trace, letter), tokens, head_features, letter, cell,
     {"q": "query", "k": "key", "v": "value"}[letter], ("token", "feature")),
    (f"q·k: {n_tokens} × {n_tokens} raw scores", trace.raw_scores, tokens, tokens, "raw score",
     (picked.row, picked.column) if is_score else None, "score", ("query (who looks)", "key (looked at)")),
)
for place, (title, z, rows, columns, name, frame, stage, words) in zip([*st.columns(2), *st.columns(2)], pictures, strict=True):
    figure = charts.heatmap(z, rows, columns, title=title, name=name, clicked=frame, row_title=words[0], column_title=words[1],
                            **lesson.look())
    chart = f"{PAGE}.{title.split(':')[0].split(' ')[0].replace('·', '')}"
    with place:
        lesson.picture(figure, chart, f"{title}. Values from {z.min():.3g} to {z.max():.3g}.",
                       controls.on_click(PAGE, chart, stage) if stage else None)

where = f"token {picked.row} {text.quoted(tokens[picked.row])}, " + (
    f"key of token {picked.column} {text.quoted(tokens[picked.column])}" if is_score else f"feature {picked.column} of its {picked.stage}")
lesson.arithmetic(where, [arithmetic.explain(trace, "raw_scores" if is_score else letter, picked.row, picked.column, params=params)])

gap = float(experiments.moved(trace.raw_scores, trace.raw_scores.T).max())
lesson.say(f"**Why three?** With one matrix for queries and keys the scores are symmetric: A's score for B equals B's score for A. "
           f"Here the largest difference between a score and its mirror image is **{gap:.4g}**"
           + (", because w_q and w_k are tied." if tied else ". The value is a third vector, so that what a token is found by and what it "
              "hands over can differ."))

lesson.weights(f"x and the three matrices are {example.where_from}. In a trained model they are learned; a pattern from random numbers "
               "means nothing.")
if tied:
    lesson.check("tied matrices give symmetric raw scores", gap, 1e-9)
alone = [attention.self_attention(x[i:i + 1], *params.values()).q for i in range(n_tokens)]
lesson.check("a token alone has the same query as in the sentence",
             max(experiments.moved(q, trace.q[i:i + 1])[0] for i, q in enumerate(alone)), 1e-9)
lesson.ran(attention.self_attention)
lesson.script("Queries, keys, values", (attention.self_attention,), {"x": x, **params}, """
    trace = self_attention(x, w_q, w_k, w_v)
    for name in ("q", "k", "v", "raw_scores"):
        show(name, getattr(trace, name))
    """, tokens)
lesson.source("Vaswani et al. 2017, section 3.2")
