"""The nine experiments: right on cases by hand, and careful where a text shows nothing."""

import itertools
import math

import numpy as np
import pytest

from core import draws, looking, misconceptions, tasks_router, zoo
from core.config import ModelConfig

MODEL = zoo.load("router")
ROUTER = {"params": looking.double(MODEL.params), "own": MODEL.recipe.config}
RNG = np.random.default_rng(11)
MATRICES = [RNG.normal(size=(6, 3)) for _ in range(3)]


def by_hand(x, w_q, w_k, w_v, visible=lambda i, j: True):
    """Scaled dot-product attention in loops: (pattern, mixed)."""
    n, d = len(x), w_q.shape[1]
    q, k, v = ([[sum(row[i] * w[i][c] for i in range(len(row))) for c in range(d)] for row in x] for w in (w_q, w_k, w_v))
    pattern, mixed = np.zeros((n, n)), np.zeros((n, d))
    for i in range(n):
        raised = [math.exp(sum(a * b for a, b in zip(q[i], k[j])) / math.sqrt(d)) if visible(i, j) else 0.0 for j in range(n)]
        pattern[i] = [each / sum(raised) for each in raised]
        mixed[i] = [sum(pattern[i][j] * v[j][c] for j in range(n)) for c in range(d)]
    return pattern, mixed


def test_order():
    x = RNG.normal(size=(4, 6))
    found = misconceptions.knows_order(x, *MATRICES)
    np.testing.assert_allclose(found.arrays["before"], by_hand(x, *MATRICES)[1], atol=1e-12)
    np.testing.assert_allclose(found.arrays["after"], by_hand(x[::-1], *MATRICES)[1][::-1], atol=1e-12)
    assert found.refuted and found.figures["gap"] < 1e-12


@pytest.mark.parametrize("x", [RNG.normal(size=(1, 6)), np.repeat(RNG.normal(size=(1, 6)), 3, axis=0),
                               RNG.normal(size=(2, 6))[[0, 1, 0]]], ids=["one word", "one word thrice", "the same both ways"])
def test_a_text_that_is_the_same_when_turned_round_shows_nothing_of_order(x):
    assert not misconceptions.knows_order(x, *MATRICES).refuted


def test_meaning():
    tokens = ["he", "sat", "on", "the", "bank", "of", "the", "river"]
    x = draws.token_vectors(tokens, 3, 6)
    found = misconceptions.understands_meaning(tokens, x, *MATRICES)
    assert found.refuted and found.arrays["places"].tolist() == [3, 6] and found.figures["n_words"] == 1
    np.testing.assert_allclose(found.arrays["pattern"], by_hand(x, *MATRICES)[0], atol=1e-12)
    alone = misconceptions.understands_meaning(tokens[:4], x[:4], *MATRICES)
    assert not alone.refuted and math.isnan(alone.figures["gap"]) and alone.figures["n_words"] == 0


def test_favourites_of_random_models():
    found = misconceptions.random_patterns_mean_something(["a", "b", "c", "d", "e"], 5, n_seeds=40)
    assert found.arrays["favourites"].sum() == 40 and found.figures["share"] == found.arrays["favourites"].max() / 40
    x = draws.token_vectors(["a", "b", "c", "d", "e"], 5, 8)
    w_q, w_k = (draws.projection(5, name, 8, 4) for name in ("w_q", "w_k"))
    np.testing.assert_allclose(found.arrays["pattern"], by_hand(x, w_q, w_k, w_k)[0], atol=1e-12)
    assert found.refuted and not misconceptions.random_patterns_mean_something(["a"], 5, n_seeds=40).refuted


def test_words_and_tokens():
    assert misconceptions.words_are_tokens(["é"], [b"\xc3", b"\xa9"], "é").arrays["counts"].tolist() == [1, 2, 1, 2]
    assert not misconceptions.words_are_tokens(["low"], [b"low"], "low").refuted


def test_the_past_does_not_notice_the_future_behind_a_causal_mask():
    x, other = RNG.normal(size=(4, 6)), RNG.normal(size=6)
    found = misconceptions.every_token_sees_all(x, *MATRICES, other)
    changed = np.vstack([x[:-1], other])
    one, two = (by_hand(each, *MATRICES, lambda i, j: j <= i)[1] for each in (x, changed))
    np.testing.assert_allclose(found.arrays["moved"], abs(one - two).max(axis=1), atol=1e-12)
    assert found.refuted and found.arrays["moved"][:3].tolist() == [0, 0, 0] and found.figures["n_seen"] == 1
    assert not misconceptions.every_token_sees_all(x[:1], *MATRICES, other).refuted


def test_weights_that_are_zeroed_afterwards():
    x, other = RNG.normal(size=(4, 6)), RNG.normal(size=6)
    found = misconceptions.masking_afterwards_is_as_good(x, *MATRICES, other)
    whole, later = (by_hand(each, *MATRICES)[0] for each in (x, np.vstack([x[:-1], other])))
    np.testing.assert_allclose(found.arrays["sums"], np.tril(whole).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(found.arrays["masked"], by_hand(x, *MATRICES, lambda i, j: j <= i)[0], atol=1e-12)
    assert found.figures["leak"] == pytest.approx(abs(np.tril(whole) - np.tril(later))[:-1].max(), abs=1e-12)
    assert found.refuted and not misconceptions.masking_afterwards_is_as_good(x[:1], *MATRICES, other).refuted


def test_turned_round_weights():
    ids = tasks_router.encode("Where is my certificate?")
    found = misconceptions.weights_explain(ids, **ROUTER)
    order = np.argsort(found.arrays["shares"])
    assert (np.diff(found.arrays["turned"][order]) <= 0).all() and found.arrays["turned"].sum() == pytest.approx(1)
    assert found.refuted and tasks_router.CLASSES[found.figures["kind"]] == "certificate"
    assert found.figures["distance"] == pytest.approx(sum(max(a - b, 0) for a, b in zip(found.arrays["turned"], found.arrays["shares"])))
    one = misconceptions.weights_explain(tasks_router.encode("certificate"), **ROUTER)
    assert not one.refuted and one.figures["distance"] == 0


def test_the_answer_to_a_longer_text_is_that_of_the_joined_message():
    message, before = "I paid twice for the course", "By the way, the weather was lovely last week and the train was late."
    found = misconceptions.more_context_helps(tasks_router.encode(message), tasks_router.encode(before), **ROUTER)
    joined = misconceptions.forward(ROUTER["params"], tasks_router.encode(f"{before} {message}"), ROUTER["own"]).probs
    np.testing.assert_allclose(found.arrays["other"], joined, atol=1e-12)
    assert found.refuted and found.figures["with it"] == joined[found.figures["kind"]] < found.figures["alone"] - 0.01


def test_heads_share_the_width():
    configs = [ModelConfig(9, 5, 12, 1, n_heads) for n_heads in (1, 2, 3, 4, 6, 12)]
    found = misconceptions.more_heads_more_parameters(configs)
    assert found.refuted and set(found.arrays["counts"]) == {4 * 12 * 12 + 4 * 12}
    grouped = [ModelConfig(9, 5, 12, 1, 4, n_kv_heads=n) for n in (4, 1)]
    assert not misconceptions.more_heads_more_parameters(grouped).refuted
    assert not misconceptions.more_heads_more_parameters(configs[:1]).refuted


def test_every_experiment_gives_numbers_alone():
    x, other = RNG.normal(size=(3, 6)), RNG.normal(size=6)
    for found in (misconceptions.knows_order(x, *MATRICES), misconceptions.every_token_sees_all(x, *MATRICES, other),
                  misconceptions.masking_afterwards_is_as_good(x, *MATRICES, other)):
        assert isinstance(found.refuted, bool)
        assert all(np.isfinite(each).all() for each in itertools.chain(found.figures.values(), found.arrays.values()))
