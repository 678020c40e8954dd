"""Residual stream and block: attention and feed-forward read the stream and add to it."""

import streamlit as st

from core import arithmetic_block, attention, block, draws, experiments
from pages.shared import architecture, blocks, charts, controls, lesson, plots, text
from pages.shared.controls import Cell, Grid

PAGE = "block"
STEPS = {"norm 1": "attn_in", "attention": "attn_out", "between": "resid_mid", "norm 2": "ff_in", "feed-forward": "ff_out",
         "out": "resid_post"}
OTHERS = {"the norm elsewhere": "norm_position", "the residual stream switched": "residual", "the causal mask switched": "causal"}

VIEWS = ("one block", "what was written", "side by side", "many blocks")

setting = blocks.ask(PAGE)
tokens, x, params, n_heads, visible, choices = setting[:6]
(n_tokens, d_model), pre = x.shape, choices["norm_position"] == "pre"
trace = block.block(x, params, n_heads, visible, **choices)

shapes = {"stream": x.shape, "attention": trace.attention.pattern.shape, "hidden": trace.feed_forward.hidden_post.shape}
drawing, links = architecture.block(shapes, norm_position=choices["norm_position"], residual=choices["residual"], norm=setting.norm,
                                    dark=lesson.dark())


def open_part():
    """Go to the page of the part that was clicked."""
    point = controls.clicked(f"{PAGE}.drawing")
    if point is not None and links[point["point_index"]]:
        st.session_state["_go"] = links[point["point_index"]]


left, right = st.columns(2)
with left:
    lesson.picture(drawing, f"{PAGE}.drawing", f"One block, {choices['norm_position']}-norm, from the bottom up: stream in, "
                   f"attention, sum, feed-forward, sum, stream out; {architecture.times(x.shape)} numbers on the stream.", open_part)
with right:
    lesson.say("The vectors of the tokens run through the model as a **stream**. Attention reads it and **adds** what it found to each "
               "token; the feed-forward layer reads the result and adds again. Nothing is overwritten: each layer writes on a shared board "
               "that later layers read (Elhage et al. 2021).")
    lesson.formula(r"\begin{aligned} x' &= x + \text{attention}(\text{norm}(x)) \\ x'' &= x' + \text{feed-forward}(\text{norm}(x')) "
                   r"\end{aligned}" if pre else
                   r"\begin{aligned} x' &= \text{norm}(x + \text{attention}(x)) \\ x'' &= \text{norm}(x' + \text{feed-forward}(x')) "
                   r"\end{aligned}")
    lesson.say("**Pre-norm** normalises what a step reads and leaves the stream alone, so a stack of blocks needs one more norm at its "
               "end. **Post-norm** normalises the stream itself after each sum. The 2017 paper's figure and its published model are "
               "post-norm; a later version of its code, and GPT-2, use pre-norm. Click a box to open its page.")
    lesson.ask(PAGE, "In a pre-norm block, what is the output minus the input?",
               ["what the feed-forward layer wrote", "what attention and the feed-forward layer wrote, added", "it can't be said"], 1,
               "Both steps only add to the stream, so the difference is the sum of the two writes. In a post-norm block the norm stands in "
               "between, and this no longer holds.")

model_features = controls.features(d_model)
parts = {"stream in": x, "attention writes": trace.attn_out, "feed-forward writes": trace.ff_out}
shares = block.shares_along(list(parts.values()), trace.resid_post)
limit = float(max(abs(z).max() for z in (x, trace.attn_out, trace.resid_mid, trace.ff_out, trace.resid_post)))
view = controls.choice(PAGE, "view", "Look at", VIEWS)
if view == "one block":
    grid = Grid(tokens, model_features, "Token", "Feature")
    picked = controls.cell(PAGE, dict.fromkeys(STEPS, grid), Cell("between", 0, 0))
    looks = [("in", "stream in", x, None), ("attention", "attention writes", trace.attn_out, "attention"),
             ("between", "stream between", trace.resid_mid, "between"),
             ("feed-forward", "feed-forward writes", trace.ff_out, "feed-forward"), ("out", "stream out", trace.resid_post, "out")]
    if picked.stage.startswith("norm"):
        first = picked.stage == "norm 1"
        looks.insert(1 if first else 3, ("norm", f"what {'attention' if first else 'feed-forward'} reads",
                                         getattr(trace, STEPS[picked.stage]), picked.stage))
    for (name, title, z, stage), place in zip(looks, [*st.columns(2), *st.columns(2), *st.columns(2)], strict=False):
        figure = charts.heatmap(z, tokens, model_features, title=title, name="value", row_title="token", column_title="feature",
                                clicked=(picked.row, picked.column if stage == picked.stage else None), limit=limit, max_cell=56,
                                **lesson.look())
        with place:
            chart = f"{PAGE}.{name}"
            lesson.picture(figure, chart, f"{title}: {n_tokens} tokens × {d_model} features, values from {z.min():.3g} to {z.max():.3g}.",
                           controls.on_click(PAGE, chart, stage) if stage else None)
    lesson.arithmetic(f"{picked.stage}: token {picked.row} {text.quoted(tokens[picked.row])}, feature {picked.column}",
                      arithmetic_block.explain_block(trace, params, STEPS[picked.stage], picked.row, picked.column, **choices))
elif view == "what was written":
    left, right = st.columns(2)
    with left:
        sizes = {name: experiments.lengths(part) for name, part in parts.items()}
        figure = plots.bar_groups(tokens, sizes, title="Length of each vector", y_title="length", dark=lesson.dark())
        lesson.picture(figure, f"{PAGE}.lengths", "Lengths for the last token: "
                       + ", ".join(f"{name} {size[-1]:.3f}" for name, size in sizes.items()) + ".")
    with right:
        figure = plots.bar_groups(tokens, dict(zip(parts, shares, strict=True)), stacked=True, y_title="share of the length",
                                  title="What each makes of the stream that goes out", dark=lesson.dark())
        lesson.picture(figure, f"{PAGE}.shares", "Shares along the last token's final vector: "
                       + ", ".join(f"{name} {share[-1]:.3f}" for name, share in zip(parts, shares, strict=True)) + ".")
    lesson.say("The last token: " + ", ".join(f"{name} **{size[-1]:.3f}**" for name, size in sizes.items())
               + ". Lengths of vectors do not add up, because the vectors point different ways. The second picture measures each along the "
               "final vector's own direction" + ("; these shares do add up, to its length." if pre and choices["residual"] else
                                               ". They add up to its length only in a pre-norm block with its residual stream."))
elif view == "side by side":
    other = controls.choice(PAGE, "other", "The same block, with", list(OTHERS))
    changed, seen = dict(choices), visible
    if OTHERS[other] == "norm_position":
        changed["norm_position"] = "post" if pre else "pre"
    elif OTHERS[other] == "residual":
        changed["residual"] = not choices["residual"]
    else:
        seen = attention.causal_mask(n_tokens) if visible is None else None
    rival = block.block(x, params, n_heads, seen, **changed)
    difference = rival.resid_post - trace.resid_post
    for place, (name, title, z) in zip(st.columns(2), (("rival", f"stream out, {other}", rival.resid_post),
                                                       ("difference", "minus this block's stream out", difference)), strict=True):
        figure = charts.heatmap(z, tokens, model_features, title=title, name="value", row_title="token", column_title="feature",
                                limit=limit, max_cell=56, **lesson.look())
        with place:
            lesson.picture(figure, f"{PAGE}.{name}", f"{title}: values from {z.min():.3g} to {z.max():.3g}.")
    same = int((experiments.moved(rival.resid_post, trace.resid_post) <= 1e-12).sum())
    lesson.say(f"The largest difference is **{abs(difference).max():.4g}**; {same} of {n_tokens} rows are the same"
               + (": the last token sees every word with the mask or without it." if OTHERS[other] == "causal" and same else "."))
else:
    n_layers = controls.whole(PAGE, "n_layers", "Blocks", 1, 24, 12)
    layers = [draws.block_params(st.session_state["seed"], i, d_model, 4 * d_model, gated=choices["activation"] == "swiglu")
              for i in range(n_layers)]
    arriving = draws.projection(st.session_state["seed"], "gradient", *x.shape)
    curves = experiments.through_depth(x, layers, n_heads, visible, activation=choices["activation"], d_out=arriving)
    for place, (what, title, x_title) in zip((*st.columns(2), st.columns(2)[0]), (
            ("lengths", "Mean length of the stream", "blocks"), ("likeness", "How much it still points the way of x (cosine)", "blocks"),
            ("gradient", "Mean length of the gradient", "blocks it went back through")), strict=True):
        figure = plots.curves(range(n_layers + 1), {name: getattr(run, what) for name, run in curves.items()}, title=title,
                              x_title=x_title, y_title="", log_y=what == "gradient", dark=lesson.dark())
        with place:
            lesson.picture(figure, f"{PAGE}.depth.{what}", f"{title} after {n_layers} blocks: " + ", ".join(
                f"{name} {getattr(run, what)[-1]:.3g}" for name, run in curves.items()) + ".")
    lesson.say("The gradient starts at the last block, the same for all three, and goes back by backpropagation. With residuals the sums "
               "hand it on beside every block; without them it has to pass through all of them. Its axis is logarithmic: equal steps "
               "upwards multiply by the same factor.")
    lesson.say("In a pre-norm stack the stream grows on the whole as blocks add to it, and what came in stays part of it. Post-norm brings "
               "every token back to one length after each sum. Without residuals each block replaces the stream, so what came in must pass "
               "through every matrix on the way. These blocks are random; how a trained stack behaves is another question.")

lesson.weights(f"x and the matrices are {setting.where_from}. Those of many blocks are drawn at random (seed "
               f"{st.session_state['seed']}). What random blocks write means nothing.")
if pre and choices["residual"]:
    lesson.check("stream out = stream in + what both steps wrote", abs(x + trace.attn_out + trace.ff_out - trace.resid_post).max(), 1e-9)
    lesson.check("the shares sum to the final length", abs(shares.sum(axis=0) - experiments.lengths(trace.resid_post)).max(), 1e-9)
lesson.check("the heads' shares sum to what attention writes", abs(trace.attention.head_out.sum(axis=0) - trace.attn_out).max(), 1e-9)
lesson.check("every row of every head sums to 1", abs(trace.attention.pattern.sum(axis=-1) - 1).max(), 1e-12)
lesson.ran(block.block, block.normalise)
lesson.script("Residual stream and block", (block.block,), {"x": x, "params": params, "n_heads": n_heads, "visible": visible,
                                                            "choices": choices}, """
    trace = block(x, params, n_heads, visible, **choices)
    for name in ("attn_in", "attn_out", "resid_mid", "ff_in", "ff_out", "resid_post"):
        show(name, getattr(trace, name))
    """, tokens)
lesson.source("Vaswani et al. 2017, section 3.1 and figure 1", "Radford et al. 2019, section 2.3", "Elhage et al. 2021", "He et al. 2015",
              "Xiong et al. 2020", "tensor2tensor, common_hparams.py (the published model and the later setting)")
