"""The key-value cache at work: one text written twice, with the cache and without, every step counted."""

import numpy as np
import streamlit as st

from core import kv_cache
from pages.shared import chips, controls, lesson, models, plots, slow, text

N_CTX, MOST = 64, 24  # the model reads up to N_CTX; a prompt has up to MOST characters, and up to MOST more are written
SPREAD = 0.1  # of the random weights
PRECISIONS = {"float64": 8, "float32": 4}


def compare(page):
    """The steps side by side: positions, logits, multiply-adds, bytes.

    returns  (arguments of core.kv_cache.side_by_side, the prompt's characters)
    """
    words, notes = controls.own_tokens()
    cleaned = text.clean(st.session_state.get("text")) if words else None
    lesson.remarks(cleaned.notes if words else notes)
    prompt = tuple(cleaned.text[:MOST]) if words else tuple("nasi ")
    if words and len(cleaned.text) > MOST:
        lesson.remarks([f"Your text has {len(cleaned.text):,} characters. The prompt is the first {MOST}, so that each step can be read."])
    first, second, third = st.columns(3, vertical_alignment="bottom")
    with first:
        n_layers = controls.whole(page, "n_layers", "Blocks", 1, 4, 1)
        n_new = controls.whole(page, "n_steps", "Tokens to write after the prompt", 1, MOST, 3)
    with second:
        n_heads = controls.whole(page, "n_heads", "Heads", 1, 8, 2)
        scheme = controls.choice(page, "scheme", "Positions", ("learned", "rotary"))
    with third:
        d_model = controls.stop(page, "d_model", "Width, d_model", (8, 16, 32, 64), 16)
        precision = controls.choice(page, "precision", "Numbers", list(PRECISIONS))
    vocabulary = tuple(sorted(set(prompt))) if words else tuple(" aeiklmns")
    config = models.sized(len(vocabulary), N_CTX, d_model, n_layers, n_heads, positions=scheme)
    seed = st.session_state["seed"]
    ids = np.array([vocabulary.index(token) for token in prompt], dtype=np.int64)
    steps = slow.with_and_without_cache(tuple(ids.tolist()), config, seed, SPREAD, precision, n_new)
    number = controls.whole(page, "step", "Step (0 reads the prompt, each later one the token written before)", 0, n_new, 1)
    step = steps[number]
    n_read = step.positions.stop
    written = (*ids.tolist(), *(each.chosen for each in steps))[:n_read]
    tokens = [vocabulary[i] for i in written]

    past = range(step.positions.start)
    left, right = st.columns(2)
    with left:
        figure = chips.chips(chips.names(tokens), list(range(n_read)), dashed=past, title=f"Step {number}: each token and its position",
                             width=lesson.look()["width"], dark=lesson.dark())
        lesson.picture(figure, f"{page}.positions", f"Step {number}: {n_read} tokens at positions 0 to {n_read - 1}; read now: "
                       f"{_list(step.positions)}; from the cache: {_list(past)}.")
    with right:
        lesson.say(f"**With the cache** this step reads {len(step.positions)} token{'s' * (len(step.positions) > 1)}, at position "
                   f"**{_list(step.positions)}**; keys and values of {len(past)} earlier tokens (dashed) come from the cache. **Without "
                   f"it** the same step reads all {n_read} again. A new token's position goes on from the cache. Were it 0 again, the "
                   "model would read another text.")
    left, right = st.columns(2)
    with left:
        figure = plots.bar_groups([str(i) for i in range(len(steps))], {"with the cache": [each.cached.total for each in steps],
                                                                         "without": [each.full.total for each in steps]},
                                  title="Multiply-adds of each step", y_title="multiply-adds", dark=lesson.dark())
        lesson.picture(figure, f"{page}.cost", "Multiply-adds of each step with the cache and without: " + ", ".join(
            f"step {i} {each.cached.total:,} and {each.full.total:,}" for i, each in enumerate(steps[:6])) + ".")
    with right:
        figure = plots.bar_groups(vocabulary, {"with the cache": step.cached_logits, "without": step.full_logits},
                                  title=f"Logits after step {number}", y_title="logit", dark=lesson.dark())
        lesson.picture(figure, f"{page}.logits", f"The {len(vocabulary)} logits after step {number}, with the cache and without: the "
                       f"largest difference is {step.gap:.3g}.")
    whole = kv_cache.totals(steps)
    names = {"qkv": "w_qkv", "scores": "q · k", "mixed": "pattern · v", "attn_out": "w_o", "feed_forward": "w_in, w_out",
             "logits": "w_embedᵀ"}
    lesson.say(f"| step {number} | with | without |\n|:--|--:|--:|\n" + "\n".join(
        f"| {names[part]} | {getattr(step.cached, part):,} | {getattr(step.full, part):,} |" for part in names)
        + f"\n| **all** | **{step.cached.total:,}** | **{step.full.total:,}** |"
        + f"\n| **steps 0 to {n_new}** | **{whole.cached:,}** | **{whole.full:,}** |\n| cache, bytes | **{step.bytes:,}** | 0 |")
    lesson.say(f"Over all {len(steps)} steps that is **{whole.cached:,}** multiply-adds with the cache and **{whole.full:,}** without: "
               f"**{whole.times:.2f} times** as many. Each step's last logits choose the next token, so {len(steps)} steps choose "
               f"{len(steps)} tokens; the one that step {n_new} chooses is not read any more.")
    lesson.say("Multiply-adds **with** and **without** the cache are counted: for every matrix product that ran, the numbers on its left "
               "times the columns on its right. The formulas at the foot of the page give "
               f"{step.cached_formula.total:,} and {step.full_formula.total:,} for this step and {step.bytes_formula:,} bytes, from the "
               "sizes alone. The cache saves the multiplications of all earlier tokens and costs memory: a key and a value for every "
               "token, block and head.")
    lesson.formula(r"\text{bytes} = 2\; n_{\text{layers}}\; n_{\text{kv heads}}\; n_{\text{tokens}}\; d_{\text{head}}\; b")
    lesson.say(f"b is the bytes of one number, {PRECISIONS[precision]} here; 2 stands for key and value. A cache works while the text fits "
               f"the context, {N_CTX} tokens here, and because of the **causal mask**: an earlier token's key and value never depend on a "
               "later one.")
    lesson.say("Where a longer text slides through the context and positions are counted anew from 0: **learned** positions give each "
               "token another vector, and every key and value changes. **Rotary** ones turn the keys and queries of all tokens alike, so "
               "in the first block the scores and values of the tokens that are left stay as they were; in later blocks they change, since "
               "what left is no longer read. Systems with rotary positions let the positions run on instead, and drop the oldest keys and "
               "values alone: a **rolling cache** (Jiang et al. 2023).")
    lesson.arithmetic(f"step {number} with the cache, reads {''.join(map(text.visible, tokens[step.positions.start:]))} at position "
                      f"{_list(step.positions)}: multiply-adds",
                      kv_cache.explain_multiply_adds(config, len(step.positions), step.positions.start, step.cached, number))
    allowed = 1e-10 if precision == "float64" else 1e-5
    lesson.check("with the cache and without, every step has the same logits", max(each.gap for each in steps), allowed)
    lesson.check("the positions of all steps run on from 0", _jumps(steps), 0)
    lesson.check("multiply-adds: counted and formula", max(
        abs(each.cached.total - each.cached_formula.total) + abs(each.full.total - each.full_formula.total) for each in steps), 0)
    lesson.check("bytes: held and formula", max(abs(each.bytes - each.bytes_formula) for each in steps), 0)
    lesson.weights(f"The weights are drawn at random (seed {seed}), never trained; what they write means nothing. The "
                   "ready-made model reads 5 characters at a time, too few for a cache, so this view draws one that reads more.")
    return {"params": slow.untrained(config, seed, SPREAD, precision), "token_ids": ids, "config": config, "n_new": n_new}, prompt


def _list(positions):
    """Positions as words."""
    return "none" if not positions else str(positions[0]) if len(positions) == 1 else f"{positions[0]} to {positions[-1]}"


def _jumps(steps):
    """How many positions do not follow the one before, over all steps."""
    places = [place for step in steps for place in step.positions]
    return sum(place != number for number, place in enumerate(places))
