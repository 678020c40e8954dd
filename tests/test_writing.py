"""Writing past the context: the window slides, and within it nothing differs from `generate`."""

import numpy as np
import pytest

from core import transformer, writing
from core.config import ModelConfig

CONFIG = ModelConfig(7, 6, 8, 1, 2)
PARAMS = transformer.init_params(CONFIG, np.random.default_rng(0), std=0.5)


@pytest.mark.parametrize("more", [{}, {"temperature": 0}, {"temperature": 0.7, "top_k": 3}, {"top_p": 0.6}], ids=str)
def test_within_the_context_the_tokens_are_those_of_generate(more):
    found = writing.write(PARAMS, [1, 2], CONFIG, 5, np.random.default_rng(3), **more)
    expected = list(transformer.generate(PARAMS, [1, 2], CONFIG, 5, np.random.default_rng(3), **more))
    assert [each.chosen for each in found] == expected and len(expected) == 5


def test_the_window_holds_the_last_tokens_and_is_read_from_position_0():
    found = writing.write(PARAMS, [1, 2, 3, 4, 5, 6, 0, 1], CONFIG, 9, np.random.default_rng(3))
    text = [1, 2, 3, 4, 5, 6, 0, 1]
    for each in found:
        assert list(each.window) == text[-6:]
        np.testing.assert_allclose(each.logits, transformer.forward(PARAMS, text[-6:], CONFIG).logits[-1], atol=1e-12)
        assert each.sampling.probs[each.chosen] > 0
        text.append(each.chosen)
    assert len(found) == 9


def test_the_same_seed_writes_the_same_and_another_does_not():
    one, same, other = ([each.chosen for each in writing.write(PARAMS, [1], CONFIG, 30, np.random.default_rng(seed))] for seed in (1, 1, 2))
    assert one == same != other


def test_no_beginning_is_refused():
    with pytest.raises(ValueError, match="no token"):
        writing.write(PARAMS, [], CONFIG, 1)
