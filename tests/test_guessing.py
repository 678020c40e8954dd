"""Untrained models guess evenly, as long as their weights are small."""

import math

import pytest

from core.config import ModelConfig
from core.guessing import SPREADS, untrained_loss
from core.transformer import forward


@pytest.mark.parametrize("vocab_size, n_ctx, d_model, n_layers, n_heads", [(9, 5, 16, 1, 2), (2, 32, 64, 4, 8), (32, 32, 8, 2, 1),
                                                                           (27, 32, 64, 4, 1)])
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_the_untrained_loss_is_ln_of_the_vocabulary_within_2_percent(vocab_size, n_ctx, d_model, n_layers, n_heads, seed):
    guess = untrained_loss(ModelConfig(vocab_size, n_ctx, d_model, n_layers, n_heads, activation="relu"), seed, SPREADS[0])
    assert guess.n_tokens >= 1000 and guess.even == math.log(vocab_size)
    assert guess.loss == pytest.approx(math.log(vocab_size), rel=0.02)
    assert guess.excess == pytest.approx(guess.loss / math.log(vocab_size) - 1, abs=1e-12)


def test_the_models_sizes_and_gpt_2s_spread_are_small_enough():
    config = ModelConfig(9, 5, 16, 1, 2, d_ff=64, activation="relu", bias=False)
    assert untrained_loss(config, 1, 0.02).loss == pytest.approx(math.log(9), rel=0.02)


def test_wide_random_weights_lose_more_than_even_guessing():
    config = ModelConfig(9, 5, 16, 1, 2)
    losses = [untrained_loss(config, 1, spread).loss for spread in SPREADS]
    assert losses == sorted(losses) and losses[-1] > 1.3 * math.log(9)


def test_the_loss_is_that_of_the_model_token_by_token():
    from core.draws import child_rng
    from core.guessing import untrained

    config = ModelConfig(4, 3, 8, 1, 2)
    ids = child_rng(5, "random tokens", "4", "3").integers(0, 4, (2, 4))
    params, costs = untrained(config, 5, 0.3), []
    for row in ids.tolist():
        for place in range(3):
            costs.append(-math.log(forward(params, row[:place + 1], config).probs[row[place + 1]]))
    assert untrained_loss(config, 5, 0.3, n_tokens=6).loss == pytest.approx(sum(costs) / 6)


def test_one_token_alone_is_always_right():
    guess = untrained_loss(ModelConfig(1, 4, 8, 1, 1), 0)
    assert guess.loss == guess.even == guess.excess == 0
