"""Further looks at what a model holds: the rule of 12 d², heads, the tables' share, and the ledger as a whole; and who published it."""

import functools
import re

import streamlit as st

from core import attention, ledger
from core.accounting import count_parameters
from core.published_models import MODELS
from core.written import percent
from pages.shared import controls, counting, horizontal, lesson

HEADS = (1, 2, 3, 4, 6, 12)
_rule = functools.lru_cache(256)(ledger.rule)  # of the published models, which stay the same from run to run
COUNTED = "what is counted above"
KERAS, PRINTED = "keras-hub (numbers of parameters)", "Hugging Face (numbers of parameters)"
LLAMA_2, LLAMA_3 = "Llama 2 (Touvron et al. 2023)", "Grattafiori et al. 2024 (Llama 3)"
BERT = "Devlin et al. 2019, section 3 (BERT)"
GEMMA, GEMMA_2, PYTHIA = "Gemma Team 2024, table 1", "Gemma 2 (Gemma Team 2024), table 1", "Biderman et al. 2023 (Pythia)"
CITES = {  # where the sizes of a published model and its figure stand, beside what the page always cites
    "gpt2": (KERAS,), "gpt2-medium": (KERAS,), "gpt2-large": (KERAS,), "gpt3-175b": ("Brown et al. 2020, tables 2.1 and D.1 (GPT-3)",),
    "bert-base-uncased": (BERT, KERAS), "bert-large-uncased": (BERT, KERAS),
    "t5-small": ("Raffel et al. 2020 (T5)", KERAS), "llama-2-7b": (LLAMA_2, KERAS),
    "llama-2-70b": (LLAMA_2, "Zhang et al. 2025, tables 5 and 6 (LoRAM)"), "llama-3-8b": (LLAMA_3, KERAS),
    "llama-3.1-405b": (LLAMA_3, PRINTED), "llama-3.2-1b": ("Llama 3.2 (model card)", "GPTQModel (a test that counts the weights)"),
    "mistral-7b-v0.1": ("Jiang et al. 2023 (Mistral 7B)", KERAS),
    "tinyllama-1.1b": ("Zhang et al. 2024 (TinyLlama)", "LLM-Pruner (number of parameters)"),
    "gemma-2b": (GEMMA, KERAS), "gemma-7b": (GEMMA, KERAS), "gemma-2-2b": (GEMMA_2, KERAS), "gemma-2-9b": (GEMMA_2, KERAS),
    "qwen2-0.5b": ("Yang et al. 2024 (Qwen2)", KERAS), "qwen3-0.6b": ("Yang et al. 2025 (Qwen3)", KERAS),
    "smollm2-135m": ("Ben Allal et al. 2025 (SmolLM2)", PRINTED), "mixtral-8x7b": (KERAS,), "phi-2": ("Phi-2 (model card)", PRINTED),
    "pythia-160m": (PYTHIA, "Pythia (model cards)"), "pythia-6.9b": (PYTHIA, "Pythia (model cards)"),
    "deepseek-v3": ("DeepSeek-V3 weights (36.7B for one token)", "TensorCAD (number of parameters)")}


def cite(models):
    """Cite who published these models and their figures."""
    for name in models:
        lesson.source(*CITES.get(name.removesuffix(" again"), ()))


def _taken_apart(page, models, shown):
    """Which model's number is taken apart, by a list or a click.

    shown    the names in the chart, from its top
    returns  (its name, what to do at a click)
    """
    key, names = "sum_of", [next(iter(models)), *MODELS]
    number = controls.pick(page, key, "Take apart (or click a bar)", [COUNTED, *MODELS])

    def take():
        point = controls.clicked(f"{page}.listed")
        if point is not None and point["point_index"] < len(shown):
            st.session_state[f"{page}.{key}"] = names.index(shown[point["point_index"]].removesuffix(" again"))

    return names[number], take


def rule(page, models):
    """One block against 12 d², for what is counted and for the published models."""
    lesson.formula(r"\underbrace{4\,d^2}_{\text{queries, keys, values, output}} + \underbrace{2 \cdot d \cdot 4d}_{\text{feed-forward}} "
                   r"= 12\,d^2")
    rules = [_rule(config) for config in models.values()]
    lines = {"width d": [f"{each.d_model:,}" for each in rules], "one block, exactly": [f"{each.exact:,}" for each in rules],
             "12 · d²": [f"{each.rule:,}" for each in rules], "difference": [f"{each.exact - each.rule:,}" for each in rules],
             "error of the rule": [f"{100 * each.error:.4f} %" for each in rules], "block ÷ d²": [f"{each.factor:.4g}" for each in rules]}
    lesson.say(f"| 12 · d² for | {' | '.join(models)} |\n|:--|{'--:|' * len(models)}\n" + "\n".join(
        f"| {what} | {' | '.join(cells)} |" for what, cells in lines.items()))
    lesson.say("In the design of GPT-2 the difference is **13 · d**: the biases b_qkv (3 d), b_o (d), b_in (4 d) and b_out (d), and two "
               "norms with a gain and an offset each (4 d). It grows with d, the rule with d², so the error shrinks as models widen.")
    found = {name: _rule(config) for name, config in _all_of(models).items()}
    names = sorted(found, key=lambda name: found[name].factor)
    dense = [name for name in names if found[name].factor <= 40]
    apart, take = _taken_apart(page, models, dense)
    figure = horizontal.listed(dense, [found[name].factor for name in dense], [f"{found[name].factor:.4g}" for name in dense],
                               title="One block, divided by d²", marked=[dense.index(name) for name in models if name in dense],
                               framed=dense.index(apart) if apart in dense else None, level=("12", 12), dark=lesson.dark())
    lesson.picture(figure, f"{page}.listed", "One block divided by the square of the width, model by model, from "
                   f"{found[dense[0]].factor:.4g} ({dense[0]}) to {found[dense[-1]].factor:.4g} ({dense[-1]}).", take)
    each, parts = found[apart], ledger.block_parts(_all_of(models)[apart])
    lesson.panel(f"{apart}: one block, divided by d²", f"{each.factor:.4g}", [
        _sum((part.path[-1], part.count) for part in parts), f"d² = {each.d_model:,} × {each.d_model:,} = {each.square:,}",
        f"{each.exact:,} / {each.square:,} = {each.factor:.7g}", f"the rule says 12 × {each.square:,} = {each.rule:,}, "
        f"{abs(each.exact - each.rule):,} {'less' if each.exact > each.rule else 'more'} than the block" if each.exact != each.rule else
        f"the rule says 12 × {each.square:,} = {each.rule:,}, just as many"])
    beyond = [f"{name} ({found[name].factor:.4g})" for name in names if name not in dense]
    lesson.say("A gate adds a third matrix and is usually made narrower for it; shared key/value heads take some away; a feed-forward "
               "layer much wider than 4 d adds a lot." + (f" Experts leave the rule behind: {', '.join(beyond)}." if beyond else ""))


def heads(page):
    """More heads of the same width: nothing changes; fewer key/value heads: something does."""
    base = MODELS["gpt2"]
    lesson.say(f"Take one block of GPT-2 small, d = {base.d_model:,}, and cut its width into more and more heads:")
    rows = [(n, *ledger.with_heads(base, n)) for n in HEADS]
    lesson.say("| heads | head width | attention | feed-forward | norms | one block |\n|--:|--:|--:|--:|--:|--:|\n" + "\n".join(
        f"| {n} | {base.d_model // n:,} | {a:,} | {f:,} | {m:,} | **{b:,}** |" for n, a, f, m, b in rows))
    many, one = attention.projection_counts(512, 8, 64), attention.projection_counts(512, 1, 512)
    lesson.say(f"**Double the heads: nothing changes**, as each gets half the width. At d = 512 too: 8 heads of width 64 and 1 head of "
               f"width 512 each hold {many[0]:,} numbers in w_q, w_k and w_v together and {many[1]:,} in w_o.")
    lesson.check("8 heads of width 64 and 1 head of width 512 hold as many numbers", abs(many[0] - one[0]) + abs(many[1] - one[1]), 0)
    lesson.say("**What does change it**: key/value heads that several heads share (grouped queries), down to one for all (multi-query). "
               "The same block with 12 heads:")
    counts = [ledger.with_heads(base, base.n_heads, n)[0] for n in reversed(HEADS)]
    labels = [f"{n} key/value head{'s' * (n != 1)}" for n in reversed(HEADS)]
    number = controls.pick(page, "shared", "Take apart (or click a bar)", labels)

    def take():
        point = controls.clicked(f"{page}.listed")
        if point is not None and point["point_index"] < len(labels):
            st.session_state[f"{page}.shared"] = point["point_index"]

    figure = horizontal.listed(labels, counts, [f"{count:,}" for count in counts], title="Numbers in the attention of one block",
                               framed=number, dark=lesson.dark())
    lesson.picture(figure, f"{page}.listed", "Numbers in the attention of one block: " + ", ".join(
        f"{label} {count:,}" for label, count in zip(labels, counts, strict=True)) + ".", take)
    config = ledger.regrouped(base, base.n_heads, HEADS[::-1][number])
    found = counting.of(config)[0]
    arrays = [found[child] for child in found["one block", "attention"].children]
    lesson.panel(f"GPT-2 small with {labels[number]}: the attention of one block", f"{counts[number]:,}", [
        *(f"{each.path[-1]}: {' = '.join(filter(None, (each.row.reason, ledger.with_sizes(each.row.reason, config))))} = {each.count:,}"
          for each in arrays), _sum((each.path[-1], each.count) for each in arrays)])
    lesson.say("A head width that is set apart from d / heads changes it too: then each head brings columns of its own. Try it with the "
               "sliders.")


def share(page, models):
    """How much of a model its tables are."""
    found = {name: counting.of(config)[1] for name, config in _all_of(models).items()}
    names = sorted(found, key=lambda name: found[name].total)
    shares = [100 * found[name].tables / found[name].total for name in names]
    apart, take = _taken_apart(page, models, names)
    figure = horizontal.listed(names, shares, [f"{each:.1f} % of {ledger.short(found[name].total)}" for name, each in zip(
        names, shares, strict=True)], title="Share of the tables, smallest model first", framed=names.index(apart),
        marked=[names.index(name) for name in models if name in names], dark=lesson.dark())
    lesson.picture(figure, f"{page}.listed", "Share of the tables in each model, smallest first: " + ", ".join(
        f"{name} ({ledger.short(found[name].total)}) {each:.1f} %" for name, each in zip(names, shares, strict=True)) + ".", take)
    total, rows = found[apart], ledger.table_rows(_all_of(models)[apart])
    lesson.panel(f"{apart}: the share of its tables", f"{shares[names.index(apart)]:.1f} %", [
        *(f"{row.name}: {f'{row.times:,} × ' * (row.times != 1)}{' × '.join(f'{n:,}' for n in row.shape)} = {row.count:,}" for row in rows),
        *([_sum((row.name, row.count) for row in rows)] if len(rows) > 1 else []),
        f"of the whole model: {total.tables:,} / {total.total:,} = {percent(total.tables, total.total)}"])
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
        st.download_button("Download this ledger as CSV", functools.partial(ledger.as_csv, config), f"{_file(name)}.csv", "text/csv",
                           key=f"{page}.csv.{number}", on_click="ignore")


def _file(name):
    """A file's name for what is counted: small letters, digits, points and hyphens.

    >>> _file("my sizes"), _file("GPT-2 small, ready-made"), _file("mistral-7b-v0.1")
    ('my-sizes', 'gpt-2-small-ready-made', 'mistral-7b-v0.1')
    """
    return re.sub(r"[^a-z0-9.]+", "-", name.lower())


def _sum(parts):
    """Named numbers and what they come to, in words."""
    names, counts = zip(*parts, strict=True)
    return "together: " + " + ".join(f"{name} {count:,}" for name, count in zip(names, counts, strict=True)) + f" = {sum(counts):,}"


def _all_of(models):
    """The published models, and what is counted where it is none of them."""
    return {**{name: config for name, config in models.items() if name not in MODELS}, **MODELS}
