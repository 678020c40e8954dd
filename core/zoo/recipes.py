"""How each model of the zoo is made: its task, sizes, settings, and what it has to show."""

from typing import NamedTuple

import numpy as np

from core import classifier, encoder_decoder, tasks, tasks_dates, tasks_router
from core.config import ModelConfig
from core.learners import Learner, decoder_only, pairs, sorter
from core.training import Settings, Trainer
from core.zoo import figures, figures_alignment, figures_router


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
    return Recipe("nasi", "Characters: nasi␣", task, config, decoder_only(config, np.float64), Settings(300, 32, 1e-2, 10, std=0.1),
                  figures.nasi, {"P(l | nasi␣)": (0.9, 1)}, "It writes the next character of short Malay phrases.", nasi_start)


def _words(task, title, d_model, n_layers, n_heads, settings, promise, story, measure=figures.places, start=None, **more):
    """A small model of attention alone (unless more says otherwise) for one of the tasks of core.tasks."""
    choices = {"d_ff": 0, "tied": False, "bias": False} | more
    config = ModelConfig(len(task.vocabulary), task.n_tokens, d_model, n_layers, n_heads, **choices)
    return Recipe(task.name, title, task, config, decoder_only(config), settings, measure, promise, story, start)


def reverse():
    """Digits backwards."""
    return _words(tasks.reverse(), "Digits backwards", 32, 1, 2, Settings(150, 32, 5e-3, 30, std=0.2, seed=2),
                  {"accuracy": (0.99, 1), "looks": (0.9, 1), "without them": (0, 0.9)},
                  "After the sign it writes the digits in reverse. The heads look at the digit to be written next: a line that falls from "
                  "the last digit to the first.")


def sort():
    """Digits in order."""
    return _words(tasks.sort(), "Digits in order", 32, 2, 2, Settings(400, 32, 5e-3, 30, std=0.2), {"accuracy": (0.98, 1)},
                  "After the sign it writes the digits in order. The heads look at digits near the one to be written, and share the work: "
                  "no one head does it alone.")


def agreement():
    """The verb agrees with its subject."""
    task = tasks.agreement()
    return _words(task, "Subject and verb", 32, 1, 2, Settings(150, 64, 1e-2, 30, std=0.05),
                  {"accuracy": (0.99, 1), "looks": (0.9, 1), "attractors": (0, 0.05), "without them": (0, 0.75)},
                  "It says whether the verb is “runs” or “run”. From the verb's place the heads look at the subject, past the nouns in "
                  "between (the attractors), whatever their number.", figures.agreement)


def pronoun():
    """Find whom the pronoun means, and what that person wore."""
    return _words(tasks.pronoun(), "Pronoun and colour", 48, 2, 3, Settings(300, 64, 3e-3, 30, std=0.11),
                  {"accuracy": (0.98, 1), "looks": (0.8, 1), "without them": (0, 0.9)},
                  "It answers with the colour that the person behind the pronoun wore. For a while it only knows that it must be one of "
                  "the three colours in the text (a third right); then, within a few dozen steps, it finds the right one. Heads of the "
                  "second block look from the pronoun at the colour.")


def cricket():
    """Find who did it, and what that person wore: the same task in other words."""
    return _words(tasks.cricket(), "Umpire, bowler, batter", 48, 2, 3, Settings(300, 64, 3e-3, 30, std=0.11),
                  {"accuracy": (0.98, 1), "looks": (0.8, 1), "without them": (0, 0.9)},
                  "The umpire signalled, the bowler overstepped, the batter struck: it answers with the colour that this person wore. "
                  "Heads of the second block look from the last word at the colour.")


def induction():
    """Go on as the first time, with two blocks."""
    return _words(tasks.induction(), "Repeated row", 32, 2, 2, Settings(600, 32, 1e-2, 50),
                  {"accuracy": (0.98, 1), "looks": (0.9, 1), "without them": (0, 0.5), "without the previous-token head": (0, 0.8)},
                  "A row of tokens comes again and again. A head of the first block puts about half of its weight on the token just "
                  "before; heads of the second block use what it wrote and look at what followed the same token last time. The two "
                  "together are called an induction head.",
                  figures.induction)


def induction_one_block():
    """The control: the same task and settings, with one block."""
    return _words(tasks.induction()._replace(name="induction_one_block"), "Repeated row, one block", 32, 1, 2, Settings(600, 32, 1e-2, 50),
                  {"accuracy": (0, 0.35)},
                  "The same task, tokens and settings with a single block. It never learns it: to look at what followed the same token, a "
                  "head has to know which token came before each place, and nothing has written that.")


def induction_other():
    """The same task, solved in another way."""
    return _words(tasks.induction()._replace(name="induction_other"), "Repeated row, solved otherwise", 32, 2, 2,
                  Settings(1500, 32, 1e-2, 50, std=0.2), {"accuracy": (0.97, 1), "looks": (0, 0.3)},
                  "The same task with feed-forward layers, one table for reading and writing, and larger random numbers to begin with. It "
                  "is solved as well, and no head looks at what followed the same token last time: the same answers do not mean the same "
                  "way there.", d_ff=128, tied=True, activation="relu")


def coreference():
    """Name the noun that the pronoun means."""
    return _words(tasks.coreference(), "Pronoun and noun", 32, 1, 1, Settings(100, 64, 1e-2, 30), {"accuracy": (0.99, 1)},
                  "It answers with the noun that the pronoun means: he, she or it.")


def coreference_uniform():
    """The same task, with attention that can only look at all words alike."""
    made = _words(tasks.coreference()._replace(name="coreference_uniform"), "Pronoun and noun, looking everywhere alike", 32, 1, 1,
                  Settings(150, 64, 1e-2, 30), {"accuracy": (0.99, 1), "looks": (0, 0.2)},
                  "The same task with queries and keys that are 0, and stay 0 because nothing then moves them: every word that may be seen "
                  "gets the same weight. It is right as often. That the answers are right does not mean that the attention can be read.")
    learner = made.learner
    return made._replace(learner=learner._replace(init=lambda rng, std: _without_scores(learner.init(rng, std))))


def _without_scores(params):
    """The same parameters with the columns of queries and keys at 0: all scores are 0, and so are these columns' gradients."""
    for block in params["blocks"]:
        w_qkv = block["attention"]["w_qkv"]
        w_qkv[:, : 2 * w_qkv.shape[1] // 3] = 0
    return params


def alignment():
    """Written dates as ISO dates, by an encoder-decoder."""
    sizes = encoder_decoder.Sizes(len(tasks_dates.VOCABULARY), 48, 96, 1, 4, norm_position="pre")
    return Recipe("alignment", "Dates: 12 March 1998 → 1998-03-12", tasks_dates.Dates(), sizes, pairs(sizes), Settings(2000, 32, 6e-3, 50),
                  figures_alignment.measured, {"accuracy": (0.99, 1), "whole answers": (0.99, 1), "looks": (0.85, 1)},
                  "It reads a date as people write it, character by character, and writes it as ISO 8601 does. Heads of the "
                  "cross-attention look at the characters that say the digit being written. All dates are generated.")


def router():
    """Messages to an academy, sorted by a small encoder that pools with a learned query."""
    task = tasks_router.Router()
    sizes = classifier.sizes(len(task.vocabulary), tasks_router.N_TOKENS, 32, 2, len(task.classes), d_ff=64)
    return Recipe("router", "Messages to an academy", task, sizes, sorter(sizes), Settings(600, 64, 3e-3, 30), figures_router.measured,
                  {"accuracy": (0.9, 1), "out of scope": (0.6, 1), "P(certificate)": (0.9, 1)},
                  "It says whether a message is about a certificate, a payment, access, content, or something else. It was trained on "
                  "generated sentences; words that these never use are all the same unknown word to it. A message that no academy could "
                  "answer should be “other”, but one in five or more is sorted into one of the four kinds all the same.")


RECIPES = {recipe.__name__: recipe for recipe in (nasi, reverse, sort, agreement, pronoun, cricket, induction, induction_one_block,
                                                   induction_other, coreference, coreference_uniform,
                                                   alignment, router)}
