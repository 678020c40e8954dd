"""The ready-made examples: the very arrays of the worked examples, drawn as those say, and safe to share."""

import numpy as np
import pytest

from pages.shared import examples
from tests.page_tools import attention_by_hand, softmax_rows

each_example = pytest.mark.parametrize("name", examples.EXAMPLES)


@each_example
def test_an_example_is_found_under_its_name_and_drawn_once(name):
    example = examples.EXAMPLES[name]()
    assert example.id == name and examples.EXAMPLES[name]() is example


@each_example
def test_no_visitor_can_change_an_example_of_all_visitors(name):
    example = examples.EXAMPLES[name]()
    for array in (example.x, *example.params.values()):
        assert array.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 9


@each_example
def test_the_sizes_fit_together(name):
    example = examples.EXAMPLES[name]()
    assert example.x.shape[0] == len(example.tokens)
    width = example.x.shape[1]
    for name, array in example.params.items():
        assert array.shape == (1, width) if name in ("gain", "offset") else array.shape[name == "w_out"] == width
    assert example.title and example.where_from


def test_by_hand_is_the_worked_example(worked):
    example, given = examples.by_hand(), worked["by_hand"]
    assert list(example.tokens) == given["tokens"] and example.x.tolist() == given["X"]
    assert [example.params[name].tolist() for name in ("w_q", "w_k", "w_v")] == [given["W_q"], given["W_k"], given["W_v"]]


def test_four_tokens_gives_the_worked_scores_weights_and_output(worked):
    example, given = examples.four_tokens(), worked["four_tokens"]
    found = attention_by_hand(example.x, *example.params.values())
    for ours, theirs in (("scores", "scores"), ("pattern", "weights"), ("mixed", "output")):
        np.testing.assert_allclose(found[ours], given[theirs], atol=6e-9)
    assert list(example.tokens) == given["tokens"]


def test_bank_sentence_without_positions_gives_the_worked_weights(worked):
    example, given = examples.bank_sentence(), worked["bank_sentence"]
    found = attention_by_hand(example.x, *example.params.values())
    np.testing.assert_allclose(found["pattern"], given["weights_without_positions"], atol=6e-9)
    assert list(example.tokens) == given["tokens"] and example.takes_positions
    the = given["positions_of_the"]
    assert (example.x[the] == example.x[the[0]]).all()


def test_two_heads_gives_the_worked_weights_and_output(worked):
    example, given = examples.two_heads(), worked["two_heads"]
    q, k, v = np.split(example.x @ example.params["w_qkv"], 3, axis=1)
    weights = [softmax_rows(q[:, c] @ k[:, c].T / 2) for c in (slice(0, 4), slice(4, 8))]
    np.testing.assert_allclose(weights, given["weights"], atol=6e-9)
    joined = np.hstack([w @ v[:, c] for w, c in zip(weights, (slice(0, 4), slice(4, 8)), strict=True)])
    np.testing.assert_allclose(joined @ example.params["w_o"], given["output"], atol=6e-9)


def test_frozen_copies_what_it_is_given():
    mine = np.zeros((2, 2))
    frozen = examples.frozen(mine)
    mine[0, 0] = 1
    assert frozen[0, 0] == 0
