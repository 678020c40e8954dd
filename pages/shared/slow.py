"""What takes longer than a rerun may: computed once, kept for all visitors. The door computes the defaults before the first one comes."""

import streamlit as st

from core import experiments

WIDTHS = tuple(2**i for i in range(11))


@st.cache_data(max_entries=64, show_spinner=False)
def scaling_curve(seed):
    """The scaling experiment at all WIDTHS, each from its own child seed; most of a second."""
    return experiments.scaling_curve(WIDTHS, seed)


@st.cache_data(show_spinner=False)
def scaling_printed():
    """The three rows of the course text, drawn from one stream with seed 42."""
    return experiments.scaling_stream((4, 64, 512), 42)


def warm():
    """Fill the caches for the default settings."""
    scaling_curve(1)
    scaling_printed()
