"""The quiz's questions: the same for the same link, never ambiguous, marked by exact rules."""

import functools
import math
import re

import numpy as np
import pytest

from core import questions
from core.questions import asking, marking, recall
from core.questions.asking import Question, Slip
from core.questions.marking import mark, read_number
from core.sums import Explanation, explain_product, explain_steps
from pages.shared import examples, syllabus
from tests.page_tools import attention_by_hand

NUMBER = Question("?", "number", 1.5, tolerance=0.01, slips=(Slip(3.0, "not halved."),))
WHOLE = Question("?", "whole", 12, slips=(Slip(11, "one is missing."),))
CHOICE = Question("?", "choice", 2, ("a", "b", "c"))
SET = Question("?", "set", frozenset({1, 3}), ("a", "b", "c", "d"))
ORDER = Question("?", "order", (2, 0, 3, 1), ("second", "fourth", "first", "third"))
CELL = Question("?", "cell", (1, 2), (("a", "b", "c"),) * 2)
each_kind = pytest.mark.parametrize("name", questions.KINDS)


@pytest.mark.parametrize("question, answer, points", [
    (NUMBER, "1.5", 1), (NUMBER, " 1.509", 1), (NUMBER, "1.491", 1), (NUMBER, "3/2", 1), (NUMBER, "15e-1", 1), (NUMBER, "+1.50", 1),
    (NUMBER, "1.512", 0), (NUMBER, "1.48", 0), (NUMBER, "−1.5", 0), (NUMBER, "3", 0.5), (NUMBER, "2.995", 0.5), (NUMBER, "3.02", 0),
    (WHOLE, "12", 1), (WHOLE, "12.0", 1), (WHOLE, "24/2", 1), (WHOLE, "11", 0.5), (WHOLE, "13", 0), (WHOLE, "-12", 0),
    (CHOICE, 2, 1), (CHOICE, 0, 0), (CHOICE, 1, 0),
    (SET, {1, 3}, 1), (SET, {1}, 0.5), (SET, {1, 3, 0}, 0.5), (SET, {0, 1, 2, 3}, 0), (SET, {0, 2}, 0), (SET, {1, 0}, 0),
    (ORDER, (2, 0, 3, 1), 1), (ORDER, (1, 3, 0, 2), 0), (ORDER, (0, 2, 3, 1), 4 / 6), (ORDER, (2, 0, 1, 3), 4 / 6), (ORDER, (1, 2, 0, 3),
                                                                                                                     0),
    (CELL, (1, 2), 1), (CELL, (1, 1), 0.5), (CELL, (0, 2), 0.5), (CELL, (2, 1), 0)], ids=str)
def test_an_answer_earns_what_the_rules_say(question, answer, points):
    marked = mark(question, answer)
    assert marked.counted and abs(marked.points - points) < 1e-12
    assert marked.sentence.startswith(("Right", "Half right", "Partly right") if points else "Not this time")


@pytest.mark.parametrize("question, answers", [
    (NUMBER, ["", "  ", None, "abc", "1,5", "1.5.2", "nan", "inf", "1e400", "--1", "1/0", "/2", "2/", "1 or 2", "９", "9" * 99, "$x$",
              "<b>", "1_0", "1_000", "66.7%", "80 %", "1 0", "1 1/2", "12 00", "1 000 00", "- - 1"]),
    (WHOLE, ["12.5", "", "x"]), (CHOICE, [None, 7, -1]), (SET, [None, frozenset(), {9}]),
    (ORDER, [None, (), (0, 1), (0, 0, 1, 2), (None, 0, 1, 2)]), (CELL, [None, (None, 1), (1, None)])], ids=lambda value:
    getattr(value, "answer", ""))
def test_what_can_not_be_read_gets_a_sentence_and_is_not_counted(question, answers):
    for answer in answers:
        marked = mark(question, answer)
        assert not marked.counted and marked.points == 0 and marked.sentence.endswith("."), answer
        assert not isinstance(answer, str) or len(answer) < 3 or answer not in marked.sentence


def test_the_half_point_says_what_is_missing():
    assert mark(NUMBER, "3").sentence == "Half right: not halved. The answer: 1.5."


def test_a_slip_that_is_near_the_right_number_or_another_slip_is_dropped():
    slips = (Slip(1.02, "near"), Slip(2.0, "far"), Slip(2.01, "twin"))
    assert [slip.sentence for slip in asking.told_apart(1.0, slips, 0.01)] == ["far"]


def test_numbers_as_people_write_them():
    assert [read_number(raw)[0] for raw in ("7", "-.5", "1 000", "12 000 000", "− 2", "1 / 3", "2.", "1e3")] == [
        7, -0.5, 1000, 12_000_000, -2, 1 / 3, 2, 1000]


def test_what_is_nearly_a_number_is_told_how_to_become_one():
    assert read_number("66.7%")[1] == read_number("80 %")[1] == "Write it as a decimal or a fraction, such as 0.8 or 4/5."
    assert "1.5 or 1600" in read_number("1,600")[1] and "such as −2, 0.75 or 3/4" in read_number("1_0")[1]


# ------------------------------------------------------------------------------------------------------ all the kinds


def test_there_are_kinds_for_every_part_of_the_course():
    assert len(questions.KINDS) >= 18
    assert {make.topic for make in questions.KINDS.values()} == set(questions.TOPICS)
    assert len({make.title for make in questions.KINDS.values()}) == len(questions.KINDS)


@each_kind
def test_a_kind_names_a_page_of_the_course(name):
    assert questions.KINDS[name].url in {lesson.url for lesson in syllabus.LESSONS}


def fingerprint(question):
    """All that is shown of a question, as text."""
    return repr((question.asks, question.options, [shown.values.tolist() for shown in question.given], question.right))


@each_kind
def test_a_kind_draws_the_same_for_the_same_link_and_other_numbers_otherwise(name):
    assert fingerprint(questions.draw(name, 5, 2, 1)) == fingerprint(questions.draw(name, 5, 2, 1))
    drawn = {fingerprint(questions.draw(name, seed, number, version)) for seed in (1, 2) for number in (1, 2) for version in (0, 1, 2)}
    assert len(drawn) >= 3
    assert len({fingerprint(questions.draw(name, 1, 1, version)) for version in range(6)}) >= 2


@functools.cache
def many(name):
    """Sixty questions of a kind."""
    return [questions.draw(name, seed, 1) for seed in range(60)]


@each_kind
def test_no_drawn_question_is_ambiguous_or_large(name):
    for question in many(name):
        n, right = len(question.options), question.right
        assert (question.kind, question.title) == (name, questions.KINDS[name].title) and len(question.asks) < 420 and question.working
        assert all(max(shown.values.shape) <= 6 for shown in question.given)
        if question.answer in ("number", "whole"):
            assert math.isfinite(right) and abs(right) < 1e7 and (question.answer == "number" or float(right).is_integer())
            if question.hint.startswith("It can be done on paper") and "fraction" not in question.hint:
                assert abs(right * 1000 - round(right * 1000)) < 1e-6
            others = [slip.value for slip in question.slips]
            values = [right, *others]
            assert all(abs(a - b) > 3 * question.tolerance for i, a in enumerate(values) for b in values[:i])
        elif question.answer in ("choice", "pictures"):
            names = [getattr(option, "name", option) for option in question.options]
            assert 3 <= n <= 4 and len(set(names)) == n and right in range(n)
        elif question.answer == "set":
            assert len(set(question.options)) == n <= 5 and 0 < len(right) < n and right <= set(range(n))
        elif question.answer == "order":
            assert len(set(question.options)) == n <= 6 and sorted(right) == list(range(n)) and list(right) != list(range(n))
        else:
            assert right[0] != right[1]


@each_kind
def test_the_right_answer_alone_earns_all(name):
    for question in many(name):
        assert mark(question, marking.right_answer(question)).points == 1
        wrong = marking.wrong_answers(question)
        assert wrong and all(mark(question, answer).points < 1 for answer in wrong)
        if question.answer == "set":
            assert mark(question, frozenset(range(len(question.options)))).points < 1


@each_kind
def test_the_working_comes_to_the_numbers_it_explains(name):
    for question in many(name):
        assert all(step.residual <= 1e-8 for step in question.working if isinstance(step, Explanation))
        assert all(line == "" or len(line) < 300 for line in asking.worked(question))
        if question.answer in ("number", "whole"):
            last = [step for step in question.working if isinstance(step, Explanation)]
            assert not last or question.kind == "top_k_share" or abs(last[-1].value - question.right) < 1e-8


NEEDS_A_CALCULATOR = {"sinusoidal_entry", "softmax_weight", "loss_of", "loss_of_guessing", "top_k_share", "which_bend"}  # read by hand


@each_kind
def test_what_needs_more_than_paper_says_so(name):
    assert all(("alculator helps" in question.hint) == (name in NEEDS_A_CALCULATOR) for question in many(name))


def worth(side):
    """What one side of a line of the working comes to, computed from its text; None where it holds names."""
    side = re.sub(r"√(\d[\d.,]*)", r"sqrt(\1)", side.replace("−", "-").replace("×", "*").replace("²", "**2").replace("^", "**"))
    side = re.sub(r"(?<=\d),(?=\d{3})", "", side)
    if re.sub(r"\b(sqrt|cos|sin|ln|exp|erf|max|e)\b", "", side).strip("0123456789.+-*/(), "):
        return None
    return eval(side, {"__builtins__": {}, "sqrt": math.sqrt, "cos": math.cos, "sin": math.sin, "ln": math.log, "exp": math.exp,
                       "erf": math.erf, "max": max, "e": math.e})


@each_kind
def test_every_line_of_a_sum_holds_as_it_stands_and_reads_as_on_paper(name):
    for question in many(name):
        for step in question.working:
            before, sides = None, 0
            for line in asking.readable(step) if isinstance(step, Explanation) else ():
                assert not re.search(r"[-*]|[+×/−] −|(?<!\^\()−\d[\d.]* [×/]|√\(|(?<![.\d])\d{4}|\.\d{6}", line), line
                parts = re.split(r" ?([=≈]) ", f" {line}")
                before = before if line[0] in "=≈" else None
                for sign, side in zip(parts[1::2], parts[2::2], strict=True):
                    value = worth(side)
                    if value is not None and before is not None:
                        assert abs(value - before) <= (1e-9 if sign == "=" else 2e-3 * max(1, abs(value))), line
                        sides += 1
                    before = before if value is None else value
                power = worth(parts[0]) if parts[0].strip() else None  # e^(0 − 3) stands on the left
                assert power is None or abs(power - before) <= 1e-4, line
            assert not isinstance(step, Explanation) or abs(before - step.value) <= 6e-5 * max(1, abs(step.value)), (question.asks, step)
            assert sides or not isinstance(step, Explanation)
        full = "\n".join(asking.worked_in_full(question))
        assert bool(full) == ("≈" in "\n".join(asking.worked(question)))


def test_the_longer_text_says_the_numbers_one_way():
    line, last = asking.worked(next(each for each in many("longer_text") if "queries with keys" in each.asks))
    small, large = re.findall(r"[\d,]{4,}", line)
    assert last.startswith(f"{large} / {small} = ")


def test_every_key_of_a_share_is_in_its_working_and_its_full_digits_are_kept():
    question = questions.draw("softmax_weight", 1, 1)
    assert len(asking.worked(question)) == 6 and "e^(" in asking.worked(question)[1]
    assert repr(question.right) in "\n".join(asking.worked_in_full(question))


def test_numbers_below_zero_stand_in_brackets():
    assert asking.readable(explain_product("y", "x", [-4.0, -3.0], "w", [-2.0, 0.0], 0, 0, 8.0)) == [
        "y[0, 0] = x[0, 0] × w[0, 0] + x[0, 1] × w[1, 0]", "= (−4) × (−2) + (−3) × 0", "= 8 + 0", "= 8"]
    assert asking.readable(explain_steps("y", [("y", "√(25)", 5.0)], 5.0)) == ["y = √25 = 5"]
    assert asking.readable(explain_steps("y", [("y", "1600 / 3", 1600 / 3)], 1600 / 3)) == ["y = 1,600 / 3 ≈ 533.3333"]


def test_the_norm_that_forgets_the_size_of_x_says_of_which_x_it_holds():
    options = {option for question in many("broken_formula") for option in question.options}
    scaled = [option for option in options if re.match(r"LayerNorm\(\d x\)", option)]
    assert scaled and all(option.endswith("(ε = 0, x not constant)") for option in scaled)


def test_every_kind_comes_once_before_one_comes_again():
    n = len(questions.KINDS)
    for turn in (0, 1):
        assert {questions.kind_at(3, turn * n + number) for number in range(1, n + 1)} == set(questions.KINDS)
    assert [questions.kind_at(3, number) for number in range(1, 9)] != [questions.kind_at(4, number) for number in range(1, 9)]
    for topic in questions.TOPICS:
        assert {questions.KINDS[questions.kind_at(1, number, topic)].topic for number in range(1, 20)} == {topic}


def test_what_is_not_there_is_said():
    for call in (lambda: questions.draw("nope", 1, 1), lambda: questions.kind_at(1, 0), lambda: questions.kind_at(1, 1, "nope")):
        with pytest.raises(ValueError, match="There is no|no question"):
            call()


def test_a_kind_that_finds_no_question_says_so():
    @asking.kind("cost", "tokens", "never")
    def never(rng):
        """Never a question."""

    with pytest.raises(RuntimeError, match="never"):
        never(np.random.default_rng(0))


def test_a_score_is_a_sum_by_part():
    results = [questions.Result("a", "block", "block", 1.0), questions.Result("b", "block", "block", 0.5), questions.Result("c", "cost",
                                                                                                                            "x", 0)]
    whole, parts = questions.score(results)
    assert (whole.n, whole.points) == (3, 1.5) and list(parts) == ["block", "cost"] and parts["block"] == (2, 1.5)
    assert questions.score([]) == ((0, 0), {})


# ------------------------------------------------------------------------------------------------------------- recall


def test_the_six_to_recall_are_answered_with_the_courses_numbers(worked):
    hand, four = examples.by_hand(), examples.four_tokens()
    flat = recall.why_flat(hand.tokens, hand.x, hand.params)
    assert flat.options[flat.right] == "every key has the same dot product with its query" and "row 1 (“bowled”)" in flat.asks
    np.testing.assert_allclose(flat.given[-1].values, worked["by_hand"]["weights"], atol=6e-9)
    assert [step.value for step in flat.working[:3]] == [2, 2, 2]
    first = recall.why_mask_first(four.tokens, four.x, four.params)
    assert "0.892, 0.658, 0.851, 1.000" in asking.worked(first)[0] and first.options[first.right] == "most rows no longer sum to 1"
    np.testing.assert_allclose(first.given[0].values, attention_by_hand(four.x, *four.params.values())["pattern"], atol=1e-12)
    cost = recall.what_it_costs()
    assert cost.right == worked["complexity"]["ratio"] == 10.24 and mark(cost, "10.24").points == 1 and mark(cost, "0.0977").points == 0.5
    assert all(f"{worked['complexity'][name]:,}" in "\n".join(asking.worked(cost)) for name in ("self_attention_n2d", "recurrent_nd2"))
    heads = recall.why_heads()
    assert heads.options[heads.right].startswith("each head has its own pattern")
    assert "786,432" in asking.worked(heads)[1] and "786,432" in asking.worked(heads)[2]
    scale = recall.why_scale()
    assert "spread" in scale.options[scale.right]
    for line, (d, std, top, even) in zip(asking.worked(scale)[1:], worked["scaling"]["printed"], strict=True):
        assert line == f"d = {d}: standard deviation {std}; largest of 16 weights {top} undivided, {even} divided by √d"
    order = recall.what_order_does(four.x, four.params)
    assert order.options[order.right] == "it stays the same and moves along with its word"
    for question in (flat, first, cost, heads, scale, order):
        assert mark(question, marking.right_answer(question)).points == 1
        assert all(mark(question, answer).points < 1 for answer in marking.wrong_answers(question))
