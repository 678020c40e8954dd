"""Many heads: split, attend, concatenate, project."""

import streamlit as st

from core import arithmetic, attention
from pages.shared import charts, controls, lesson, text, trained
from pages.shared.controls import Cell, Grid

PAGE = "many_heads"

example, x, n_heads = trained.ask_heads(PAGE)
tokens, params = example.tokens, example.params
(n_tokens, d_model), visible = x.shape, trained.visible(example)

lesson.say("One head gives each position one row of weights. Several **heads** look at once, each with its own, narrower queries, keys and "
           "values. Their results are put side by side and projected back by w_o. Splitting costs no extra parameters: the heads share the "
           "width.")
lesson.formula(r"\text{out} = \text{Concat}(\text{head}_1, \dots, \text{head}_h)\, W_O = \sum_{i=1}^{h} \text{head}_i\, W_O^{(i)}")
lesson.ask(PAGE, "Replace 1 head of width 512 by 8 heads of width 64. How does the number of parameters change?",
           ["8 times more", "no change", "8 times fewer"], 1, "8 × 64 = 512, so every matrix keeps its shape; only where it is cut "
                                                              "changes.")

try:
    trace = attention.multi_head_attention(x, params, n_heads, visible)
except ValueError as fault:
    lesson.remarks([f"{fault} The pictures below keep 2 heads until then."])
    n_heads = 2
    trace = attention.multi_head_attention(x, params, n_heads, visible)
d_head = trace.mixed.shape[-1]

lesson.heading("Split, attend, join, project")
steps = (
    ("x", x.shape, "one vector a token"),
    ("x·w_qkv", (n_tokens, params["w_qkv"].shape[1]), "queries, keys and values of all heads, side by side"),
    ("split", trace.q.shape, "(heads, tokens, width): the head becomes an axis of q, k and v"),
    ("attend", trace.pattern.shape, "one pattern a head"),
    ("mix", trace.mixed.shape, "one result a head"),
    ("join", (n_tokens, n_heads * d_head), "side by side again"),
    ("·w_o", trace.out.shape, "back to the width of the token vectors"),
)
lesson.say("| step | shape | what it is |\n|:--|:--|:--|\n" + "\n".join(
    f"| {name} | {' × '.join(map(str, shape))} | {line} |" for name, shape, line in steps))
lesson.say(f"Head h takes columns h·{d_head} to (h+1)·{d_head} − 1 of every token: **reshape** to (tokens, heads, width), then **swap** "
           f"the first two axes. A reshape alone to (heads, tokens, width) would mix the tokens up.")

model_features, head_features = controls.features(d_model), controls.features(d_head)
names = [f"head {h}" for h in range(n_heads)]
head = names.index(controls.choice(PAGE, "head", "Head", names)) if n_heads > 1 else 0
picked = controls.cell(PAGE, {"weight": Grid(tokens, tokens), "mixed": Grid(tokens, head_features, "Query", "Feature"),
                              "head's share": Grid(tokens, model_features, "Query", "Feature"),
                              "output": Grid(tokens, model_features, "Query", "Feature")}, Cell("weight", n_tokens - 1, 0))


def take_pattern(chart, own_head, n_traces=1):
    """A callback for a clicked pattern: which head, and where. In the joint picture each head has `n_traces` traces."""
    def take():
        point = controls.clicked(chart)
        if point is not None:
            if n_heads > 1:
                st.session_state[f"{PAGE}.head"] = names[own_head if own_head is not None else point["curve_number"] // n_traces]
            st.session_state[f"{PAGE}.stage"] = "weight"
            st.session_state[f"{PAGE}.row"], st.session_state[f"{PAGE}.column"] = int(point["y"]), int(point["x"])

    return take


joined = attention.merge_heads(trace.q)
lesson.picture(charts.heatmap(joined, tokens, controls.features(joined.shape[1]), title=f"The queries of all heads, side by side; framed: "
                                                                                        f"head {head}",
                              name="query", row_title="token", column_title="column", outline=(head * d_head, (head + 1) * d_head - 1),
                              max_cell=40, **lesson.look(960)),
               f"{PAGE}.joined", f"Queries of {n_heads} heads side by side, {n_tokens} tokens × {joined.shape[1]} columns; head {head} is "
                                 f"columns {head * d_head} to {(head + 1) * d_head - 1}.")

frame = (picked.row, picked.column if picked.stage == "weight" else None)
if n_heads <= 4:  # one picture a head, two a row
    for each, place in enumerate(st.columns(2) * 2):
        if each < n_heads:
            with place:
                figure = charts.heatmap(trace.pattern[each], tokens, tokens, title=f"Pattern of head {each}", quantity="weight",
                                        name="weight", clicked=frame if each == head else (picked.row, None), max_cell=56,
                                        **lesson.look())
                lesson.picture(figure, f"{PAGE}.pattern.{each}", f"Attention pattern of head {each}: {n_tokens} queries as rows, keys as "
                               "columns; every row sums to 1.", take_pattern(f"{PAGE}.pattern.{each}", each))
else:
    figure = charts.small_multiples(trace.pattern, tokens, tokens, titles=names, clicked=(head, *frame), **lesson.look(960))
    lesson.picture(figure, f"{PAGE}.patterns", f"Attention patterns of {n_heads} heads: {n_tokens} queries as rows, keys as columns; every "
                   "row sums to 1.", take_pattern(f"{PAGE}.patterns", None, len(figure.spec["data"]) // n_heads))
more = " …" if n_tokens > 8 else ""
lesson.words("Weights of the last token\n" + "\n".join(
    f"{name}: {' '.join(f'{weight:.2f}' for weight in row[:8])}{more}" for name, row in zip(names, trace.pattern[:, -1], strict=True)))

looks = (("share", f"What head {head} adds to the output", trace.head_out[head], "head's share"),
         ("out", "The output: the sum of all heads", trace.out, "output"))
limit = float(max(abs(trace.head_out).max(), abs(trace.out).max()))
narrow = d_model <= 16
for place, (name, title, z, stage) in zip(st.columns(2) if narrow else [st.container(), st.container()], looks, strict=True):
    with place:
        chart = f"{PAGE}.{name}"
        figure = charts.heatmap(z, tokens, model_features, title=title, name="value", limit=limit, column_title="feature",
                                clicked=(picked.row, picked.column if picked.stage == stage else None),
                                **lesson.look(470 if narrow else 960))
        lesson.picture(figure, chart, f"{title}: {n_tokens} tokens × {d_model} features, from {z.min():.3g} to {z.max():.3g}.",
                       controls.on_click(PAGE, chart, stage))

stage = {"weight": "pattern", "mixed": "mixed", "head's share": "head_out", "output": "out"}[picked.stage]
chain = ["raw_scores", "scores", "pattern"] if stage == "pattern" else [stage]
column = f"key {picked.column} {text.quoted(tokens[picked.column])}" if stage == "pattern" else f"feature {picked.column}"
lesson.arithmetic(f'{"all heads" if stage == "out" else names[head]}: query {picked.row} {text.quoted(tokens[picked.row])}, {column}',
                  [arithmetic.explain(trace, each, picked.row, picked.column, head=head, x=x, params=params, visible=visible)
                   for each in chain])

lesson.heading("The same budget, cut differently")
many, one = attention.projection_counts(512, 8, 64), attention.projection_counts(512, 1, 512)
lesson.say("| d_model 512 | w_q, w_k and w_v together | w_o |\n|:--|--:|--:|\n"
           f"| 8 heads of width 64 | {many[0]:,} | {many[1]:,} |\n| 1 head of width 512 | {one[0]:,} | {one[1]:,} |")

if example.causal:
    trained.say(PAGE, example, trace.pattern)
lesson.weights(f"They are {example.where_from}. " + ("With random weights, that two heads differ is chance: such patterns mean nothing."
                                                     if example.causal else "That two heads differ here is chance, not meaning."))
lesson.check("every row of every head sums to 1", abs(trace.pattern.sum(axis=-1) - 1).max(), 1e-12)
lesson.check("the heads' shares sum to the output", abs(trace.head_out.sum(axis=0) - trace.out).max(), 1e-9)
lesson.check("split and merge undo each other", abs(attention.merge_heads(attention.split_heads(x, n_heads)) - x).max(), 0.0)
lesson.ran(attention.multi_head_attention, attention.split_heads, attention.merge_heads)
lesson.script("Many heads", (attention.multi_head_attention,), {"x": x, **params, "n_heads": n_heads, "visible": visible}, """
    trace = multi_head_attention(x, {"w_qkv": w_qkv, "w_o": w_o}, n_heads, visible)
    for head in range(n_heads):
        show(f"pattern of head {head}", trace.pattern[head])
        show(f"head_out of head {head}", trace.head_out[head])
    show("out", trace.out)
    """, tokens)
lesson.source("Vaswani et al. 2017, section 3.2.2", "Elhage et al. 2021, section on attention heads as additive")
