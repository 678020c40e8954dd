"""What the lesson on the encoder-decoder looks further at: the next token and what moves it, and the three families."""

import numpy as np
import streamlit as st

from core import encoder_decoder, experiments
from pages.shared import charts, controls, lesson, plots, text
from pages.shared.pairs import START


def what_comes_next(page, pair, trace):
    """The next token's probabilities, and how far each output moves when a source token is changed."""
    probs = trace.probs[-1]
    left, right = st.columns(2)
    with left:
        figure = plots.bars(pair.vocabulary, probs, title="Next token, from the last target position", y_title="probability",
                            dark=lesson.dark())
        lesson.picture(figure, f"{page}.next", f"Probabilities of {len(probs)} tokens, from {probs.min():.3g} to {probs.max():.3g}.")
    with right:
        changed = controls.pick(page, "changed", "Give this source token the vector of <start>", text.options(pair.source),
                                len(pair.source) - 1)
        other = list(pair.source_ids)
        other[changed] = pair.vocabulary.index(START)
        moved = experiments.moved(trace.out, pair.forward(source_ids=other).out)
        figure = plots.bars(pair.rows, moved, title="How far each decoder output moves", y_title="largest change", dark=lesson.dark())
        lesson.picture(figure, f"{page}.moved", f"Source token {changed} changed: {int((moved > 0).sum())} of {len(moved)} move.")
    random = " With random weights the probabilities say nothing about language." if pair.untrained is None else ""
    lesson.say("A changed source token reaches every output of the decoder, through cross-attention. A changed target token reaches "
               f"its own and later outputs alone.{random}")


def three_families(page, pair):
    """Who may look at whom, in encoder-only, decoder-only and encoder–decoder models."""
    few_sources, few_targets = pair.source[:6], pair.target[:6]
    families = encoder_decoder.who_sees_whom(len(few_sources), len(few_targets))
    few = [*few_sources, *few_targets]
    lesson.picture(charts.small_multiples(np.array(list(families.values()), dtype=float), few, few, titles=list(families), name="may look",
                                          **lesson.look(960)),
                   f"{page}.families", f"Who may look at whom: encoder-only all {len(few)**2} pairs, decoder-only "
                   f"{int(families['decoder-only'].sum())}, encoder–decoder {int(families['encoder–decoder'].sum())}.")
    lesson.say(f"1: may look; 0: may not; drawn for the first {len(few_sources)} source and {len(few_targets)} target tokens. An "
               "**encoder-only** model (BERT) reads and does not write on. A **decoder-only** model (GPT) takes the source as the "
               "beginning of its own text. An **encoder–decoder** (2017, T5) reads the source both ways and writes from left to right.")
