"""Attention against recurrence: the counts against arrays that counted while they were multiplied."""

import numpy as np
import pytest

import core.attention
import core.recurrent
from core import costs
from tests.test_kv_cache import Counting


def taken(run):
    """The multiply-adds of the matrix products in a run."""
    Counting.taken = 0
    run()
    return Counting.taken


@pytest.fixture
def counting(monkeypatch):
    """Random arrays that count, and a core that does not forget their class."""
    for module in (core.attention, core.recurrent):
        monkeypatch.setattr(module, "as_float", np.asanyarray)
    rng = np.random.default_rng(0)
    return lambda *shape: rng.standard_normal(shape).view(Counting)


@pytest.mark.parametrize("n, d, n_heads", [(5, 8, 1), (8, 8, 2), (12, 8, 4), (1, 4, 1)])
def test_the_counts_are_what_arrays_that_count_have_seen(n, d, n_heads, counting):
    found = costs.layer_costs(n, d)
    q, k, v = (counting(n_heads, n, d // n_heads) for _ in range(3))
    assert taken(lambda: core.attention.attend(q, k, v)) == 2 * found.attention_mixing  # scores, and as many for mixed
    params = {"w_qkv": counting(d, 3 * d), "w_o": counting(d, d)}
    assert taken(lambda: core.attention.multi_head_attention(counting(n, d), params, n_heads, heads_apart=False)) == found.attention_layer
    w_x, w_h, x = counting(d, d), counting(d, d), counting(n, d)
    assert taken(lambda: core.recurrent.recurrent(x, {"w_x": w_x, "w_h": w_h})) == found.recurrent_layer
    assert found.recurrent_layer - taken(lambda: x @ w_x) == found.recurrent_mixing


def test_mixing_counted_by_loops():
    n, d = 4, 3
    pairs = sum(1 for _ in range(n) for _ in range(n) for _ in range(d))
    states = sum(1 for _ in range(n) for _ in range(d) for _ in range(d))
    assert costs.layer_costs(n, d)[2:4] == (pairs, states)


def test_the_worked_example_comes_out(worked):
    example = worked["complexity"]
    found = costs.layer_costs(example["n"], example["d_model"])
    assert (found.attention_mixing, found.recurrent_mixing) == (example["self_attention_n2d"], example["recurrent_nd2"])
    assert found.attention_layer == example["whole_layer_attention_4nd2+2n2d"]
    assert found.recurrent_layer == example["whole_layer_recurrent_2nd2"]
    assert costs.mixing_ratio(found) == example["ratio"] and (found.attention_steps, found.recurrent_steps) == (1, 50)


@pytest.mark.parametrize("d", [1, 7, 64])
def test_mixing_crosses_exactly_at_n_equal_to_d_and_whole_layers_never(d):
    assert costs.crossing(d, 100) == d and costs.crossing(d, d - 1) is None
    at = costs.layer_costs(d, d)
    assert at.attention_mixing == at.recurrent_mixing
    for n in range(1, 3 * d):
        found = costs.layer_costs(n, d)
        assert (found.attention_mixing > found.recurrent_mixing) == (n > d)
        assert found.attention_layer > found.recurrent_layer


@pytest.mark.parametrize("n, d", [(0, 3), (3, 0), (2.0, 3), (True, 3)])
def test_sizes_that_are_none_are_named(n, d):
    with pytest.raises(ValueError, match="must be a whole number of 1 or more"):
        costs.layer_costs(n, d)
