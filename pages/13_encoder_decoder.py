"""Encoder, decoder, cross-attention: one stack reads, another writes."""

import numpy as np
import streamlit as st

from core import arithmetic, attention, encoder_decoder, experiments, tokenizers
from pages.shared import architecture, charts, controls, lesson, plots, slow, text
from pages.shared.controls import Cell, Grid

PAGE = "encoder_decoder"
START = "<start>"

source, notes = controls.own_tokens()
source = source or ["the", "bank", "refused", "the", "loan"]
left, right = st.columns([2, 1], vertical_alignment="bottom")
with left:
    written = text.clean(controls.words(PAGE, "target", "What the decoder has written so far (the source is your own sentence above)",
                                        "die Bank lehnte"))
with right:
    norm_position = controls.choice(PAGE, "norm_position", "The norm stands", ("post", "pre"), "post")
target, cut = text.cut([START, *tokenizers.split_words(written.text)])
lesson.remarks([*notes, *written.notes, *cut])
left, middle, right = st.columns(3)
with left:
    n_layers = controls.whole(PAGE, "n_layers", "Layers in each stack", 1, 4, 2)
with middle:
    n_heads = controls.stop(PAGE, "n_heads", "Heads", (1, 2, 4), 2)
with right:
    d_model = controls.stop(PAGE, "d_model", "Features of a token, d_model", (8, 16, 32), 16)
seed = st.session_state["seed"]
vocabulary = list(dict.fromkeys([*source, *target]))
params = slow.encoder_decoder_params(seed, tuple(vocabulary), d_model, n_layers)
source_ids, target_ids = ([vocabulary.index(token) for token in tokens] for tokens in (source, target))
trace = encoder_decoder.forward(params, source_ids, target_ids, n_heads, norm_position=norm_position)
n_sources, n_targets = len(source), len(target)

names, layers = [f"head {h}" for h in range(n_heads)], [f"layer {i}" for i in range(n_layers)]
left, right = st.columns(2, vertical_alignment="bottom")
with left:
    layer = layers.index(controls.choice(PAGE, "layer", "Layer", layers)) if n_layers > 1 else 0
with right:
    head = names.index(controls.choice(PAGE, "head", "Head", names)) if n_heads > 1 else 0
picked = controls.cell(PAGE, {"cross": Grid(target, source, "Target", "Source"), "decoder": Grid(target, target), "encoder":
                              Grid(source, source)}, Cell("cross", n_targets - 1, 0))
drawing, links = architecture.encoder_decoder(
    {"source": trace.source.shape, "memory": trace.memory.shape, "target": trace.target.shape, "logits": trace.logits.shape}, n_layers,
    norm_position=norm_position, marked=(picked.stage,), dark=lesson.dark())


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
looks = {"cross": ("Cross-attention: the target looks at the source", target, source, "query (target)", "key (source)"),
         "decoder": ("Decoder: the target looks at its own past", target, target, "query (who looks)", "key (looked at)"),
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


left, right = st.columns(2)
with left:
    lesson.picture(drawing, f"{PAGE}.drawing", f"The Transformer of 2017 from the bottom up: an encoder of {n_layers} layers reads "
                   f"{n_sources} source tokens, a decoder of {n_layers} layers reads {n_targets} target tokens and the encoder's output.",
                   open_part)
with right:
    lesson.say("The **encoder** reads the whole source at once, in both directions. The **decoder** writes the target one token after the "
               "other, so its own attention is masked. In **cross-attention** the queries come from the decoder, the keys and values from "
               "the encoder's output: each target position takes what it needs from the source. Click a box to open its page.")
    lesson.formula(r"\text{cross}(Y, M) = \text{softmax}\!\left(\frac{(Y W_Q)(M W_K)^\top}{\sqrt{d_{\text{head}}}}\right) M W_V")
    draw("cross")
    lesson.ask(PAGE, f"{n_targets} target tokens look at {n_sources} source tokens. Which shape has the pattern of one head?",
               ["target × source", "source × target", "source × source"], 0,
               f"Rows are queries, and queries come from the decoder: {n_targets} × {n_sources} here. No causal mask is needed, because "
               "the whole source is known before writing begins.")
for place, stage in zip(st.columns(2), ("decoder", "encoder"), strict=True):
    with place:
        draw(stage)
visible = attention.causal_mask(n_targets) if picked.stage == "decoder" else None
_, rows, columns, *_ = looks[picked.stage]
lesson.arithmetic(f"{picked.stage}, {layers[layer]}, {names[head]}: query {picked.row} {text.quoted(rows[picked.row])}, "
                  f"key {picked.column} {text.quoted(columns[picked.column])}",
                  [arithmetic.explain(patterns[picked.stage], each, picked.row, picked.column, head=head, visible=visible)
                   for each in ("raw_scores", "scores", "pattern")])

later = list(target_ids)
later[-1] = target_ids[0] if n_targets > 1 else source_ids[0]
held = experiments.moved(trace.out, encoder_decoder.forward(params, source_ids, later, n_heads, norm_position=norm_position).out)[:-1]
view = controls.choice(PAGE, "view", "Look further at", ("what comes next", "three families"))
if view == "what comes next":
    probs = trace.probs[-1]
    left, right = st.columns(2)
    with left:
        figure = plots.bars(vocabulary, probs, title="Next token, from the last target position", y_title="probability", dark=lesson.dark())
        lesson.picture(figure, f"{PAGE}.next", f"Probabilities of {len(vocabulary)} tokens, from {probs.min():.3g} to {probs.max():.3g}.")
    with right:
        changed = controls.pick(PAGE, "changed", "Give this source word the vector of <start>", text.options(source), n_sources - 1)
        other = list(source_ids)
        other[changed] = vocabulary.index(START)
        moved = experiments.moved(trace.out, encoder_decoder.forward(params, other, target_ids, n_heads, norm_position=norm_position).out)
        figure = plots.bars(target, moved, title="How far each decoder output moves", y_title="largest change", dark=lesson.dark())
        lesson.picture(figure, f"{PAGE}.moved", f"Source word {changed} changed: {int((moved > 0).sum())} of {n_targets} move.")
    lesson.say("A changed source word reaches every output of the decoder, through cross-attention. A changed target word reaches its own "
               "and later outputs alone. With random weights the probabilities say nothing about language.")
else:
    few_sources, few_targets = source[:6], target[:6]
    families = encoder_decoder.who_sees_whom(len(few_sources), len(few_targets))
    few = [*few_sources, *few_targets]
    lesson.picture(charts.small_multiples(np.array(list(families.values()), dtype=float), few, few, titles=list(families), name="may look",
                                          **lesson.look(960)),
                   f"{PAGE}.families", f"Who may look at whom: encoder-only all {len(few)**2} pairs, decoder-only "
                   f"{int(families['decoder-only'].sum())}, encoder–decoder {int(families['encoder–decoder'].sum())}.")
    lesson.say(f"1: may look; 0: may not; drawn for the first {len(few_sources)} source and {len(few_targets)} target tokens. An "
               "**encoder-only** model (BERT) reads and does not write on. A **decoder-only** model (GPT) takes the source as the "
               "beginning of its own text. An **encoder–decoder** (2017, T5) reads the source both ways and writes from left to right.")

lesson.weights(f"Embeddings and matrices are drawn at random (seed {seed}), never trained. The patterns mean nothing: no alignment of "
               "words should be read from them.")
lesson.check("every row sums to 1", max(abs(part.pattern.sum(-1) - 1).max() for part in patterns.values()), 1e-12)
lesson.check("a changed last target word moves no earlier output", held.max(initial=0.0), 1e-12)
lesson.check("the probabilities of a position sum to 1", abs(trace.probs.sum(axis=-1) - 1).max(), 1e-12)
lesson.ran(encoder_decoder.decoder_layer, encoder_decoder.forward)
lesson.script("Encoder, decoder, cross-attention", (encoder_decoder.forward,),
              {"params": params, "source_ids": source_ids, "target_ids": target_ids, "n_heads": n_heads,
               "norm_position": norm_position}, f"""
    trace = forward(params, source_ids, target_ids, n_heads, norm_position=norm_position)
    show("encoder", trace.encoder[{layer}].attention.pattern[{head}])
    show("decoder", trace.decoder[{layer}].self_attention.pattern[{head}])
    show("cross", trace.decoder[{layer}].cross_attention.pattern[{head}])
    show("next token", trace.probs[-1])
    """, vocabulary)
lesson.source("Vaswani et al. 2017, sections 3.1 and 3.2.3, figure 1", "Devlin et al. 2019", "Radford et al. 2018", "Raffel et al. 2020")
