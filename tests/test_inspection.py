"""One parameter taken apart: its two gradients, its way through Adam, against what the next step really does."""

import numpy as np
import pytest

from core import inspection, tasks, training
from core.arithmetic_training import explain_rate
from core.config import ModelConfig
from core.learners import decoder_only
from core.optimizer import at, learning_rate_at, walk
from core.sums import lines
from tests.page_tools import recomputed

PANEL = ["title", "summary", "", "value on this page: 0", ""]
TASK = tasks.reverse(3)
CONFIG = ModelConfig(11, TASK.n_tokens, 8, 1, 2, d_ff=12, activation="gelu_tanh")


def trainer(**more):
    settings = training.Settings(n_steps=20, batch_size=8, warm_up=3)._replace(**more)
    made = training.Trainer(decoder_only(CONFIG, np.float64), TASK.draw, settings)
    for _ in range(5):
        made.step()
    return made


PLACES = [(("w_embed",), (3, 2)), (("blocks", 0, "attention", "w_qkv"), (1, 20)), (("blocks", 0, "norm_1", "gain"), (4,)),
          (("blocks", 0, "feed_forward", "b_in"), (7,)), (("final_norm", "offset"), (0,))]


@pytest.mark.parametrize("path, index", PLACES, ids=inspection.label)
@pytest.mark.parametrize("more", [{}, {"clip": 0.01}, {"clip": None}, {"decay": 0.1}], ids=str)
def test_what_is_said_of_a_parameter_is_what_the_next_step_does(path, index, more):
    made = trainer(**more)
    held = {each: array.copy() for each, array in walk(made.params)}
    found = inspection.inspect(made, path, index)
    assert all((array == held[each]).all() for each, array in walk(made.params)) and made.done == 5  # it only looked
    assert found.value == at(made.params, path)[index]
    assert abs(found.gradient - found.numeric) <= 1e-6 * found.largest + 1e-9
    m, v = (float(at(made.optimizer.spread(which), path)[index]) for which in (made.optimizer.m, made.optimizer.v))
    assert (found.m, found.v) == (m, v)
    made.step()
    assert found.after == pytest.approx(at(made.params, path)[index], abs=1e-14) != found.value
    for explanation in found.explanations:
        assert explanation.residual < 1e-12
        assert recomputed([*PANEL, *lines(explanation)])[-1][1] == pytest.approx(explanation.value, abs=1e-12)


def test_a_float32_run_is_taken_apart_in_float64_and_ends_close_by():
    made = training.Trainer(decoder_only(CONFIG), TASK.draw, training.Settings(n_steps=20, batch_size=8, warm_up=3))
    found = inspection.inspect(made, ("w_embed",), (3, 2))
    made.step()
    assert made.params["w_embed"].dtype == np.float32 and found.after == pytest.approx(made.params["w_embed"][3, 2], abs=1e-6)


@pytest.mark.parametrize(("step", "n_steps", "warm_up"), [
    (0, 20, 3), (2, 20, 3), (3, 20, 3), (11, 20, 3), (19, 20, 3), (20, 20, 3), (40, 20, 3), (0, 1, 0)])
def test_the_rate_that_is_taken_apart_is_the_one_that_is_used(step, n_steps, warm_up):
    found = explain_rate(step, 0.02, n_steps, warm_up, learning_rate_at(step, 0.02, n_steps, warm_up))
    assert found.residual < 1e-15
    assert recomputed([*PANEL, *lines(found)])[-1] == (f"rate[{step + 1}]", pytest.approx(found.value, abs=1e-15))


def test_the_next_batch_can_be_looked_at_without_drawing_it():
    made = trainer()
    seen = made.next_batch()
    losses = made.learner.loss_and_grads(made.params, seen)[0]
    assert made.step().loss == losses
