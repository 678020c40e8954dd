"""Head scores on patterns made for them, and sums that must come to the logit."""

import numpy as np
import pytest

from core import lens, transformer
from core.config import ModelConfig
from core.optimizer import walk

IDS = [3, 1, 4, 3, 1, 4]


def looking_at(places, n=6):
    """A pattern whose query i puts everything on places[i]."""
    pattern = np.zeros((n, n))
    pattern[np.arange(n), places] = 1
    return pattern


@pytest.mark.parametrize("places, previous, first, duplicate, induction", [
    ([0, 0, 1, 2, 3, 4], 1, 0.2, 0, 0), ([0, 0, 0, 0, 0, 0], 0.2, 1, 1 / 3, 0), ([0, 0, 0, 0, 1, 2], 0.2, 0.6, 1, 0),
    ([0, 0, 0, 1, 2, 3], 0.2, 0.4, 0, 1), ([0, 1, 2, 3, 4, 5], 0, 0, 0, 0)],
    ids=["previous", "first", "duplicate", "induction", "itself"])
def test_a_head_made_for_it_scores_one(places, previous, first, duplicate, induction):
    pattern = looking_at(places)
    found = (lens.previous_token_score(pattern), lens.first_token_score(pattern), lens.duplicate_token_score(pattern, IDS),
             lens.induction_score(pattern, IDS))
    np.testing.assert_allclose(found, (previous, first, duplicate, induction))


def test_several_heads_are_scored_at_once_and_nothing_to_score_is_not_a_number():
    patterns = np.stack([looking_at([0, 0, 1, 2, 3, 4]), looking_at([0, 0, 0, 1, 2, 3])])
    assert lens.previous_token_score(patterns).tolist() == [1, 0.2] and lens.induction_score(patterns, IDS).tolist() == [0, 1]
    assert np.isnan(lens.induction_score(patterns, range(6))).all() and np.isnan(lens.duplicate_token_score(patterns, range(6))).all()
    assert lens.previous_token_score(np.ones((1, 1))) == lens.first_token_score(np.ones((1, 1))) == 0


def model(**more):
    config = ModelConfig(**{"vocab_size": 9, "n_ctx": 8, "d_model": 12, "n_layers": 3, "n_heads": 3, "d_ff": 16} | more)
    params = transformer.init_params(config, np.random.default_rng(0), std=0.4)
    for _, array in walk(params):
        array += np.random.default_rng(1).normal(size=array.shape) * 0.1
    return params, config, transformer.forward(params, IDS, config)


@pytest.mark.parametrize("more", [{}, {"norm": "rms"}, {"tied": False}, {"bias": False}, {"d_ff": 0}, {"positions": "rotary"}], ids=str)
def test_the_contributions_sum_to_the_logit(more):
    params, config, trace = model(**more)
    for position, token in ((5, 2), (0, 8)):
        parts = lens.logit_contributions(trace, params, config, position, token)
        assert sum(parts.values()) == pytest.approx(trace.logits[position, token], abs=1e-12)
        assert sum("head" in name for name in parts) == 9


def test_between_post_norms_nothing_adds_up_and_that_is_said():
    params, config, trace = model(norm_position="post")
    with pytest.raises(ValueError, match="pre-norm"):
        lens.logit_contributions(trace, params, config, 0, 0)


@pytest.mark.parametrize("more", [{}, {"norm_position": "post"}, {"norm": "rms", "tied": False}], ids=str)
def test_the_lens_ends_at_the_logits(more):
    params, config, trace = model(**more)
    found = lens.logit_lens(trace, params, config)
    assert found.shape == (4, 6, 9)
    np.testing.assert_allclose(found[-1], trace.logits, atol=1e-12)
    cut = params | {"blocks": params["blocks"][:1]}
    smaller = ModelConfig(9, 8, 12, 1, 3, d_ff=16, norm=config.norm, norm_position=config.norm_position, tied=config.tied)
    np.testing.assert_allclose(found[1], transformer.forward(cut, IDS, smaller).logits, atol=1e-12)


def test_a_head_that_is_switched_off_writes_nothing_and_the_rest_stays():
    params, config, trace = model()
    changed = lens.without_heads(params, [(1, 2)], config.d_head)
    after = transformer.forward(changed, IDS, config)
    assert (after.blocks[1].attention.head_out[2] == 0).all() and abs(trace.blocks[1].attention.head_out[2]).max() > 0
    np.testing.assert_array_equal(after.blocks[1].attention.head_out[:2], trace.blocks[1].attention.head_out[:2])
    assert abs(params["blocks"][1]["attention"]["w_o"][8:12]).max() > 0  # the model itself is not touched
