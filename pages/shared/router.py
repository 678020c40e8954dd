"""Sorting messages with a trained model: one message taken apart, many measured, and the list of what to settle before others use it."""

import unicodedata
from typing import NamedTuple

import numpy as np
import streamlit as st

from core import arithmetic, classifier, routing, tasks_router, zoo
from core.router_sentences import OUT_OF_SCOPE
from core.zoo.figures_router import EXAMPLE
from pages.shared import charts, checklist, controls, lesson, plots, saving, slow, text
from pages.shared.controls import Cell, Grid

NAME, WEIGHTS, CLASSES = "router", ("trained", "random"), tasks_router.CLASSES
READY = (EXAMPLE, "Wake me at seven", "My certificat is lost", "I do not want a certificate", "I paid, but I can't log in")
UNKNOWN = slow.UNKNOWN_WORD
N_MESSAGES, THRESHOLDS = 1000, tuple(np.linspace(0, 0.99, 34).round(2).tolist())


class Read(NamedTuple):
    """A message as a model read it."""

    weights: str         # "trained" or "random"
    params: dict
    typed: str
    token_ids: np.ndarray
    words: list[str]     # as the person wrote them, in small letters
    trace: object        # ClassifierTrace
    note: str = ""       # what to change in the person's message, where it can't be read

    @property
    def kind(self):
        """The number of the most probable kind."""
        return int(self.trace.probs.argmax())

    @property
    def shown(self):
        """The words; those that the model does not know stand in brackets."""
        return bracketed(self.typed)


def bracketed(typed):
    """The words of a message; those that the model does not know stand in brackets."""
    return [word if word in tasks_router.NUMBERS else f"[{word}]" for word in tasks_router.words(typed)]


def sizes():
    """The sizes of the model."""
    return zoo.recipe(NAME).config


def arguments():
    """What `core.classifier.sizes` takes for them, in its order."""
    encoder, n_classes = sizes()
    return encoder.vocab_size, encoder.n_ctx, encoder.d_model, encoder.n_heads, n_classes, encoder.n_layers, encoder.d_ff


def read(typed, weights="trained"):
    """A message, or the example where it can't be read."""
    note = ""
    try:
        ids = tasks_router.encode(typed)
    except ValueError as fault:
        note, typed = f"{fault} Until then the example is shown.", EXAMPLE
        ids = tasks_router.encode(typed)
    params = slow.inside_params(NAME)[weights]
    return Read(weights, params, typed, ids, tasks_router.words(typed), classifier.forward(params, ids, sizes()), note)


def ask(page):
    """The controls for a message and the weights."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        ready = READY[controls.pick(page, "example", "Message", READY)]
    with right:
        weights = controls.choice(page, "weights", "Weights", WEIGHTS)
    own = controls.words(page, "message", "Or your own message to the academy", "", max_length=400,
                         placeholder="Leave it empty for the message above")
    found = read(text.clean(own).text if own.strip() else ready, weights)
    cleaned = text.clean(own)
    signs = sum(unicodedata.category(character) == "So" for character in cleaned.text)
    left_out = (f"{signs} sign{'s' * (signs > 1)} such as emoji {'were' if signs > 1 else 'was'} left out: the model reads words of "
                "letters and digits alone.")
    lesson.remarks([*cleaned.notes, *[left_out] * bool(signs), *[found.note] * bool(found.note)])
    unknown = sum(number == UNKNOWN for number in found.token_ids)
    lesson.words(f"The model reads: {' '.join(text.visible(word) for word in found.shown)}")
    if unknown:
        lesson.say(f"Words in brackets: **{unknown} of {len(found.words)}**. Training never used them, so to this model they are all the "
                   "same unknown word, and so is a misspelt one. Tokenizers made of pieces, as on the page Tokens, do not lose words in "
                   "this way.")
    return found


def one(page):
    """One message: the answer, the words it was pooled from, and those that it needs."""
    message = ask(page)
    trace, block = message.trace, message.trace.blocks[0]
    heads = [f"head {head}" for head in range(sizes().encoder.n_heads)]
    lesson.say(f"**It says {CLASSES[message.kind]}**, with a probability of {trace.probs[message.kind]:.4f}. Every word looks at every "
               "other, both ways; then a learned query gives each word a **share**, and the shared-out sum of their vectors, 32 numbers, "
               "is what the answer is computed from.")
    cell = controls.cell(page, {"probability": Grid(["message"], list(CLASSES), "Read", "Kind"),
                                "share": Grid(["message"], message.shown, "Read", "Word"),
                                **{head: Grid(message.shown, message.shown) for head in heads}},
                         Cell("probability", 0, message.kind))
    left, right = st.columns([1, 1.6])
    with left:
        figure = plots.bars(list(CLASSES), trace.probs, title="How probable each kind is", y_title="probability", y_range=(0, 1.12),
                            dark=lesson.dark())
        lesson.picture(figure, f"{page}.kinds", f"Probabilities of {len(CLASSES)} kinds; the largest, {trace.probs.max():.3f}, is for "
                       f"{CLASSES[message.kind]}.", taken(page, "kinds", "probability"))
    needed = trace.probs[message.kind] - slow.hidden(tuple(message.token_ids.tolist()), message.weights)[:, message.kind]
    with right:
        figure = plots.bar_groups(message.shown, {"share in the sum": trace.pool_pattern, "lost when it is hidden": needed},
                                  title=f"Its share; what P({CLASSES[message.kind]}) loses",
                                  y_title="share; probability", dark=lesson.dark())
        lesson.picture(figure, f"{page}.words", f"For each of {len(message.words)} words its share in the pooled vector, largest "
                       f"{trace.pool_pattern.max():.3f}, and what the probability of {CLASSES[message.kind]} loses when the word is "
                       f"hidden, largest {needed.max():.3f}.", taken(page, "words", "share"))
    most, deepest = int(trace.pool_pattern.argmax()), int(needed.argmax())
    lesson.words(f"Largest share: {text.quoted(message.words[most])}, {trace.pool_pattern[most]:.3f}; without it the probability falls by "
                 f"{needed[most]:.4f}. Most needed: {text.quoted(message.words[deepest])}, falls by {needed[deepest]:.4f}.")
    lesson.say("The two need not agree. A **share** says how much of a word's vector went into the sum. Hiding the word and asking again "
               "says whether the answer **needs** it. Only the second is a test, and even it hides one word at a time.")
    for number, (place, head) in enumerate(zip(st.columns(2), heads, strict=True)):  # one below the other where there is no room
        with place:
            figure = charts.heatmap(block.attention.pattern[number], message.shown, message.shown, title=head.capitalize(),
                                    quantity="weight", name="weight", **lesson.look(),
                                    clicked=(cell.row, cell.column) if cell.stage == head else None)
            lesson.picture(figure, f"{page}.pattern.{number}", f"Attention pattern of {head} over {len(message.words)} words, each looking "
                           "both ways; every row sums to 1.", controls.on_click(page, f"{page}.pattern.{number}", head))
    if cell.stage in heads:
        query, key = (text.quoted(message.words[place]) for place in (cell.row, cell.column))
        title = f"{cell.stage}: query {cell.row} {query}, key {cell.column} {key}"
        chain = [arithmetic.explain(block.attention, stage, cell.row, cell.column, head=heads.index(cell.stage))
                 for stage in ("raw_scores", "scores", "pattern")]
    elif cell.stage == "share":
        title = f"share of word {cell.column} {text.quoted(message.words[cell.column])}"
        chain = routing.explain_share(trace, message.params, cell.column)
    else:
        title, chain = f"probability of {CLASSES[cell.column]}", routing.explain_kind(trace, message.params, cell.column)
    lesson.arithmetic(title, chain)
    return message


def taken(page, name, stage):
    """A callback for a clicked bar: its stage and its place."""
    def take():
        point = controls.clicked(f"{page}.{name}")
        if point is not None:
            st.session_state[f"{page}.stage"], st.session_state[f"{page}.row"] = stage, 0
            st.session_state[f"{page}.column"] = int(point["x"])

    return take


def taken_pair(page):
    """A callback for a clicked cell of the table of right and guessed kinds."""
    def take():
        point = controls.clicked(f"{page}.confusion")
        if point is not None:
            st.session_state[f"{page}.right"], st.session_state[f"{page}.answer"] = int(point["y"]), int(point["x"])

    return take


def many(page):
    """Many messages: how often the model is right, what it takes for what, when it should hand over, and what it can't know."""
    held, random = (slow.routed(weights, N_MESSAGES) for weights in WEIGHTS)
    accuracies = [float(routing.hand_over(each.probs, each.kinds, [0]).right[0]) for each in (held, random)]
    lesson.say(f"On {N_MESSAGES:,} messages made from sentences that training never used, {accuracies[0]:.1%} are sorted right. The same "
               f"model with the weights it began with sorts {accuracies[1]:.1%} right. They are made from 50 sentences by the author of "
               "the training sentences: what real people write will differ more, and the figure will be lower.")
    first, second = st.columns(2)
    with first:
        kind = controls.pick(page, "right", "Right kind", CLASSES, CLASSES.index("content"))
    with second:
        guess = controls.pick(page, "answer", "What the model says", CLASSES, CLASSES.index("certificate"))
    left, right = st.columns(2)
    with left:
        table = routing.confusion(held.probs, held.kinds)
        lesson.picture(charts.heatmap(table, CLASSES, CLASSES, name="messages", row_title="right kind", column_title="what the model says",
                                      title="What is taken for what: messages", clicked=(kind, guess), **lesson.look()),
                       f"{page}.confusion", f"Of {N_MESSAGES} messages, how many of each right kind (rows) got each answer (columns).",
                       taken_pair(page))
    messages = routing.taken_for(held, kind, guess)
    lesson.panel(f"{CLASSES[kind]}, sorted as {CLASSES[guess]}", f"{table[kind, guess]}",
                 [f"{table[kind, guess]} of {table[kind].sum()} messages of this kind; {len(messages)} different ones:", *messages[:40]])
    threshold = controls.decimal(page, "threshold", "A person takes over below this probability", 0, 0.99, 0.7, 0.01)
    curve = routing.hand_over(held.probs, held.kinds, THRESHOLDS)
    here = routing.hand_over(held.probs, held.kinds, [threshold])
    with right:
        figure = plots.curves(THRESHOLDS, {"sorted by the model": curve.answered, "of these, right": curve.right}, at=threshold,
                              title="The price of caution", x_title="threshold", y_title="share of messages", y_range=(0, 1.03),
                              markers=False, dark=lesson.dark())
        lesson.picture(figure, f"{page}.caution", f"With a higher threshold the model sorts fewer messages and more of these right; at "
                       f"{threshold:g} it sorts {here.answered[0]:.1%}.")
    right_of_these = f"**{here.right[0]:.1%}** of these right" if here.answered[0] else "no message at all"
    lesson.say(f"With a threshold of **{threshold:g}** the model sorts **{here.answered[0]:.1%}** of the messages, {right_of_these}, and "
               f"{1 - here.answered[0]:.1%} go to a person. Choose it by what an error costs, on messages that are not used to measure it "
               "afterwards.")
    lesson.heading("Messages that no academy could answer")
    foreign = slow.foreign()
    guesses = foreign.argmax(axis=-1)
    confident = (foreign.max(axis=-1) >= threshold) & (guesses != CLASSES.index("other"))
    lesson.say(f"It was trained to say “other” to what is none of its business. Of {len(OUT_OF_SCOPE)} foreign messages it does so for "
               f"{int((guesses == CLASSES.index('other')).sum())}. Into one of the four kinds it sorts {int(confident.sum())} with a "
               f"probability of {threshold:g} or more. Words in brackets are unknown to it, and the others keep other company than in "
               "training. A softmax has to share out 1 among the kinds it has, so a high probability is no sign that one of them fits.")
    order = np.argsort(-foreign.max(axis=-1) * (guesses != CLASSES.index("other")), kind="stable")[:8]
    lesson.say("| message | it says | probability |\n|:--|:--|--:|\n" + "\n".join(
        f"| {' '.join(bracketed(OUT_OF_SCOPE[i]))} | {CLASSES[guesses[i]]} | {foreign[i].max():.3f} |" for i in order))
    lesson.heading("Who gives what")
    lesson.say("| from | what |\n|:--|:--|\n"
               "| the model | a vector for each word and one for the message. With random weights it is there too, and worth "
               f"{accuracies[1]:.1%} |\n"
               f"| training | weights in which that vector tells the kinds apart: {accuracies[0]:.1%} |\n"
               f"| the application | what is done with a kind, the threshold, the person who takes over, and all points of the checklist |")


def tick(page, number):
    """A callback: this point is settled, or no longer."""
    ticked, _ = checklist.numbers(st.session_state.get(f"{page}.ticked") or "")
    st.session_state[f"{page}.ticked"] = " ".join(map(str, sorted(ticked ^ {number})))


def points(page):
    """The checklist as a form, with the download of what is ticked."""
    lesson.say("A model that works on this page is not yet one that others can rely on. Tick what is settled, and take the list with you "
               "as Markdown. The ticks stand in the address; project and notes do not, they stay in this window.")
    ticked, unread = checklist.numbers(controls.words(page, "ticked", "Numbers of the ticked points", "", max_length=200))
    if unread:
        lesson.remarks([(f"{unread} of the entries {'is' if unread == 1 else 'are'} no number of a point: write whole numbers from 1 to "
                         f"{len(checklist.NUMBERED)} with spaces between them, or tick the points below. The others are ticked.")])
    project = st.text_input("Project", key=f"_{page}.project", max_chars=100, persist_state="session")
    number = 0
    for column, groups in zip(st.columns(2), (checklist.POINTS[:5], checklist.POINTS[5:]), strict=True):
        with column:
            for group, its_points in groups:
                st.markdown(f"**{group}**")
                for name, point in its_points:
                    number += 1
                    st.session_state[f"_{page}.{number}"] = number in ticked
                    st.checkbox(f"{number}. {name}", key=f"_{page}.{number}", on_change=tick, args=(page, number))
                    lesson.small(point)
    notes = st.text_area("Notes", key=f"_{page}.notes", max_chars=2000, persist_state="session")
    lesson.say(f"**{len(ticked)} of {len(checklist.NUMBERED)} points are settled.**")
    saving.button("Save the list as Markdown", "checklist.md", checklist.markdown, ticked, project or "", notes or "")
