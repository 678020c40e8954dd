"""Cross-entropy against the definition."""

import math

import numpy as np
import pytest

from core.loss import cross_entropy


def test_equal_logits_cost_the_log_of_the_vocabulary():
    assert cross_entropy(np.zeros((3, 9)), [0, 4, 8]) == pytest.approx(math.log(9))


def test_the_loss_is_the_mean_of_minus_log_probability():
    logits, targets = np.random.default_rng(0).normal(size=(2, 3, 5)), np.array([[0, 1, 2], [4, 3, 0]])
    expected = [-math.log(math.exp(row[t]) / sum(map(math.exp, row)))
                for row, t in zip(logits.reshape(-1, 5), targets.ravel(), strict=True)]
    assert cross_entropy(logits, targets) == pytest.approx(sum(expected) / 6)


def test_a_target_below_zero_is_not_counted():
    logits = np.array([[0.0, 0.0], [100.0, 0.0]])
    assert cross_entropy(logits, [1, -1]) == pytest.approx(math.log(2))


def test_large_logits_do_not_overflow():
    assert cross_entropy(np.float32([[1e4, 0, -1e4]]), [0]) == 0
    assert cross_entropy([[1e4, 0.0]], [1]) == 1e4


@pytest.mark.parametrize("targets, words", [([0], "need targets of shape"), ([0, 2], "ids 0 to 1"), ([-1, -1], "No target is counted")])
def test_targets_that_do_not_fit_are_refused(targets, words):
    with pytest.raises(ValueError, match=words):
        cross_entropy(np.zeros((2, 2)), targets)
