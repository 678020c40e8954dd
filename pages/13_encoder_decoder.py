"""Encoder, decoder, cross-attention: one stack reads, another writes."""

import streamlit as st

from core import arithmetic, attention, encoder_decoder, experiments, tasks_dates
from pages.shared import architecture, charts, controls, families, lesson, pairs, text
from pages.shared.controls import Cell, Grid

PAGE = "encoder_decoder"

weights = controls.choice(PAGE, "weights", "Weights of the model", ("random", "trained on dates"))
pair = pairs.random(PAGE) if weights == "random" else pairs.trained(PAGE)
source, target, n_layers, n_heads = pair.source, pair.target, pair.n_layers, pair.n_heads
n_sources, n_targets = len(source), len(target)
trace = pair.forward()

names, layers = [f"head {h}" for h in range(n_heads)], [f"layer {i}" for i in range(n_layers)]
left, right = st.columns(2, vertical_alignment="bottom")
with left:
    layer = layers.index(controls.choice(PAGE, "layer", "Layer", layers)) if n_layers > 1 else 0
with right:
    head = names.index(controls.choice(PAGE, "head", "Head", names, names[pair.head])) if n_heads > 1 else 0
picked = controls.cell(PAGE, {"cross": Grid(pair.rows, source, "Target", "Source"), "decoder": Grid(pair.rows, target), "encoder":
                              Grid(source, source)}, Cell("cross", n_targets - 1, pair.column))


def open_part():
    """Go to the page of the part that was clicked; cross-attention is explained here."""
    point = controls.clicked(f"{PAGE}.drawing")
    if point is not None:
        if links[point["point_index"]]:
            st.session_state["_go"] = links[point["point_index"]]
        else:
            st.session_state[f"{PAGE}.stage"] = "cross"


patterns = {"encoder": trace.encoder[layer].attention, "decoder": trace.decoder[layer].self_attention,
            "cross": trace.decoder[layer].cross_attention}
looks = {"cross": ("Cross-attention: the target looks at the source", pair.rows, source, "query (target)", "key (source)"),
         "decoder": ("Decoder: the target looks at its own past", pair.rows, target, "query (who looks)", "key (looked at)"),
         "encoder": ("Encoder: the source looks both ways", source, source, "query (who looks)", "key (looked at)")}


def draw(stage):
    """The pattern of one of the three attentions."""
    title, rows, columns, row_title, column_title = looks[stage]
    same = stage == picked.stage
    figure = charts.heatmap(patterns[stage].pattern[head], rows, columns, title=title, quantity="weight", name="weight",
                            row_title=row_title, column_title=column_title, clicked=(picked.row, picked.column) if same else None,
                            max_cell=56, **lesson.look())
    chart = f"{PAGE}.{stage}"
    lesson.picture(figure, chart, f"{title}, {layers[layer]}, {names[head]}: {len(rows)} queries as rows, {len(columns)} keys as columns; "
                   "every row sums to 1.", controls.on_click(PAGE, chart, stage))


def explain():
    """What cross-attention is."""
    lesson.say("The **encoder** reads the whole source at once, in both directions. The **decoder** writes the target one token after the "
               "other, so its own attention is masked. In **cross-attention** the queries come from the decoder, the keys and values from "
               "the encoder's output: each target position takes what it needs from the source."
               + (" Click a box to open its page." if pair.untrained is None else ""))
    lesson.formula(r"\text{cross}(Y, M) = \text{softmax}\!\left(\frac{(Y W_Q)(M W_K)^\top}{\sqrt{d_{\text{head}}}}\right) M W_V")


if pair.untrained is None:
    drawing, links = architecture.encoder_decoder(
        {"source": trace.source.shape, "memory": trace.memory.shape, "target": trace.target.shape, "logits": trace.logits.shape}, n_layers,
        norm_position=pair.norm_position, marked=(picked.stage,), dark=lesson.dark())
    left, right = st.columns(2)
    with left:
        lesson.picture(drawing, f"{PAGE}.drawing", f"The Transformer of 2017 from the bottom up: an encoder of {n_layers} layers reads "
                       f"{n_sources} source tokens, a decoder of {n_layers} layers {n_targets} target tokens and the encoder's output.",
                       open_part)
    with right:
        explain()
        draw("cross")
        lesson.ask(PAGE, f"{n_targets} target tokens look at {n_sources} source tokens. Which shape has the pattern of one head?",
                   ["target × source", "source × target", "source × source"], 0,
                   f"Rows are queries, and queries come from the decoder: {n_targets} × {n_sources} here. No causal mask is needed: "
                   "the whole source is known before writing begins.")
else:
    explain()
    lesson.ask(PAGE, "Two rows below write the two digits of the month. Which characters will the trained head look at there?",
               ["the month's name", "the same place in the source", "all alike"], 0,
               "Nothing in the training said where to look, only which characters to write. Change the form of the date: the places move, "
               "and the head follows.")
    left, right = st.columns(2)
    with left:
        draw("cross")
    with right:
        before = pair.forward(pair.untrained).decoder[layer].cross_attention.pattern[head]
        lesson.picture(charts.heatmap(before, pair.rows, source, title="Before training, on the same characters", quantity="weight",
                                      name="weight", row_title="query (target)", column_title="key (source)", max_cell=56, **lesson.look()),
                       f"{PAGE}.before", f"Cross-attention before training, {names[head]}: weights from {before.min():.3g} to "
                       f"{before.max():.3g}, drawn at random.")
    lesson.say("A row's label says what the decoder reads, then what it writes (reads→writes). Read along a row of the left picture: where "
               "is the light cell?")
    pairs.measured()
for place, stage in zip(st.columns(2), ("decoder", "encoder"), strict=True):
    with place:
        draw(stage)
visible = attention.causal_mask(n_targets) if picked.stage == "decoder" else None
_, rows, columns, *_ = looks[picked.stage]
lesson.arithmetic(f"{picked.stage}, {layers[layer]}, {names[head]}: query {picked.row} {text.quoted(rows[picked.row])}, "
                  f"key {picked.column} {text.quoted(columns[picked.column])}",
                  [arithmetic.explain(patterns[picked.stage], each, picked.row, picked.column, head=head, visible=visible)
                   for each in ("raw_scores", "scores", "pattern")])

later = list(pair.target_ids)
later[-1] = pair.target_ids[0] if n_targets > 1 else pair.source_ids[0]
held = experiments.moved(trace.out, pair.forward(target_ids=later).out)[:-1]
if controls.choice(PAGE, "view", "Look further at", ("what comes next", "three families")) == "what comes next":
    families.what_comes_next(PAGE, pair, trace)
else:
    families.three_families(PAGE, pair)

lesson.weights(pairs.where_from() if pair.untrained else f"Embeddings and matrices are drawn at random (seed {st.session_state['seed']}), "
               "never trained. The patterns mean nothing: no alignment of words should be read from them.")
lesson.check("every row sums to 1", max(abs(part.pattern.sum(-1) - 1).max() for part in patterns.values()), 1e-12)
lesson.check("a changed last target word moves no earlier output", held.max(initial=0.0), 1e-12)
lesson.check("the probabilities of a position sum to 1", abs(trace.probs.sum(axis=-1) - 1).max(), 1e-12)
lesson.ran(encoder_decoder.decoder_layer, encoder_decoder.forward, *([encoder_decoder.write, tasks_dates.draw] if pair.untrained else []))
lesson.script("Encoder, decoder, cross-attention", (encoder_decoder.forward,),
              {"params": pair.params, "source_ids": pair.source_ids, "target_ids": pair.target_ids, "n_heads": n_heads,
               "norm_position": pair.norm_position}, f"""
    trace = forward(params, source_ids, target_ids, n_heads, norm_position=norm_position)
    show("encoder", trace.encoder[{layer}].attention.pattern[{head}])
    show("decoder", trace.decoder[{layer}].self_attention.pattern[{head}])
    show("cross", trace.decoder[{layer}].cross_attention.pattern[{head}])
    show("next token", trace.probs[-1])
    """, pair.vocabulary)
lesson.source("Vaswani et al. 2017, sections 3.1 and 3.2.3, figure 1", "Devlin et al. 2019", "Radford et al. 2018", "Raffel et al. 2020",
              *(["Bahdanau et al. 2015 (attention as a soft alignment)", "ISO 8601"] if pair.untrained else []))
