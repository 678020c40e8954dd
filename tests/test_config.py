"""A model's sizes: what can't work is refused with what would, and nothing is repaired in silence."""

import re
from dataclasses import FrozenInstanceError, asdict

import numpy as np
import pytest

from core.attention import multi_head_attention
from core.config import CHOICES, ModelConfig

SIZES = {"vocab_size": 65, "n_ctx": 32, "d_model": 12, "n_layers": 2, "n_heads": 3}


def test_sizes_left_out_follow_from_the_others():
    config = ModelConfig(**SIZES)
    assert (config.d_head, config.d_ff, config.n_kv_heads) == (4, 48, 3)
    assert {name: getattr(config, name) for name in SIZES} == SIZES


def test_sizes_that_are_given_are_kept():
    """P04: the width of a head need not be d_model / n_heads."""
    config = ModelConfig(65, 32, 3072, 2, 16, d_ff=7, n_kv_heads=4, d_head=256)
    assert (config.d_model, config.n_heads, config.d_ff, config.n_kv_heads, config.d_head) == (3072, 16, 7, 4, 256)
    assert ModelConfig(65, 32, 10, 2, 3, d_head=5).d_head == 5


def test_a_config_cannot_be_changed_and_equal_ones_are_equal():
    config = ModelConfig(**SIZES)
    with pytest.raises(FrozenInstanceError):
        config.d_model = 16
    assert config == ModelConfig(**SIZES)
    assert hash(config) == hash(ModelConfig(**asdict(config)))


def test_whole_numbers_of_numpy_are_whole_numbers():
    assert ModelConfig(**{name: np.int64(size) for name, size in SIZES.items()}) == ModelConfig(**SIZES)


@pytest.mark.parametrize("size", [0, -1, 2.0, 1.5, "3", True, [4]])
@pytest.mark.parametrize("name", [*SIZES, "d_ff", "n_kv_heads", "d_head"])
def test_a_size_that_is_not_a_whole_number_of_1_or_more_is_refused(name, size):
    if name == "d_ff" and size == 0:
        assert ModelConfig(**{**SIZES, name: size}).d_ff == 0  # no feed-forward layer at all
        return
    with pytest.raises(ValueError, match=rf"^{name} is {re.escape(repr(size))}; it must be a whole number of 1 or more"):
        ModelConfig(**{**SIZES, name: size})


@pytest.mark.parametrize("name", SIZES)
def test_a_size_that_nothing_can_be_derived_from_must_be_given(name):
    with pytest.raises(ValueError, match=f"^{name} is None"):
        ModelConfig(**{**SIZES, name: None})


@pytest.mark.parametrize(("d_model", "n_heads"), [(12, 5), (12, 24), (7, 2), (1, 3)])
def test_heads_that_do_not_divide_the_width_are_refused_with_those_that_do(d_model, n_heads):
    """Every count in the message works, and no other up to d_model does."""
    with pytest.raises(ValueError, match=f"d_model {d_model} .*{n_heads} equal heads.*Or give d_head") as error:
        ModelConfig(**{**SIZES, "d_model": d_model, "n_heads": n_heads})
    offered = {int(n) for n in re.search(r"work: ([\d, ]+)", str(error.value))[1].split(", ")}
    for n in range(1, d_model + 1):
        if n in offered:
            assert ModelConfig(**{**SIZES, "d_model": d_model, "n_heads": n}).d_head * n == d_model
        else:
            with pytest.raises(ValueError, match="equal heads"):
                ModelConfig(**{**SIZES, "d_model": d_model, "n_heads": n})


@pytest.mark.parametrize(("n_heads", "n_kv_heads", "offered"), [(6, 4, "1, 2, 3, 6"), (6, 12, "1, 2, 3, 6"), (4, 3, "1, 2, 4")])
def test_key_value_heads_that_cannot_be_shared_evenly_are_refused_with_counts_that_can(n_heads, n_kv_heads, offered):
    with pytest.raises(ValueError, match=f"{n_heads} heads can't share {n_kv_heads} .*Key/value head counts that work: {offered}\\."):
        ModelConfig(65, 32, 12, 2, n_heads, n_kv_heads=n_kv_heads)


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("choice", ["Layer", "", None, 1])
def test_a_choice_that_is_not_there_is_refused_with_those_that_are(name, choice):
    with pytest.raises(ValueError, match=rf"^{name} is {re.escape(repr(choice))}; it can be ") as error:
        ModelConfig(**SIZES, **{name: choice})
    for allowed in re.search(r"it can be (.*)\.$", str(error.value))[1].split(", "):
        assert getattr(ModelConfig(**SIZES, **{name: allowed}), name) == allowed


def test_the_choices_are_those_of_the_published_models():
    assert {name: set(allowed) for name, allowed in CHOICES.items()} == {
        "activation": {"gelu", "gelu_tanh", "relu", "silu", "swiglu"}, "norm": {"layer", "rms", "none"}, "norm_position": {"pre", "post"},
        "positions": {"learned", "sinusoidal", "rotary", "none"}}


def test_rotary_positions_need_heads_of_even_width():
    with pytest.raises(ValueError, match="d_head must be even, not 3"):
        ModelConfig(65, 32, 12, 2, 4, positions="rotary")
    assert ModelConfig(65, 32, 12, 2, 3, positions="rotary").d_head == 4
    assert ModelConfig(65, 32, 12, 2, 4, positions="learned").d_head == 3


@pytest.mark.parametrize(("n_heads", "n_kv_heads", "d_head"), [(3, None, None), (4, 2, None), (6, 1, 5)])
def test_attention_takes_the_sizes_that_a_config_accepts(n_heads, n_kv_heads, d_head):
    config = ModelConfig(65, 32, 12, 2, n_heads, n_kv_heads=n_kv_heads, d_head=d_head)
    params = {"w_qkv": np.ones((12, (config.n_heads + 2 * config.n_kv_heads) * config.d_head)),
              "w_o": np.ones((config.n_heads * config.d_head, 12))}
    trace = multi_head_attention(np.ones((2, 12)), params, config.n_heads, n_kv_heads=config.n_kv_heads)
    assert trace.q.shape == (config.n_heads, 2, config.d_head)
    assert trace.k.shape == (config.n_kv_heads, 2, config.d_head)
