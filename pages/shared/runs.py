"""A training run that a visitor holds: a few steps at every tick, and what can be seen of it."""

import time
from dataclasses import asdict

import numpy as np
import streamlit as st

from core import inspection, tasks, training, transformer
from core.config import ModelConfig
from core.learners import decoder_only
from core.zoo import figures, recipes
from pages.shared import lesson
from pages.shared.choices import TASKS

CHUNK = 0.12  # seconds of training at one tick, so that other visitors are served in between
TICK = 0.4    # seconds between two pictures
PAUSE = 3.0   # a longer rest between two ticks is a pause of the person's, not of the run
N_SAMPLES, N_MEASURED = 4, 200


class Run:
    """One run and all that was seen of it."""

    def __init__(self, choice):
        self.choice = choice
        self.learner = decoder_only(choice.config, np.float64 if choice.task == "nasi" else np.float32)
        self.trainer = training.Trainer(self.learner, choice.recipe.task.draw, choice.settings,
                                        choice.recipe.start() if choice.as_made else None)
        self.measured = figures.fresh(choice.recipe.task, N_MEASURED)
        self._ahead, self._before = None, {}
        self.begin()

    def begin(self):
        """Back to step 0, with the same numbers."""
        self.trainer.rewind()
        self.records, self.stopped = [], False
        self.seconds, self.last = 0.0, None  # how long it ran so far, pictures included; when its last tick ended
        self.accuracies = [(0, self._accuracy())]

    @property
    def over(self):
        """Is there nothing left to do?"""
        return self.stopped or self.trainer.over

    def go(self, n_steps):
        """Up to n_steps steps, fewer where they take longer than a tick may."""
        start = time.perf_counter()
        self.seconds += 0 if self.last is None else min(start - self.last, PAUSE)
        for _ in range(n_steps):
            if self.over:
                break
            self.records.append(self.trainer.step())
            if time.perf_counter() - start > CHUNK:
                break
        self.accuracies.append((self.trainer.done, self._accuracy()))
        self.last = time.perf_counter()
        self.seconds += self.last - start

    def _accuracy(self):
        with np.errstate(all="ignore"):
            return training.accuracy(self.learner, self.trainer.params, self.measured)

    def sample(self, which):
        """The token ids of one of the texts that are watched; the nasi task is watched on "nasi "."""
        task = self.choice.recipe.task
        return task.encode("nasi ") if self.choice.task == "nasi" else self.measured.token_ids[which]

    def answers_at(self, which):
        """The (query, key) places of a watched text that hold an answer."""
        if self.choice.task == "nasi":
            return []
        return [tuple(place) for place in np.argwhere(self.choice.recipe.task.looks_at(self.measured)[which]).tolist()]

    def trace(self, which, params=None):
        """The forward pass on a watched text, with the parameters as they stand."""
        with np.errstate(all="ignore"):
            return transformer.forward(self.trainer.params if params is None else params, self.sample(which), self.choice.config)

    def before(self, which):
        """The forward pass on a watched text before the first step, computed once."""
        if which not in self._before:
            self._before[which] = self.trace(which, self.untrained())
        return self._before[which]

    def untrained(self):
        """The parameters before the first step."""
        if self.choice.as_made:
            return self.choice.recipe.start()
        return self.learner.init(np.random.default_rng([self.choice.settings.seed, 0]), self.choice.settings.std)

    def answers(self):
        """Lines of (what the text says, what is wanted, what the model says) for the watched texts."""
        task, batch = self.choice.recipe.task, self.measured
        some = type(batch)(*(array[:N_SAMPLES] for array in batch))
        with np.errstate(all="ignore"):
            said = self.learner.logits(self.trainer.params, some).argmax(axis=-1)
        lines = []
        for ids, targets, guess in zip(some.token_ids, some.targets, said, strict=True):
            asked = np.flatnonzero(targets >= 0)
            lines.append((task.words(ids[:asked[0] + 1]), task.words(targets[asked]), task.words(guess[asked])))
        return lines

    def ahead(self):
        """What core.inspection.ahead gives, computed once for a step."""
        if self._ahead is None or self._ahead[0] != self.trainer.done:
            with np.errstate(all="ignore"):
                self._ahead = self.trainer.done, inspection.ahead(self.trainer)
        return self._ahead[1]

    def inspected(self, path, index):
        """One parameter before the next step: core.inspection.Inspected."""
        with np.errstate(all="ignore"):
            return inspection.inspect(self.trainer, path, index, self.ahead())


def held(choice):
    """This visitor's run of this choice; a new one where there is none."""
    state = st.session_state
    run = state.get("_run")
    if run is None or run.choice != choice:
        if run is not None and run.records:
            lesson.remarks([f"The settings changed after step {run.trainer.done}, so the run begins anew at step 0."])
        run = state["_run"] = Run(choice)
        state["_running"] = False
    return run


def buttons(page, run):
    """Start or pause, one step, stop, rewind. Returns whether the run goes on by itself."""
    state = st.session_state
    running = state.get("_running", False) and not run.over

    def turn():
        state["_running"], run.last = not running, None

    def step():
        state["_running"], run.last = False, None
        run.go(1)

    def stop():
        state["_running"], run.stopped = False, True

    def rewind():
        state["_running"] = False
        run.begin()

    label = "Pause" if running else "Start" if not run.records else "Go on"
    icon = ":material/pause:" if running else ":material/play_arrow:"
    for place, (name, text, picture, act, off) in zip(st.columns(4), (
            ("start", label, icon, turn, run.over), ("step", "One step", ":material/skip_next:", step, run.over),
            ("stop", "Stop for good", ":material/stop:", stop, run.over or not (run.records or running)),
            ("rewind", "Rewind", ":material/replay:", rewind, not (run.records or running))), strict=True):
        with place:
            st.button(text, key=f"{page}.button.{name}", on_click=act, disabled=off, icon=picture, width="stretch")
    return running


def tick(run, n_steps):
    """What a picture that moves calls first: train a little; when the run is over, draw the whole page once more."""
    if st.session_state.get("_running"):
        run.go(n_steps)
        if run.over:
            st.session_state["_running"] = False
            st.rerun()


def status(run):
    """Where the run stands, as a sentence."""
    settings, done = run.choice.settings, run.trainer.done
    words = [f"Step **{done}** of {settings.n_steps}"]
    if run.records:
        words.append(f"loss **{run.records[-1].loss:.4g}** nats")
    words.append(f"accuracy **{run.accuracies[-1][1]:.3f}**")
    if run.seconds > 1.5 and not run.over:
        words.append(f"about {max(round((settings.n_steps - done) * run.seconds / done), 0)} s left")
    if run.stopped:
        words.append("stopped; Rewind begins the same run again")
    elif run.trainer.over and not run.trainer.bad:
        words.append(f"done, in {run.seconds:.1f} s")
    lesson.say(" · ".join(words))
    st.progress(min(done / settings.n_steps, 1.0))


def trouble(run):
    """A sentence where the run has gone wrong: what broke first, and what would help; "" where it has not."""
    if not run.records:
        return ""
    config, last, guess = run.choice.config, run.records[-1], float(np.log(run.choice.config.vocab_size))
    help_ = [f"lower the learning rate (it is {run.choice.settings.learning_rate:g})"]
    if config.norm == "none":
        help_.append("switch the norm on again")
    if not config.scaled:
        help_.append("switch the scaling on again")
    if last.bad:
        return (f"Step {last.step}: **{last.bad}** is the first array with a number that is not finite (too large for its precision). "
                f"Nothing is changed any more. To go on, {' or '.join(help_)}, then rewind.")
    if last.step > 20 and min(record.loss for record in run.records[-10:]) > 1.5 * guess:
        return (f"The loss is {last.loss:.3g}, well above {guess:.3g}, which guessing alike among all tokens would give: the steps are too "
                f"large. It may help to {' or '.join(help_)}.")
    return ""


MAKERS = {"nasi": tasks.characters} | {name: getattr(tasks, name) for name in TASKS if name != "nasi"}


def script(run, which):
    """What `lesson.script` needs to do the run again up to where it stands: functions, values, steps."""
    choice, maker = run.choice, MAKERS[run.choice.task]
    functions = [training.Trainer, training.Settings, decoder_only, ModelConfig, transformer.forward, maker]
    start = "None"
    if choice.as_made:
        functions.append(recipes.nasi_start)
        start = "nasi_start()"
    values = {"sizes": asdict(choice.config), "settings": choice.settings._asdict(), "n_done": run.trainer.done,
              "token_ids": run.sample(which)}
    return tuple(functions), values, f"""
    config = ModelConfig(**sizes)
    trainer = Trainer(decoder_only(config, np.{run.trainer.optimizer.m.dtype.name}), {maker.__name__}().draw, Settings(**settings), {start})
    losses = [trainer.step().loss for _ in range(n_done)]
    show("losses", losses)
    for number, layer in enumerate(forward(trainer.params, token_ids, config).blocks):
        for head, pattern in enumerate(layer.attention.pattern):
            show(f"block {{number}} head {{head}}", pattern)
    """
