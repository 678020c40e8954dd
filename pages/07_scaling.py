"""Scaling and saturation: why the scores are divided by √d."""

import math

import streamlit as st

from core import arithmetic, experiments, softmax
from pages.shared import charts, controls, lesson, plots, slow, text

PAGE = "scaling"
TEMPERATURES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
SCORES, LARGE = "2 1 0.5 -1", "1000 1001 1002"


def score_list(name, label, default, most):
    """A short list of numbers the person can edit; the default where it can't be read, with a sentence."""
    values, fault = text.parse_numbers(controls.words(PAGE, name, label, default), 2, most)
    if fault:
        lesson.remarks([f"“{label}” can't be read: {fault} {default} is shown until then."])
    return values or [float(entry) for entry in default.split()]


seed = st.session_state["seed"]
if controls.own_tokens()[0]:
    lesson.remarks(["This page works on random vectors and on lists of scores. Your sentence is kept for the other pages."])
with st.spinner("Drawing 1,000 queries and 16,000 keys at each of 11 widths …"):
    rows = slow.scaling_curve(seed)
lesson.say("A dot product of two vectors with d independent random features of mean 0 and variance 1 is a sum of d products, each of "
           "variance 1. So it has variance d and standard deviation **√d**. Large differences between scores push the softmax into a "
           "corner: one weight near 1, the rest near 0, and almost no gradient left to learn from. For such vectors, dividing by √d keeps "
           "the standard deviation at 1 for every width.")
lesson.formula(r"\text{std}(q \cdot k) = \sqrt{d} \qquad \text{std}\!\left(q \cdot k \,/ \sqrt{d}\right) = 1")
lesson.ask(PAGE, "From d = 4 to d = 64 the width grows 16-fold. How much does the spread of q·k grow?", ["2-fold", "4-fold", "16-fold"], 1,
           f"√16 = 4. In the sample here: {rows[6].std:.2f} against {rows[2].std:.2f}, {rows[6].std / rows[2].std:.2f} times.")

left, right = st.columns([3, 1], vertical_alignment="bottom")
with left:
    d = controls.stop(PAGE, "d", "Width of a head, d", slow.WIDTHS, 64)
with right:
    scaled = controls.switch(PAGE, "scaled", "Divide by √d", True)
row = rows[slow.WIDTHS.index(d)]
std, top, spread, slope = ((row.std_scaled, row.top_scaled, row.entropy_scaled, row.gradient_scaled) if scaled else
                           (row.std, row.top_unscaled, row.entropy_unscaled, row.gradient_unscaled))
lesson.say(f"At **d = {d}**, {'divided by √d' if scaled else 'not divided'}: standard deviation of the scores **{std:.4g}**, largest of 16 "
           f"weights **{top:.4g}**, entropy **{spread:.4g}** of {math.log(16):.4g} nats, gradient size **{slope:.4g}**.")

dark, plain, even = lesson.dark(), "as they are", "divided by √d"
charted = (
    ("std", "Standard deviation of the scores", "std", {plain: [r.std for r in rows], even: [r.std_scaled for r in rows],
                                                          "√d": [math.sqrt(r.d) for r in rows]}, {"log_y": True}, std),
    ("top", "Largest weight (mean)", "weight", {plain: [r.top_unscaled for r in rows], even: [r.top_scaled for r in rows]},
     {"y_range": (0, 1.05)}, top),
    ("entropy", "Entropy of the weights (mean)", "nats",
     {plain: [r.entropy_unscaled for r in rows], even: [r.entropy_scaled for r in rows]}, {"y_range": (0, 2.9)}, spread),
    ("gradient", "Gradient size: ‖diag(p) − ppᵀ‖ (mean)", "norm", {plain: [r.gradient_unscaled for r in rows],
                                                                  even: [r.gradient_scaled for r in rows]}, {"y_range": (0, 0.4)}, slope),
)
for place, (name, title, y_title, series, more, value) in zip([*st.columns(2), *st.columns(2)], charted, strict=True):
    with place:
        first, last = series[plain][0], series[plain][-1]
        figure = plots.curves(slow.WIDTHS, series, title=title, x_title="d", y_title=y_title, log_x=True, at=d, dark=dark,
                               points={f"d = {d}": (d, value)}, **more)
        lesson.picture(figure, f"{PAGE}.{name}", f"{title} against d from 1 to 1024. Undivided it goes from {first:.3g} to {last:.3g}; "
                       f"divided by √d it ends at {series[even][-1]:.3g}.")

lesson.say("The same for three widths, drawn one after the other from a single generator (seed 42):")
lesson.say("| d | std of q·k | largest weight, as it is | largest weight, divided by √d |\n|--:|--:|--:|--:|\n" + "\n".join(
    f"| {r.d} | {r.std:.1f} | {r.top_unscaled:.2f} | {r.top_scaled:.2f} |" for r in slow.scaling_printed()))

lesson.heading("One row of scores")
lesson.say("A **temperature** T divides the scores before the softmax, as √d does. Move the slider in the picture: small T saturates, "
           "large T flattens. It runs in your browser.")
left, right = st.columns(2, vertical_alignment="bottom")
with left:
    scores = score_list("scores", "Scores", SCORES, 8)
with right:
    temperature = controls.stop(PAGE, "temperature", "Temperature T for the slopes", TEMPERATURES, 1.0)
labels = [f"{score:g}" for score in scores]
weights = softmax.softmax(scores, temperature=temperature)
slopes = softmax.softmax_jacobian(weights)
places = controls.Grid(labels, labels, "Weight", "Score")
picked = controls.cell(PAGE, {"slope": places}, controls.Cell("slope", 0, 0))
left, right = st.columns(2)
with left:
    frames = {f"{t:g}": softmax.softmax(scores, temperature=t) for t in TEMPERATURES}
    figure = plots.animated_bars(labels, frames, title="Weights: softmax(scores / T)", y_title="weight", slider_title="T =",
                                  start=TEMPERATURES.index(temperature), dark=dark)
    lesson.picture(figure, f"{PAGE}.bars", f"Weights of the score list. The largest is {frames['0.05'].max():.3g} at temperature 0.05 and "
                   f"{frames['20'].max():.3g} at 20.")
with right:
    figure = charts.heatmap(slopes, labels, labels, title=f"Slopes at T = {temperature:g}: diag(p) − ppᵀ", name="slope", row_title="weight",
                            column_title="score", clicked=(picked.row, picked.column), limit=0.25, **lesson.look())
    lesson.picture(figure, f"{PAGE}.slopes", f"The softmax's Jacobian at temperature {temperature:g}: the largest slope is "
                   f"{abs(slopes).max():.3g} of at most 0.25.", controls.on_click(PAGE, f"{PAGE}.slopes"))
lesson.say(f"The slopes' norm is **{float(experiments.jacobian_norm(weights)):.4g}** here. In a corner, where one weight is 1, every slope "
           f"is 0: the row can no longer learn. (At temperature T the chain rule divides each slope by T once more.)")
lesson.arithmetic(f"how weight {picked.row} moves when score {picked.column} moves",
                  [arithmetic.explain_slope(weights, picked.row, picked.column)])

lesson.heading("What overflows")
large = score_list("large", "Scores to try, up to ±1,000,000", LARGE, 6)
tried = experiments.stability(large)
limits = ", ".join(f"{r.limit:.2f} in {r.dtype}" for r in tried)
lesson.say(f"exp(x) overflows above {limits}. Subtracting the row's maximum first changes nothing in exact arithmetic, and then no "
           "exponent is above 0. A score beyond the largest number of a precision is already ∞ there, and nothing saves it: float16 ends "
           "at 65,504.")


def listed(values):
    """Numbers side by side, with the signs that the lesson uses for what went wrong."""
    return "  ".join(f"{value:.6g}".replace("nan", "NaN").replace("inf", "∞") for value in values)


lesson.say("| precision | exp(x) | softmax, as the formula reads | softmax, maximum subtracted |\n|:--|:--|:--|:--|\n" + "\n".join(
    f"| {r.dtype} | {listed(r.raised)} | {listed(r.without_shift)} | {listed(r.with_shift)} |" for r in tried))

lesson.weights(f"Queries, keys and their scores are drawn at random (seed {seed}; each width has its own child seed). Nothing here is "
               f"trained.")
lesson.check("the weights sum to 1", abs(weights.sum() - 1), 1e-12)
lesson.check("each column of the slopes sums to 0", abs(slopes.sum(axis=0)).max(), 1e-12)
lesson.check("the sample agrees with √d (relative; the gap is sampling, not rounding)", abs(row.std / math.sqrt(d) - 1), 0.1)
lesson.ran(softmax.softmax, softmax.softmax_jacobian, experiments.scaling_row)
lesson.script("Scaling and saturation", (softmax.softmax, softmax.softmax_jacobian, experiments.scaling_stream),
              {"scores": scores, "temperature": temperature}, """
    show("weights", softmax(scores, temperature=temperature))
    show("slopes", softmax_jacobian(softmax(scores, temperature=temperature)))
    for row in scaling_stream((4, 64, 512), 42):
        show("d, std, largest weight as it is, divided by the root of d", [row.d, row.std, row.top_unscaled, row.top_scaled])
    """)
lesson.source("Vaswani et al. 2017, section 3.2.1, footnote 4", "Goodfellow et al. 2016, sections 4.1 and 6.2.2.3")
