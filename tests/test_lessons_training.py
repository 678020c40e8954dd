"""The training page: a run is stepped, stopped and rewound; what it draws is what an independent run comes to; trouble is named."""

import numpy as np
import pytest

from core import tasks, training, transformer, zoo
from core.config import ModelConfig
from core.learners import decoder_only
from core.zoo import recipes
from pages.shared import choices
from tests.page_tools import drawn, everything_said, panel, pictures, recomputed, shown, visit, widget

REVERSE = {"training__task": "Digits backwards"}


def press(at, label):
    (button,) = [button for button in at.button if button.label == label]
    return button.click().run()


def curve(at, title):
    (figure,) = [each for each in pictures(at) if each.title.startswith(title)]
    return figure.spec["data"][0]


def small(at, key):
    """The matrices of a picture of many heads."""
    (figure,) = [each for each in pictures(at) if each.key.endswith(key)]
    return [trace for trace in figure.spec["data"] if trace.get("name") == "cells"]


def independent(n_steps, seed=1):
    """The reverse task's run, without the page."""
    task = tasks.reverse()
    config = ModelConfig(11, 16, 32, 1, 2, d_ff=0, tied=False, bias=False)
    settings = training.Settings(n_steps=150, batch_size=32, learning_rate=5e-3, warm_up=30, std=0.2, seed=seed)
    trainer = training.Trainer(decoder_only(config), task.draw, settings)
    return trainer, [trainer.step().loss for _ in range(n_steps)], config


def test_one_step_at_a_time_the_losses_and_the_attention_are_those_of_the_same_run():
    at = visit("training", **REVERSE)
    for _ in range(3):
        press(at, "One step")
    trainer, losses, config = independent(3)
    found = curve(at, "Loss before each step")
    assert list(found["x"]) == [1, 2, 3] and found["y"] == pytest.approx(losses, rel=1e-6)
    assert f"loss **{losses[-1]:.4g}** nats" in everything_said(at)
    ids = at.session_state["_run"].sample(0)
    heads = transformer.forward(trainer.params, ids, config).blocks[0].attention.pattern
    for cells, head in zip(small(at, "now"), heads, strict=True):
        assert cells["customdata"] == pytest.approx(head.ravel(), abs=1e-6)
    begin = independent(0)[0]
    for cells, head in zip(small(at, "before"), transformer.forward(begin.params, ids, config).blocks[0].attention.pattern, strict=True):
        assert cells["customdata"] == pytest.approx(head.ravel(), abs=1e-6)


def test_started_it_goes_on_by_itself_and_rewound_it_is_the_same_run_again():
    at = press(visit("training", **REVERSE, training__speed=20), "Start")
    first = list(curve(at, "Loss")["y"])
    assert at.session_state["_running"] and 1 <= len(first) <= 20
    assert "Pause the run to look at one parameter" in everything_said(at)
    press(at, "Pause")
    assert not at.session_state["_running"]
    press(at, "Rewind")
    assert "Step **0** of 150" in everything_said(at)
    for _ in range(2):
        press(at, "One step")
    assert list(curve(at, "Loss")["y"]) == first[:2]


def test_stopped_it_stays_stopped_until_it_is_rewound():
    at = press(press(visit("training", **REVERSE), "One step"), "Stop for good")
    assert "stopped; Rewind begins the same run again" in everything_said(at)
    disabled = {button.label: button.disabled for button in at.button}
    assert disabled == {"Go on": True, "One step": True, "Stop for good": True, "Rewind": False}


def test_a_run_to_its_end_turns_the_attention_against_the_text_and_says_how_right_it_is():
    at = visit("training", **REVERSE)
    at.session_state["_run"].go(0)
    run = at.session_state["_run"]
    while not run.over:
        run.go(50)
    at.run()
    text = everything_said(at)
    assert "done, in" in text and curve(at, "Right answers")["y"][-1] > 0.98 and "✗" not in text
    best = max(np.mean([cells["customdata"].reshape(16, 16)[8 + i, 7 - i] for i in range(8)]) for cells in small(at, "now"))
    before = max(np.mean([cells["customdata"].reshape(16, 16)[8 + i, 7 - i] for i in range(8)]) for cells in small(at, "before"))
    assert best > 0.9 > 0.3 > before


def test_the_model_of_characters_begins_at_the_courses_numbers():
    at = visit("training")
    assert "P(“l” after “nasi␣”): **0.151**; before the first step **0.151**" in everything_said(at)
    run = at.session_state["_run"]
    while not run.over:
        run.go(100)
    at.run()
    trained = recipes.nasi().trainer(1)
    for _ in range(300):
        trained.step()
    recipe = zoo.recipe("nasi")
    p = transformer.forward(trained.params, recipe.task.encode("nasi "), recipe.config).probs[5]
    assert f"P(“l” after “nasi␣”): **{p:.3f}**; before the first step **0.151**" in everything_said(at) and p > 0.9


@pytest.mark.parametrize("array, row, column", [("w_embed", "3 · i", 2), ("blocks.0.attention.w_qkv", "5 · 5", 40),
                                                ("blocks.0.feed_forward.w_out", "9 · 9", 1)])
def test_a_parameter_taken_apart_shows_both_gradients_and_its_way_through_the_step(array, row, column):
    at = press(visit("training", training__array=array, training__row=row, training__column=f"{column} · {column}"), "One step")
    run = at.session_state["_run"]
    assert max(residual / allowed for _, residual, allowed in shown(at, "check")) <= 1
    results = recomputed(panel(at))
    names = [name for name, _ in results]
    assert names[0].startswith("numeric_gradient_" + array) and names[1] == "rate[2]" and names[2].startswith("new_" + array)
    value = drawn(at, array)[int(row.split()[0]), column]
    run.trainer.step()
    after = run.trainer.params
    for part in array.split("."):
        after = after[int(part)] if part.isdigit() else after[part]
    assert results[2][1] == pytest.approx(after[int(row.split()[0]), column], abs=1e-9) and results[2][1] != value


def test_a_run_that_breaks_names_the_array_and_what_to_change():
    broken = {f"training__no_{name}": "true" for name in ("rate", "norm", "residual", "scaled")}
    at = visit("training", **REVERSE, **broken, training__rate="1.0")
    run = at.session_state["_run"]
    while not run.over:
        run.go(50)
    at.run()
    assert not at.exception
    (sentence,) = [sentence for sentence in shown(at, "warn") if "nothing" in sentence.lower() or "guessing" in sentence]
    assert ("is the first array with a number that is not finite" in sentence) == bool(run.trainer.bad)
    assert "lower the learning rate (it is 100)" in sentence and "switch the norm on again" in sentence


def test_non_finite_numbers_are_named_and_leave_the_page_whole():
    at = visit("training", **REVERSE)
    run = at.session_state["_run"]
    run.trainer.params["w_embed"][0, 0] = np.inf
    press(at, "One step")
    (sentence,) = [sentence for sentence in shown(at, "warn") if sentence]
    assert not at.exception and sentence.startswith("Step 1: **the parameter w_embed** is the first array")
    assert "nothing can be taken apart" in everything_said(at) and len(pictures(at)) == 4


def test_sizes_that_do_not_fit_get_the_cores_sentence_and_the_tasks_own_sizes():
    at = visit("training", **REVERSE, training__n_heads="3")
    (sentence,) = [sentence for sentence in shown(at, "warn") if sentence]
    assert sentence.startswith("d_model 32 can't be cut into 3 equal heads.") and not at.exception
    assert at.session_state["_run"].choice.config.n_heads == 2


def test_another_task_brings_its_own_sizes_and_another_page_ends_the_run():
    at = visit("training", training__n_layers="2")
    assert at.session_state["_run"].choice.config.n_layers == 2
    widget(at, "training.task").set_value(3).run()
    config = at.session_state["_run"].choice.config
    assert (config.n_layers, config.n_heads, config.d_model, config.d_ff) == (2, 3, 48, 0)
    press(at, "Start")
    assert at.session_state["_running"]
    at.switch_page("06_attention.py").run()
    assert not at.session_state["_running"]


@pytest.mark.parametrize("name", choices.TASKS)
def test_every_task_can_be_chosen_with_its_own_sizes_and_trained_a_step(name):
    recipe = zoo.recipe(name)
    assert recipe.config.n_layers in choices.LAYERS and recipe.config.n_heads in choices.HEADS and recipe.config.d_model in choices.WIDTHS
    assert recipe.settings.learning_rate in choices.RATES and recipe.settings.n_steps in choices.STEPS
    assert recipe.settings.batch_size in choices.BATCHES
    at = press(visit("training", training__task=recipe.title), "One step")
    assert not at.exception and not any(shown(at, "warn")) and at.session_state["_run"].choice.config == recipe.config


@pytest.mark.parametrize("switch, field, value", [("no_scaled", "scaled", False), ("no_causal", "causal", False),
                                                  ("no_residual", "residual", False), ("no_norm", "norm", "none")])
def test_a_switch_breaks_what_it_says(switch, field, value):
    at = press(visit("training", **REVERSE, **{f"training__{switch}": "true"}), "One step")
    assert getattr(at.session_state["_run"].choice.config, field) == value and not at.exception
    if switch == "no_causal":
        assert small(at, "now")[0]["customdata"].reshape(16, 16)[0, 1:].min() > 0


def test_the_rate_switch_is_a_hundred_times():
    at = visit("training", **REVERSE, training__no_rate="true")
    assert at.session_state["_run"].choice.settings.learning_rate == pytest.approx(0.5)
