"""A classifier in use: each count by hand, each sum equal to the model's own number, and the zoo's figures found again."""

import numpy as np
import pytest

from core import classifier, looking, routing, tasks_router, zoo
from core.zoo.figures_router import EXAMPLE

MODEL = zoo.load("router")
PARAMS, OWN = looking.double(MODEL.params), MODEL.recipe.config
PROBS = np.array([[0.9, 0.1], [0.4, 0.6], [0.55, 0.45], [0.2, 0.8]])


def test_hand_over_by_hand():
    found = routing.hand_over(PROBS, [0, 0, 0, 1], [0, 0.6, 0.61, 0.8, 0.95])
    assert found.answered.tolist() == [1, 0.75, 0.5, 0.5, 0]
    assert found.right[:4].tolist() == [0.75, 2 / 3, 1, 1] and np.isnan(found.right[4])


def test_confusion_by_hand():
    assert routing.confusion(PROBS, [0, 0, 0, 1]).tolist() == [[2, 1], [0, 1]]


def test_hiding_a_word_is_reading_the_message_with_the_unknown_word_in_its_place():
    ids = tasks_router.encode(EXAMPLE)
    hidden = routing.without_each(PARAMS, ids, OWN, 1)
    for place in range(len(ids)):
        other = ids.copy()
        other[place] = 1
        np.testing.assert_allclose(hidden[place], classifier.forward(PARAMS, other, OWN).probs, atol=1e-12)
    assert hidden[ids == 1] == pytest.approx(np.tile(classifier.forward(PARAMS, ids, OWN).probs, ((ids == 1).sum(), 1)), abs=1e-12)


@pytest.mark.parametrize("message", [EXAMPLE, "help", "qq qq " * 24])
def test_the_sums_behind_an_answer_equal_the_models_numbers(message):
    trace = classifier.forward(PARAMS, tasks_router.encode(message), OWN)
    for kind, probability in enumerate(trace.probs):
        logit, share = routing.explain_kind(trace, PARAMS, kind)
        by_hand = sum(a * b for a, b in zip(trace.pooled, PARAMS["w_classes"][:, kind])) + PARAMS["b_classes"][kind]
        assert logit.total == pytest.approx(by_hand, abs=1e-12) and logit.residual < 1e-12 and len(logit.terms) == 33
        assert share.result == pytest.approx(probability, abs=1e-12)
    for token, share_of in enumerate(trace.pool_pattern):
        score, share = routing.explain_share(trace, PARAMS, token)
        assert max(score.residual, share.residual) < 1e-12 and share.result == pytest.approx(share_of, abs=1e-12)


def test_the_figures_of_the_zoo_are_found_again():
    answered = routing.fresh(PARAMS, OWN, 1000)
    assert not answered.probs.flags.writeable and len(answered.texts) == 1000
    assert routing.confusion(answered.probs, answered.kinds).tolist() == MODEL.card["table"]
    (right,) = routing.hand_over(answered.probs, answered.kinds, [0]).right
    assert right == pytest.approx(MODEL.card["accuracy"])
