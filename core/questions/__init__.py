"""The questions of the quiz: kinds that draw fresh numbers, what their answers earn, and which question comes when.

Every kind is a function rng -> Question that computes the right answer, typical slips and the working with the functions of core that
draw the pages.
"""

from typing import NamedTuple

from core.draws import child_rng
from core.questions import about_attention, about_blocks, about_cost, about_models, about_vectors

TOPICS = {"vectors": "From text to vectors", "attention": "Attention", "block": "The block", "model": "The whole model",
          "cost": "Size and cost"}
KINDS = {make.__name__: make for part in (about_vectors, about_attention, about_blocks, about_models, about_cost) for make in part.KINDS}


class Result(NamedTuple):
    """What one question earned."""

    title: str
    topic: str
    url: str
    points: float


class Score(NamedTuple):
    """What several questions earned together."""

    n: int
    points: float


def draw(name, seed, number, version=0):
    """A question of this kind, always the same for the same seed, number and version.

    name     a key of KINDS
    seed     whole number of 0 or more, the class code
    number   which question of the quiz; version: the same question with other numbers
    returns  Question
    raises   ValueError for a kind that is not there

    >>> draw("loss_of", 1, 1) == draw("loss_of", 1, 1)
    True
    """
    if name not in KINDS:
        raise ValueError(f"There is no kind of question {name!r}; there are {', '.join(KINDS)}.")
    return KINDS[name](child_rng(seed, "quiz", name, str(number), str(version)))


def kind_at(seed, number, topic=None):
    """Which kind of question comes as number 1, 2, …: all kinds in a random order, then all again in another.

    topic    a key of TOPICS, or None for all
    returns  a key of KINDS
    raises   ValueError for a topic that is not there, or a number below 1

    >>> sorted(kind_at(1, number, "cost") for number in range(1, 6)) == sorted(name for name in KINDS if KINDS[name].topic == "cost")
    True
    """
    if topic is not None and topic not in TOPICS:
        raise ValueError(f"There is no topic {topic!r}; there are {', '.join(TOPICS)}.")
    if number < 1:
        raise ValueError(f"Questions count from 1, so there is no question {number}.")
    names = [name for name, make in KINDS.items() if topic in (None, make.topic)]
    turn, at = divmod(number - 1, len(names))
    return names[child_rng(seed, "quiz order", topic or "all", str(turn)).permutation(len(names))[at]]


def score(results):
    """What questions earned, together and by topic.

    results  list of Result
    returns  (Score, {topic: Score}) with the topics in the order of the course, those without a question left out

    >>> score([Result("", "cost", "", 0.5), Result("", "cost", "", 1.0)])[0]
    Score(n=2, points=1.5)
    """
    parts = {topic: [each.points for each in results if each.topic == topic] for topic in TOPICS}
    return (Score(len(results), sum(each.points for each in results)),
            {topic: Score(len(points), sum(points)) for topic, points in parts.items() if points})
