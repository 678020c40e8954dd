"""The quiz on its page: every kind of answer, nothing given away before it is marked, the score, and the page to keep."""

import pytest
from google.protobuf.text_format import MessageToString

from core import questions
from core.questions import asking
from pages.shared import controls, quiz, reflection, syllabus
from tests import test_questions_by_hand as by_hand
from tests.page_tools import asked, everything_said, go, notes, pictures, shown, visit, widget

NUMBER_OF = {questions.kind_at(1, number): number for number in range(1, len(questions.KINDS) + 1)}


def everything_sent(at):
    """All that the browser gets: every element with its labels, options, helps, figures and alternative texts."""
    return "\n".join([*(MessageToString(element.proto, as_utf8=True) for element in at._tree if getattr(element, "proto", None)),
                      str(dict(at.query_params))])


def drawn(kind):
    return questions.draw(kind, 1, NUMBER_OF[kind])


def turn_to(at, kind, version=0):
    """The person goes to the question of this kind."""
    at.text_input(key="quiz.number").set_value(str(NUMBER_OF[kind]))
    at.text_input(key="quiz.version").set_value(str(version)).run()
    return questions.draw(kind, 1, NUMBER_OF[kind], version)


def answer(at, kind, value, version=0):
    """The person answers and presses the button."""
    question = turn_to(at, kind, version)

    def key(part):
        return f"quiz.{part}.0.{kind} 1 {NUMBER_OF[kind]} {version}"
    if question.answer == "set":
        for i in value:
            at.checkbox(key=key(f"tick{i}")).check()
    elif question.answer == "order":
        for place, i in enumerate(value, 1):
            widget(at, key(f"place{i}")).set_value(place)
    elif question.answer == "cell":
        for part, at_row in zip(("row", "column"), value, strict=True):
            at.selectbox(key=key(part)).set_value(at_row)
    elif question.answer in ("choice", "pictures"):
        at.radio(key=key("answer")).set_value(value)
    else:
        at.text_input(key=key("answer")).set_value(value)
    at.button(key="quiz.button.mark").click().run()
    assert not at.exception
    return question


@pytest.mark.parametrize("kind", questions.KINDS)
def test_nothing_gives_the_answer_away_before_it_is_marked(kind):
    question = drawn(kind)
    at = visit("quiz", quiz__view="questions", quiz__number=str(NUMBER_OF[kind]))
    sent = everything_sent(at)
    assert not at.exception and question.asks in shown(at, "say")
    for line in asking.worked(question):
        assert len(line) < 8 or line in (*question.options, question.asks) or line not in sent, line
    right = asking.answer_in_words(question)
    if question.answer in ("number", "whole") and len(right) > 3:
        assert right not in sent and f"{question.right:.4f}"[:6] not in sent
    assert "The answer" not in sent and "The working" not in sent
    assert not at.get("download_button") and f"def {kind}(" not in sent  # no script, and not the function that computes it


def test_every_kind_of_answer_is_taken_marked_and_added_up():
    at = visit("quiz", quiz__view="questions")
    earned = []
    for kind in ("raw_score", "softmax_weight", "next_merge", "causal_heatmap", "top_p_kept", "order_block", "pattern_cell"):
        solution = getattr(by_hand, kind)(drawn(kind))
        question = answer(at, kind, f"{solution:.2f}" if question_is_number(kind) else solution)
        assert "**1 of 1 point.** Right" in at.success[0].value, kind
        earned.append((question.topic, 1))
    half = answer(at, "scaled_score", f"{2 * by_hand.scaled_score(drawn('scaled_score')):.4f}")
    assert "**0.5 of 1 point.** Half right: this is the raw score" in at.info[0].value
    wrong = answer(at, "order_attention", by_hand.order_attention(drawn("order_attention"))[::-1])
    assert "**0 of 1 point.** Not this time: 0 of 10 pairs" in at.info[0].value and "not here" in everything_said(at)
    earned += [(half.topic, 0.5), (wrong.topic, 0)]

    total = sum(points for _, points in earned)
    assert f"**Your score in this visit: {total:g} of {len(earned)}.**" in everything_said(at)
    for topic in {topic for topic, _ in earned}:
        points = [each for name, each in earned if name == topic]
        assert f"| {questions.TOPICS[topic]} | {len(points)} | {sum(points):g} |" in everything_said(at)
    linked = [link.proto.page for link in at.get("page_link") if "Next: " not in link.proto.label and "Back: " not in link.proto.label]
    assert {half.url, wrong.url} <= set(linked)
    assert set(at.query_params) <= {"quiz.view", "quiz.number", "quiz.version"}  # no answer, no score

    turn_to(at, "raw_score")  # what was marked stays marked, and can't be answered again
    assert "**1 of 1 point.**" in at.success[0].value and "quiz.button.mark" not in [button.key for button in at.button]
    assert any(block.language == "python" and "def raw_score" in block.value for block in at.code)
    at.button(key="quiz.button.again").click().run()
    assert at.session_state["quiz.version"] == "1" and at.session_state["quiz.number"] == str(NUMBER_OF["raw_score"]) and not at.success
    at.button(key="quiz.button.next").click().run()
    assert at.session_state["quiz.version"] == "0" and at.session_state["quiz.number"] == str(NUMBER_OF["raw_score"] + 1)
    go(at, "welcome")
    go(at, "quiz")
    assert f"{total:g} of {len(earned)}" in everything_said(at)

    widget(at, "quiz.view").set_value("look back").run()
    page = reflection.as_markdown({"explain": "people listen\n# to each other", "open": ""}, quiz_results(at))
    assert f"\n{total:g} of {len(earned)}\n" in page and "> people listen\n> # to each other\n" in page and "> (left empty)" in page
    assert f"- {wrong.title}: page “{syllabus.by_url(wrong.url).title}”" in page and "A raw score" not in page
    at.button(key="quiz.button.over").click().run()
    assert "nothing marked yet" in everything_said(at) and not quiz_results(at)


def question_is_number(kind):
    return drawn(kind).answer in ("number", "whole")


def quiz_results(at):
    """What the questions of this visit earned."""
    return [questions.Result(question.title, question.topic, question.url, marked.points)
            for question, marked, _ in at.session_state["_quiz"]["marked"].values()]


def test_what_can_not_be_read_gets_a_sentence_and_counts_nothing():
    at = visit("quiz", quiz__view="questions")
    for kind, value, said in (("raw_score", "1,5", "with a point"), ("raw_score", "$x$ <b>", "not a number"), ("next_merge", None,
                                                                                                               "Choose an"),
                              ("top_p_kept", [], "Tick at least one"), ("order_block", [0, 1], "every step its place"),
                              ("pattern_cell", (1, None), "a row and a column")):
        answer(at, kind, value)
        assert any(said in remark and "Nothing was counted" in remark for remark in shown(at, "remark")), kind
        assert "nothing marked yet" in everything_said(at)


def test_the_six_to_recall_follow_each_other_and_lead_to_the_questions():
    at = visit("quiz")
    titles = []
    for _ in quiz.recalled():
        titles.append(shown(at, "heading")[0])
        assert not at.exception and pictures(at) is not None
        at.button(key="quiz.button.next").click().run()
    assert len(set(titles)) == 6 and at.session_state["quiz.view"] == "questions"
    at = visit("quiz", quiz__recall="4")
    at.text_input(key="quiz.answer.0.recall 3").set_value("10.24")
    at.button(key="quiz.button.mark").click().run()
    assert "Right" in at.success[0].value and "1,280,000" in "\n".join(block.value for block in at.code)


def test_a_link_for_a_class_opens_the_same_questions():
    at = visit("quiz", quiz__view="questions", quiz__code="77", quiz__topic="the block")
    link, this = [block.value for block in at.code if "quiz.code" in block.value]
    assert link.endswith("?quiz.view=questions&quiz.code=77&quiz.topic=the+block")
    assert questions.KINDS[questions.kind_at(77, 1, "block")].title in shown(at, "heading")
    assert "Everyone with this link gets the same questions" in everything_said(at) and notes(at) == []
    assert "question 1, version 0" in everything_said(at)
    at.text_input(key="quiz.number").set_value("4")
    at.text_input(key="quiz.version").set_value("2").run()
    (this,) = [block.value for block in at.code if "quiz.number" in block.value]
    there = visit("quiz", **{name.replace(".", "__"): value.replace("+", " ") for name, value in (
        each.split("=") for each in this.split("?")[1].split("&"))})
    assert questions.draw(questions.kind_at(77, 4, "block"), 77, 4, 2).asks in shown(there, "say") and notes(there) == []


def test_a_field_keeps_what_can_not_be_read_and_says_what_it_takes():
    at = visit("quiz", quiz__view="questions", quiz__number="3")
    asks = questions.draw(questions.kind_at(1, 3), 1, 3).asks
    for name, label, values in (("code", "Class code", ("1,5", "-3", "999999999999", "", "１", "1_0", "1e3")),
                                ("number", "Question", ("0",)), ("version", "Version", ("1000",))):
        for value in values:
            at.text_input(key=f"quiz.{name}").set_value(value).run()
            (sentence,) = shown(at, "warn")
            assert sentence.startswith(f"{label}: write a whole number from ") and not at.exception, value
            assert at.text_input(key=f"quiz.{name}").value == value and asks in shown(at, "say")
        at.text_input(key=f"quiz.{name}").set_value({"code": " 1 ", "number": "3", "version": "0"}[name]).run()
        assert shown(at, "warn") == [] and asks in shown(at, "say")
    at.text_input(key="quiz.version").set_value("x").run()
    at.button(key="quiz.button.again").click().run()
    assert at.session_state["quiz.version"] == "1" and shown(at, "warn") == []


def test_what_a_person_writes_stays_in_the_tab_and_out_of_the_address():
    at = visit("quiz", quiz__view="look back")
    at.text_area(key="quiz.words.explain").set_value("![x](http://example.org) words").run()
    at.text_area(key="quiz.words.learned").set_value("a" * (reflection.LIMIT + 5)).run()
    assert "3,005 characters" in shown(at, "warn")[0] and not at.exception
    assert "bind" not in controls.private("quiz", "words.explain")  # what a browser would write into the address
    assert list(at.query_params) == ["quiz.view"] and not any("words" in key for key in asked(at))
    go(at, "attention")
    go(at, "quiz")
    assert at.text_area(key="quiz.words.explain").value == "![x](http://example.org) words"
    assert "example.org" not in everything_said(at)
    assert [button.proto.label for button in at.get("download_button")] == ["Save my page as Markdown"]


def test_a_page_without_marked_questions_says_so():
    page = reflection.as_markdown({}, [])
    assert page.count("(left empty)") == 4 and "No question was marked" in page
    everything_right = reflection.as_markdown({}, [questions.Result("a", "cost", "parameters", 1.0)])
    assert "Everything that was marked was right." in everything_right
