"""What takes longer than a rerun may: computed once, kept for all visitors. The door computes the defaults before the first one comes."""

import streamlit as st

from core import draws, experiments, tokenizers

WIDTHS = tuple(2**i for i in range(11))


@st.cache_data(max_entries=64, show_spinner=False)
def scaling_curve(seed):
    """The scaling experiment at all WIDTHS, each from its own child seed; most of a second."""
    return experiments.scaling_curve(WIDTHS, seed)


@st.cache_data(show_spinner=False)
def scaling_printed():
    """The three rows of the course text, drawn from one stream with seed 42."""
    return experiments.scaling_stream((4, 64, 512), 42)


@st.cache_resource(max_entries=64, show_spinner=False)
def trained(text, n_merges):
    """A byte-pair tokenizer trained on a text; nobody changes it."""
    return tokenizers.BytePairTokenizer.train(text, n_merges)


@st.cache_data(max_entries=64, show_spinner=False)
def pieces_after(training, n_merges, text, stops):
    """How many pieces `text` has after so many merges of the tokenizer trained on `training`."""
    merges = trained(training, n_merges).merges
    return [len(tokenizers.BytePairTokenizer(merges[:stop]).byte_pieces(text)) for stop in stops]


@st.cache_resource(max_entries=64, show_spinner=False)
def encoder_decoder_params(seed, vocabulary, d_model, n_layers):
    """Random parameters of an encoder-decoder, read-only."""
    params = draws.encoder_decoder_params(seed, vocabulary, d_model, 4 * d_model, n_layers)
    params["w_embed"].flags.writeable = False
    return params


def warm():
    """Fill the caches for the default settings."""
    scaling_curve(1)
    scaling_printed()
