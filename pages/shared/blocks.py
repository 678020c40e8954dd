"""The block that a page shows: a ready-made one, or random parameters on the person's own sentence."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from core import attention, draws, positions
from pages.shared import controls, examples, lesson

BENDS = {"GELU, tanh form": "gelu_tanh", "GELU, exact": "gelu", "ReLU": "relu", "SwiGLU": "swiglu"}
NORMS = {"LayerNorm": "layer", "RMSNorm": "rms", "none": "none"}


class Setting(NamedTuple):
    """What goes into one block, and how it is run."""

    tokens: tuple[str, ...]
    x: np.ndarray           # (n_tokens, d_model)  with positions
    params: dict
    n_heads: int
    visible: np.ndarray | None
    choices: dict           # further arguments of core.block.block
    norm: str               # what a person calls the norm
    where_from: str


def ask(page):
    """The controls of a block: its sentence, its sizes, and how it is built."""
    tokens, notes = controls.own_tokens()
    lesson.remarks(notes)
    made = _own(page, tokens, st.session_state["seed"]) if tokens else _ready(page)
    left, middle, right, last = st.columns([1, 1.7, 1.3, 1.1], vertical_alignment="bottom")
    with left:
        norm_position = controls.choice(page, "norm_position", "The norm stands", ("pre", "post"), "pre")
    with middle:
        norm = controls.choice(page, "norm", "Norm", list(NORMS), "LayerNorm")
    with right:
        residual = controls.switch(page, "residual", "Residual stream", True,
                                   help="Off: each step replaces what came in instead of adding.")
    with last:
        causal = controls.switch(page, "causal", "Causal mask", True, help="On: a decoder's block. Off: an encoder's.")
    tokens, x, params, n_heads, activation, where_from = made
    return Setting(tokens, x, params, n_heads, attention.causal_mask(len(tokens)) if causal else None,
                   {"activation": activation, "norm": NORMS[norm], "norm_position": norm_position, "residual": residual}, norm, where_from)


def _own(page, tokens, seed):
    left, middle, right = st.columns([1, 1, 2], vertical_alignment="bottom")
    with left:
        d_model = controls.stop(page, "d_model", "Features of a token, d_model", (4, 8, 16, 32), 16)
    with middle:
        n_heads = controls.stop(page, "n_heads", "Heads", (1, 2, 4), 2)
    with right:
        activation = BENDS[controls.choice(page, "bend", "The bend", list(BENDS))]
    x = examples.frozen(draws.token_vectors(tokens, seed, d_model) + positions.sinusoidal(len(tokens), d_model))
    params = draws.block_params(seed, 0, d_model, 4 * d_model, gated=activation == "swiglu")
    return tuple(tokens), x, params, n_heads, activation, f"drawn at random (seed {seed}), never trained"


def _ready(page):
    titles = ("Bank: the bank refused the loan …", "Characters: nasi␣")
    if controls.pick(page, "example", "Example", titles) == 0:
        bank = examples.bank_sentence()
        return (bank.tokens, examples.frozen(bank.x + positions.sinusoidal(*bank.x.shape)), examples.block_params(), 4, "gelu_tanh",
                "drawn at random (the example's own seeds, 42 and 0), never trained")
    nasi = examples.nasi()
    return nasi.tokens, nasi.x, nasi.params, nasi.n_heads, "relu", nasi.where_from
