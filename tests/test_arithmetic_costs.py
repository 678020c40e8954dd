"""Every sum of memory and work, done again from its own operands."""

import re

import numpy as np
import pytest

from core import arithmetic, arithmetic_costs, roofline
from core.accounting import forward_flops, published
from core.attention import attend, causal_mask
from core.config import ModelConfig
from core.costs import layer_costs
from core.memory import kept_arrays
from core.more_models import KNOWN
from core.query_blocks import attend_in_blocks
from tests.page_tools import recomputed

SMALL = ModelConfig(11, 9, 12, 2, 4, n_kv_heads=2, activation="swiglu")


def again(explanations):
    """The value of the last block, recomputed from the text."""
    text = [line for explanation in explanations for line in [*arithmetic.lines(explanation), ""]]
    results = recomputed(["", "", "", "", *text[:-1]])
    assert len(results) == len(explanations)
    for (name, value), explanation in zip(results, explanations, strict=True):
        assert name == explanation.name and value == pytest.approx(explanation.value, rel=1e-12)
    assert all(re.match(r"\S+\[", line) for line in text if line)  # names that the tests in a browser can read
    return results[-1][1]


def test_cache_and_what_fits():
    assert again(arithmetic_costs.explain_cache(KNOWN["llama-3-8b"], 8192, 4, 2)) == 4
    assert again(arithmetic_costs.explain_cache(KNOWN["deepseek-v3"], 2**17, 1, 2)) == 70272 / 2**13
    assert again(arithmetic_costs.explain_cache(KNOWN["t5-small"], 1, 1, 2)) * 2**30 == 12288
    assert again(arithmetic_costs.explain_cache(KNOWN["bert-base-uncased"], 9, 1, 2)) == 0
    assert again(arithmetic_costs.explain_fit(100, 40, 7, 2)) == pytest.approx(60 / 14)


@pytest.mark.parametrize("name", ["gpt2", "mixtral-8x7b", "t5-small"])
def test_weights_and_training(name):
    total = {"gpt2": 124439808, "mixtral-8x7b": 46702792704, "t5-small": 60506624}[name]
    for precision, size in (("float32", 4), ("int4", 0.5)):
        assert again(arithmetic_costs.explain_weights(KNOWN[name], precision)) == pytest.approx(total * size / 2**30)
    assert again(arithmetic_costs.explain_training(KNOWN[name], "mixed 16/32", [], "optimizer")) == pytest.approx(12 * total / 2**30)
    assert again(arithmetic_costs.explain_training(KNOWN[name], "float32", [], "gradients")) == pytest.approx(4 * total / 2**30)


def test_activations():
    kept = kept_arrays(SMALL, 5, 3)
    assert again(arithmetic_costs.explain_training(SMALL, "mixed 16/32", kept, "activations")) * 2**30 == pytest.approx(
        2 * sum(part.count for part in kept))


@pytest.mark.parametrize("config, n_new, n_past", [(published(SMALL), 3, 2), (KNOWN["deepseek-v3"], 1, 1000), (KNOWN["mixtral-8x7b"], 7, 0),
                                                   (KNOWN["bert-base-uncased"], 5, 0)])
def test_operations(config, n_new, n_past):
    assert again(arithmetic_costs.explain_flops(config, n_new, n_past)) == forward_flops(config, n_new, n_past).total


@pytest.mark.parametrize("n_new", [1, 4096])
def test_the_roofline(n_new):
    one = roofline.one_pass("x", KNOWN["llama-3-8b"], n_new, 0, 1, 2, 2)
    found = roofline.bound(one, 312e12, 2039e9)
    assert found.by == ("memory" if n_new == 1 else "arithmetic")
    assert again(arithmetic_costs.explain_bound(one, 312e12, 2039e9)) == pytest.approx(found.tokens)


def test_layers():
    assert again(arithmetic_costs.explain_layer_costs(layer_costs(50, 512))) == 10.24


@pytest.mark.parametrize("key_block", [1, 3, 9, 16])
def test_the_running_sum_of_a_query(key_block):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((9, 4)) for _ in range(3))
    visible = causal_mask(9)
    visible[:, 0] = False
    scores = np.where(visible, attend(q, k, v).scores, -np.inf)
    trace = attend_in_blocks(q, k, v, visible, key_block=key_block, keep=True)
    for row in (1, 4, 8):
        expected = sum(np.exp(score - max(scores[row])) for score in scores[row])
        explained = arithmetic_costs.explain_running_sum(trace, key_block, row)
        assert again(explained) == pytest.approx(expected)
        lines = arithmetic.lines(explained[0])
        assert lines[-1].split(" = ")[-1] == arithmetic.number(explained[0].value)  # the value to its last digit
        for weights, summed, before in zip(lines[::2], lines[1::2], [None, *lines[1::2]], strict=False):
            _, made, result = weights.split(" = ")
            assert made.count("exp(") == made.count(" + ") + 1 and summed.split(" = ")[1].endswith(f" + {result}")
            assert summed.split(" = ")[1].startswith(f"{before.split(' = ')[-1]} × exp(" if before else "0 + ")  # the number printed before
    with pytest.raises(ValueError, match="sees no key"):
        arithmetic_costs.explain_running_sum(trace, key_block, 0)
