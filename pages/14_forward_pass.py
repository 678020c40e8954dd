"""Forward pass: a text in, a probability for every next character out, one array at a time."""

import numpy as np
import streamlit as st

from core import arithmetic_model, experiments, guessing, loss, transformer
from core.config import ModelConfig
from pages.shared import charts, controls, lesson, models, passes, plots, text
from pages.shared.controls import Cell, Grid

PAGE = "forward_pass"
VIEWS = ("step by step", "every position", "random and trained", "later tokens", "before training")

model = models.ask(PAGE)
tokens, vocabulary, ids, params, config = model[:5]
n_tokens, n_choices = len(tokens), len(vocabulary)
trace = transformer.forward(params, ids, config, all_probs=True)

lesson.say(f"This is the whole of a small **decoder-only** model, the kind that GPT is. A text of {n_tokens} characters goes in. For each "
           f"of the {n_choices} characters of its vocabulary a probability comes out: how likely it is to be the next one. E and P are "
           "tables that training fills; the two middle lines are one **block**.")
lesson.formula(r"\begin{aligned} x &= E[\text{ids}] + P \\ x &\leftarrow x + \text{attention}(\text{norm}(x)) \\ "
               r"x &\leftarrow x + \text{feed-forward}(\text{norm}(x)) \\ "
               r"p &= \text{softmax}(\text{norm}(x)\, E^\top) \end{aligned}")
ready, spread = models.ready_guess()
lesson.ask(PAGE, f"The ready-made model, its weights drawn at random with a spread of {spread}, has read “nasi␣”. How probable is each of "
           f"its {len(ready)} characters as the next one, to it?",
           ["one is nearly certain", "all within a few times of each other", "it can't be said"], 1,
           f"The smallest is {ready.min():.3f}, the largest {ready.max():.3f}; an even share is 1 in {len(ready)}. Small weights make "
           "small logits, and softmax turns logits that differ little into shares that differ little. Nothing has been learned. The "
           "largest is that of the space, the character read last: the same table stands at both ends of the model.")
view = controls.choice(PAGE, "view", "Look at", VIEWS if model.both else (*VIEWS[:2], *VIEWS[3:]))

if view == "step by step":
    passes.walk(PAGE, model, trace)
elif view in ("every position", "random and trained"):
    picked = controls.cell(PAGE, {"probabilities": Grid(tokens, list(vocabulary), "After position", "Next character")},
                           Cell("probabilities", n_tokens - 1, 0))
    if view == "every position":
        figure = charts.heatmap(trace.probs, tokens, vocabulary, title="Next-character probabilities after every position",
                                quantity="weight", name="probability", row_title="after position", column_title="next character",
                                clicked=(picked.row, picked.column), max_cell=56, **lesson.look(960))
        lesson.picture(figure, f"{PAGE}.every", f"Probabilities of {n_choices} next characters after each of {n_tokens} positions, numbers "
                       f"from {trace.probs.min():.3g} to {trace.probs.max():.3g}; every row sums to 1.",
                       controls.on_click(PAGE, f"{PAGE}.every"))
        came = [f"what came, {text.quoted(token)}, had {trace.probs[t, i]:.3f}" for t, (token, i) in
                enumerate(zip(tokens[1:], ids[1:], strict=True))]
        lesson.words("\n".join(f"after {t} {text.quoted(token)}: most probable {text.quoted(vocabulary[probs.argmax()])}, "
                               f"{probs.max():.3f}; {line}" for t, (token, probs, line) in
                               enumerate(zip(tokens, trace.probs, [*came, "the text ends here"], strict=True))))
        lesson.say("**Every position predicts**, not the last one alone: one pass gives a guess after each. In training all of them are "
                   "compared with the text itself. Each position is given the true text before it, never the model's own guesses: that is "
                   "called **teacher forcing**. The causal mask keeps it honest: no position sees the character that it has to guess.")
        if n_tokens > 1:
            lesson.say(f"The loss of a position is −ln of the probability of the character that came. Its mean on this text is "
                       f"**{loss.cross_entropy(trace.logits[:-1], ids[1:]) + 0.0:.4f}**; guessing evenly costs "
                       f"**{guessing.even(n_choices):.4f}**.")
    else:
        for place, (name, each) in zip(st.columns(2), model.both.items(), strict=True):
            probs = transformer.forward(each, ids, config).probs
            with place:
                figure = plots.bars(vocabulary, probs, title=f"{name.capitalize()} weights: the next character", y_title="probability",
                                    y_range=(0, 1.12), dark=lesson.dark())
                lesson.picture(figure, f"{PAGE}.{name}", f"{name.capitalize()} weights: probabilities of {n_choices} characters, the "
                               f"largest {probs.max():.3f} for {text.quoted(vocabulary[probs.argmax()])}.")
        lesson.say("The same text, the same code, arrays of the same shapes: only the numbers in them differ. The random ones favour "
                   f"no character for a reason; an even share is 1 in {n_choices}. The trained ones were moved, step by step, towards "
                   "what came next in their training text. No dictionary and no rule was put in.")
    cell = (picked.row, picked.column)
    lesson.arithmetic(f"after position {picked.row} {text.quoted(tokens[picked.row])}, next {text.quoted(vocabulary[picked.column])}, in "
                      f"the text {text.quoted(''.join(tokens))}, {'trained' if model.is_trained else 'random'} weights",
                      arithmetic_model.explain_model(trace, params, config, "logits", *cell)
                      + arithmetic_model.explain_model(trace, params, config, "probs", *cell))
elif view == "later tokens":
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        how = controls.choice(PAGE, "how", "At the end of the text", ("change the last token", "append a token"))
    with right:
        new = controls.pick(PAGE, "new", "The new token", text.options(vocabulary), int(ids[-1] == 0 and n_choices > 1))
    lesson.remarks([] if n_tokens > 1 else ["This text has one character, so none stands before the last one. Type a longer text."])
    changed = how == "change the last token"
    if n_tokens > 1:
        moved = {}
        for name, mask in (("with the causal mask", np.tri(n_tokens, dtype=bool)), ("without it", np.ones((n_tokens, n_tokens), bool))):
            n_before = n_tokens if changed else n_tokens - 1
            before = transformer.forward(params, ids[:n_before], config, visible=mask[:n_before, :n_before]).logits
            after = transformer.forward(params, np.append(ids[:-1], new), config, visible=mask).logits
            moved[name] = experiments.moved(before[:n_tokens - 1], after[:n_tokens - 1])
        figure = plots.bar_groups(tokens[:-1], moved, title="How far the logits of the earlier positions move", y_title="largest change",
                                  dark=lesson.dark())
        lesson.picture(figure, f"{PAGE}.moved", f"Of {n_tokens - 1} earlier positions, " + ", ".join(
            f"{name} {int((far > 1e-12).sum())} move" for name, far in moved.items()) + ".")
        lesson.say("The largest change of an earlier logit: " + ", ".join(f"{name} **{far.max():.3g}**" for name, far in moved.items())
                   + (". Here the new token is the old one: choose another." if changed and new == ids[-1] else "."))
        lesson.check("with the causal mask no earlier logit moves", moved["with the causal mask"].max(), 1e-12)
    lesson.say("The last token is replaced by the new one." if changed else
               "The text without its last token is compared with the same text and the new token after it.")
    lesson.say("A **causal mask** hides what comes later from each position. It belongs to a decoder-only model, in training and in use, "
               "for every text. So nothing written later changes what an earlier position has computed, and that may be kept instead of "
               "being computed again. An encoder, such as BERT, has no causal mask: there every position may move.")
    lesson.say("A **padding mask** is another thing. Texts of different lengths in one batch are filled up to one length, and it hides the "
               "filler. It depends on the lengths in the batch, not on the order of the tokens. This page reads one text and needs none.")
else:
    passes.before_training(PAGE, model, trace)

lesson.heading("What a real GPT has more")
lesson.say("**Scale**: a longer context, tens of thousands of tokens (pieces of words instead of characters), more blocks, wider "
           "rows. **Batches**: many texts at once. **Learned gains and offsets** in its norms, **biases** in its matrices, **dropout** "
           "while it is trained. **Fused kernels** and **mixed precision**, to be fast. The steps are the same.")

lesson.weights(" ".join(f"The {name} weights are {models.ready_from(name)}." for name in model.both) if view == "random and trained" else
               f"The weights are {model.where_from}.")
lesson.check("the probabilities after every position sum to 1", abs(trace.probs.sum(axis=-1) - 1).max(), 1e-12)
lesson.check("every row of every pattern sums to 1", max(abs(each.attention.pattern.sum(axis=-1) - 1).max() for each in trace.blocks),
             1e-12)
lesson.check("stream out = stream in + what every layer wrote", abs(
    trace.resid_pre + sum(each.attn_out + each.ff_out for each in trace.blocks) - trace.blocks[-1].resid_post).max(), 1e-9)
lesson.ran(transformer.forward, transformer.embed)
lesson.script("Forward pass", (transformer.forward, ModelConfig), {"params": params, "token_ids": ids, "config": config}, """
    trace = forward(params, token_ids, config, all_probs=True)
    show("embedded", trace.embedded)
    for number, block_trace in enumerate(trace.blocks):
        for head, pattern in enumerate(block_trace.attention.pattern):
            show(f"pattern of block {number} head {head}", pattern)
        show(f"stream out of block {number}", block_trace.resid_post)
    show("logits", trace.logits)
    show("probs", trace.probs)
    """, tokens)
lesson.source("Vaswani et al. 2017, section 3", "Radford et al. 2019, section 2.3 (GPT-2)", "Press & Wolf 2017 (tied table)",
              "Karpathy 2023, nanoGPT")
