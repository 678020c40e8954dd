"""Further looks at what a model holds: the rule of 12 d², heads, the tables' share, and the ledger as a whole."""

import functools

import streamlit as st

from core import attention, ledger
from core.accounting import count_parameters
from core.published_models import MODELS
from pages.shared import counting, horizontal, lesson

HEADS = (1, 2, 3, 4, 6, 12)


def rule(page, models):
    """One block against 12 d², for what is counted and for the published models."""
    lesson.formula(r"\underbrace{4\,d^2}_{\text{queries, keys, values, output}} + \underbrace{2 \cdot d \cdot 4d}_{\text{feed-forward}} "
                   r"= 12\,d^2")
    rules = [ledger.rule(config) for config in models.values()]
    lines = {"width d": [f"{each.d_model:,}" for each in rules], "one block, exactly": [f"{each.exact:,}" for each in rules],
             "12 · d²": [f"{each.rule:,}" for each in rules], "difference": [f"{each.exact - each.rule:,}" for each in rules],
             "error of the rule": [f"{100 * each.error:.4f} %" for each in rules], "block ÷ d²": [f"{each.factor:.4g}" for each in rules]}
    lesson.say(f"| 12 · d² for | {' | '.join(models)} |\n|:--|{'--:|' * len(models)}\n" + "\n".join(
        f"| {what} | {' | '.join(cells)} |" for what, cells in lines.items()))
    lesson.say("In the design of GPT-2 the difference is **13 · d**: the biases b_qkv (3 d), b_o (d), b_in (4 d) and b_out (d), and two "
               "norms with a gain and an offset each (4 d). It grows with d, the rule with d², so the error shrinks as models widen.")
    found = {name: ledger.rule(config) for name, config in _all_of(models).items()}
    names = sorted(found, key=lambda name: found[name].factor)
    dense = [name for name in names if found[name].factor <= 40]
    figure = horizontal.listed(dense, [found[name].factor for name in dense], [f"{found[name].factor:.4g}" for name in dense],
                               title="One block, divided by d²", marked=[dense.index(name) for name in models if name in dense],
                               level=("12", 12), dark=lesson.dark())
    lesson.picture(figure, f"{page}.factors", "One block divided by the square of the width, model by model, from "
                   f"{found[dense[0]].factor:.4g} ({dense[0]}) to {found[dense[-1]].factor:.4g} ({dense[-1]}).")
    beyond = [f"{name} ({found[name].factor:.4g})" for name in names if name not in dense]
    lesson.say("A gate adds a third matrix and is usually made narrower for it; shared key/value heads take some away; a feed-forward "
               "layer much wider than 4 d adds a lot." + (f" Experts leave the rule behind: {', '.join(beyond)}." if beyond else ""))


def heads(page):
    """More heads of the same width: nothing changes; fewer key/value heads: something does."""
    base = MODELS["gpt2"]
    lesson.say(f"Take one block of GPT-2 small, d = {base.d_model}, and cut its width into more and more heads:")
    rows = [(n, *ledger.with_heads(base, n)) for n in HEADS]
    lesson.say("| heads | head width | attention | feed-forward | norms | one block |\n|--:|--:|--:|--:|--:|--:|\n" + "\n".join(
        f"| {n} | {base.d_model // n} | {a:,} | {f:,} | {m:,} | **{b:,}** |" for n, a, f, m, b in rows))
    many, one = attention.projection_counts(512, 8, 64), attention.projection_counts(512, 1, 512)
    lesson.say(f"**Double the heads: nothing changes**, as each gets half the width. At d = 512 too: 8 heads of width 64 and 1 head of "
               f"width 512 hold {many[0]:,} and {one[0]:,} numbers in w_q, w_k and w_v together, {many[1]:,} and {one[1]:,} in w_o.")
    lesson.say("**What does change it**: key/value heads that several heads share (grouped queries), down to one for all (multi-query). "
               "The same block with 12 heads:")
    counts = [ledger.with_heads(base, base.n_heads, n)[0] for n in reversed(HEADS)]
    labels = [f"{n} key/value head{'s' * (n != 1)}" for n in reversed(HEADS)]
    figure = horizontal.listed(labels, counts, [f"{count:,}" for count in counts], title="Numbers in the attention of one block",
                               dark=lesson.dark())
    lesson.picture(figure, f"{page}.shared", "Numbers in the attention of one block: " + ", ".join(
        f"{label} {count:,}" for label, count in zip(labels, counts, strict=True)) + ".")
    lesson.say("A head width that is set apart from d / heads changes it too: then each head brings columns of its own. Try it with the "
               "sliders.")


def share(page, models):
    """How much of a model its tables are."""
    found = {name: counting.of(config)[1] for name, config in _all_of(models).items()}
    names = sorted(found, key=lambda name: found[name].total)
    shares = [100 * found[name].tables / found[name].total for name in names]
    figure = horizontal.listed(names, shares, [f"{each:.1f} %" for each in shares], title="Share of the tables, smallest model first",
                               marked=[names.index(name) for name in models if name in names], dark=lesson.dark())
    lesson.picture(figure, f"{page}.shares", "Share of the tables in each model, smallest first: " + ", ".join(
        f"{name} ({ledger.short(found[name].total)}) {each:.1f} %" for name, each in zip(names, shares, strict=True)) + ".")
    small, large = (100 * found[name].tables / found[name].total for name in ("gpt2", "gpt3-175b"))
    lesson.say(f"The tables of tokens and positions, and an output of its own where there is one, are **{small:.1f} %** of GPT-2 small and "
               f"{large:.1f} % of the largest GPT-3, with the same vocabulary. A table grows with d, a block with d², and there are more "
               "blocks. A large vocabulary in a small model does the opposite. Coloured: what is counted above.")


def whole(page, models):
    """Every array of what is counted, as a table and as a file."""
    for number, (name, config) in enumerate(models.items()):
        count = count_parameters(config)
        lesson.say(f"**{name}**: {len(count.rows)} kinds of array. [i] stands for each layer, [j] for each expert.")
        lesson.say("| array | shape | times | numbers | why this shape |\n|:--|--:|--:|--:|:--|\n" + "\n".join(
            f"| `{row.name}` | {' × '.join(f'{n:,}' for n in row.shape)} | {row.times:,} | {row.count:,} | {row.reason} |"
            for row in count.rows) + f"\n| **all** | | | **{count.total:,}** | |")
        st.download_button("Download this ledger as CSV", functools.partial(ledger.as_csv, config), f"parameters_{number}.csv", "text/csv",
                           key=f"{page}.csv.{number}", on_click="ignore")


def _all_of(models):
    """The published models, and what is counted where it is none of them."""
    return {**{name: config for name, config in models.items() if name not in MODELS}, **MODELS}
