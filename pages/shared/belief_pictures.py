"""The pictures of the nine tests: what an experiment found, drawn."""

import streamlit as st

from core import tasks_router
from pages.shared import charts, controls, lesson, plots


def _pair(page, where, *pictures):
    """Pictures side by side: (name, figure, alt)."""
    for place, (name, figure, alt) in zip(st.columns(len(pictures)), pictures, strict=True):
        with place:
            lesson.picture(figure, f"{page}.{where}.{name}", f"{alt} On the {'ready-made text' if where == 'preset' else 'own sentence'}.")


def _pattern(tried, name, title, width=470, **more):
    return charts.heatmap(tried.found.arrays[name], tried.tokens, tried.tokens, title=title, quantity="weight", name="weight",
                          **more, **lesson.look(width))


def order(page, where, tried):
    """What each word gets, in one order and in the other."""
    features, arrays = controls.features(tried.found.arrays["before"].shape[1]), tried.found.arrays
    limit = float(max(abs(arrays["before"]).max(), abs(arrays["after"]).max()))
    _pair(page, where, *(
        (name, charts.heatmap(arrays[name], tried.tokens, features, title=title, limit=limit, row_title="word", column_title="feature",
                              **lesson.look()), f"{title}: {len(tried.tokens)} words, {len(features)} features.")
        for name, title in (("before", "What each word gets"), ("after", "What it gets when the text is turned round"))))


def meaning(page, where, tried):
    """The pattern, the rows of the same word framed."""
    places = tried.found.arrays["places"]
    rows = ", ".join(map(str, places)) or "none"
    _pair(page, where, ("pattern", _pattern(tried, "pattern", f"Pattern; rows of the same word: {rows}", framed=places.tolist()),
                        f"Attention pattern of {len(tried.tokens)} words; rows {rows} belong to the same word."))


def favourites(page, where, tried):
    """Two random models, and what the last word looks at most in many."""
    _pair(page, where,
          *((name, _pattern(tried, name, title, 300), f"{title}: {len(tried.tokens)} words.")
            for name, title in (("pattern", "One random model"), ("other", "The next random model"))),
          ("favourites", plots.bars(tried.tokens, tried.found.arrays["favourites"], title="What the last word looks at most",
                                    y_title=f"of {tried.found.figures['n_seeds']} random models", dark=lesson.dark()),
           f"How many of {tried.found.figures['n_seeds']} random models give the last word's largest weight to each word."))


def counts(page, where, tried):
    """Words, tokens, characters and bytes."""
    _pair(page, where, ("counts", plots.bars(tried.tokens, tried.found.arrays["counts"], title="The same text, counted", y_title="pieces",
                                             dark=lesson.dark()), "The number of words, tokens, characters and bytes of the text."))


def seen(page, where, tried):
    """A causal pattern, and which outputs move when the last word changes."""
    arrays = tried.found.arrays
    _pair(page, where, ("pattern", _pattern(tried, "pattern", "Causal pattern; hidden keys are −∞", hidden=~arrays["visible"]),
                        f"Causal attention pattern of {len(tried.tokens)} words: the first sees {tried.found.figures['n_seen']}."),
          ("moved", plots.bars(tried.tokens, arrays["moved"], title="How far each output moves when the last word changes",
                               y_title="largest change", dark=lesson.dark()), "Only the last output moves when the last word changes."))


def shares(page, where, tried):
    """The learned weights and the turned-round ones, and the answers."""
    arrays = tried.found.arrays
    _pair(page, where, ("shares", plots.bar_groups(tried.tokens, {"as learned": arrays["shares"], "turned round": arrays["turned"]},
                                                   title="The share of each word", y_title="weight", dark=lesson.dark()),
                        f"Learned and turned-round weights of {len(tried.tokens)} words."),
          ("probs", plots.bar_groups(tasks_router.CLASSES, {"as learned": arrays["probs"], "turned round": arrays["other"]},
                                     title="What the model answers", y_title="probability", dark=lesson.dark()),
           "Probabilities of the kinds with the learned and with the turned-round weights."))


def longer(page, where, tried):
    """The answer to the message alone and to the longer text."""
    _pair(page, where, ("probs", plots.bar_groups(
        tasks_router.CLASSES, {"message alone": tried.found.arrays["probs"], "with a sentence before it": tried.found.arrays["other"]},
        title="What the model answers", y_title="probability", dark=lesson.dark()),
        "Probabilities of the kinds for the message alone and with another sentence before it."))


def sums(page, where, tried):
    """Masked before the softmax, zeroed after it, and what those rows sum to."""
    _pair(page, where, *((name, _pattern(tried, name, title, 300), f"{title}: {len(tried.tokens)} words.")
                         for name, title in (("masked", "Masked before the softmax"), ("zeroed", "Zeroed after the softmax"))),
          ("sums", plots.bars(tried.tokens, tried.found.arrays["sums"], title="Row sums of the second", y_title="sum", y_range=(0, 1.15),
                              dark=lesson.dark()), "Row sums of the weights that were zeroed after the softmax."))


def heads(page, where, tried):
    """Parameters for each number of heads."""
    _pair(page, where, ("counts", plots.bars(tried.tokens, tried.found.arrays["counts"], title="Numbers in the attention of one block",
                                             y_title="parameters", digits=6, dark=lesson.dark()),
                        "Parameters of attention for each number of heads: all equal."))
