"""What a question of the quiz is, and what all kinds of questions share."""

import functools
from typing import NamedTuple

import numpy as np

from core.questions.reading import readable
from core.sums import Explanation, lines, number

TRIES = 1000
CALCULATOR = "A calculator helps. Two decimals are enough."
PAPER = "It can be done on paper."
EXACT, TWO_DECIMALS = 1e-6, 0.01


class Shown(NamedTuple):
    """A matrix that belongs to the question, with its labels."""

    name: str
    values: np.ndarray          # (n_rows, n_columns)
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_word: str = "row"
    column_word: str = "column"
    quantity: str = "value"     # "value", or "weight" for shares from 0 to 1


class Slip(NamedTuple):
    """A number that a typical slip leads to; it earns half."""

    value: float
    sentence: str


class Question(NamedTuple):
    """One question with all that is needed to ask it, to mark it and to show how it is done."""

    asks: str                   # what is asked, written by the course
    answer: str                 # "number", "whole", "choice", "pictures", "set", "order" or "cell"
    right: object               # a number; the option's place; a frozenset of places; the places in the right order; (row, column)
    options: tuple = ()         # texts, or for "pictures" a Shown each; for "order" the steps as they are shown; for "cell" (rows, columns)
    given: tuple[Shown, ...] = ()
    working: tuple = ()         # Explanation or text, in the order of the computation
    hint: str = ""              # what helps: a calculator, how many decimals
    tolerance: float = EXACT    # how far a number may be away
    slips: tuple[Slip, ...] = ()
    kind: str = ""              # these four are filled in by `kind`
    title: str = ""
    topic: str = ""
    url: str = ""               # the page to revisit


def kind(topic, url, title):
    """Make a function a kind of question: it names what it belongs to, and draws again where the function returns None.

    A kind returns None where its numbers would make two answers right, or right answer and slip hard to tell apart.

    topic    a key of TOPICS; url: the page to revisit; title: a few words
    returns  decorator of a function rng -> Question or None
    """
    def decorate(function):
        @functools.wraps(function)
        def make(rng):
            for _ in range(TRIES):
                question = function(rng)
                if question is not None:
                    return question._replace(kind=function.__name__, title=title, topic=topic, url=url,
                                             slips=told_apart(question.right, question.slips, question.tolerance))
            raise RuntimeError(f"No question of the kind {function.__name__} in {TRIES} draws.")
        make.topic, make.url, make.title = topic, url, title
        return make
    return decorate


def told_apart(right, slips, tolerance):
    """The slips whose numbers can be told from the right one, and from each other.

    returns  tuple of Slip

    >>> [slip.value for slip in told_apart(1.0, (Slip(2.0, ""), Slip(1.0, ""), Slip(2.0, "")), 0.01)]
    [2.0]
    """
    kept = []
    for slip in slips:
        if all(abs(slip.value - other) > 3 * tolerance for other in (right, *(each.value for each in kept))):
            kept.append(slip)
    return tuple(kept)


def mixed(rng, options, right=0):
    """The options in a random order, and where the right one went; the order is None where two options are the same text.

    returns  (tuple of options, place of the right one), or (None, None)

    >>> options, right = mixed(np.random.default_rng(0), ["a", "b", "c"])
    >>> options[right]
    'a'
    """
    if len(set(options)) < len(options):
        return None, None
    order = rng.permutation(len(options)).tolist()
    return tuple(options[i] for i in order), order.index(right)


def in_words(values):
    """Numbers as they are written on paper: (1, −2, 0.5).

    >>> in_words([1.0, -2.0, 0.5])
    '(1, −2, 0.5)'
    """
    return f"({', '.join(map(on_paper, values))})"


def on_paper(value, digits=10):
    """A number as it is written on paper, rounded to so many decimals.

    >>> on_paper(-0.5)
    '−0.5'
    """
    return number(round(float(value), digits) + 0.0).replace("-", "−")


def numbered(n, word=""):
    """Labels 0, 1, … for n rows or columns.

    >>> numbered(2, "token ")
    ('token 0', 'token 1')
    """
    return tuple(f"{word}{i}" for i in range(n))


def worked(question):
    """The working as plain lines to read; a text as it is. `worked_in_full` has every digit.

    returns  list of str

    >>> worked(Question("", "number", 1.0, working=("Half of 2 is 1.",)))
    ['Half of 2 is 1.']
    """
    text = []
    for step in question.working:
        if isinstance(step, Explanation):
            text += [*readable(step), ""]
        else:
            text.append(step)
    return text[:-1] if text and not text[-1] else text


def worked_in_full(question):
    """Every sum of the working with all its digits, where `worked` cut some; else no line.

    returns  list of str

    >>> worked_in_full(Question("", "number", 1.0, working=("Half of 2 is 1.",)))
    []
    """
    sums = [step for step in question.working if isinstance(step, Explanation)]
    if not any("≈" in line for step in sums for line in readable(step)):
        return []
    return "\n\n".join("\n".join(lines(step)) for step in sums).split("\n")


def compared(question, answer):
    """What was answered beside what is right, one line an option; for a number the number alone.

    answer   as `core.questions.marking.mark` takes it
    returns  list of (text, was it answered, is it right)

    >>> compared(Question("", "choice", 1, options=("a", "b")), 0)
    [('a', True, False), ('b', False, True)]
    """
    right, options = question.right, question.options
    if question.answer in ("choice", "pictures"):
        return [(getattr(option, "name", option), i == answer, i == right) for i, option in enumerate(options)]
    if question.answer == "set":
        return [(option, i in answer, i in right) for i, option in enumerate(options)]
    if question.answer == "order":
        return [(options[i], True, i == question.right[place]) for place, i in enumerate(answer)]
    if question.answer == "cell":
        return [(f"{word} {options[which][answer[which]]}", True, answer[which] == right[which]) for which, word in enumerate(("row",
                                                                                                                               "column"))]
    return [(str(answer).strip(), True, False)]


def answer_in_words(question):
    """The right answer as a short text.

    >>> answer_in_words(Question("", "choice", 1, options=("a", "b")))
    'b'
    """
    right, options = question.right, question.options
    if question.answer in ("number", "whole"):
        return on_paper(right, 2 if question.tolerance == TWO_DECIMALS else 4)
    if question.answer == "choice":
        return options[right]
    if question.answer == "pictures":
        return options[right].name
    if question.answer == "set":
        return " · ".join(options[i] for i in sorted(right))
    if question.answer == "order":
        return " → ".join(options[i] for i in right)
    return f"row {options[0][right[0]]}, column {options[1][right[1]]}"
