"""The model of characters that a page shows: the ready-made one, untrained or trained, or a random one for the person's own text."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from core import guessing, sampling, transformer, zoo
from core.config import ModelConfig
from pages.shared import controls, lesson, slow, text

MOST = 32  # characters of an own text: as many as an own model reads
SPREADS = guessing.SPREADS
WEIGHTS = ("random", "trained")
READS, NUMBERS = "What the model reads", "2 to 12 numbers with spaces between them"  # labels, which the sentences about them name


PRESETS = {  # label: (what is typed, the numbers, temperature, top-p)
    "2 1 0, T = 0": ("logits", "2 1 0", 0, 1.0), "2 1 0, T = 0.5": ("logits", "2 1 0", 0.5, 1.0),
    ".4 .3 .2 .1, p = 0.8": ("probabilities", ".4 .3 .2 .1", 1, 0.8), ".5 .41 .09, p = 0.9": ("probabilities", ".5 .41 .09", 1, 0.9),
    ".3 .1 .1 .5, p = 0.8": ("probabilities", ".3 .1 .1 .5", 1, 0.8), "3 2 1 0, p = 0.8, T = 2": ("logits", "3 2 1 0", 2, 0.8)}


class Model(NamedTuple):
    """A text, and the model that reads it."""

    tokens: tuple[str, ...]       # the characters of the text
    vocabulary: tuple[str, ...]
    token_ids: np.ndarray         # (n_tokens,)
    params: dict
    config: ModelConfig
    where_from: str
    both: dict                    # {"random": params, "trained": params} of the ready-made model; empty for an own one
    spread: float                 # of the random draws
    is_trained: bool


def ask(page, weights="random"):
    """The controls of a model: which weights and text, or for an own text its sizes.

    weights  which of the ready-made model's weights are shown first
    """
    words, notes = controls.own_tokens()
    if words:
        cleaned = text.clean(st.session_state.get("text"))
        lesson.remarks(cleaned.notes)
        return _own(page, cleaned.text)
    lesson.remarks(notes)
    return _ready(page, weights)


def _ready(page, weights):
    """The nasi model on its own text, or on another one of its characters."""
    trained = zoo.load("nasi")
    task, config = trained.recipe.task, trained.recipe.config
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        chosen = controls.choice(page, "weights", "Weights of the model", WEIGHTS, weights)
    with right:
        typed = controls.words(page, "prompt", f"{READS} (spaces count)", "nasi ", max_length=40)
    tokens = tuple(typed)
    if not 1 <= len(tokens) <= config.n_ctx or set(tokens) - set(task.vocabulary):
        known = " ".join(map(text.visible, task.vocabulary))
        sentence = (f"“{READS}” can't be read: it takes 1 to {config.n_ctx} characters, each one of the {len(task.vocabulary)} in this "
                    f"model's vocabulary: {known} (␣ is a space). “nasi␣” is shown until then.")
        lesson.remarks([sentence])
        tokens = tuple("nasi ")
    both = slow.both_nasi()
    return Model(tokens, task.vocabulary, task.encode(tokens), both[chosen], config, ready_from(chosen), both, trained.recipe.settings.std,
                 chosen == "trained")


def ready_from(weights):
    """Where the ready-made model's weights come from."""
    settings = zoo.load("nasi").card["settings"]
    return ("drawn at random (the example's own seed, 42), never trained; what they guess means nothing" if weights == "random" else
            f"those of the example, drawn at random (its own seed, 42) and then trained here for {settings['n_steps']} steps on short "
            "Malay phrases")


def ready_guess():
    """What the ready-made model guesses after its own text before its training.

    returns  (probabilities of its characters, the spread that its weights were drawn with)
    """
    recipe = zoo.recipe("nasi")
    trace = transformer.forward(slow.both_nasi()["random"], recipe.task.encode(tuple("nasi ")), recipe.config)
    return trace.probs, recipe.settings.std


def _own(page, own):
    """A random model whose vocabulary is the set of characters of the text."""
    tokens, vocabulary = tuple(own[:MOST]), tuple(sorted(set(own[:MOST])))
    if len(own) > MOST:
        lesson.remarks([f"Your text has {len(own):,} characters. The first {MOST} are read, so that every cell stays readable."])
    first, second, third, last = st.columns([1, 1, 1, 1.3], vertical_alignment="bottom")
    with first:
        n_layers = controls.whole(page, "n_layers", "Blocks", 1, 4, 1)
    with second:
        n_heads = controls.whole(page, "n_heads", "Heads", 1, 8, 2)
    with third:
        d_model = controls.stop(page, "d_model", "Width, d_model", (8, 16, 32, 64), 16)
    with last:
        spread = controls.stop(page, "spread", "Spread of the random weights", SPREADS, 0.1)
    config = sized(len(vocabulary), MOST, d_model, n_layers, n_heads)
    seed = st.session_state["seed"]
    ids = np.array([vocabulary.index(token) for token in tokens], dtype=np.int64)
    return Model(tokens, vocabulary, ids, slow.untrained(config, seed, spread), config,
                 f"drawn at random (seed {seed}), never trained; what they guess means nothing", {}, spread, False)


def sized(vocab_size, n_ctx, d_model, n_layers, n_heads, **more):
    """A configuration of these sizes, built like the ready-made model; one head, and a sentence, where the heads do not fit."""
    more = {"activation": "relu", "bias": False} | more
    try:
        return ModelConfig(vocab_size, n_ctx, d_model, n_layers, n_heads, **more)
    except ValueError as fault:
        lesson.remarks([f"{fault} The pictures below keep 1 head until then."])
        return ModelConfig(vocab_size, n_ctx, d_model, n_layers, 1, **more | {"n_kv_heads": None})


def typed_logits(page):
    """Logits that the person types, as they are or as probabilities; with ready-made ones, which also set temperature, top-k and top-p.

    returns  (n,)
    """
    def use(preset):
        kind, numbers, temperature, top_p = PRESETS[preset]
        for name, value in {"kind": kind, "numbers": numbers, "temperature": temperature, "top_k": 0, "top_p": top_p}.items():
            st.session_state[f"{page}.{name}"] = value

    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        kind = controls.choice(page, "kind", "The numbers are", ("logits", "probabilities"))
    with right:
        raw = controls.words(page, "numbers", NUMBERS, "2 1 0")
    for number, (place, preset) in enumerate(zip(st.columns(3) * 2, PRESETS, strict=True)):
        with place:
            st.button(preset, on_click=use, args=(preset,), key=f"{page}.preset.{number}", width="stretch")
    logits, fault = sampling.read_logits(*text.parse_numbers(raw, 2, 12), kind == "probabilities")
    lesson.remarks([f"“{NUMBERS}” can't be read: {fault} 2 1 0 is shown until then."] if fault else [])
    return logits
