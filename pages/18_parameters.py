"""Parameters: every array of a model, why it has its shape, and what that adds up to."""

import dataclasses

from core import ledger
from core.accounting import count_parameters
from core.published_models import MODELS
from pages.shared import controls, counting, ledgers, lesson

PAGE = "parameters"
VIEWS = ("part by part", "12 · d²", "heads", "the tables' share", "all arrays")

lesson.say("A model is a list of arrays of numbers. The numbers that training sets are its **parameters**. How many there are follows from "
           "a few sizes alone, so they can be counted without building the model: for each array, how often it "
           "occurs, times its rows, times its columns.")
lesson.formula(r"\text{total} = \sum_{\text{arrays}} \text{times} \times \text{rows} \times \text{columns}")
small = counting.of(MODELS["gpt2"])[0]
parts = {"attention": small["all blocks", "attention"].count, "feed-forward layers": small["all blocks", "feed-forward"].count,
         "the table of tokens": small["embeddings", "w_embed"].count}
lesson.ask(PAGE, "Which part of GPT-2 small holds the most numbers?", list(parts), list(parts).index(max(parts, key=parts.get)),
           "; ".join(f"{name}: {count:,} ({100 * count / small[()].count:.1f} %)" for name, count in parts.items()) + ".")

name, config = counting.ask(PAGE)
other = controls.pick(PAGE, "other", "Compare with", ["nothing", *MODELS])
models = {name: config}
if other:
    rival = list(MODELS)[other - 1]
    models[rival if rival != name else f"{rival} again"] = MODELS[rival]

lesson.heading("How many, and by which count")
counting.table(models)
lesson.say("Two people can be right with different numbers. GPT-2 uses one table of tokens for its input and its output: the first line "
           "counts such a table once, the second gives the output a table of its own. The third leaves out all tables (tokens, positions, "
           "segments) and the output. The fourth counts the matrices of the blocks and nothing else: no biases, no norms.")

view = controls.choice(PAGE, "view", "Look at", VIEWS)
if view == VIEWS[0]:
    counting.opened(PAGE, models)
elif view == VIEWS[1]:
    ledgers.rule(PAGE, models)
elif view == VIEWS[2]:
    ledgers.heads(PAGE)
elif view == VIEWS[3]:
    ledgers.share(PAGE, models)
else:
    ledgers.whole(PAGE, models)

lesson.weights("The sizes are set by hand, taken from what was published, or read from your file; counting needs no weights. Where the "
               f"model is small (at most {counting.SMALL:,} numbers) and core can run it, its arrays are really made, drawn at random, "
               "and compared with the list: their values mean nothing here, only their shapes count.")
for each, sizes in models.items():
    counting.checks(sizes, each)
lesson.ran(count_parameters, ledger.totals, ledger.entries, ledger.rule)
lesson.script("Parameters", (count_parameters, ledger.totals), {"config": dataclasses.replace(config, name="as on the page", note="")}, """
    count = count_parameters(config)
    for each in count.rows:
        show(f"{each.name} {each.shape} x {each.times}", each.count)
    show("total", count.total)
    show("active", count.active)
    show("total, apart, without_tables, matrices, active, tables", [number for number in totals(config) if number is not None])
    """)
lesson.source("Vaswani et al. 2017, section 3 and table 3", "Radford et al. 2019, section 2.3 and table 2",
              "Kaplan et al. 2020, section 2.1 (12 · d² for each block)", "Press & Wolf 2017 (one table for input and output)",
              "Shazeer 2019 (multi-query)", "Ainslie et al. 2023 (grouped queries)", "Shazeer 2020 (gated feed-forward layers)",
              "Jiang et al. 2024 (Mixtral)", "DeepSeek-AI 2024 (DeepSeek-V3)")
ledgers.cite([*models, *MODELS] if view in (VIEWS[1], VIEWS[3]) else models)  # those charts show all of them
