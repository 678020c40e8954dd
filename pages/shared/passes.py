"""The steps of a forward pass in order: what each is called on a page, what it does, and how a page walks through them."""

from typing import NamedTuple

import streamlit as st

from core import arithmetic_model, attention
from pages.shared import architecture, charts, controls, lesson, plots, slow, text
from pages.shared.controls import Cell, Grid


class Step(NamedTuple):
    """One array on the way from token ids to probabilities."""

    stage: str    # its name in core.arithmetic_model
    part: str     # "in", "block" or "out"
    formula: str
    line: str     # what happens, in a sentence
    reads: str    # the labels of its columns: "feature", "key", "hidden", "vocabulary" or "id"


STEPS = {
    "token ids": Step("token_ids", "in", r"\text{id} = \text{place in the vocabulary}",
                      "Each character becomes its number in the vocabulary. From here on the model sees numbers alone.", "id"),
    "embedded": Step("embedded", "in", r"E[\text{id}]",
                     "Each id picks its row of the table w_embed. The same character has the same row wherever it stands.", "feature"),
    "+ positions": Step("resid_pre", "in", r"x = E[\text{id}] + P[\text{position}]",
                        "The row of w_pos for the position is added. The sum is the stream that every block reads and adds to.", "feature"),
    "norm 1": Step("attn_in", "block", r"\hat{x} = \text{norm}(x)",
                   "Each row is brought to mean 0 and variance 1 before attention reads it. The stream itself stays as it is.", "feature"),
    "q": Step("q", "block", r"Q = \hat{x}\, W_Q", "What each position asks for: the query of this head.", "head feature"),
    "k": Step("k", "block", r"K = \hat{x}\, W_K", "What each position offers to be found by: the key of this head.", "head feature"),
    "v": Step("v", "block", r"V = \hat{x}\, W_V", "What each position hands over where it is looked at: the value of this head.",
              "head feature"),
    "scores": Step("scores", "block", r"S = Q K^\top / \sqrt{d_{\text{head}}}",
                   "Every query against every key. The causal mask hides the keys that come later (−∞).", "key"),
    "pattern": Step("pattern", "block", r"A = \text{softmax}(S)", "Each row of scores becomes weights that sum to 1.", "key"),
    "mixed": Step("mixed", "block", r"M = A V", "Each position takes the weighted mean of the values it looks at.", "head feature"),
    "attention writes": Step("attn_out", "block", r"\text{attention}(\hat{x}) = \text{Concat}(\text{heads})\, W_O",
                             "The heads, side by side, go through w_o: this is what attention adds to the stream.", "feature"),
    "between": Step("resid_mid", "block", r"x' = x + \text{attention}(\hat{x})", "The stream with what attention wrote.", "feature"),
    "norm 2": Step("ff_in", "block", r"\hat{x}' = \text{norm}(x')", "Normalised again, for the feed-forward layer to read.", "feature"),
    "widen": Step("hidden_pre", "block", r"h = \hat{x}' W_{\text{in}}",
                  "Each position on its own: from the width of the stream to a wider row.", "hidden"),
    "bend": Step("hidden_post", "block", r"h^+ = \max(h, 0)", "ReLU: negative numbers become 0.", "hidden"),
    "feed-forward writes": Step("ff_out", "block", r"\text{feed-forward}(\hat{x}') = h^+ W_{\text{out}}",
                                "Back to the width of the stream: what the feed-forward layer adds.", "feature"),
    "stream out": Step("resid_post", "block", r"x'' = x' + \text{feed-forward}(\hat{x}')",
                       "The stream after the block: what came in and what both layers wrote, added.", "feature"),
    "final norm": Step("final", "out", r"f = \text{norm}(x'')", "After the last block each row is normalised once more.", "feature"),
    "logits": Step("logits", "out", r"\text{logits} = f\, E^\top",
                   "Each position's row against every row of w_embed, the same table as at the start (tied): one number a character.",
                   "vocabulary"),
    "probabilities": Step("probs", "out", r"p = \text{softmax}(\text{logits})",
                          "Softmax: for every position, how probable each character is as the next one.", "vocabulary"),
}


def columns(step, config, tokens, vocabulary):
    """The labels of a step's columns."""
    return {"id": ["0"], "key": list(tokens), "vocabulary": list(vocabulary), "feature": controls.features(config.d_model),
            "head feature": controls.features(config.d_head), "hidden": controls.features(config.d_ff)}[step.reads]


def drawing(trace, shown, block=0, n_layers=1, dark=False):
    """All steps as boxes, each with its shape, how many numbers that is and arrows from what it reads; the step `shown` is framed."""
    headings = ("From text to the stream", "The block" if n_layers == 1 else f"Block {block}, one of {n_layers}", "To the next character")
    lines = {}
    for name, step in STEPS.items():
        array = arithmetic_model.model_array(trace, step.stage, block)
        lines[name] = " × ".join(map(str, array.shape)) + (f" = {array.size:,}" if array.ndim > 1 else "")
    return architecture.decoder_only(lines, headings, block=block, n_layers=n_layers, marked=shown, dark=dark)


def walk(page, model, trace):
    """One step at a time: all steps as a drawing, the array of the chosen one, and the sum behind its clicked cell."""
    tokens, vocabulary, config, names = model.tokens, model.vocabulary, model.config, list(STEPS)
    places = iter(st.columns(2, vertical_alignment="bottom"))
    with next(places) if config.n_layers > 1 else st.container():
        blocks = [f"block {i}" for i in range(config.n_layers)]
        block = blocks.index(controls.choice(page, "block", "Block", blocks)) if config.n_layers > 1 else 0
    with next(places):
        heads = [f"head {h}" for h in range(config.n_heads)]
        head = heads.index(controls.choice(page, "head", "Head", heads)) if config.n_heads > 1 else 0

    def show(number):
        st.session_state[f"{page}.stage"] = names[number]

    def open_step():
        point = controls.clicked(f"{page}.steps")
        if point is not None:
            show(point["point_index"])

    above = st.container()
    labels = {name: columns(step, config, tokens, vocabulary) for name, step in STEPS.items()}
    picked = controls.cell(page, {name: Grid(tokens, labels[name], "Position", step.reads.capitalize()) for name, step in STEPS.items()},
                           Cell(names[0], len(tokens) - 1, 0))
    step, place = STEPS[picked.stage], names.index(picked.stage)
    z = arithmetic_model.model_matrix(trace, step.stage, block, head)
    where = f", {blocks[block]}" * (step.part == "block" and config.n_layers > 1)
    where += f", {heads[head]}" * (step.stage in arithmetic_model.HEADS and config.n_heads > 1)
    left, right = above.columns(2)
    with left:
        figure = drawing(trace, picked.stage, block, config.n_layers, lesson.dark())
        lesson.picture(figure, f"{page}.steps", f"The {len(names)} steps, each with the shape of its array and arrows from what it reads; "
                       f"framed: {picked.stage}. A click on a box shows that step.", open_step)
        lesson.say("An arrow leads from what is read to what is computed of it: q and k make the scores, v waits until the pattern mixes "
                   "it. The lines at the left are the stream, which goes **past** both layers; what they write is added to it."
                   + " Dotted: other blocks stand between." * (config.n_layers > 1))
    with right:
        one, other = st.columns(2)
        back, on = "One step back" if place else "To the last step", "One step on" if place + 1 < len(names) else "From the start again"
        one.button(back, on_click=show, args=((place - 1) % len(names),), key=f"{page}.back", width="stretch")
        other.button(on, on_click=show, args=((place + 1) % len(names),), key=f"{page}.on", width="stretch")
        lesson.say(f"**Step {place} of {len(names) - 1}: {picked.stage}.** {step.line}")
        lesson.formula(step.formula)
        if step.stage in ("logits", "probs") and not model.is_trained:
            lesson.say("Nothing is trained here. Random weights favour no character for a reason. The smaller they are, the closer all "
                       f"logits come to 0, and all shares to 1 in {len(vocabulary)}.")
    wide = z.shape[1] > 16
    with above if wide else right:
        figure = charts.heatmap(z, tokens, labels[picked.stage], title=f"{picked.stage}{where}: {z.shape[0]} × {z.shape[1]}",
                                name=step.stage, quantity="weight" if step.stage in ("pattern", "probs") else "value",
                                hidden=~attention.causal_mask(len(tokens)) if step.stage == "scores" else None, row_title="position",
                                column_title=step.reads, clicked=(picked.row, picked.column), max_cell=56,
                                **lesson.look(960 if wide else 470))
        lesson.picture(figure, f"{page}.array", f"The array {picked.stage}{where}: {z.shape[0]} positions × {z.shape[1]}, numbers from "
                       f"{z.min():.3g} to {z.max():.3g}.", controls.on_click(page, f"{page}.array", picked.stage))
    if step.reads == "vocabulary":
        rows = {"Logits": trace.logits[picked.row], "Probabilities": trace.probs[picked.row]}
        for place, (name, values) in zip(above.columns(2), rows.items(), strict=True):
            figure = plots.bars(vocabulary, values, title=f"{name} after position {picked.row}", y_title=name.lower(), dark=lesson.dark())
            with place:
                lesson.picture(figure, f"{page}.{name.lower()}", f"{name} of the {len(vocabulary)} characters after position {picked.row}, "
                               f"the largest {values.max():.3f}.")
    column = labels[picked.stage][picked.column]
    column = text.quoted(column) if step.reads in ("key", "vocabulary") else column
    lesson.arithmetic(f"{picked.stage}{where}: position {picked.row} {text.quoted(tokens[picked.row])}, "
                      f"{step.reads} {column}, in the text {text.quoted(''.join(tokens))}",
                      arithmetic_model.explain_model(trace, model.params, config, step.stage, picked.row, picked.column, block, head))


def before_training(page, model, trace):
    """What random weights of any spread lose on random tokens, and what the model at hand guesses."""
    guesses, n_choices = slow.untrained_losses(model.config, st.session_state["seed"]), len(model.vocabulary)
    small, usual, wide, probs = guesses[0], guesses[1], guesses[-1], trace.probs[-1]
    left, right = st.columns(2)
    with left:
        figure = plots.curves([guess.spread for guess in guesses], {
            "random weights": [guess.loss for guess in guesses], f"even guessing, ln {n_choices}": [guess.even for guess in guesses]},
            title="Loss before training", x_title="spread of the weights", y_title="nats a token", log_x=True, at=model.spread,
            dark=lesson.dark())
        lesson.picture(figure, f"{page}.spreads", f"The loss of random weights over their spread, from {small.loss:.4f} to "
                       f"{wide.loss:.4f}; even guessing costs {small.even:.4f}.")
    with right:
        figure = plots.bars(model.vocabulary, probs, title="This model's next character", y_title="probability", y_range=(0, 1.12),
                            dark=lesson.dark())
        lesson.picture(figure, f"{page}.now", f"Probabilities of {n_choices} characters after the last position, the largest "
                       f"{probs.max():.3f}.")
    lesson.say(f"The **loss** of a token is −ln of the probability that it had, in nats. Models of this size with freshly drawn weights, "
               f"on {small.n_tokens:,} random tokens: with a spread of {small.spread} the mean loss is **{small.loss:.4f}**, with "
               f"{usual.spread} (where GPT-2 begins) **{usual.loss:.4f}**, with {wide.spread} **{wide.loss:.4f}**. The logarithm of "
               f"{n_choices} is **{small.even:.4f}**. Dotted: the spread that the model above was drawn with, {model.spread}.")
    lesson.say("Small random weights give each of V tokens a probability of about 1/V, and a token of probability 1/V costs −ln(1/V) = "
               "ln V. Wider weights guess unevenly without a reason to, and lose more. A wide model shows it sooner: its table is tied, "
               "and the row of a position is most like the table's row of the character it has read. A first loss far above ln V is a sign "
               "of a fault.")
    lesson.check("small random weights: the loss is ln V within 2 %", abs(small.loss - small.even), 0.02 * small.even or 1e-12)
