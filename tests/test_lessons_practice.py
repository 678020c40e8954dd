"""In practice: the person's own message, what the page says of it, and the checklist that can be taken away."""

import re

import numpy as np
import pytest

from core import classifier, looking, routing, tasks_router, zoo
from core.router_sentences import OUT_OF_SCOPE
from core.zoo.figures_router import EXAMPLE
from pages.shared import checklist
from tests.page_tools import everything_said, panel, pictures, shown, visit, widget

MODEL = zoo.load("router")
PARAMS, OWN = looking.double(MODEL.params), MODEL.recipe.config


def test_the_message_of_the_lesson_is_about_a_certificate_and_a_bar_can_be_taken_apart():
    at = visit("in-practice")
    kinds, words, *patterns = pictures(at)
    probs = classifier.forward(PARAMS, tasks_router.encode(EXAMPLE), OWN).probs
    np.testing.assert_allclose(kinds.spec["data"][0]["y"], probs, atol=1e-12)
    assert probs[0] > 0.9 and any("It says certificate" in sentence for sentence in shown(at, "say"))
    shares, losses = (trace["y"] for trace in words.spec["data"])
    assert shares.sum() == pytest.approx(1) and len(shares) == len(losses) == len(tasks_router.words(EXAMPLE))
    assert "value on this page: 0.9971" in "\n".join(panel(at))
    for stage, column in (("share", 7), ("head 1", 7)):
        widget(at, "in_practice.stage").set_value(stage).run()
        widget(at, "in_practice.column").set_value(column).run()
        assert not at.exception and "certificate" in panel(at)[0]
    trace = classifier.forward(PARAMS, tasks_router.encode(EXAMPLE), OWN)
    for drawn, pattern in zip(patterns, trace.blocks[0].attention.pattern, strict=True):
        np.testing.assert_allclose(drawn.matrix.values, pattern, atol=1e-12)


def test_an_own_message_is_read_and_its_unknown_words_are_marked():
    at = visit("in-practice", in_practice__message="My <b>certificat</b> is $lost$ :red[x]")
    assert not at.exception and shown(at, "remark") == []
    assert any("[certificat]" in line for line in shown(at, "words"))
    unknown = [word for word in ("my", "b", "certificat", "b", "is", "lost", "red", "x") if word not in tasks_router.VOCABULARY]
    assert "certificat" in unknown and f"**{len(unknown)} of 8**" in everything_said(at)


@pytest.mark.parametrize("message, sentence", [("?!… —", "no word to read"), ("word " * 60, "at most 48 words"), ("   ", "")])
def test_a_message_that_cant_be_read_gets_a_sentence_and_the_example_is_shown(message, sentence):
    at = visit("in-practice", in_practice__message=message)
    assert not at.exception and len(pictures(at)) == 4
    assert sentence in " ".join(shown(at, "remark")) and bool(shown(at, "remark")) == bool(sentence)
    assert "value on this page: 0.9971" in "\n".join(panel(at))


def test_many_messages_are_counted_as_the_card_says_and_foreign_ones_show_what_it_cant_know():
    at = visit("in-practice", in_practice__view="many messages")
    assert np.array_equal(pictures(at)[0].matrix.values, MODEL.card["table"])
    said = everything_said(at)
    assert f"{MODEL.card['accuracy']:.1%} are sorted right" in said
    assert f"for {MODEL.card['out of scope'] * len(OUT_OF_SCOPE):.0f}. Into one" in said
    widget(at, "in_practice.threshold").set_value(0.99).run()
    assert "With a threshold of **0.99** the model sorts **70.2%**" in everything_said(at)


def test_what_is_ticked_stands_in_the_address_and_in_the_list_to_take_away():
    at = visit("in-practice", in_practice__view="checklist", in_practice__ticked="2 26")
    assert [box.value for box in at.checkbox] == [number in (2, 26) for number in range(1, 27)]
    at.checkbox[3].check().run()
    assert at.session_state["in_practice.ticked"] == "2 4 26" and at.query_params["in_practice.ticked"] == "2 4 26"
    at.checkbox[1].uncheck().run()
    assert "**2 of 26 points are settled.**" in shown(at, "say")
    text = checklist.markdown({4, 26}, "Ünïcode <b>", "a\nb")
    assert re.findall(r"- \[x\] (\d+)\.", text) == ["4", "26"] and len(re.findall(r"- \[ \] ", text)) == 24
    assert text.startswith("# Before it goes live\n\n> Ünïcode <b>\n") and text.endswith("## Notes\n\n> a\n> b\n")
    assert checklist.markdown(set(), "", "- [x] 27.\n```").count("\n- [x]") == 0


@pytest.mark.parametrize("raw, ticked, unread", [("0", [], 1), ("27", [], 1), ("1 x", [1], 1), ("-1", [], 1), ("1.5", [], 1), ("１", [], 1),
                                                ("1,2, 99", [1, 2], 1), ("3,26", [3, 26], 0)])
def test_numbers_that_are_no_points_get_a_sentence_and_the_others_are_ticked(raw, ticked, unread):
    at = visit("in-practice", in_practice__view="checklist", in_practice__ticked=raw)
    assert [number for number, box in enumerate(at.checkbox, 1) if box.value] == ticked and not at.exception
    assert len(shown(at, "remark")) == unread and all("whole numbers from 1 to 26" in remark for remark in shown(at, "remark"))


def test_a_cell_of_the_table_shows_the_messages_that_it_counts():
    at = visit("in-practice", in_practice__view="many messages", in_practice__right="payment", in_practice__answer="other")
    head, value, lines = shown(at, "panel")[0]
    answered = routing.fresh(PARAMS, OWN, 1000)
    wanted = [message for message, kind, probs in zip(answered.texts, answered.kinds, answered.probs) if kind == 1 and probs.argmax() == 4]
    assert value == str(len(wanted)) == "18" and set(lines[1:]) == set(wanted)


def test_signs_and_invisible_characters_that_the_model_does_not_read_are_said():
    at = visit("in-practice", in_practice__message="😀👩‍👩‍👧 my\x00 certificate €")
    assert ["signs such as emoji" in remark or "invisible control" in remark for remark in shown(at, "remark")] == [True, True]
    assert shown(at, "words")[0] == "The model reads: my certificate"
