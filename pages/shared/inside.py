"""Looking inside a model of the zoo: which model and text, and what its heads look at."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from core import arithmetic_model, attention, looking, tokenizers, transformer, zoo
from pages.shared import charts, controls, lesson, slow, text
from pages.shared.controls import Cell, Grid

MODELS = ("pronoun", "cricket", "agreement", "induction", "reverse", "sort", "coreference", "induction_other", "induction_one_block",
          "coreference_uniform")
WEIGHTS = ("trained", "random")
OWN = "Or your own text, in this model's words"  # a label, which the sentence about it names
N_TEXTS, N_SHOWN = 200, 20  # texts that are measured on; those of them that can be looked at
PLACES = {"previous": ("the token before", "the token just before"), "first": ("the first token", "the first token"),
          "same": ("the same token", "earlier places of the same token"),
          "followed": ("what followed it", "what followed the same token before: it is an **induction** head"),
          "answer": ("the answer", "the place that holds the answer")}


class Look(NamedTuple):
    """One model on one text."""

    name: str
    recipe: object
    both: dict             # {"trained": params, "random": params}
    weights: str           # which of the two is looked at
    tokens: list[str]
    token_ids: np.ndarray
    wanted: np.ndarray     # (n_tokens,) the right answer; where nothing is asked, what this model finds most probable
    asked: list[int]       # the positions that are looked at first: those with a right answer, on an own text all
    holds: int             # a key that holds the answer of the last asked query
    own: bool              # is it the person's text?
    trace: object          # the forward pass

    @property
    def params(self):
        """The parameters that are looked at."""
        return self.both[self.weights]

    @property
    def heads(self):
        """All heads, as (block, head)."""
        return [(b, h) for b in range(self.recipe.config.n_layers) for h in range(self.recipe.config.n_heads)]

    @property
    def titles(self):
        """Their names."""
        return [f"block {b} head {h}" for b, h in self.heads]

    @property
    def short(self):
        """Their names in pictures: B1H0 is head 0 of block 1."""
        return [f"B{b}H{h}" for b, h in self.heads]

    def position(self, page):
        """The control for the position that is looked at."""
        return controls.pick(page, "position", "After position", text.options(self.tokens), self.asked[-1])


def at(name, weights="trained", number=0, own_ids=None):
    """A model on a drawn text, or on these ids."""
    recipe, both, batch = zoo.recipe(name), slow.inside_params(name), slow.inside_texts(name, N_TEXTS)
    ids = batch.token_ids[number] if own_ids is None else own_ids
    trace = transformer.forward(both[weights], ids, recipe.config, all_probs=True)
    targets = batch.targets[number] if own_ids is None else np.full(len(ids), -1)
    asked = np.flatnonzero(targets >= 0).tolist() or list(range(len(ids)))
    holds = 0 if own_ids is not None else int(recipe.task.looks_at(batch)[number, asked[-1]].argmax())
    wanted = np.where(targets >= 0, targets, trace.probs.argmax(axis=-1))
    return Look(name, recipe, both, weights, recipe.task.words(ids), ids, wanted, asked, holds, own_ids is not None, trace)


def ask(page):
    """The controls of a model, its weights and its text."""
    left, middle, right = st.columns([2, 1.6, 1.2], vertical_alignment="bottom")
    with left:
        name = MODELS[controls.pick(page, "model", "Model", [zoo.recipe(each).title for each in MODELS])]
    with middle:
        number = controls.whole(page, "number", "Drawn text", 0, N_SHOWN - 1, 0)
    with right:
        weights = controls.choice(page, "weights", "Weights", WEIGHTS)
    task = zoo.recipe(name).task
    typed = controls.words(page, "words", OWN, "", placeholder="Leave it empty for the drawn text",
                           help=f"It takes up to {task.n_tokens} of these {len(task.vocabulary)}, with spaces between them: "
                                f"{' '.join(task.vocabulary)}")
    ids = _read(task, typed, number)
    look = at(name, weights, number, ids)
    lesson.say(f"**{look.recipe.title}.** {look.recipe.story}")
    answers = "" if look.own else "   →   " + " ".join(task.words(look.wanted[look.asked]))
    lesson.words(f"{'Your text' if look.own else f'Drawn text {number}'}: {' '.join(look.tokens)}{answers}")
    return look


def follow(page, name, label, options, wanted):
    """A control for a token of the vocabulary that stays on the followed one, wherever that is, until the person picks another.

    wanted   the number of the followed token
    returns  its number
    """
    key, state = f"{page}.{name}", st.session_state
    before = state.get(f"_followed.{key}")
    if key in state and before is not None and state[key] == before:
        state[key] = wanted
    state[f"_followed.{key}"] = wanted
    return controls.pick(page, name, label, options, wanted)


def _read(task, typed, number):
    """The ids of the person's own text; None where there is none, or where it can't be read, which is then said."""
    cleaned = text.clean(typed)
    words, notes, what = tokenizers.split_words(cleaned.text), cleaned.notes, f"“{OWN}”"
    if not words:
        words, notes = controls.own_tokens()
        what = "“Your own sentence”"
    lesson.remarks(notes)
    unknown = list(dict.fromkeys(word for word in words if word not in task.vocabulary))
    if not unknown and len(words) <= task.n_tokens:
        return task.encode(words) if words else None
    fault = (f"{len(unknown)} of its words {'is' if len(unknown) == 1 else 'are'} not among the {len(task.vocabulary)} of this model's "
             "vocabulary" if unknown else
             f"it has {len(words)} words and this model reads at most {task.n_tokens}")
    lesson.remarks([f"{what} can't be read: {fault}. Drawn text {number} is shown until that is changed."])
    if unknown:
        named = ", ".join(map(text.quoted, unknown[:3])) + f" and {len(unknown) - 3} more" * (len(unknown) > 3)
        lesson.words(f"Not in the vocabulary: {named}. The vocabulary: {' '.join(task.vocabulary)}")
    return None


# ------------------------------------------------------------------------------------------------------------ the heads


def heads(page, look):
    """All heads' patterns, trained beside random; one head large; what each head looks at, over many texts."""
    config, titles = look.recipe.config, look.titles
    traces = {weights: transformer.forward(params, look.token_ids, config) for weights, params in look.both.items()}
    most = int(slow.inside_scores(look.name, "trained", N_TEXTS).answer.argmax())
    which = titles.index(controls.choice(page, "head", "Head", titles, titles[most])) if len(titles) > 1 else 0
    block, head = look.heads[which]
    picked = controls.cell(page, {"weight": Grid(look.tokens, look.tokens)}, Cell("weight", look.asked[-1], look.holds))

    def take(chart, weights, n_traces):
        def took():
            point = controls.clicked(chart)
            if point is not None:
                if n_traces:
                    st.session_state[f"{page}.head"] = titles[point["curve_number"] // n_traces]
                st.session_state[f"{page}.weights"] = weights
                st.session_state[f"{page}.row"], st.session_state[f"{page}.column"] = int(point["y"]), int(point["x"])
        return took

    lesson.say("Every picture is one head on this text: rows are the tokens that look, columns the tokens that are looked at. “Trained” "
               "and “random” are one model after its last and before its first step. A click frames a cell in all of them and takes it "
               "apart at the foot of the page.")
    for column, (weights, trace) in zip(st.columns(2), traces.items(), strict=True):
        patterns = np.concatenate([layer.attention.pattern for layer in trace.blocks])
        with column:
            lesson.say(f"**{weights.capitalize()}**")
            if len(titles) > 1:
                figure = charts.small_multiples(patterns, look.tokens, look.tokens, titles=titles, most_across=2,
                                                clicked=(which, picked.row, picked.column), **lesson.look())
                lesson.picture(figure, f"{page}.all.{weights}", f"{weights.capitalize()}: the patterns of {len(titles)} heads on this "
                               f"text; the largest weight is {patterns.max():.3f}.",
                               take(f"{page}.all.{weights}", weights, len(figure.spec["data"]) // len(titles)))
            figure = charts.heatmap(patterns[which], look.tokens, look.tokens, title=f"{titles[which].capitalize()}, {weights}",
                                    name="weight", quantity="weight", clicked=(picked.row, picked.column), max_cell=44, **lesson.look())
            weight = patterns[which][picked.row, picked.column]
            lesson.picture(figure, f"{page}.one.{weights}", f"{titles[which].capitalize()}, {weights}: {len(look.tokens)} queries as "
                           f"rows, keys as columns; query {picked.row} puts {weight:.3f} on key {picked.column}.",
                           take(f"{page}.one.{weights}", weights, 0))
    _scores(look)
    lesson.arithmetic(f"{look.weights} weights, {titles[which]}: query {picked.row} {text.quoted(look.tokens[picked.row])}, "
                      f"key {picked.column} {text.quoted(look.tokens[picked.column])}",
                      arithmetic_model.explain_model(look.trace, look.params, config, "scores", picked.row, picked.column, block, head)
                      + arithmetic_model.explain_model(look.trace, look.params, config, "pattern", picked.row, picked.column, block, head))
    lesson.check("every row of every head sums to 1", max(abs(layer.attention.pattern.sum(axis=-1) - 1).max() for trace in traces.values()
                                                          for layer in trace.blocks), 1e-12)
    lesson.check("no head looks at a later token", max(np.abs(layer.attention.pattern[:, ~attention.causal_mask(len(look.tokens))]).max(
        initial=0.0) for trace in traces.values() for layer in trace.blocks), 0.0)


def _scores(look):
    """A table of what every head looks at, and what that makes it."""
    scores, random = (slow.inside_scores(look.name, weights, N_TEXTS) for weights in WEIGHTS)
    even = slow.inside_even(look.name, N_TEXTS)
    lesson.heading("What each head looks at, on many texts")
    lesson.say(f"One text may fit by chance. So these are the mean weights on five kinds of places over **{N_TEXTS}** texts that training "
               "never drew; in brackets those of the same head before training. The last line is a head that looks at everything it may "
               "see alike: a score says something only where it is far above that.")
    roles = {each: looking.role(scores, even, *each) for each in look.heads}

    def cell(field, each):
        own, before = getattr(scores, field)[each], getattr(random, field)[each]
        bold = "**" if roles[each] == field else ""
        return "–" if np.isnan(own) else f"{bold}{own:.2f}{bold} ({before:.2f})"

    for place, fields in zip(st.columns([4, 3]), (list(PLACES)[:3], list(PLACES)[3:]), strict=True):  # narrow enough for a phone
        lines = [f"| {title} | " + " | ".join(cell(field, each) for field in fields) + " |"
                 for title, each in zip(look.titles, look.heads, strict=True)]
        alike = [getattr(even, field) for field in fields]
        lines.append("| all alike | " + " | ".join("–" if np.isnan(score) else f"{score:.2f}" for score in alike) + " |")
        with place:
            lesson.say("| weight on | " + " | ".join(PLACES[field][0] for field in fields) + " |\n|:--|" + "--:|" * len(fields) + "\n"
                       + "\n".join(lines))
    said = [f"- **{title.capitalize()}** " + (
        f"puts **{getattr(scores, roles[each])[each]:.2f}** of its weight on {PLACES[roles[each]][1]}." if roles[each] else
        "looks at none of these places clearly. What it does can't be told from these scores.")
        for title, each in zip(look.titles, look.heads, strict=True)]
    lesson.say("\n".join(said) + f"\n\nA head is called after its largest score here, where that is at least {looking.LEAST:g} and "
               f"{looking.TIMES:g} times the last line. That says what it mixes in, not why the model answers as it does.")
