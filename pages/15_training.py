"""Training: a model learns in front of the visitor, step by step."""

import numpy as np
import streamlit as st

from core import inspection, loss, optimizer, training
from pages.shared import charts, choices, controls, lesson, plots, runs
from pages.shared.controls import Cell, Grid

PAGE = "training"

lesson.say("A model learns by being told, after each text, which token came. The **loss** is -ln(probability it gave to that token), "
           "in **nats**, as a mean over all places that count. Backpropagation gives the loss's slope for every parameter, and each step "
           "moves every parameter a little downhill.")
lesson.formula(r"\begin{aligned} \text{loss} &= -\frac{1}{n}\sum_i \ln p_i(\text{token that came}) \\ "
               r"w &\leftarrow w - \text{rate} \cdot \frac{\hat m}{\sqrt{\hat v} + \varepsilon} \end{aligned}")
lesson.say("The step is that of **Adam** (AdamW with a weight decay of 0): m is a running mean of the parameter's slope and v of its "
           "square; the hats make up for both having begun at 0, and ε = 10⁻⁸ keeps the quotient finite.")
choice, speed = choices.ask(PAGE)
recipe, task, config = choice.recipe, choice.recipe.task, choice.config
lesson.warn(choice.fault)
run = runs.held(choice)
guess = float(np.log(config.vocab_size))
lesson.ask(PAGE, f"There are {config.vocab_size} tokens, and nothing has been learned yet. What will the loss be before the first step?",
           ["0", "about ln V", "infinite"], 1, f"V is the number of tokens. Small random parameters give each token about the same "
           f"probability, 1/{config.vocab_size}, and -ln(1/{config.vocab_size}) = ln {config.vocab_size} = {guess:.2f}. The parameters "
           "here are drawn a little wider, so that they learn within seconds; so they guess unevenly, and the first loss lies around that "
           "line, more often above it than below.")
lesson.say(f"**The task.** {recipe.story}")
running = runs.buttons(PAGE, run)
lesson.small("The address holds the settings, not the step: whoever opens it begins at step 0 and gets the same run. "
             f"Seed {choice.settings.seed} draws the texts" + (", while the parameters begin as the course's example."
                                                              if choice.as_made else " and the first parameters."))
which = 0 if choice.task == "nasi" else controls.pick(PAGE, "sample", "Watch the attention on",
                                                      [f"text {i}: {' '.join(task.words(run.sample(i)))}" for i in range(runs.N_SAMPLES)])
tokens = task.words(run.sample(which))


def heads(trace):
    """The patterns of all heads, block by block, and their titles."""
    patterns = np.concatenate([block.attention.pattern for block in trace.blocks])
    return patterns, [f"block {b} head {h}" for b in range(config.n_layers) for h in range(config.n_heads)]


if choice.task != "nasi":
    lesson.say("Frames in the pictures mark the places that hold the answer: what a head that finds it would look at.")
before, titles = heads(run.before(which))


def patterns(name, title, zs):
    """The patterns of all heads in one picture."""
    lesson.say(f"**Attention {title}**")
    largest = np.nanmax(zs) if np.isfinite(zs).any() else np.nan
    figure = charts.small_multiples(zs, tokens, tokens, titles=titles, marks=run.answers_at(which), most_across=3, **lesson.look(560))
    lesson.picture(figure, f"{PAGE}.{name}", f"The patterns of {len(titles)} heads {title}; the largest weight is {largest:.3f}.")


def moving():
    """What changes while it trains."""
    runs.tick(run, speed)
    runs.status(run)
    lesson.warn(runs.trouble(run))
    x_range, losses = (0, choice.settings.n_steps), [record.loss for record in run.records]
    at_steps, accuracies = zip(*run.accuracies, strict=True)
    left, right = st.columns([1, 1.5])
    with left:
        lesson.picture(plots.curves([record.step for record in run.records], {"loss": losses}, title="Loss before each step",
                                    x_title="step", y_title="nats", markers=False, height=250, x_range=x_range, dark=lesson.dark(),
                                    level=(f"guessing all tokens alike: {guess:.2f}", guess)), f"{PAGE}.loss",
                       f"The loss over {len(losses)} steps" + (f", now {losses[-1]:.4g} nats" if losses else "")
                       + f"; guessing gives {guess:.4g}.")
        lesson.picture(plots.curves(at_steps, {"accuracy": accuracies}, title="Right answers on texts it is not trained on", x_title="step",
                                    y_title="share", y_range=(-0.02, 1.02), x_range=x_range, height=250, dark=lesson.dark()),
                       f"{PAGE}.accuracy", f"Accuracy after {run.trainer.done} steps: {accuracies[-1]:.3f}; before the first "
                       f"{accuracies[0]:.3f}.")
    now = run.trace(which)
    with right:
        patterns("now", f"after step {run.trainer.done}", heads(now)[0])
    watched(now)


def watched(now):
    """What the model says on the watched texts."""
    if choice.task == "nasi":
        letter = task.vocabulary.index("l")
        lesson.say(f"P(“l” after “nasi␣”): **{now.probs[letter]:.3f}**; before the first step "
                   f"**{run.before(0).probs[letter]:.3f}**.")
    else:
        lesson.words("\n".join(f"{' '.join(asked)}   wants {' '.join(wanted)}   says {' '.join(said)}"
                               + ("" if wanted == said else "   ✗") for asked, wanted, said in run.answers()))


lesson.live(moving, runs.TICK if running else None)
with st.columns([1, 1.5])[1]:
    patterns("before", "before the first step", before)

lesson.heading("Any parameter, taken apart")
if running:
    lesson.say("Pause the run to look at one parameter: its value, its slope, and what the next step does to it.")
elif run.trainer.bad:
    lesson.say("This run has numbers that are not finite, so nothing can be taken apart. Rewind it, or choose other settings.")
else:
    paths = inspection.paths(run.trainer.params)
    names = [inspection.label(path) for path in paths]
    path = paths[controls.pick(PAGE, "array", "Parameters", names)]
    array = np.atleast_2d(optimizer.at(run.trainer.params, path))
    gradient = np.atleast_2d(optimizer.at(run.ahead()[1], path))
    rows, columns = controls.features(array.shape[0]), controls.features(array.shape[1])
    if path[-1] in ("w_embed", "w_unembed"):
        rows = list(task.vocabulary)
    picked = controls.cell(PAGE, {"parameter": Grid(rows, columns, "First index", "Second index")}, Cell("parameter", 0, 0))
    ahead = "one step more" if run.over else f"step {run.trainer.done + 1}"
    for place, (name, title, z) in zip(st.columns(2), (("values", f"{names[paths.index(path)]}", array),
                                                       ("slopes", f"its gradient for {ahead}", gradient)), strict=True):
        with place:
            lesson.picture(charts.heatmap(z, rows, columns, title=title, row_title="row", column_title="column", max_cell=44,
                                          clicked=(picked.row, picked.column), **lesson.look()), f"{PAGE}.{name}",
                           f"{title}: {' × '.join(map(str, z.shape))} numbers from {z.min():.3g} to {z.max():.3g}.",
                           controls.on_click(PAGE, f"{PAGE}.{name}"))
    index = (picked.row, picked.column) if optimizer.at(run.trainer.params, path).ndim == 2 else (picked.column,)
    found = run.inspected(path, index)
    lesson.say("| this parameter | |\n|:--|--:|\n" + "\n".join(f"| {name} | {value:.6g} |" for name, value in (
        ("value", found.value), ("gradient, by backpropagation", found.gradient), ("gradient, measured", found.numeric),
        ("m, the mean slope so far", found.m), ("v, the mean squared slope so far", found.v), (f"value after {ahead}", found.after))))
    lesson.say(f"The measured gradient moves this one number by ±{inspection.STEP:g}, runs the model twice, and divides the difference of "
               "the two losses by the distance. Backpropagation gets the gradients of all parameters from one run forward and one back.")
    lesson.say(f"The **rate** warms up in a straight line over the first {choice.settings.warm_up} steps and then falls along half a "
               f"cosine to a tenth of {choice.settings.learning_rate:g}: {found.rate:.4g} for {ahead}. All gradients together have the "
               f"length {found.length:.4g}; where it is above {choice.settings.clip:g}, all are shortened to it (**clipping**), so that "
               "one odd batch can't throw the run.")
    lesson.arithmetic(f"parameter {found.name}", found.explanations)
    lesson.check("backpropagation agrees with the measured gradient", abs(found.gradient - found.numeric), 1e-6 * found.largest + 1e-9)

seed = "the example's own seed, 42" if choice.as_made else f"seed {choice.settings.seed}"
lesson.weights(f"Before training, the parameters are drawn at random ({seed}): a pattern from them means nothing. Then they are trained "
               "here, on texts that this course makes up; accuracy is measured on others. What a head looks at says what was mixed, not "
               "why the model answered.")
lesson.check("every row of every head before training sums to 1", abs(before.sum(axis=-1) - 1).max(), 1e-5)
lesson.ran(loss.cross_entropy, optimizer.AdamW, training.Trainer)
lesson.script("Training", *runs.script(run, which))
lesson.source("Vaswani et al. 2017, section 5.3", "Kingma & Ba 2015", "Loshchilov & Hutter 2017 (rate)", "Loshchilov & Hutter 2019 (AdamW)",
              "Pascanu, Mikolov & Bengio 2013 (clipping)", "Radford et al. 2019, section 2.3")
