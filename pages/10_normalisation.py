"""Normalisation: LayerNorm and RMSNorm work on one token at a time, batch statistics do not."""

import numpy as np
import streamlit as st

from core import arithmetic_layers, draws, experiments, normalization
from pages.shared import charts, controls, editor, examples, lesson, plots, text
from pages.shared.controls import Cell, Grid

PAGE = "normalisation"

tokens, notes = controls.own_tokens()
lesson.remarks(notes)
if tokens:
    d_model = controls.stop(PAGE, "d_model", "Features of a token, d_model", (2, 4, 8, 16), 8)
    example = controls.own_example(tuple(tokens), st.session_state["seed"], d_model, d_model)._replace(params={})
else:
    example, notes = controls.sentence(PAGE, ("four_vectors", "bank_sentence"))
    if example.id == "four_vectors":
        example, notes = editor.edited(PAGE, example)
        lesson.remarks(notes)
    else:
        example = example._replace(params={})
left, right = st.columns(2, vertical_alignment="bottom")
with left:
    eps = controls.stop(PAGE, "eps", "ε, added inside the root", (0.0, 1e-8, 1e-5, 1e-3, 0.1), 1e-5)
with right:
    factor = controls.stop(PAGE, "factor", "Multiply x by", (0.01, 0.1, 1, 10, 100), 1)
tokens, x = example.tokens, examples.frozen(example.x * factor)
gain, offset = (example.params[name][0] if name in example.params else None for name in ("gain", "offset"))
n_tokens, d_model = x.shape

layer = normalization.trace_layer_norm(x, gain, offset, eps)
rms = normalization.trace_rms_norm(x, gain, eps)
batch = normalization.batch_norm(x, eps)

lesson.say("Every layer adds to a token's vector, so its numbers drift apart in size. A normalisation brings each **token's own vector** "
           "back to one size before it is used. **LayerNorm** takes the mean away and divides by the standard deviation over the "
           "features; **RMSNorm** divides by the root mean square and leaves the mean alone. Neither looks at another token.")
lesson.formula(r"\text{LayerNorm}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}\,\gamma + \beta \qquad "
               r"\sigma^2 = \frac1n \sum_i (x_i - \mu)^2 \qquad "
               r"\text{RMSNorm}(x) = \frac{x}{\sqrt{\frac1n\sum_i x_i^2 + \varepsilon}}\,\gamma")
lesson.ask(PAGE, "Multiply a token's vector by 10. What does LayerNorm give?",
           ["10 times as much", "the same, but for ε", "it depends on the other tokens"], 1,
           "The deviations and the standard deviation both grow 10-fold, and the factor cancels. Only ε, which stands inside the root, "
           "does not grow with them: move the slider “Multiply x by” and look at a vector of very small numbers.")

feature_names = controls.features(d_model)
grid = Grid(tokens, feature_names, "Token", "Feature")
picked = controls.cell(PAGE, {"LayerNorm": grid, "RMSNorm": grid}, Cell("LayerNorm", 0, 0))
pictures = (("x", "x: what comes in", x, None),
            ("layer", "LayerNorm(x): each row on its own", layer.out, "LayerNorm"),
            ("rms", "RMSNorm(x): each row on its own", rms.out, "RMSNorm"),
            ("batch", "Batch statistics: each column over the tokens", batch, None))
for place, (name, title, z, stage) in zip([*st.columns(2), *st.columns(2)], pictures, strict=True):
    frame = (picked.row, picked.column) if stage == picked.stage or name == "x" else None
    figure = charts.heatmap(z, tokens, feature_names, title=title, name="value", row_title="token", column_title="feature",
                            clicked=frame, max_cell=56, small=True, **lesson.look())
    with place:
        chart = f"{PAGE}.{name}"
        lesson.picture(figure, chart, f"{title}. {n_tokens} tokens × {d_model} features, values from {z.min():.3g} to {z.max():.3g}.",
                       controls.on_click(PAGE, chart, stage) if stage else None)

explanation = (arithmetic_layers.explain_layer_norm(x, layer.out, picked.row, picked.column, eps=eps, gain=gain, offset=offset)
               if picked.stage == "LayerNorm" else
               arithmetic_layers.explain_rms_norm(x, rms.out, picked.row, picked.column, eps=eps, gain=gain))
lesson.arithmetic(f"{picked.stage}: token {picked.row} {text.quoted(tokens[picked.row])}, feature {picked.column}", [explanation])

row = picked.row
lesson.say(f"Token {row}: mean **{layer.mean[row, 0]:.4g}** and variance **{layer.variance[row, 0]:.4g}** over its {d_model} features "
           f"(divided by n = {d_model}, not by n − 1); mean square **{rms.mean_square[row, 0]:.4g}**.")
if (layer.variance == 0).any():
    n_flat = int((layer.variance == 0).sum())
    lesson.say(f"{n_flat} of the {n_tokens} vectors here {'has' if n_flat == 1 else 'have'} no spread: all features are equal. LayerNorm "
               "makes each of them 0 (plus the offset); RMSNorm keeps their sign.")
if example.id in ("four_vectors", "edited") and ((layer.variance > 0) & (layer.variance < eps)).any():
    lesson.say("A vector whose variance is smaller than ε is not brought to size 1: ε outweighs it under the root. That is what keeps a "
               "vector of rounding errors from being blown up.")

lesson.heading("Change another token")
if n_tokens > 1:
    changed = controls.pick(PAGE, "changed", "Give this token another vector", text.options(tokens), n_tokens - 1)
    other = np.array(x)
    other[changed] = draws.child_rng(st.session_state["seed"], "changed", tokens[changed]).standard_normal(d_model) * factor
    moves = {"LayerNorm": experiments.moved(layer.out, normalization.layer_norm(other, gain, offset, eps)),
             "batch statistics": experiments.moved(batch, normalization.batch_norm(other, eps))}
    tallest = max(float(distances.max()) for distances in moves.values()) or 1.0
    for place, (name, distances) in zip(st.columns(2), moves.items(), strict=True):
        with place:
            figure = plots.bars(tokens, distances, title=f"How far each row moves with {name}", y_title="largest change",
                                y_range=(0, 1.15 * tallest), dark=lesson.dark())
            lesson.picture(figure, f"{PAGE}.moved.{name[:5]}", f"With {name}, {int((distances > 0).sum())} of {n_tokens} rows move when "
                           f"token {changed} gets another vector.")
    lesson.say("With LayerNorm only the changed token's row moves. With batch statistics, which are taken over the tokens, the others can "
               "move as well: what a token becomes would depend on its neighbours, and in a decoder on words that come later.")
    lesson.check("another token's vector moves no other row of LayerNorm", np.delete(moves["LayerNorm"], changed).max(initial=0.0), 0.0)
else:
    lesson.say("A text of one token has no other token to change.")

lesson.weights(f"x is {example.where_from}."
               + (" Which random numbers are large means nothing." if "random" in example.where_from else "")
               + (" γ and β are 1 and 0, as at the start of training." if gain is None else
                  " γ is the gain and β the offset; a model learns both."))
spread = layer.variance[:, 0] > 1e3 * eps
lesson.check("rows of LayerNorm before γ and β have mean 0", abs(layer.normalised.mean(axis=-1)).max(), 1e-9)
lesson.check("rows whose variance outweighs ε a thousandfold come to variance 1",
             abs(layer.normalised[spread].var(axis=-1) - 1).max(initial=0.0), 1.1e-3)
lesson.ran(normalization.layer_norm, normalization.trace_layer_norm, normalization.rms_norm, normalization.trace_rms_norm)
lesson.script("Normalisation", (normalization.layer_norm, normalization.rms_norm, normalization.batch_norm),
              {"x": x, "eps": eps, "gain": gain, "offset": offset}, """
    show("LayerNorm", layer_norm(x, gain, offset, eps))
    show("RMSNorm", rms_norm(x, gain, eps))
    show("batch statistics", batch_norm(x, eps))
    """, tokens)
lesson.source("Ba, Kiros & Hinton 2016, section 3", "Zhang & Sennrich 2019, section 4", "Ioffe & Szegedy 2015, algorithm 1",
              "Vaswani et al. 2017, section 3.1")
