"""Several pairs at once: each says what it says alone, whatever fills it up; gradients with masks; parameters; writing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from core import encoder_decoder as model
from core.gradients import encoder_decoder_loss_and_grads
from core.learners import pairs
from core.loss import cross_entropy
from core.optimizer import walk
from core.tasks_dates import Batch
from core.training import Settings, Trainer
from tests.gradient_tools import assert_slopes

SOURCES = np.array([[3, 1, 4, 1, 5], [2, 6, 0, 0, 0], [4, 4, 4, 0, 0]])
REAL = SOURCES != 0
TARGETS, ANSWERS = np.array([[1, 2, 3], [1, 5, 5], [1, 6, 2]]), np.array([[2, 3, 4], [5, -1, -1], [-1, 2, 6]])
PLACES = pytest.mark.parametrize("position", ["pre", "post"])


def drawn(position, n_layers=2, seed=0):
    own = model.Sizes(7, 6, 8, n_layers, 2, norm_position=position)
    params, rng = model.init_params(own, np.random.default_rng(seed), 0.4, np.float64), np.random.default_rng(seed + 1)
    for _, array in walk(params):
        array += rng.normal(size=array.shape) * 0.2
    return params, own


@PLACES
def test_each_pair_of_a_batch_says_what_it_says_alone(position):
    params, own = drawn(position)
    trace = model.forward(params, SOURCES, TARGETS, 2, REAL, **own.choices)
    assert trace.logits.shape == (3, 3, 7) and trace.memory.shape == (3, 5, 6)
    for row, real in enumerate(REAL):
        alone = model.forward(params, SOURCES[row][real], TARGETS[row], 2, **own.choices)
        assert_allclose(trace.logits[row], alone.logits, rtol=0, atol=1e-12)
        cross, expected = trace.decoder[1].cross_attention.pattern[row], alone.decoder[1].cross_attention.pattern
        assert_allclose(cross[..., real], expected, rtol=0, atol=1e-12)
        assert_array_equal(cross[..., ~real], 0)
        assert_array_equal(trace.encoder[0].attention.pattern[row][..., ~real], 0)


@PLACES
def test_what_fills_a_source_up_changes_nothing(position):
    params, own = drawn(position)
    other = np.where(REAL, SOURCES, 6)
    one, two = (model.forward(params, ids, TARGETS, 2, REAL, **own.choices).logits for ids in (SOURCES, other))
    assert_array_equal(one, two)
    unmasked = model.forward(params, SOURCES, TARGETS, 2, **own.choices).logits
    assert_allclose(unmasked[0], one[0], rtol=0, atol=1e-12)  # the first is not filled up
    assert abs(unmasked[1:] - one[1:]).max() > 1e-6


def test_one_pair_takes_a_mask_too():
    params, own = drawn("post")
    masked = model.forward(params, SOURCES[1], TARGETS[1], 2, REAL[1], **own.choices)
    assert_allclose(masked.logits, model.forward(params, [2, 6], TARGETS[1], 2, **own.choices).logits, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match=r"its shape must be \(5,\), not \(3, 5\)"):
        model.forward(params, SOURCES[1], TARGETS[1], 2, REAL)
    with pytest.raises(ValueError, match="Each source needs its target"):
        model.forward(params, SOURCES, TARGETS[0], 2)
    with pytest.raises(TypeError, match="True"):
        model.forward(params, SOURCES, TARGETS, 2, SOURCES)


@PLACES
def test_every_gradient_of_a_batch_is_the_finite_difference(position):
    params, own = drawn(position, n_layers=1, seed=3)
    loss, grads = encoder_decoder_loss_and_grads(params, SOURCES, TARGETS, ANSWERS, 2, REAL, **own.choices)

    def loss_now():
        return cross_entropy(model.forward(params, SOURCES, TARGETS, 2, REAL, **own.choices, heads_apart=False).logits, ANSWERS)

    assert loss == loss_now()
    assert_slopes(params, grads, loss_now, 5)


def test_filler_alone_is_never_taught():
    """Row 0 of the table stands in filled-up places of the sources alone: through them no gradient comes, only through the logits."""
    params, own = drawn("pre")
    one, other = (encoder_decoder_loss_and_grads(params, ids, TARGETS, ANSWERS, 2, REAL, **own.choices)[1]["w_embed"]
                  for ids in (SOURCES, np.where(REAL, SOURCES, 1)))
    assert_allclose(one, other, rtol=0, atol=1e-12)


def test_parameters_have_the_sizes_and_begin_with_plain_norms():
    params = model.init_params(model.Sizes(9, 4, 6, 2, 2, norm_position="pre"), np.random.default_rng(0), 0.1)
    assert {array.dtype for _, array in walk(params)} == {np.dtype(np.float32)}
    assert len(params["encoder"]) == len(params["decoder"]) == 2 and params["w_embed"].shape == (9, 4)
    assert params["decoder"][1]["cross_attention"]["w_qkv"].shape == (4, 12)
    assert params["encoder"][0]["feed_forward"]["w_in"].shape == (4, 6)
    assert (params["final_norm_decoder"]["gain"] == 1).all() and (params["decoder"][0]["norm_3"]["offset"] == 0).all()
    assert "final_norm_encoder" not in model.init_params(model.Sizes(9, 4, 6, 1, 2), np.random.default_rng(0))


def test_it_learns_to_copy_through_cross_attention_and_then_writes_what_it_reads():
    own = model.Sizes(8, 16, 16, 1, 2, norm_position="pre")

    def draw(rng, n):
        rows = rng.integers(2, 8, (n, 4))
        return Batch(rows, np.concatenate([np.ones((n, 1), int), rows[:, :-1]], axis=1), rows)

    trainer = Trainer(pairs(own), draw, Settings(250, 32, 1e-2, 10, std=0.1))
    losses = [trainer.step().loss for _ in range(250)]
    assert losses[0] > 1.5 > 0.1 > losses[-1]
    rows = draw(np.random.default_rng(9), 20).targets.tolist()
    assert sum(model.write(trainer.params, row, 1, 4, 2, **own.choices) == row for row in rows) >= 19
    assert [name for name, _ in trainer.learner.on_the_way(trainer.params, draw(np.random.default_rng(0), 2))][-1] == "the logits"
