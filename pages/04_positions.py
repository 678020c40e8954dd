"""Positions: ways to tell attention who stands where, and what it does without them."""

import numpy as np
import streamlit as st

from core import arithmetic, attention, draws, experiments, order, positions, sums
from pages.shared import controls, examples, lesson, plots, schemes, text, waves
from pages.shared.controls import Cell, Grid, features
from pages.shared.waves import heat, named

PAGE = "positions"
PRESETS = {"dog bites man": (0, 2), "Bumrah bowled it": (0, 2), "the umpire warned the bowler": (1, 4)}  # which two change places
CHANGES = ("turned round", "two words swapped", "shuffled")
own, notes = controls.own_tokens()
seed = st.session_state["seed"]


def chosen(n_presets):
    """The sentence, and which words of it change places when it is turned round (None: all of it is reversed)."""
    if own:
        return controls.own_example(tuple(own), seed, 16, 8), None
    bank = examples.bank_sentence()
    number = controls.pick(PAGE, "example", "Example", [*PRESETS, bank.title])
    if number == n_presets:
        return bank, None
    title = list(PRESETS)[number]
    return controls.own_example(tuple(title.split()), seed, 16, 8), PRESETS[title]


def new_order(n, turn, tokens):
    """The order that the person asks for."""
    change = controls.choice(PAGE, "change", "What happens to the words", CHANGES)
    if n == 1:
        lesson.say("One word has no other order.")
        return np.arange(1)
    if change == "two words swapped":
        left, right = st.columns(2)
        with left:
            one = controls.pick(PAGE, "one", "Swap this word", text.options(tokens), 0)
        with right:
            other = controls.pick(PAGE, "other", "with this one", text.options(tokens), n - 1)
        return order.swapped(n, one, other)
    if change == "shuffled":
        number = controls.whole(PAGE, "shuffle", "Shuffle number", 1, 20, 1)
        return order.shuffled(n, draws.child_rng(seed, "shuffle", str(number)))
    return np.arange(n)[::-1] if turn is None else order.swapped(n, *turn)


def experiment():
    """The same words in another order, with and without positions, with and without the causal mask."""
    lesson.formula(r"\text{attention}(P X) = P\,\text{attention}(X)")
    example, turn = chosen(len(PRESETS))
    tokens, x, n = example.tokens, example.x, len(example.tokens)
    places = new_order(n, turn, tokens)
    left, right = st.columns(2)
    with left:
        with_positions = controls.switch(PAGE, "positions", "Add positions", help="Adds the sinusoidal vectors of Vaswani et al. 2017.")
    with right:
        causal = controls.switch(PAGE, "causal", "Causal mask", help="No word may look at a later one.")
    moved = [tokens[place] for place in places]
    lesson.words(f"before: {' '.join(tokens)}\nafter:  {' '.join(moved)}")
    if n > 1 and list(tokens) == moved:
        lesson.remarks(["This change leaves the sentence as it was; only equal words changed places."])
    w_q, w_k, w_v = example.params.values()
    pe, mask = positions.sinusoidal(*x.shape), attention.causal_mask(n)
    runs = {(added, hides): order.reordered(x, w_q, w_k, w_v, places, pe if added else None, mask if hides else None)
            for added in (False, True) for hides in (False, True)}
    trace, columns = runs[with_positions, causal], features(w_v.shape[1])
    grid = Grid(tokens, columns, "Word", "Feature")
    picked = controls.cell(PAGE, {"before": grid, "after": Grid(moved, columns, "Word", "Feature"), "difference": grid},
                           Cell("difference", 0, 0))
    at, limit = (picked.row, picked.column), float(max(abs(trace.before.mixed).max(), abs(trace.after.mixed).max()))
    looks = {"before": (trace.before.mixed, tokens, "Output: the sentence as it was"),
             "after": (trace.after.mixed, moved, "Output: the words in the new order"),
             "difference": (trace.difference, tokens, f"Each word's output, after − before: at most {abs(trace.difference).max():.2g}")}
    sides = [*st.columns(2), *st.columns(2)]
    for side, (name, (z, rows, title)) in zip(sides, looks.items(), strict=False):
        with side:
            heat(name, z, rows, columns, title, at if picked.stage == name else None, name, row_title="word", column_title="feature",
                 limit=limit, name="value")
    moves = experiments.moved(trace.before.mixed, trace.matched)
    with sides[3]:
        lesson.picture(plots.bars(tokens, moves, title="How far each word's own output moves", y_title="largest change", digits=2,
                                  y_range=(0, 1.2 * max(float(moves.max()), 0.01)), dark=lesson.dark()),
                       f"{PAGE}.moves", f"How far each word's output moves when the words change places: at most {moves.max():.3g}.")
    equal = order.equal_words(tokens)
    token, same = next(iter(equal.items()), (None, []))
    lesson.say("| | largest change of a word's output |" + " gap between equal words before |" * bool(equal) + "\n|:--|--:|"
               + "--:|" * bool(equal) + "\n" + "\n".join(
        f"| {'with' if added else 'no'} positions, {'causal' if hides else 'no'} mask | {abs(run.difference).max():.2g} |"
        + f" {order.largest_gap(run.before.mixed[same]):.2g} |" * bool(equal) for (added, hides), run in runs.items()))
    if equal:
        lesson.words(f"Equal words:{named([token], 0)} stands at {', '.join(map(str, same))}. Its rows of the first picture differ by at "
                     f"most {order.largest_gap(trace.before.mixed[same]):.2g} here.")
    lesson.say("With no positions and no mask the outputs **move along** with the words, for every reordering P, and are otherwise the "
               "same: attention alone sees a set. A causal mask alone already supplies some order, because each word sees "
               "only those before it.")
    if picked.stage == "difference":
        back = int(np.argsort(places)[at[0]])
        parts = {f"after[{back}, {at[1]}]": trace.matched[at], f"-before[{at[0]}, {at[1]}]": -trace.before.mixed[at]}
        explanation = sums.explain_sum(f"difference[{at[0]}, {at[1]}]", parts, trace.difference[at])
    else:
        explanation = arithmetic.explain(getattr(trace, picked.stage), "mixed", *at)
    lesson.arithmetic(f"{picked.stage}: word {at[0]}{named(moved if picked.stage == 'after' else tokens, at[0])}, feature {at[1]}",
                      [explanation])
    lesson.say("**A model ignores order? Look here first.**\n1. Are positions there at all?\n"
               "2. Are they added at the right stage? Sinusoidal and learned ones go to the word vectors, rotary ones to q and k in every "
               "layer, ALiBi to the scores.\n3. Does the text run past the longest one in training, and is it cut there?")
    lesson.check("with no positions and no mask, reordered words only reorder the outputs", abs(runs[False, False].difference).max(), 1e-12)
    lesson.check("every row of the weights sums to 1", abs(trace.after.pattern.sum(axis=-1) - 1).max(), 1e-12)
    lesson.weights(f"Word vectors and matrices are {example.where_from}. How large a change is means nothing; whether there is one does.")
    lesson.ran(order.reordered)
    lesson.script("Positions", (order.reordered, positions.sinusoidal, attention.causal_mask), {
        "x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "order": [int(place) for place in places], "add": with_positions, "causal": causal}, """
    trace = reordered(x, w_q, w_k, w_v, order, sinusoidal(*x.shape) if add else None, causal_mask(len(x)) if causal else None)
    show("before", trace.before.mixed)
    show("after", trace.after.mixed)
    show("difference", trace.difference)
    """, tokens)
    lesson.source("Vaswani et al. 2017, section 3.5")


lesson.remarks(notes)
lesson.say("Attention compares words by dot products, and the dot product of two word vectors does not depend on where the words stand. "
           "Word order has to be brought in from outside. These are the usual ways; the **order experiment** shows what "
           "happens without any.")
lesson.ask(PAGE, "No positions, no mask: turn “dog bites man” round. What becomes of the output for “dog”?",
           ["it changes", "it stays the same, in another row", "it depends on the weights"], 1,
           "Its query meets the same keys and values, only listed in another order, and a sum does not depend on the order of its parts. "
           "See it under “order experiment”.")
scheme = controls.choice(PAGE, "scheme", "Scheme", ("sinusoidal", "learned table", "rotary", "ALiBi", "order experiment"))
if scheme == "sinusoidal":
    waves.sinusoidal(own)
elif scheme == "order experiment":
    experiment()
else:
    {"learned table": schemes.learned, "rotary": schemes.rotary, "ALiBi": schemes.alibi}[scheme](own, seed)
