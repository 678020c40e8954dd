"""Feed-forward: each token on its own is widened, bent and narrowed."""

import numpy as np
import streamlit as st

from core import activations, arithmetic_layers, draws, experiments, feed_forward
from pages.shared import charts, controls, editor, examples, lesson, plots, text
from pages.shared.controls import Cell, Grid

PAGE = "feed_forward"
BENDS = {"ReLU": "relu", "GELU, exact": "gelu", "GELU, tanh form": "gelu_tanh", "SiLU": "silu", "SwiGLU": "swiglu"}

tokens, notes = controls.own_tokens()
lesson.remarks(notes)
seed = st.session_state["seed"]
if tokens:
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        d_model = controls.stop(PAGE, "d_model", "Features of a token, d_model", (2, 4, 8, 16), 4)
    with right:
        wider = controls.whole(PAGE, "wider", "Times wider inside, d_ff / d_model", 1, 8, 4)
    example = controls.own_example(tuple(tokens), seed, d_model, d_model)._replace(
        params={"w_in": draws.projection(seed, "w_in", d_model, wider * d_model),
                "w_out": draws.projection(seed, "w_out", wider * d_model, d_model)})
else:
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        example, notes = controls.sentence(PAGE, ("feed_forward_by_hand", "bank_sentence"))
    if example.id == "bank_sentence":
        example = example._replace(params=dict(examples.block_params()["feed_forward"]))
    else:
        with right:
            example, notes = editor.edited(PAGE, example)
        lesson.remarks(notes)
bend = controls.choice(PAGE, "bend", "The bend", list(BENDS), "ReLU")
activation, params = BENDS[bend], dict(example.params)
tokens, x = example.tokens, example.x
n_tokens, d_model = x.shape
d_ff = params["w_in"].shape[1]
if activation == "swiglu":
    params["w_gate"] = draws.projection(seed, "w_gate", d_model, d_ff)
trace = feed_forward.feed_forward(x, params, activation)

lesson.say(f"Between two looks at the others, every token works **on its own**: a matrix widens its vector from {d_model} to {d_ff} "
           f"features, a function bends each of them, and a second matrix narrows it back to {d_model}. The same two matrices serve "
           "every token. Without the bend the two matrices would be one.")
lesson.formula(r"\text{out} = \big(\text{silu}(x W_\text{gate}) \odot x W_\text{in}\big)\, W_\text{out}" if activation == "swiglu" else
               r"\text{out} = f(x\, W_\text{in})\, W_\text{out}")
lesson.ask(PAGE, "Change one word of the sentence. Which rows of this layer's output change?",
           ["all rows", "that word's row alone", "that row and the later ones"], 1,
           "No step mixes tokens: each row of the output comes from the same row of x. Only attention lets tokens look at each other.")

model_features, hidden_features = controls.features(d_model), controls.features(d_ff)
hidden = Grid(tokens, hidden_features, "Token", "Hidden feature")
grids = {"widen": hidden, "bend": hidden, "narrow": Grid(tokens, model_features, "Token", "Feature")}
picked = controls.cell(PAGE, grids, Cell("bend", 0, 0))
stage = {"widen": "hidden_pre", "bend": "hidden_post", "narrow": "out"}[picked.stage]
hidden_frame = (picked.row, picked.column if picked.stage != "narrow" else None)
wide = d_ff > 16
looks = (("x", f"x: {n_tokens} × {d_model}", x, model_features, (picked.row, None), None),
         ("widen", f"1 · widen: x·{'w_gate' if activation == 'swiglu' else 'w_in'}, {n_tokens} × {d_ff}", trace.hidden_pre, hidden_features,
          hidden_frame, "widen"),
         ("bend", "2 · bend: SiLU of x·w_gate, times x·w_in" if activation == "swiglu" else f"2 · bend: {bend} of each number",
          trace.hidden_post, hidden_features, hidden_frame, "bend"),
         ("narrow", f"3 · narrow: ·w_out, {n_tokens} × {d_model}", trace.out, model_features,
          (picked.row, picked.column if picked.stage == "narrow" else None), "narrow"))
places = [st.container() for _ in looks] if wide else [*st.columns(2), *st.columns(2)]
for place, (name, title, z, columns, frame, step) in zip(places, looks, strict=True):
    broad = wide and len(columns) == d_ff
    figure = charts.heatmap(z, tokens, columns, title=title, name="value", row_title="token", column_title="feature", clicked=frame,
                            max_cell=48, **lesson.look(960 if broad else 470))
    with place:
        chart = f"{PAGE}.{name}"
        lesson.picture(figure, chart, f"{title}. Values from {z.min():.3g} to {z.max():.3g}; {int((z == 0).sum())} of {z.size} are 0.",
                       controls.on_click(PAGE, chart, step) if step else None)
lesson.arithmetic(f"token {picked.row} {text.quoted(tokens[picked.row])}, feature {picked.column}",
                  arithmetic_layers.explain_feed_forward(x, params, trace, activation, stage, picked.row, picked.column))

lesson.heading("The bend")
grid = np.linspace(-6, 6, 241)
function, slope = activations.ACTIVATIONS[activation]
curves = {"f(x)": function(grid), "its slope f′(x)": slope(grid)}
inside = float(trace.hidden_pre[picked.row, picked.column]) if picked.stage != "narrow" else None
name = "SiLU" if activation == "swiglu" else bend
left, right = st.columns(2)
with left:
    figure = plots.curves(grid, curves, title=f"{name} and its slope", x_title="x", y_title="", markers=False, dark=lesson.dark(),
                          points={"the clicked cell": (inside, float(function(np.float64(inside))))} if inside is not None else None)
    lesson.picture(figure, f"{PAGE}.curve", f"{name} from -6 to 6, with its slope; lowest value {curves['f(x)'].min():.4g}.")
with right:
    exact, tanh = activations.gelu(grid), activations.gelu(grid, "tanh")
    figure = plots.curves(grid, {"tanh form − exact": tanh - exact}, title="GELU: how far the two forms differ", x_title="x", y_title="",
                          markers=False, dark=lesson.dark())
    gap = abs(tanh - exact)
    lesson.picture(figure, f"{PAGE}.forms", f"The two forms of GELU differ by at most {gap.max():.3g} on this grid, at x = "
                   f"{abs(grid[gap.argmax()]):.3g} on either side.")
lesson.say("ReLU cuts negative numbers off; its slope jumps from 0 to 1. GELU and SiLU bend smoothly and let small negative numbers "
           f"through. GELU has two forms, which differ by at most **{gap.max():.2g}** on the grid above. GPT-2's code uses the tanh form. "
           "BERT's code began with the exact one in 2018 and has used the tanh form since February 2019; the Hugging Face port of BERT "
           "uses the exact one. **SwiGLU** bends one widened copy and multiplies it with a second, so it has a third matrix.")

lesson.heading("Each token on its own")
changed = controls.pick(PAGE, "changed", "Give this token another vector", text.options(tokens), n_tokens - 1)
other = np.array(x)
other[changed] = draws.child_rng(seed, "changed", tokens[changed]).standard_normal(d_model)
distances = experiments.moved(trace.out, feed_forward.feed_forward(other, params, activation).out)
figure = plots.bars(tokens, distances, title="How far each row of the output moves", y_title="largest change",
                    y_range=(0, 1.15 * (float(distances.max()) or 1.0)), dark=lesson.dark())
lesson.picture(figure, f"{PAGE}.moved", f"When token {changed} changes, {int((distances > 0).sum())} of {n_tokens} rows of the output "
               "move.")
counts = {name: array.size for name, array in params.items()}
lesson.say("Numbers in the matrices: " + " + ".join(f"{name} {count:,}" for name, count in counts.items())
           + f" = **{sum(counts.values()):,}**; the output has {trace.out.shape[0]} × {trace.out.shape[1]} numbers again.")

gate_from = f" w_gate is drawn at random (seed {seed})." if activation == "swiglu" else ""
lesson.weights(f"x and the matrices are {example.where_from}.{gate_from}"
               + ("" if example.where_from.startswith("set") else " What random matrices write means nothing."))
lesson.check("a changed token moves no other row", np.delete(distances, changed).max(initial=0.0), 1e-12)
alone = feed_forward.feed_forward(x[picked.row], params, activation).out
lesson.check("a token alone gives the same row", abs(alone - trace.out[picked.row]).max(), 1e-9)
lesson.ran(feed_forward.feed_forward, *([activations.relu] if activation == "relu" else [activations.silu, activations.logistic]
                                        if activation in ("silu", "swiglu") else [activations.gelu]))
lesson.script("Feed-forward", (feed_forward.feed_forward,), {"x": x, **params, "activation": activation}, f"""
    params = {{{', '.join(f'"{name}": {name}' for name in params)}}}
    trace = feed_forward(x, params, activation)
    for name in ("hidden_pre", "hidden_post", "out"):
        show(name, getattr(trace, name))
    """, tokens)
lesson.source("Vaswani et al. 2017, section 3.3", "Hendrycks & Gimpel 2016, section 2", "Ramachandran et al. 2017", "Shazeer 2020",
              "GELU in code: google-research/bert, modeling.py, 2018-10-31 and 2019-02-07; openai/gpt-2, src/model.py; "
              "huggingface/transformers, activations.py")
