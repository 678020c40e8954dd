"""A question of the quiz on a page: asked, answered, marked, and what all answers of a visit earned.

Nothing of an answer is on the page before it was marked, and what a person answers never stands in the address.
"""

from typing import NamedTuple

import streamlit as st

from core import questions
from core.questions import asking, marking, recall
from core.sums import Explanation
from pages.shared import charts, controls, examples, lesson, syllabus

PAGE = "quiz"
N_NUMBERS, N_VERSIONS = 999, 999
MARKS = {(True, True): "**{}** · your answer, right", (True, False): "{} · your answer, not right", (False, True): "**{}** · right",
         (False, False): "{}"}  # (answered, right)
IN_ORDER = {(True, True): "**{}** · in its place", (True, False): "{} · not here"}
ROUND = [digit * 10**power for power in range(7) for digit in (1, 2, 5)]
EVERYTHING = "everything"
TOPICS = {EVERYTHING: None, "vectors": "vectors", "attention": "attention", "the block": "block", "the model": "model", "cost": "cost"}


class Which(NamedTuple):
    """Which drawn question is on the page."""

    topic: str
    code: int
    number: int
    version: int


@st.cache_resource(show_spinner=False)
def recalled():
    """The six questions to recall; nobody changes them."""
    hand, four = examples.by_hand(), examples.four_tokens()
    return (recall.why_scale(), recall.why_flat(hand.tokens, hand.x, hand.params), recall.what_order_does(four.x, four.params),
            recall.what_it_costs(), recall.why_mask_first(four.tokens, four.x, four.params), recall.why_heads())


def visit():
    """What this visit has marked: {"round": how often started over, "marked": {name of the question: (Question, Marked, answer)}}."""
    return st.session_state.setdefault("_quiz", {"round": 0, "marked": {}, "faults": {}})


def results(own=None):
    """What the questions marked in a visit earned, in order; of this visit unless given."""
    return [questions.Result(question.title, question.topic, question.url, marked.points)
            for question, marked, _ in (own or visit())["marked"].values()]


def start_over():
    """Callback: forget all answers and what they earned."""
    st.session_state["_quiz"] = {"round": visit()["round"] + 1, "marked": {}, "faults": {}}


# ------------------------------------------------------------------------------------------------ which question


def ask_which():
    """The controls that choose a drawn question. Returns (its name for this visit, Question, Which)."""
    topic = controls.choice(PAGE, "topic", "Topic", list(TOPICS))
    left, middle, right = st.columns(3)
    with left:
        code, *faults = controls.field(PAGE, "code", "Class code", 0, controls.MAX_SEED, 1,
                              help="Everyone with the same class code gets the same questions.")
    with middle:
        number, fault = controls.field(PAGE, "number", "Question", 1, N_NUMBERS, 1)
    with right:
        version, other = controls.field(PAGE, "version", "Version", 0, N_VERSIONS, 0,
                                        help="Another version asks the same with other numbers.")
    for sentence in (*faults, fault, other):
        lesson.warn(sentence)
    kind = questions.kind_at(code, number, TOPICS[topic])
    return f"{kind} {code} {number} {version}", questions.draw(kind, code, number, version), Which(topic, code, number, version)


def another(**changes):
    """A callback that sets controls of the page."""
    def turn():
        for name, value in changes.items():
            st.session_state[f"{PAGE}.{name}"] = value
    return turn


def onward(which):
    """The buttons after a drawn question: the next one, and the same with other numbers."""
    following, other = str(which.number % N_NUMBERS + 1), str((which.version + 1) % (N_VERSIONS + 1))
    left, right = st.columns(2)
    left.button("Next question", on_click=another(number=following, version="0"), key=f"{PAGE}.button.next",
                icon=":material/arrow_forward:", width="stretch")
    right.button("Again with new numbers", on_click=another(number=str(which.number), version=other), key=f"{PAGE}.button.again",
                 icon=":material/refresh:", width="stretch")


def own_words(place):
    """A field for an answer in one's own words, before the choices are read."""
    st.text_area("In your own words first (for yourself; not marked, not in the address)", height=70,
                 **controls.private(PAGE, f"thought.{visit()['round']}.{place}"))


def next_recall(places, place):
    """The button to the next question to recall; after the last, to the questions with fresh numbers."""
    if place + 1 < len(places):
        st.button("Next question", on_click=another(recall=places[place + 1]), key=f"{PAGE}.button.next", icon=":material/arrow_forward:")
    else:
        st.button("On to questions with fresh numbers", on_click=another(view="questions"), key=f"{PAGE}.button.next",
                  icon=":material/arrow_forward:")


def class_link(which):
    """The addresses that give others the same questions: from the first on, or the one on the page."""
    here = (st.context.url or PAGE).split("?")[0]
    chosen = "" if which.topic == EVERYTHING else f"&{PAGE}.topic={which.topic.replace(' ', '+')}"
    start = f"{here}?{PAGE}.view=questions&{PAGE}.code={which.code}{chosen}"
    with st.expander(f"A link for a class (code {which.code})"):
        lesson.say("Everyone with this link gets the same questions, with the same numbers, in the same order. It starts at question 1, "
                   "version 0, and holds no answers.")
        st.code(start, None, wrap_lines=True)
        lesson.say(f"This very question (number {which.number}, version {which.version}):")
        st.code(f"{start}&{PAGE}.number={which.number}&{PAGE}.version={which.version}", None, wrap_lines=True)


# ---------------------------------------------------------------------------------------------- asking and marking


def present(name, question, first=None):
    """Ask a question; mark it when the person says so; then show points, the right answer and the working.

    name     of the question in this visit: what was answered under a name stays answered
    first    function that draws what stands between the question and the choices
    returns  was it marked?
    """
    base, known = f"{visit()['round']}.{name}", visit()["marked"].get(name)
    lesson.heading(question.title)
    lesson.say(question.asks)
    _given(question, base, known is None)
    if first is not None:
        first()
    if known is not None:
        _result(*known)
        return True
    with st.form(f"{PAGE}.form"):
        _controls(question, base)
        if question.hint:
            lesson.small(question.hint)
        st.form_submit_button("Mark it", key=f"{PAGE}.button.mark", on_click=_take, args=(name, question, base),
                              icon=":material/check:")
    fault = visit()["faults"].get(name)
    if fault:
        lesson.remarks([f"{fault} Nothing was counted."])
    return False


def _result(question, marked, answer):
    """What was answered, the points, the sentence, the working and the page to revisit."""
    lines = asking.compared(question, answer)
    if question.answer in ("number", "whole"):
        lesson.words(f"Your answer: {lines[0][0]}")
    else:
        marks, sign = (IN_ORDER, "1.") if question.answer == "order" else (MARKS, "-")
        lesson.say("\n".join(f"{sign} {marks[answered, right].format(text)}" for text, answered, right in lines))
    show = st.success if marked.points == 1 else st.info
    show(f"**{asking.on_paper(marked.points, 2)} of 1 point.** {marked.sentence}",
         icon=":material/check_circle:" if marked.points == 1 else ":material/lightbulb:")
    lesson.say("**The working**")
    lines = asking.worked(question)
    plain = not any(isinstance(step, Explanation) for step in question.working)
    if plain:
        lesson.say("\n\n".join(lines))
    else:
        st.code("\n".join(lines), None, wrap_lines=True)
    in_full = asking.worked_in_full(question)
    if in_full:
        with st.expander("The sums with every digit"):
            st.code("\n".join(in_full), None, wrap_lines=True)
    page = syllabus.by_url(question.url)
    lesson.link(page, f"Look at it again: {page.title}", ":material/menu_book:")


def _take(name, question, base):
    """Callback of “Mark it”."""
    answer = _answer(question, base)
    marked = marking.mark(question, answer)
    if marked.counted:
        visit()["marked"][name] = (question, marked, answer)
        visit()["faults"].pop(name, None)
    else:
        visit()["faults"][name] = marked.sentence


def _given(question, base, is_open):
    """The matrices of a question, and the pictures to choose from."""
    if question.given:
        for number, (place, shown) in enumerate(zip(st.columns(max(2, len(question.given))), question.given, strict=False)):
            with place:
                _picture(shown, f"given.{number}", 400 if len(question.given) > 2 else 470)
    if question.answer == "pictures":
        for number, (place, shown) in enumerate(zip(st.columns(len(question.options)), question.options, strict=True)):
            def choose(number=number):
                if is_open and controls.clicked(f"{PAGE}.option.{number}") is not None:
                    st.session_state[_key(base, "answer")] = number
            with place:
                _picture(shown, f"option.{number}", 270, choose)


def _picture(shown, key, width, on_click=None):
    """A matrix as a heatmap."""
    n_rows, n_columns = shown.values.shape
    limit = next(end for end in ROUND if end >= abs(shown.values).max()) if n_columns > 8 else None  # its scale gets ticks at both ends
    figure = charts.heatmap(shown.values, shown.rows, shown.columns, title=shown.name, quantity=shown.quantity,
                            name="weight" if shown.quantity == "weight" else "value", row_title=shown.row_word,
                            column_title=shown.column_word, max_cell=52, limit=limit, **lesson.look(width))
    lesson.picture(figure, f"{PAGE}.{key}", f"{shown.name}: {n_rows} rows ({shown.row_word}) × {n_columns} columns ({shown.column_word}), "
                   f"values from {shown.values.min():.3g} to {shown.values.max():.3g}.", on_click)


def _key(base, part):
    return f"{PAGE}.{part}.{base}"


def _controls(question, base):
    """The controls for an answer."""
    kind, options = question.answer, question.options

    def own(part):
        return controls.private(PAGE, f"{part}.{base}")
    if kind in ("number", "whole"):
        st.columns(2)[0].text_input("Your answer: a whole number" if kind == "whole" else "Your answer: a number, such as −0.5 or 3/4",
                                    autocomplete="off", **own("answer"))
    elif kind in ("choice", "pictures"):
        texts = options if kind == "choice" else [shown.name for shown in options]
        st.radio("Your answer, here or by a click on a picture" if kind == "pictures" else "Your answer", range(len(texts)), index=None,
                 format_func=texts.__getitem__, horizontal=kind == "pictures", **own("answer"))
    elif kind == "set":
        for i, option in enumerate(options):
            st.checkbox(option, **own(f"tick{i}"))
    elif kind == "order":
        lesson.small("Give each step its place, from 1 (first) on.")
        for i, option in enumerate(options):
            st.segmented_control(option, range(1, len(options) + 1), **own(f"place{i}"))
    else:
        for place, which, labels in zip(st.columns(2), ("row", "column"), options, strict=True):
            place.selectbox(f"Your answer: {which}", range(len(labels)), index=None, format_func=labels.__getitem__, **own(which))


def _answer(question, base):
    """What the person has answered, as `mark` takes it."""
    def held(part):
        return st.session_state.get(_key(base, part))
    n = len(question.options)
    if question.answer == "set":
        return frozenset(i for i in range(n) if held(f"tick{i}"))
    if question.answer == "order":
        places = [held(f"place{i}") for i in range(n)]
        return None if None in places else _in_order(places)
    if question.answer == "cell":
        return held("row"), held("column")
    return held("answer")


def _in_order(places):
    """The steps in the order of the places they were given; where two have one place, an order that says so."""
    if len(set(places)) < len(places):
        return [place - 1 for place in places]
    return sorted(range(len(places)), key=places.__getitem__)


# -------------------------------------------------------------------------------------------------------- the score


def score_panel():
    """What this visit has earned, by part of the course, and what to look at again."""
    own = results()
    whole, parts = questions.score(own)
    st.divider()
    if not own:
        lesson.say("**Your score in this visit:** nothing marked yet. It is kept in this tab alone, until you reload or close it.")
        return
    lesson.say(f"**Your score in this visit: {asking.on_paper(whole.points, 2)} of {whole.n}.** It is kept in this tab alone, until you "
               "reload or close it. What was marked first counts.")
    lesson.say("| part | marked | points |\n|:--|--:|--:|\n" + "\n".join(
        f"| {questions.TOPICS[topic]} | {part.n} | {asking.on_paper(part.points, 2)} |" for topic, part in parts.items()))
    missed = [each for each in own if each.points < 1]
    if missed:
        with st.expander(f"Worth another look: {len(missed)}"):
            for url in dict.fromkeys(each.url for each in missed):
                lesson.say("**" + " · ".join(dict.fromkeys(each.title for each in missed if each.url == url)) + "**")
                lesson.link(syllabus.by_url(url))
    st.button("Start over", on_click=start_over, key=f"{PAGE}.button.over", icon=":material/restart_alt:")


def audit(question):
    """Add the checks of a question: its right answer earns 1, no wrong one does, and its working comes to what it should."""
    lesson.check("the right answer earns 1 point", abs(1 - marking.mark(question, marking.right_answer(question)).points), 0)
    lesson.check("none of the wrong answers tried here is marked right", sum(marking.mark(question, each).points == 1
                                                                             for each in marking.wrong_answers(question)), 0)
    lesson.check("the working comes to the numbers of the page", max((step.residual for step in question.working
                                                                     if isinstance(step, Explanation)), default=0.0), 1e-8)
