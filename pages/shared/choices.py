"""What a training run is to be: its task, its sizes, how it is trained, and what is broken on purpose."""

from typing import NamedTuple

import streamlit as st

from core import training, zoo
from core.config import ModelConfig
from pages.shared import controls

TASKS = ("nasi", "reverse", "agreement", "pronoun", "cricket", "induction", "sort", "coreference")
LAYERS, HEADS, WIDTHS = (1, 2, 3), (1, 2, 3, 4), (16, 32, 48, 64)
RATES = (1e-4, 3e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 1.0)
STEPS, BATCHES = (50, 100, 150, 200, 250, 300, 400, 600, 1000), (8, 16, 32, 64)
BROKEN = {
    "scaled": ("no scaling", "The scores are not divided by √d_head."),
    "causal": ("no mask", "Every token sees the whole text, so each can look at the one it is to predict."),
    "residual": ("no residual", "Each step replaces the stream instead of adding."),
    "norm": ("no norm", "Nothing keeps the stream at one size."),
    "rate": ("rate × 100", "A hundred times the learning rate."),
}
SPEEDS = (1, 2, 5, 10, 20, 50)


class Choice(NamedTuple):
    """What is to be trained: its task and sizes, the switches that break it, and what was wrong with what was asked for."""

    task: str
    config: ModelConfig
    settings: training.Settings
    fault: str

    @property
    def recipe(self):
        """The task's own recipe in the zoo."""
        return zoo.recipe(self.task)

    @property
    def as_made(self):
        """Does it begin with the parameters of the recipe, because its sizes are the recipe's?"""
        return self.recipe.start is not None and self.config == self.recipe.config


def ask(page):
    """The controls: a task, the sizes, how it is trained, what is broken on purpose.

    returns  (Choice, steps from one picture to the next)
    """
    def follow():
        _follow(page, TASKS[st.session_state[f"{page}.task"]])

    left, right = st.columns([1.3, 1], vertical_alignment="bottom")
    with left:
        task = TASKS[controls.pick(page, "task", "Task", [zoo.recipe(name).title for name in TASKS], on_change=follow)]
    with right:
        speed = controls.stop(page, "speed", "Steps from one picture to the next", SPEEDS, 5)
    recipe, stops, broken = zoo.recipe(task), {}, {}
    with st.expander("Sizes, learning rate, and what to break on purpose"):
        *places, last = st.columns([1, 1, 1, 1.1], vertical_alignment="bottom")
        for place, (name, label, options) in zip(places, (("n_layers", "Blocks", LAYERS), ("n_heads", "Heads", HEADS),
                                                          ("d_model", "Width, d_model", WIDTHS)), strict=True):
            with place:
                stops[name] = controls.stop(page, name, label, options, getattr(recipe.config, name))
        with last:
            feed_forward = controls.switch(page, "feed_forward", "Feed-forward layers", bool(recipe.config.d_ff))
        left, middle, right = st.columns(3)
        with left:
            rate = controls.stop(page, "rate", "Learning rate", RATES, recipe.settings.learning_rate)
        with middle:
            n_steps = controls.stop(page, "n_steps", "Steps", STEPS, recipe.settings.n_steps)
        with right:
            batch_size = controls.stop(page, "batch_size", "Texts in a step", BATCHES, recipe.settings.batch_size)
        for place, (name, (label, why)) in zip(st.columns(len(BROKEN)), BROKEN.items(), strict=True):
            with place:
                broken[name] = controls.switch(page, f"no_{name}", label, help=why)
    settings = recipe.settings._replace(learning_rate=rate * (100 if broken["rate"] else 1), n_steps=n_steps, batch_size=batch_size,
                                        warm_up=min(recipe.settings.warm_up, n_steps // 2), seed=st.session_state["seed"])
    own = recipe.config
    sizes = stops | {"d_ff": (own.d_ff or 4 * stops["d_model"]) if feed_forward else 0}
    if sizes["d_ff"] and stops["d_model"] != own.d_model:
        sizes["d_ff"] = 4 * stops["d_model"]
    switches = {"scaled": not broken["scaled"], "causal": not broken["causal"], "residual": not broken["residual"],
                "norm": "none" if broken["norm"] else own.norm}
    same = {name: getattr(own, name) for name in ("vocab_size", "n_ctx", "activation", "norm_position", "positions", "tied", "bias")}
    try:
        return Choice(task, ModelConfig(**same, **sizes, **switches), settings, ""), speed
    except ValueError as fault:
        return Choice(task, own, settings, f"{fault} Until then the task's own sizes are used."), speed


def _follow(page, task):
    """Put the sizes of a task's recipe into the controls."""
    recipe = zoo.recipe(task)
    held = {"n_layers": recipe.config.n_layers, "n_heads": recipe.config.n_heads, "d_model": recipe.config.d_model,
            "feed_forward": bool(recipe.config.d_ff), "rate": recipe.settings.learning_rate, "n_steps": recipe.settings.n_steps,
            "batch_size": recipe.settings.batch_size}
    for name, value in held.items():
        st.session_state[f"{page}.{name}"] = value
