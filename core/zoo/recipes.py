"""How each model of the zoo is made: its task, sizes, settings, and what it has to show."""

from typing import NamedTuple

import numpy as np

from core import tasks
from core.config import ModelConfig
from core.learners import Learner, decoder_only
from core.training import Settings, Trainer
from core.zoo import figures


class Recipe(NamedTuple):
    """Everything that making a model takes."""

    name: str
    title: str
    task: object           # core.tasks.Task, or the like
    config: object         # ModelConfig, or the sizes of another kind of model
    learner: Learner
    settings: Settings
    measure: object        # function of (params, recipe) -> {figure: number or short text}, on data that training never drew
    promise: dict          # {figure: (low, high)}: what each of three seeds has to reach
    story: str             # what the model does and what its heads look at, in plain sentences
    start: object = None   # function of () -> params to begin with; drawn from the settings' seed where it is None

    def trainer(self, seed=None):
        """A run from nothing, from the settings' seed unless another is given."""
        settings = self.settings if seed is None else self.settings._replace(seed=seed)
        return Trainer(self.learner, self.task.draw, settings, None if self.start is None else self.start())

    def begin(self):
        """The parameters before the first step."""
        return self.trainer().params


def nasi_start():
    """The untrained model of characters that the course shows first: default_rng with seed 42, standard normal draws times 0.1."""
    rng = np.random.default_rng(42)
    w_embed, w_pos, w_qkv, w_o, w_in, w_out = (rng.standard_normal(shape) * 0.1
                                               for shape in ((9, 16), (5, 16), (16, 48), (16, 16), (16, 64), (64, 16)))
    layer = {"attention": {"w_qkv": w_qkv, "w_o": w_o}, "feed_forward": {"w_in": w_in, "w_out": w_out}}
    return {"w_embed": w_embed, "w_pos": w_pos, "blocks": [layer], "final_norm": {}}


def nasi():
    """Characters of short phrases."""
    task = tasks.characters()
    config = ModelConfig(9, 5, 16, 1, 2, d_ff=64, activation="relu", bias=False)
    return Recipe("nasi", "Characters: nasi␣", task, config, decoder_only(config, np.float64), Settings(200, 32, 1e-2, 10, std=0.1),
                  figures.nasi, {"P(l | nasi␣)": (0.9, 1)}, "It writes the next character of short Malay phrases.", nasi_start)


def _words(task, title, d_model, n_layers, n_heads, settings, promise, story, measure=figures.places, start=None, **more):
    """A small model of attention alone (unless more says otherwise) for one of the tasks of core.tasks."""
    config = ModelConfig(len(task.vocabulary), task.n_tokens, d_model, n_layers, n_heads, **{"d_ff": 0, "tied": False, "bias": False} | more)
    return Recipe(task.name, title, task, config, decoder_only(config), settings, measure, promise, story, start)


def reverse():
    """Digits backwards."""
    return _words(tasks.reverse(), "Digits backwards", 32, 1, 2, Settings(100, 32, 1e-2, 30), {"accuracy": (0.99, 1), "looks": (0.9, 1)},
                  "After the sign it writes the digits in reverse. Its heads look at the digit to be written next: a line from the last "
                  "digit to the first.")


RECIPES = {recipe.__name__: recipe for recipe in (nasi, reverse)}
