"""Marking an answer: exact rules, half for a typical slip, and never a wrong answer marked right."""

import re
from typing import NamedTuple

from core.questions.asking import answer_in_words

GROUPED = re.compile(r"[+-]?[0-9]{1,3}(\s[0-9]{3})+(\.[0-9]{0,20})?")  # thousands apart, as in 12 000
NUMBER = re.compile(r"[+-]?([0-9]{1,15}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,2})?")


class Marked(NamedTuple):
    """What an answer earns, and why. An answer that can't be read is not counted."""

    points: float     # 0 to 1
    sentence: str
    counted: bool = True


def read_number(raw):
    """A typed number or fraction, or a sentence that says what to change.

    returns  (float, None) or (None, sentence)

    >>> read_number("−1/2"), read_number(" 0.25 ")
    ((-0.5, None), (0.25, None))
    >>> read_number("1,5")[1]
    'Write decimals with a point and thousands without a comma, such as 1.5 or 1600.'
    """
    text = str(raw).strip().replace("−", "-")
    if not text:
        return None, "Type a number first."
    if "," in text:
        return None, "Write decimals with a point and thousands without a comma, such as 1.5 or 1600."
    if "%" in text:
        return None, "Write it as a decimal or a fraction, such as 0.8 or 4/5."
    above, slash, below = text.partition("/")
    above, below = (_closed(part) for part in (above, below))
    if not NUMBER.fullmatch(above) or (slash and not NUMBER.fullmatch(below)):
        return None, "This is not a number that can be read. Write digits, such as −2, 0.75 or 3/4."
    if slash and not float(below):
        return None, "A fraction can't have 0 below its line."
    return float(above) / (float(below) if slash else 1.0), None


def _closed(part):
    """A typed number without the spaces that people write: after its sign, between thousands. Others stay and are refused."""
    part = re.sub(r"^([+-])\s+", r"\1", part.strip())
    return re.sub(r"\s", "", part) if GROUPED.fullmatch(part) else part


def mark(question, answer):
    """What an answer earns.

    number, whole     1 within the tolerance, 1/2 for a known slip
    choice, pictures  1 for the right place
    set               (right ones ticked - wrong ones ticked) / right ones, at least 0: ticking everything never earns it all
    order             (pairs in the right order - pairs in the wrong one) / pairs, at least 0
    cell              1, or 1/2 where only the row or only the column is right

    answer   what was typed, the place of the option, the places that were ticked, the places in order, (row, column); None: nothing
    returns  Marked; not counted where the answer can't be read

    >>> from core.questions.asking import Question
    >>> mark(Question("2 + 2?", "number", 4.0), "4").points
    1.0
    """
    fault = unread(question, answer)
    if fault:
        return Marked(0.0, fault, counted=False)
    if question.answer in ("number", "whole"):
        value, _ = read_number(answer)
        if abs(value - question.right) <= question.tolerance + 1e-12 * abs(question.right):
            return Marked(1.0, "Right.")
        for slip in question.slips:
            if abs(value - slip.value) <= question.tolerance + 1e-12 * abs(slip.value):
                return Marked(0.5, f"Half right: {slip.sentence} {_answer(question)}")
        return _missed(question)
    if question.answer in ("choice", "pictures"):
        return Marked(1.0, "Right.") if answer == question.right else _missed(question)
    if question.answer == "set":
        ticked = frozenset(answer)
        hits, wrong, n = len(ticked & question.right), len(ticked - question.right), len(question.right)
        if ticked == question.right:
            return Marked(1.0, "Right: these and no others.")
        return _partly(max(0.0, (hits - wrong) / n), f"{hits} of {n} found, {wrong} ticked in error.", question)
    if question.answer == "order":
        n = len(question.right)
        place = {step: at for at, step in enumerate(answer)}
        pairs = n * (n - 1) // 2
        kept = sum(place[question.right[i]] < place[question.right[j]] for i in range(n) for j in range(i + 1, n))
        if kept == pairs:
            return Marked(1.0, "Right, from the first step to the last.")
        return _partly(max(0.0, (2 * kept - pairs) / pairs), f"{kept} of {pairs} pairs of steps stand in the right order.", question)
    row, column = (mine == right for mine, right in zip(answer, question.right, strict=True))
    if row and column:
        return Marked(1.0, "Right.")
    if row or column:
        return _partly(0.5, f"The {'row' if row else 'column'} is right, the {'column' if row else 'row'} is not.", question)
    return _missed(question)


def unread(question, answer):
    """Why an answer can't be marked, or None.

    >>> from core.questions.asking import Question
    >>> unread(Question("", "choice", 0, options=("a", "b")), None)
    'Choose an answer first.'
    """
    kind = question.answer
    if kind in ("number", "whole"):
        value, fault = read_number("" if answer is None else answer)
        return fault or ("Here the answer is a whole number." if kind == "whole" and value != round(value) else None)
    if kind in ("choice", "pictures"):
        return None if answer in range(len(question.options)) else "Choose an answer first."
    if kind == "set":
        return None if answer and all(i in range(len(question.options)) for i in answer) else "Tick at least one first."
    if kind == "order":
        places = list(answer or ())
        if len(places) < len(question.options) or None in places:
            return "Give every step its place first."
        return None if sorted(places) == list(range(len(question.options))) else "Two steps have the same place; give each its own."
    if not answer or None in answer:
        return "Choose a row and a column first."
    return None


def _answer(question):
    return "The right order is below." if question.answer == "order" else f"The answer: {answer_in_words(question)}."


def _missed(question):
    return Marked(0.0, f"Not this time. {_answer(question)}")


def _partly(points, why, question):
    return Marked(points, f"{'Partly right' if points else 'Not this time'}: {why} {_answer(question)}")


def wrong_answers(question):
    """Answers that are not right: the other options, sets and orders near the right one and far from it, numbers beside it.

    returns  list of answers as `mark` takes them
    """
    right, n, kind = question.right, len(question.options), question.answer
    if kind in ("number", "whole"):
        step = max(4 * question.tolerance, 1.0 if kind == "whole" else 0.0, 1e-3 * abs(right))
        values = [right + step, right - step, right + 10 * step, *(slip.value for slip in question.slips)]
        return [repr(float(value)) for value in values]
    if kind in ("choice", "pictures"):
        return [i for i in range(n) if i != right]
    if kind == "set":
        every = frozenset(range(n))
        return [each for each in (every, every - right, *(right ^ {i} for i in range(n))) if each and each != right]
    if kind == "order":
        swapped = [(*right[:i], right[i + 1], right[i], *right[i + 2:]) for i in range(n - 1)]
        return [right[::-1], *swapped]
    rows, columns = map(len, question.options)
    return [(row, column) for row in range(rows) for column in range(columns) if (row, column) != right]


def right_answer(question):
    """The right answer as `mark` takes it.

    >>> from core.questions.asking import Question
    >>> right_answer(Question("", "number", 4.0))
    '4.0'
    """
    return repr(float(question.right)) if question.answer in ("number", "whole") else question.right
