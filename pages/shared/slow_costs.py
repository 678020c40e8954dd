"""What the page of memory and compute keeps for all visitors: counts over all models, small passes, and what is measured."""

import streamlit as st

from core import cache_sizes, draws, memory, query_blocks, stopwatch
from core.attention import causal_mask
from core.config import ModelConfig


@st.cache_data(show_spinner=False)
def all_models():
    """Cache and weights of every known model."""
    return cache_sizes.overview()


@st.cache_data(show_spinner=False)
def counted_bytes_gap():
    """How far the counted bytes of a small model are from those of its arrays."""
    return memory.gap_to_arrays(ModelConfig(16, 8, 16, 2, 4, n_kv_heads=2, activation="swiglu"), 8)


@st.cache_data(max_entries=256, show_spinner=False)
def in_blocks(seed, n, d, query_block, key_block, causal):
    """Attention whole and in blocks, on random queries, keys and values."""
    return query_blocks.compare(*query_blocks.drawn(seed, n, d), query_block, key_block, causal)


@st.cache_data(max_entries=256, show_spinner=False)
def telling_query(seed, n, d, key_block, causal):
    """The query whose running softmax shows most of itself."""
    return query_blocks.telling_query(*query_blocks.drawn(seed, n, d), causal_mask(n) if causal else None, key_block)


@st.cache_resource(show_spinner=False)
def jobs(kind):
    """What is measured; all visitors share the arrays."""
    rng = draws.child_rng(0, "stopwatch", kind)
    return {"lengths": stopwatch.length_jobs, "machine": stopwatch.machine_jobs}[kind](rng)
