"""What tests of counts share: small models of every shape."""

from hypothesis import assume
from hypothesis import strategies as st

from core.config import CHOICES, ModelConfig


@st.composite
def configs(draw):
    """Small models of every shape that a ModelConfig allows."""
    n_kv_heads, d_head = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    choices = {name: draw(st.sampled_from(allowed)) for name, allowed in CHOICES.items()}
    assume(choices["positions"] != "rotary" or d_head % 2 == 0)
    return ModelConfig(
        draw(st.integers(1, 9)), draw(st.integers(1, 7)), draw(st.integers(1, 8)), draw(st.integers(1, 3)),
        n_kv_heads * draw(st.integers(1, 3)), d_ff=draw(st.integers(0, 9)), n_kv_heads=n_kv_heads, d_head=d_head,
        tied=draw(st.booleans()), bias=draw(st.booleans()), **choices)
