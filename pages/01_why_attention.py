"""Why attention: what a recurrent network loses over a distance, and how many steps each needs."""

import numpy as np
import streamlit as st

from core import arithmetic_recurrent, attention, draws, recurrent
from pages.shared import charts, controls, lesson, plots, text
from pages.shared.controls import Cell, Grid, features

PAGE = "why_attention"
PRESETS = {  # the sentence, its noun and its pronoun
    "The umpire warned the bowler after he overstepped the crease twice": (4, 6),
    "The bowler whom the umpire had warned twice before the tea break said that he was sorry": (1, 14)}
D_IN = 8


def take_preset():
    """Callback: another example brings its own two words."""
    earlier, later = list(PRESETS.values())[st.session_state[f"{PAGE}.example"]]
    st.session_state[f"{PAGE}.earlier"], st.session_state[f"{PAGE}.later"] = earlier, later


tokens, notes = controls.own_tokens()
seed = st.session_state["seed"]
lesson.remarks(notes)
noun, pronoun = 0, len(tokens) - 1
if not tokens:
    sentence = list(PRESETS)[controls.pick(PAGE, "example", "Example", PRESETS, on_change=take_preset)]
    tokens, (noun, pronoun) = sentence.split(), PRESETS[sentence]
n = len(tokens)
n_words = f"{n} word{'s' * (n != 1)}"

lesson.say("A pronoun must find its noun, and other words stand between them. A **recurrent network** reads one word after the other and "
           "carries a single state along. What the noun put into the state must survive every step up to the pronoun. **Attention** "
           "compares the pronoun with every word directly: one step, whatever the distance.")
lesson.ask(PAGE, "Suppose each step keeps 0.9 of what came to it. How much is left after 20 steps?",
           ["about 88 %", "about 50 %", "about 12 %"], 2, "0.9 multiplied by itself 20 times is 0.1216.")

left, right = st.columns(2)
with left:
    one = controls.pick(PAGE, "earlier", "Earlier word", text.options(tokens), noun)
with right:
    other = controls.pick(PAGE, "later", "Later word", text.options(tokens), pronoun)
first, last = sorted((one, other))
distance = last - first
lesson.words(f"{text.quoted(tokens[first])} → {text.quoted(tokens[last])}: distance {distance}")
lesson.picture(plots.chain(tokens, first, last, title="From word to word",
                           width=lesson.look(960)["width"], dark=lesson.dark()), f"{PAGE}.chain",
               f"{n_words} in a row; recurrent: {distance} step{'s' * (distance != 1)} from word {first} to word {last}; "
               "attention: one arrow." if distance else f"{n_words} in a row; no arrow is needed from word {first} to itself.")
if not distance:
    lesson.say("Earlier and later word are the same one, so there is no distance to bridge. " + (
        "Choose two different words." if n > 1 else "Write a sentence of several words to see one."))
lesson.say("The arrows mean two things. A recurrent arrow points the way information flows, from a word to the next. The attention arrow "
           "points from the word that looks to the word it looks at; the information comes back along it.")
lesson.say(f"| | steps between the two words | steps that must wait for each other, {n_words} |\n|:--|--:|--:|\n"
           f"| recurrent | {distance} | {n} |\n| attention | {min(distance, 1)} | 1 |")
lesson.say("Counted as in table 1 of Vaswani et al. 2017: one layer each, and a step is a whole operation. A recurrent network can't begin "
           "a word before it has ended the one before, in training either. Attention computes all positions at once; it pays with a number "
           "of comparisons that grows as n².")

lesson.heading("What reaches back")
left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
with left:
    rho = controls.decimal(PAGE, "rho", "ρ, the size of a step", 0.5, 1.5, 0.9, 0.05)
with middle:
    width = controls.stop(PAGE, "width", "Features of the state", (2, 4, 8, 16, 32), 8)
with right:
    bend = controls.switch(PAGE, "tanh", "tanh", help="Off: the state is the sum itself, and nothing bends it.")
lesson.formula(r"\begin{gathered} s_t = " + (r"\tanh(x_t W_x + s_{t-1} W_h)" if bend else r"x_t W_x + s_{t-1} W_h")
               + r" \\ W_h = \rho \times \text{a random orthogonal matrix} \end{gathered}")
x = draws.token_vectors(tokens, seed, D_IN)
params = {"w_x": draws.projection(seed, "w_x", D_IN, width), "w_h": rho * recurrent.orthogonal(width, draws.child_rng(seed, "w_h"))}
trace = recurrent.recurrent(x, params, bend=bend)
to_last = recurrent.recurrent(x[:last + 1], params, bend=bend)  # the sentence up to the later word
jacobians = recurrent.state_jacobians(params, to_last, bend=bend)
norms = np.linalg.norm(jacobians[:0:-1], ord=2, axis=(1, 2))    # by distance: 0 is the later word itself
line = rho ** np.arange(last + 1)
lesson.say("How much does a small change of an earlier word's state still move the later word's state? The derivative of one by the other "
           "is a matrix: the product of one matrix a step. Its **spectral norm** is the largest factor by which it can lengthen a vector. "
           "At 0.5 no small change arrives at more than half its size. An **orthogonal** matrix only turns and mirrors: it changes no "
           "length. So without tanh every step multiplies by ρ, and the norm is exactly ρ to the distance.")
series = {"computed": norms, "ρ^distance": line}
lesson.picture(plots.curves(range(last + 1), series, title=f"Norm of d state {last} / d earlier state, tanh {'on' if bend else 'off'}",
                            x_title="distance", y_title="spectral norm", log_y=True, at=distance, dark=lesson.dark(),
                            points={"the two words": (distance, norms[distance])} if norms[distance] else None),
               f"{PAGE}.norms", f"Spectral norm against distance from 0 to {last}: 1 at distance 0, {norms[-1]:.3g} at distance {last}.")
verdict = ("Without tanh both lines are one." if not bend else
           "With tanh each step also multiplies by the slope 1 − s², which is at most 1. So the norm can't be above ρ^distance, and it may "
           "vanish even where ρ is above 1; the curve shows what was computed here.")
lesson.say(f"At distance {distance} the norm is **{norms[distance]:.4g}**, and ρ^{distance} = {line[distance]:.4g}. {verdict}")

columns = features(width)
picked = controls.cell(PAGE, {"state": Grid(tokens, columns, "Word", "Feature")}, Cell("state", first, 0))
figure = charts.heatmap(trace.states[1:], tokens, columns, title="The state after each word", name="state", row_title="after word",
                        column_title="feature", clicked=(picked.row, picked.column), max_cell=44, **lesson.look(620))
lesson.picture(figure, f"{PAGE}.states", f"State of {width} features after each of {n_words}.", controls.on_click(PAGE, f"{PAGE}.states"))
lesson.say("Words and states count from 0: word t makes s_t. The sum at the foot counts one place more, because its states[0] is the empty "
           "start, all zeros, before any word: s_t is states[t + 1].")
lesson.arithmetic(f"after word {picked.row} {text.quoted(tokens[picked.row])}, feature {picked.column}",
                  arithmetic_recurrent.explain_state(x, params, trace, picked.row, picked.column, bend))

lesson.heading("What attention does at that distance")
w_q, w_k, w_v = (draws.projection(seed, name, D_IN, D_IN) for name in ("w_q", "w_k", "w_v"))
pattern = attention.self_attention(x, w_q, w_k, w_v).pattern
lesson.picture(plots.bars(tokens, pattern[last], title=f"Weights of the later word, word {last}", y_title="weight", digits=2,
                          y_range=(0, 1.2 * float(pattern[last].max())), dark=lesson.dark()),
               f"{PAGE}.weights", f"Attention weights of word {last} on {n_words}; on word {first} it is {pattern[last, first]:.3g}.")
lesson.say(f"One weight, **{pattern[last, first]:.4g}**, joins word {last} to word {first} directly, however far apart they stand. The "
           "matrices here are random, so its size means nothing; training has to make it large where it should be.")

reached = recurrent.recurrent_gradients(x[:last + 1], params, to_last, np.eye(last + 1)[:, -1:] * np.ones(width), bend=bend)["start"]
lesson.weights(f"Word vectors, W_x, W_h and the attention matrices are drawn at random (seed {seed}), never trained, so they mean nothing. "
               "The norm without tanh does not depend on the draw.")
scale = max(1.0, float(abs(jacobians[0]).max()))
lesson.check("backpropagation through time gives the same as the product of the steps (relative)",
             abs(reached - jacobians[0].sum(axis=0)).max() / scale, 1e-10)
lesson.check("the weights of the later word sum to 1", abs(pattern[last].sum() - 1), 1e-12)
if not bend:
    lesson.check("without tanh the norm is ρ to the distance (relative)", abs(norms / line - 1).max(), 1e-10)
else:
    lesson.check("with tanh the norm is nowhere above ρ to the distance (relative)", (norms / line - 1).max(), 1e-10)
lesson.ran(recurrent.recurrent, recurrent.state_jacobians, recurrent.orthogonal)
lesson.script("Why attention", (recurrent.recurrent, recurrent.state_jacobians, attention.self_attention),
              {"x": x, **params, "bend": bend, "last": last, "w_q": w_q, "w_k": w_k, "w_v": w_v}, """
    params = {"w_x": w_x, "w_h": w_h}
    show("states", recurrent(x, params, bend=bend).states[1:])
    jacobians = state_jacobians(params, recurrent(x[:last + 1], params, bend=bend), bend=bend)
    show("norms", np.linalg.norm(jacobians[:0:-1], ord=2, axis=(1, 2)))
    show("weights", self_attention(x, w_q, w_k, w_v).pattern[last])
    """, tokens)
lesson.source("Elman 1990", "Hochreiter 1991", "Bengio, Simard & Frasconi 1994", "Hochreiter & Schmidhuber 1997, section 3",
              "Vaswani et al. 2017, section 4 and table 1")
