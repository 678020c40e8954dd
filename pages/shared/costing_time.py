"""The page of memory and compute: attention against recurrence, counted and measured; and attention in blocks."""

import numpy as np
import streamlit as st

from core import arithmetic_costs, attention, costs, query_blocks, stopwatch
from core.memory import in_words
from pages.shared import controls, costing, lesson, measuring, plots, quantities, slow_costs

LENGTHS = tuple(sorted({50} | {2**i for i in range(17)}))
WIDTHS = tuple(2**i for i in range(4, 13))
TOKENS = (64, 128, 256, 512)
BLOCKS = tuple(2**i for i in range(10))
D_HEAD = 16


def against_recurrence(page):
    """One layer of attention and one recurrent layer: counted, and measured when the visitor asks."""
    left, right = st.columns(2)
    with left:
        n = controls.stop(page, "n", "Tokens, n", LENGTHS, 50)
    with right:
        d = controls.stop(page, "d", "Width of a layer, d", WIDTHS, 512)
    found = costs.layer_costs(n, d)
    lesson.say("**Mixing along the sequence** is what a layer does between tokens. Attention multiplies every query with every key: "
               "n² · d multiply-adds. A recurrent layer multiplies its state of width d with a d × d matrix at each of n tokens: "
               "n · d². These are the two entries of table 1 in Vaswani et al. 2017.")
    share = costs.mixing_ratio(found)
    lesson.say(f"n = {n:,}, d = {d:,}: attention **{found.attention_mixing:,}**, recurrence **{found.recurrent_mixing:,}**; "
               + (f"the recurrence takes **{share:.6g} times** as many." if share > 1 else
                  "the two are **the same**." if share == 1 else f"attention takes **{1 / share:.6g} times** as many.")
               + f" Counted, the two are equal **exactly at n = d = {costs.crossing(d, d):,}**.")
    lesson.say("A **whole layer** also has projections: attention makes queries, keys, values and the output (4 n d²) and mixes twice, "
               "scores and values (2 n² d); the recurrence multiplies each input too (2 n d² in all). With them attention takes more "
               "multiply-adds at every n, and yet no token waits for another.")
    lesson.say("| | attention | recurrence |\n|:--|--:|--:|\n"
               f"| mixing along the sequence | {found.attention_mixing:,} | {found.recurrent_mixing:,} |\n"
               f"| whole layer, multiply-adds | {found.attention_layer:,} | {found.recurrent_layer:,} |\n"
               f"| steps that must wait for each other | {found.attention_steps:,} | {found.recurrent_steps:,} |")
    at = [2**i for i in range(17)]
    counts = [costs.layer_costs(each, d) for each in at]
    for place, (name, title, what) in zip(st.columns(2), (("mixing", "Mixing along the sequence", "mixing"),
                                                          ("layers", "Whole layers", "layer")), strict=True):
        values = {kind: [getattr(each, f"{kind}_{what}") for each in counts] for kind in ("attention", "recurrent")}
        with place:
            figure = quantities.lines({"attention": (at, values["attention"], (0, "solid")),
                                   "recurrence": (at, values["recurrent"], (1, "dash"))}, title=f"{title}, counted",
                                  x_title="tokens n", y_title="multiply-adds", at=("n = d", d),
                                  points={f"n = {n:,}": (n, getattr(found, f"attention_{what}"))}, dark=lesson.dark())
            chart = f"{page}.{name}"
            lesson.picture(figure, chart, f"{title} at n = {n}, d = {d}: attention {getattr(found, f'attention_{what}'):,}, "
                           f"recurrence {getattr(found, f'recurrent_{what}'):,}.", costing.nearest(page, "n", LENGTHS, chart))
    explained = arithmetic_costs.explain_layer_costs(found)
    names = ["attention: mixing", "recurrence: mixing", "attention: whole layer", "recurrence: whole layer", "ratio of the two mixings"]
    which = controls.pick(page, "layer_number", "Take apart", names)
    lesson.arithmetic(f"n = {n}, d = {d}: {names[which]}", [*explained[:2], explained[4]] if which == 4 else [explained[which]])
    lesson.check("the two mixings are equal at n = d", costs.layer_costs(d, d).attention_mixing - costs.layer_costs(d, d).recurrent_mixing,
                 0)
    _measured(page)
    return costing.Told((costs.layer_costs,), {"n": n, "d": d}, """
    show("counted", layer_costs(n, d)[2:])
    """)


def _measured(page):
    """Times of both over the length, once the visitor has asked for them."""
    lesson.heading("Measured on this machine")
    lesson.say(f"Counts are not times. Here one head of attention and one recurrent layer, both {stopwatch.WIDTH} wide, run in NumPy in "
               f"float32 with {stopwatch.LENGTHS[0]} to {stopwatch.LENGTHS[-1]:,} tokens, {stopwatch.REPEATS} times each, every time right "
               "after a run that is not timed, which warms up; shown is the middle time. "
               f"It takes at most {stopwatch.MOST_SECONDS:g} s of computing, in slices, and can be stopped.")
    running = measuring.buttons(page, "lengths", "Measure")

    def moving():
        measuring.tick("lengths")
        medians = measuring.status("lengths", running)
        times = {kind: {n: seconds for (each, n), seconds in medians.items() if each == kind} for kind in ("attention", "recurrence")}
        if len(times["recurrence"]) > 1:
            _times(page, times)

    lesson.live(moving, measuring.TICK if running else None)
    lesson.small("The times stay with you until you close the page; the address does not hold them. Another machine, or the same one with "
                 "other work to do, gives others.")


def _times(page, times):
    """The measured times over the powers that the counts promise."""
    series = {}
    for kind, power, colour, look in (("attention", 2, 0, "dash"), ("recurrence", 1, 1, "dot")):
        line = stopwatch.through(times[kind], power)
        series[f"{kind}, measured"] = (list(times[kind]), list(times[kind].values()), (colour, "points"))
        series[f"a line ∝ n{'²' if power == 2 else ''}"] = (list(line), list(line.values()), (colour, look))
    fits = {kind: stopwatch.fit(values) for kind, values in times.items()}
    figure = quantities.lines(series, title="Seconds, measured", x_title="tokens n", y_title="seconds", height=400, dark=lesson.dark())
    lesson.picture(figure, f"{page}.times", "Measured times: " + "; ".join(
        f"{kind} {values[max(values)]:.3g} s at n = {max(values):,}" for kind, values in times.items()) + ".")
    lesson.say("Each line goes through the largest measured length; nothing else about it is fitted. Over the larger half of the lengths "
               + " and ".join(f"{kind} grows like **n^{fit.exponent:.2f} ± {fit.error:.2f}** (n = {fit.used[0]} to {fit.used[-1]:,})"
                              for kind, fit in fits.items() if fit is not None)
               + ". The ± is the standard error of that slope; it knows how far the points lie from a line, not what bends them.")
    grown = stopwatch.first_growth(times["attention"])
    counted = costs.layer_costs(grown.second, 1).attention_mixing / costs.layer_costs(grown.first, 1).attention_mixing
    lesson.say(f"The counts grow like n² and like n. From n = {grown.first} to {grown.second} attention's count grows **{counted:g} "
               f"times**, its measured time **{grown.times:.3g} times**." + (
                   " It makes the same few NumPy calls at every length, and starting a call costs the same however short the text is."
                   if grown.times < counted else ""))
    lesson.say("The recurrence makes n small calls one after the other, attention a few large ones. So which one is faster at which n is "
               "a fact of the machine and the program: **none is promised to cross** at n = d.")
    times_table = sorted(times["attention"])
    lesson.say("| n | attention, ms | recurrence, ms |\n|--:|--:|--:|\n" + "\n".join(
        f"| {n:,} | {1000 * times['attention'][n]:.4g} | {1000 * times['recurrence'].get(n, np.nan):.4g} |" for n in times_table))


# -------------------------------------------------------------------------------------------------------- in blocks


def in_blocks(page):
    """The same attention, computed for some queries and some keys at a time."""
    seed = st.session_state["seed"]
    first, second, third, fourth = st.columns([1, 1, 1, 0.8], vertical_alignment="bottom")
    with first:
        n = controls.stop(page, "tokens", "Tokens", TOKENS, 256)
    with second:
        query_block = controls.stop(page, "query_block", "Queries at a time", BLOCKS, 32)
    with third:
        key_block = controls.stop(page, "key_block", "Keys at a time", BLOCKS, 64)
    with fourth:
        causal = controls.switch(page, "causal", "Causal mask", True)
    found = slow_costs.in_blocks(seed, n, D_HEAD, query_block, key_block, causal)
    lesson.say("The scores of n tokens are n² numbers, and each is needed only for a moment: softmax, mix, forget. A query needs its own "
               "row alone. So attention can be computed for **some queries at a time**, and only those rows exist at once (Rabe & Staats "
               "2021).")
    lesson.say(f"{n} tokens in float64, one head {D_HEAD} wide: whole, `attend` holds raw scores, scores and pattern, "
               f"**{in_words(found.whole_bytes)}**. In blocks there are **{found.block_scores:,} scores** at once, "
               f"**{in_words(found.block_bytes)}**, in {found.n_blocks:,} block{'s' * (found.n_blocks > 1)} one after the other. "
               f"The largest difference between the two results is **{found.gap:.1e}**: rounding.")
    telling = slow_costs.telling_query(seed, n, D_HEAD, key_block, causal)
    query = controls.whole(page, "query", "Follow one query", 0, n - 1, telling)
    left, right = st.columns(2)
    with left:
        sizes = [stop for stop in BLOCKS if stop <= n]
        item = found.block_bytes // found.block_scores
        whole = [found.whole_bytes] * len(sizes)
        figure = quantities.lines({
            "whole: three arrays": (sizes, whole, (1, "dash")),
            "all keys": (sizes, [item * query_blocks.scores_at_once(n, n, size, n) for size in sizes], (0, "solid")),
            f"{key_block} keys at a time": (sizes, [item * query_blocks.scores_at_once(n, n, size, key_block) for size in sizes],
                                            (2, "dot"))},
            title="Bytes of scores at once", x_title="queries at a time", y_title="bytes",
            points={"here": (min(query_block, n), found.block_bytes)}, dark=lesson.dark())
        lesson.picture(figure, f"{page}.bytes", f"Scores at once take {found.block_bytes:,} bytes in blocks, "
                       f"{found.whole_bytes:,} whole.")
    q, k, v = query_blocks.drawn(seed, n, D_HEAD)
    visible = attention.causal_mask(n)[query:query + 1] if causal else np.ones((1, n), bool)
    own = query_blocks.attend_in_blocks(q[query:query + 1], k, v, visible, key_block=key_block, keep=True)
    steps = range(own.tops.shape[-1])
    with right:
        figure = plots.curves(steps, {"sum so far": own.sums[0], "largest score so far": own.tops[0]},
                              title=f"Query {query}, block of keys after block", x_title="block of keys", y_title="", dark=lesson.dark())
        lesson.picture(figure, f"{page}.running", f"Query {query} ends with the sum {own.sums[0, -1]:.6g} over the largest score "
                       f"{own.tops[0, -1]:.6g}, after {len(steps)} blocks.")
    _risen(own, query, telling)
    lesson.say("**Keys can be blocked too.** Softmax divides by a sum over all keys, which a block has not seen. The trick: keep the "
               "largest score so far and the sum of exp(score - largest) so far. When a larger score comes, what was summed is multiplied "
               "by exp(old largest - new largest), and so is what was mixed. At the end, divide once.")
    lesson.formula(r"\begin{aligned} m' &= \max(m, \max_j s_j) \\ z' &= z\, e^{m - m'} + \sum_j e^{s_j - m'} \\ "
                   r"o' &= o\, e^{m - m'} + \sum_j e^{s_j - m'} v_j \end{aligned}")
    lesson.say("m is the largest score so far, z the sum, o the mixed values before they are divided by z. Before the first block "
               "m = −∞, z = 0 and o = 0; after the last one the result is o / z.")
    lesson.say("**FlashAttention** (Dao et al. 2022) "
               "blocks queries and keys with this running softmax, so that a block fits into a chip's fast memory and the scores never go "
               "to the slow one. It counts no fewer multiply-adds; it moves fewer bytes. The lesson here runs in NumPy, which saves memory "
               "but not that traffic.")
    lesson.arithmetic(f"query {query}: the sum under its softmax, {key_block} keys at a time",
                      arithmetic_costs.explain_running_sum(own, key_block, 0, query))
    lesson.check("attention in blocks is attention", found.gap, 1e-12)
    return costing.Told((query_blocks.compare, query_blocks.drawn), {
        "seed": seed, "n": n, "d_head": D_HEAD, "query_block": query_block, "key_block": key_block, "causal": causal, "query": query}, """
    q, k, v = drawn(seed, n, d_head)
    show("compared", compare(q, k, v, query_block, key_block, causal)[1:])
    visible = causal_mask(n) if causal else np.ones((n, n), bool)
    blocks = attend_in_blocks(q, k, v, visible, query_block=query_block, key_block=key_block)
    show("mixed", blocks.mixed[query])
    show("sum so far", blocks.sums[query])
    show("largest score so far", blocks.tops[query])
    """)


def _risen(own, query, telling):
    """How often the largest score of this query rose after its first block, and which query to look at where it never did."""
    blocks = [int(block) + 1 for block in np.flatnonzero(query_blocks.rises(own.tops[0]))]
    if own.tops.shape[-1] == 1:
        lesson.say("All keys are in one block here, so no larger score can come later. Choose fewer keys at a time.")
    elif blocks:
        shown = ", ".join(map(str, blocks[:8])) + (" …" if len(blocks) > 8 else "")
        lesson.say(f"For query {query} the largest score rose **{len(blocks)} time{'s' * (len(blocks) > 1)}** after its first block, in "
                   f"block{'s' * (len(blocks) > 1)} {shown}; each time the sum so far was multiplied by a number below 1.")
    else:
        lesson.say(f"For query {query} the largest score came in its first block: it rose **0 times** after that, and nothing had to be "
                   "multiplied." + (f" Query {telling} shows more." if telling != query else ""))
