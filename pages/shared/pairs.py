"""The encoder-decoder that a page shows: a random one for the person's own sentence, or the one that was trained on dates."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from core import encoder_decoder, tasks_dates, tokenizers, zoo
from core.zoo.figures_alignment import FRESH
from pages.shared import controls, lesson, slow, text

START, DATE = tasks_dates.START, "12 March 1998"


class Pair(NamedTuple):
    """A source, a target, and the model that reads both."""

    source: list[str]
    target: list[str]        # what the decoder reads
    rows: list[str]          # the labels of its positions
    vocabulary: list[str]
    source_ids: np.ndarray
    target_ids: np.ndarray
    params: dict
    untrained: dict | None   # the same model before its training; None: it has none
    n_layers: int
    n_heads: int
    norm_position: str
    head: int                # which is shown first
    column: int              # which source token is looked at first

    def forward(self, params=None, source_ids=None, target_ids=None):
        """The trace of this model; of other parameters or ids where they are given."""
        return encoder_decoder.forward(self.params if params is None else params, self.source_ids if source_ids is None else source_ids,
                                       self.target_ids if target_ids is None else target_ids, self.n_heads,
                                       norm_position=self.norm_position)


def random(page):
    """The person's own sentence, a target that they type, and random parameters of chosen sizes."""
    source, notes = controls.own_tokens()
    source = source or ["the", "bank", "refused", "the", "loan"]
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        written = text.clean(controls.words(page, "target", "What the decoder has written so far (the source is your own sentence above)",
                                            "die Bank lehnte"))
    with right:
        norm_position = controls.choice(page, "norm_position", "The norm stands", ("post", "pre"), "post")
    target, cut = text.cut([START, *tokenizers.split_words(written.text)])
    lesson.remarks([*notes, *written.notes, *cut])
    left, middle, right = st.columns(3)
    with left:
        n_layers = controls.whole(page, "n_layers", "Layers in each stack", 1, 4, 2)
    with middle:
        n_heads = controls.stop(page, "n_heads", "Heads", (1, 2, 4), 2)
    with right:
        d_model = controls.stop(page, "d_model", "Features of a token, d_model", (8, 16, 32), 16)
    vocabulary = list(dict.fromkeys([*source, *target]))
    params = slow.encoder_decoder_params(st.session_state["seed"], tuple(vocabulary), d_model, n_layers)
    source_ids, target_ids = ([vocabulary.index(token) for token in tokens] for tokens in (source, target))
    return Pair(source, target, target, vocabulary, source_ids, target_ids, params, None, n_layers, n_heads, norm_position, 0, 0)


def trained(page):
    """A date that the person types, written as an ISO date by the trained model, and what is to be said about the answer."""
    model, both = zoo.load("alignment"), slow.inside_params("alignment")
    sizes, vocabulary = model.recipe.config, list(tasks_dates.VOCABULARY)
    cleaned = text.clean(controls.words(page, "date", "A date in English (it is read in place of your own sentence)", DATE))
    typed = cleaned.text.lower()
    lesson.remarks(cleaned.notes)
    try:
        source_ids = tasks_dates.encode(typed)
    except ValueError as fault:
        lesson.remarks([f"{fault} “{DATE}” is shown until then."])
        typed = DATE.lower()
        source_ids = tasks_dates.encode(typed)
    written = slow.written_date(typed)
    iso, before = (tasks_dates.characters(written[name]) for name in ("trained", "random"))
    lesson.words(f"It reads (all letters made small):   {typed}\nThe trained model writes:   {iso}\nBefore training it wrote:   {before}")
    _judge(typed, iso)
    target_ids = [vocabulary.index(START), *written["trained"][:-1]]
    rows = [f"{vocabulary[reads]}→{vocabulary[writes]}" for reads, writes in zip(target_ids, written["trained"], strict=True)]
    reading = tasks_dates.read(typed)
    last = reading.places["day"][1] - 1 if reading else 0  # where the last character of the answer stands
    source, target = ([vocabulary[i] for i in ids] for ids in (source_ids, target_ids))
    return Pair(source, target, rows, vocabulary, source_ids, target_ids, both["trained"], both["random"], sizes.n_layers, sizes.n_heads,
                sizes.norm_position, int(model.card["best head"].split()[-1]), last)


def _judge(typed, iso):
    """Whether the answer is right, by rule and without a model."""
    reading, (first, last) = tasks_dates.read(typed), tasks_dates.YEARS
    if reading is None:
        unknown = ("This is not a date in a form that the model learned, like “12 March 1998”, “Mar 12, 1998”, “the 12th of March 1998” or "
                   "“1998 March 12”, or there is no such day. The model writes ten characters, whatever it reads: nothing says that "
                   "these are right.")
        lesson.remarks([unknown])
    elif not first <= int(reading.iso[:4]) <= last:
        lesson.remarks([f"The years of the training were {first} to {last}; this one lies outside. By rule the date is {reading.iso}."])
    elif reading.iso != iso:
        lesson.remarks([f"Read by rule, without a model, the date is {reading.iso}: the model is wrong here."])
    else:
        lesson.say("Read by rule, without a model, the date is the same.")


def measured():
    """What was measured on the trained model when it was made, as sentences."""
    card = zoo.load("alignment").card
    over = card["over seeds"]
    lesson.say(f"**How good is it?** On {FRESH:,} dates that training never drew, in any form, it writes {card['whole answers']:.1%} "
               f"without a mistake (three trainings, each from other random numbers: "
               f"{', '.join(f'{each:.1%}' for each in over['whole answers'])}). "
               f"On average its {card['best head'].split(' ', 2)[2]} puts {card['looks']:.0%} of its weight on the characters that say the "
               f"digit being written; before training the best head put {card['looks untrained']:.0%} there. With that head switched off "
               f"only {card['without it']:.0%} of the dates come out right, with another one off {card['without another']:.0%} at worst.")
    lesson.say("Attention weights say what was mixed, not why. That a head matters is shown by switching it off, not by its picture. And "
               "the encoder has already mixed the characters with each other: a column is no longer its character alone.")


def where_from():
    """Where the trained numbers come from, as a sentence."""
    card = zoo.load("alignment").card
    settings = card["settings"]
    return (f"The trained model was made with this project's own training loop: {card['n_params']:,} numbers, {settings['n_steps']:,} "
            f"steps of {settings['batch_size']} dates (seed {card['seed']}). All dates and their texts are generated; about one in ten "
            "dates was held out. Patterns from before the training are random and mean nothing.")
