"""Temperature, then top-k, then top-p."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.sampling import choose, in_two, logits_of, next_token_probs, read_logits

logits_lists = hnp.arrays(np.float64, st.integers(1, 12), elements=st.floats(-20, 20))


def kept(probs):
    return np.flatnonzero(probs).tolist()


@pytest.mark.parametrize("probs, p, left", [([0.4, 0.3, 0.2, 0.1], 0.8, [0, 1, 2]), ([0.5, 0.41, 0.09], 0.9, [0, 1]),
                                            ([0.3, 0.1, 0.1, 0.5], 0.8, [0, 3])])
def test_top_p_keeps_the_token_that_crosses_the_threshold(probs, p, left):
    found = next_token_probs(np.log(probs), top_p=p)
    assert kept(found) == left and found.sum() == pytest.approx(1)


@pytest.mark.parametrize("temperature, expected", [
    (0, [1, 0, 0]), (0.5, [0.8668133, 0.1173104, 0.0158762]), (1, [0.6652410, 0.2447285, 0.0900306]),
    (2, [0.5064804, 0.3071959, 0.1863237]), (1e-3, [1, 0, 0])])
def test_the_published_temperatures(temperature, expected):
    np.testing.assert_allclose(next_token_probs([2.0, 1.0, 0.0], temperature), expected, atol=1e-7)


def test_a_high_temperature_is_nearly_even():
    assert next_token_probs([2.0, 1.0, 0.0], 100)[0] == pytest.approx(0.3366722, abs=1e-7)


@pytest.mark.parametrize("temperature, left", [(0.5, [0]), (1, [0, 1]), (2, [0, 1, 2])])
def test_temperature_comes_before_top_p(temperature, left):
    assert kept(next_token_probs([3.0, 2.0, 1.0, 0.0], temperature, top_p=0.8)) == left


def test_top_k_comes_before_top_p():
    # of .4 .3 .2 .1 the first two are 4/7 and 3/7: the first alone reaches .5
    assert kept(next_token_probs(np.log([0.4, 0.3, 0.2, 0.1]), top_k=2, top_p=0.5)) == [0]
    assert kept(next_token_probs(np.log([0.4, 0.3, 0.2, 0.1]), top_p=0.5)) == [0, 1]


@given(logits_lists, st.floats(0.01, 10), st.integers(1, 14), st.floats(0.01, 1))
def test_what_is_left_sums_to_one_and_is_a_beginning_of_the_order(logits, temperature, k, p):
    whole = next_token_probs(logits, temperature)
    found = next_token_probs(logits, temperature, k, p)
    assert found.sum() == pytest.approx(1) and 1 <= len(kept(found)) <= k
    assert found[found > 0].min() / found.sum() >= 0 and whole[found > 0].min() >= whole[found == 0].max(initial=0) - 1e-12


@given(logits_lists, st.floats(0.05, 0.99))
def test_one_token_fewer_would_not_reach_p(logits, p):
    whole, found = next_token_probs(logits), next_token_probs(logits, top_p=p)
    mass = np.sort(whole[found > 0])[::-1]
    assert mass.sum() >= p - 1e-8 and (len(mass) == 1 or mass[:-1].sum() < p)


@pytest.mark.parametrize("more, words", [({"temperature": -1}, "temperature"), ({"temperature": float("nan")}, "temperature"),
                                         ({"top_k": 0}, "top_k"), ({"top_p": 0}, "top_p"), ({"top_p": 1.5}, "top_p")])
def test_what_can_not_be_is_refused(more, words):
    with pytest.raises(ValueError, match=words):
        next_token_probs([0.0, 1.0], **more)


def test_precision_is_kept():
    assert next_token_probs(np.float32([1, 2]), 0.5, 1, 0.5).dtype == np.float32


@given(logits_lists, st.floats(0.01, 10), st.one_of(st.none(), st.integers(1, 14)), st.one_of(st.none(), st.floats(0.01, 1)))
def test_every_step_of_the_choice_is_what_its_masses_say(logits, temperature, k, p):
    steps = choose(logits, temperature, k, p)
    by_hand = np.exp((logits - logits.max()) / temperature)
    by_hand /= by_hand.sum()
    np.testing.assert_allclose(steps.warmed, by_hand, atol=1e-12)
    order = sorted(range(len(logits)), key=lambda i: (-steps.warmed[i], i))
    assert steps.order.tolist() == order
    first, kept = order[:steps.n_top_k], order[:steps.n_kept]
    assert steps.n_top_k == min(k or len(logits), len(logits)) and steps.mass_top_k == pytest.approx(by_hand[first].sum())
    assert steps.mass == pytest.approx(by_hand[kept].sum()) and steps.mass_top_p == pytest.approx(steps.mass / steps.mass_top_k)
    assert p is None or steps.mass_top_p >= p - 1e-8
    np.testing.assert_allclose(steps.probs[kept], by_hand[kept] / steps.mass, atol=1e-12)
    two = in_two(steps)
    np.testing.assert_allclose(two["kept"] + two["cut off"], by_hand[order], atol=1e-12)
    assert (two["kept"][steps.n_kept:] == 0).all() and two["kept"].sum() == pytest.approx(steps.mass)


def test_probabilities_come_back_from_their_logits_and_what_is_none_is_refused():
    np.testing.assert_allclose(next_token_probs(logits_of([0.2, 0.0, 0.6])), [0.25, 0, 0.75], atol=1e-15)
    for bad in ([-0.1, 1], [0, 0]):
        with pytest.raises(ValueError, match="0 or more, and at least one"):
            logits_of(bad)
        logits, fault = read_logits(bad, None, True)
        assert logits.tolist() == [2, 1, 0] and "0 or more" in fault
    assert read_logits(None, "entry 1 is not one", False)[1] == "entry 1 is not one"
    assert read_logits([3.0, 1.0], None, False)[0].tolist() == [3, 1]
