"""Memory: kept arrays against the arrays of a pass that ran, and against a way back that had nothing else; bytes against files' worth."""

import numpy as np
import pytest

from core import backward, memory, transformer
from core.config import ModelConfig
from core.more_models import KNOWN
from core.optimizer import walk

SIZES = {"vocab_size": 11, "n_ctx": 6, "d_model": 8, "n_layers": 2, "n_heads": 4, "d_ff": 12}
CONFIGS = [{}, {"n_kv_heads": 2, "activation": "swiglu", "norm": "rms", "positions": "rotary", "bias": False, "tied": False},
           {"norm_position": "post", "activation": "relu"}, {"norm": "none"}, {"d_ff": 0}, {"d_ff": 0, "norm_position": "post"},
           {"d_ff": 0, "norm": "none"}, {"norm": "none", "norm_position": "post"}, {"d_head": 6, "activation": "swiglu"}]


def passed(more, n=5, dtype=np.float32):
    config = ModelConfig(**SIZES | more)
    params = transformer.init_params(config, np.random.default_rng(0), std=0.3, dtype=dtype)
    return config, params, transformer.forward(params, np.arange(n), config)


def arrays(trace, config):
    """{name: the arrays of a pass with this name}."""
    found = {}
    for block in trace.blocks:
        for name, array in [*block._asdict().items(), *block.attention._asdict().items(),
                            *(block.feed_forward._asdict().items() if block.feed_forward else ())]:
            if isinstance(array, np.ndarray) and name != "out":
                found.setdefault(name, []).append(array)
    return found | {"final": [trace.final], "logits": [trace.logits], "last_stream": [trace.blocks[-1].resid_post]}


@pytest.mark.parametrize("more", CONFIGS, ids=str)
def test_kept_arrays_have_the_bytes_of_those_of_a_pass_that_ran(more):
    config, _, trace = passed(more)
    made, kept = arrays(trace, config), memory.kept_arrays(config, 5)
    for part in kept:
        assert part.count == sum(array.size for array in made[part.name]), part.name
        assert part.count == eval(part.formula.replace("×", "*"))
    real = sum(array.size * array.itemsize for part in kept for array in made[part.name])
    assert memory.training(config, "float32", kept).activations == real  # float32 arrays
    assert [(3 * part.count, part.name) for part in kept if part.name != "pattern"] == [
        (part.count, part.name) for part in memory.kept_arrays(config, 5, 3, pattern=False)]


@pytest.mark.parametrize("more", CONFIGS, ids=str)
def test_the_way_back_reads_none_but_the_kept_arrays(more):
    config, params, trace = passed(more, dtype=np.float64)
    names = {part.name for part in memory.kept_arrays(config, 5)}
    same = {"attn_in": "resid_pre", "ff_in": "resid_mid"}  # one array under two names, where no norm stands between

    def blanked(part):
        return part._replace(**{name: np.full_like(array, np.nan) for name, array in part._asdict().items()
                                if isinstance(array, np.ndarray) and name not in names
                                and not (name in same and array is getattr(part, same[name]))
                                and not (name == "hidden_linear" and config.activation != "swiglu")})

    full = trace.blocks[0]
    less = blanked(full)._replace(attention=blanked(full.attention), feed_forward=full.feed_forward and blanked(full.feed_forward))
    d_post = np.random.default_rng(1).standard_normal(full.resid_post.shape)
    choices = {name: value for name, value in transformer.block_choices(config).items() if name != "rotate"}
    results = [backward.block_backward(each, params["blocks"][0], d_post, config.n_heads, **choices) for each in (full, less)]
    pairs = list(zip(walk(results[0][1]), walk(results[1][1]), strict=True))
    assert np.array_equal(results[0][0], results[1][0]) and len(pairs) > 1
    assert all(np.isfinite(one).all() and np.array_equal(one, other) for (_, one), (_, other) in pairs)


def test_training_takes_sixteen_bytes_a_parameter_either_way():
    n = 124439808
    plain, mixed = (memory.training(KNOWN["gpt2"], how) for how in memory.TRAINING)
    assert plain[:3] == (4 * n, 4 * n, 8 * n) and mixed[:3] == (2 * n, 2 * n, 12 * n) and plain.total == mixed.total == 16 * n
    with pytest.raises(ValueError, match="float32, mixed 16/32"):
        memory.training(KNOWN["gpt2"], "float64")


def test_weights_by_precision_are_the_bytes_of_arrays():
    config, params, _ = passed({})
    n = sum(array.size for _, array in walk(params))
    for precision, dtype in (("float32", np.float32), ("16 bit", np.float16), ("int8", np.int8)):
        found = memory.reading(config, 0, 1, memory.PRECISIONS[precision], 2)
        assert found.weights == sum(array.astype(dtype).nbytes for _, array in walk(params))
    assert memory.reading(config, 0, 1, memory.PRECISIONS["int4"], 2).weights == -(-n // 2)
    cache = []
    transformer.forward(params, np.arange(5), config, cache)
    assert memory.reading(config, 5, 3, 4, 4).cache == 3 * sum(part.nbytes for kept in cache for part in kept)


@pytest.mark.parametrize("n_bytes, words", [(10**9, "1 GB = 0.9313 GiB"), (2**30, "1.074 GB = 1 GiB"), (0, "0 kB = 0 KiB"),
                                            (131072, "131.1 kB = 128 KiB"), (999999999, "1,000 MB = 953.7 MiB"),
                                            (811706777600, "811.7 GB = 756 GiB"),
                                            (1342052838400, "1,342 GB = 1,250 GiB")])
def test_both_units_are_told_apart(n_bytes, words):
    assert memory.in_words(n_bytes) == words


def test_a_column_has_one_unit_and_its_largest_number_chooses():
    assert memory.common_unit([36 * 2**20, 2**30 - 1]).name == "MiB" and memory.common_unit([36 * 2**20, 2**30]) == ("GiB", 2**30)
    assert memory.common_unit([37748736, 999999999], binary=False) == ("MB", 10**6)
    assert memory.common_unit([10**9, 1], binary=False).name == "GB" and memory.common_unit([]).name == "KiB"


