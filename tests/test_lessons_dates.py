"""The trained view of the encoder-decoder page: a date that a person types becomes an ISO date, and the picture says what was looked at."""

import datetime

import numpy as np
import pytest

from core import encoder_decoder, zoo
from tests.page_tools import notes, picture, pictures, shown, visit

TYPED = {"12 March 1998": "1998-03-12", "the 3rd of October 1742": "1742-10-03", "feb 29, 2004": "2004-02-29", "2761 JULY 19": "2761-07-19"}


def trained(date=None, **more):
    asked = {} if date is None else {"encoder_decoder__date": date}
    return visit("encoder-decoder", encoder_decoder__weights="trained on dates", **asked, **more)


def answer(at):
    (words,) = shown(at, "words")
    return words.splitlines()[1].split(":")[1].strip()


@pytest.mark.parametrize("typed", TYPED)
def test_a_date_is_written_as_iso_8601_does(typed):
    at = trained(typed)
    assert not at.exception and answer(at) == TYPED[typed] == datetime.date.fromisoformat(TYPED[typed]).isoformat()
    assert not shown(at, "remark") and "Read by rule, without a model, the date is the same." in shown(at, "say")


def test_each_digit_that_is_copied_looks_at_the_place_it_comes_from_and_not_before_training():
    at = trained("12 March 1998")
    after, before = (picture(at, title).matrix for title in ("Cross-attention", "Before training"))
    assert after.columns == before.columns == list("12␣march␣1998") and after.values.shape == (10, 13)
    assert [row[-1] for row in after.rows] == list("1998-03-12") and after.rows[0] == "<start>→1"
    places = {0: 9, 1: 10, 2: 11, 3: 12, 8: 0, 9: 1}  # the year's four digits, the day's two
    assert all(after.values[row, column] > 0.7 for row, column in places.items())
    assert all(after.values[row, 3:8].sum() > 0.7 for row in (5, 6))  # the month's two digits: its name
    assert before.values.max() < 0.3
    np.testing.assert_allclose(before.values.sum(axis=1), 1, atol=1e-12)


def test_the_numbers_are_those_of_the_shipped_model():
    model, at = zoo.load("alignment"), trained("5 june 1999")
    vocabulary = model.recipe.task.vocabulary
    ids = [vocabulary.index(character) for character in "5 june 1999"]
    target = [vocabulary.index("<start>"), *(vocabulary.index(character) for character in "1999-06-0")]
    single = encoder_decoder.forward(model.params, ids, target, 4, **model.recipe.config.choices)  # in float32, as it was trained
    head = int(model.card["best head"].split()[-1])
    np.testing.assert_allclose(picture(at, "Cross-attention").matrix.values, single.decoder[0].cross_attention.pattern[head], atol=1e-4)
    assert f"{model.card['whole answers']:.1%}" in " ".join(shown(at, "say"))
    assert "what was mixed, not why" in " ".join(shown(at, "say")) and "generated" in " ".join(shown(at, "weights"))


@pytest.mark.parametrize(("typed", "sentence"), [
    ("31 February 1998", "there is no such day"), ("hello", "not a date in a form that the model learned"),
    ("7 may 3456", "this one lies outside"),
    ("12/3/1998", "at place 3 (of 9)"), ("", "no character to read"), ("the 12th of september 1998 or later", "at most 26 characters"),
    ("12 März 1998", "at place 5 (of 12)"), ("<b>*1*</b>", "at place 1")])
def test_what_is_no_such_date_gets_a_sentence(typed, sentence):
    at = trained(typed)
    assert not at.exception and sentence in " ".join(shown(at, "remark")) and len(answer(at)) >= 10
    assert typed.lower() not in " ".join(shown(at, "remark")) or not typed


def test_every_head_layer_and_view_of_the_trained_model_can_be_opened():
    at = trained(encoder_decoder__head="head 3", encoder_decoder__view="three families", encoder_decoder__stage="decoder")
    assert not at.exception and not notes(at) and len(pictures(at)) == 5
    assert all(residual <= allowed for _, residual, allowed in shown(at, "check"))


def test_a_prediction_for_the_other_weights_is_forgotten():
    at = visit("encoder-decoder", encoder_decoder__guess="source × target")
    at.session_state["encoder_decoder.weights"] = "trained on dates"
    at.run()
    assert not at.exception and at.session_state["encoder_decoder.guess"] is None
