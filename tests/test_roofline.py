"""The roofline: bytes and operations of a pass that ran, roofs by hand."""

import numpy as np
import pytest

from core import kv_cache, roofline, transformer
from core.config import ModelConfig
from core.more_models import KNOWN
from core.optimizer import walk

CONFIG = ModelConfig(11, 20, 16, 2, 4, n_kv_heads=2, d_ff=24, tied=False)


def test_a_pass_has_the_operations_that_ran_and_reads_its_matrices_and_its_cache():
    params = transformer.init_params(CONFIG, np.random.default_rng(0), dtype=np.float16)
    cache = []
    transformer.forward(params, [3, 1, 4, 1, 5], CONFIG, cache)
    trace = transformer.forward(params, [9], CONFIG, cache)
    matrices = [array for path, array in walk(params) if array.ndim == 2 and path[-1] not in ("w_embed", "w_pos")]
    found = roofline.one_pass("decode", CONFIG, 1, 5, 3, 2, 2)
    assert found.flops == 3 * 2 * kv_cache.counted(trace, params).total
    assert found.weight_bytes == sum(array.nbytes for array in matrices) == 2 * roofline.multiplied_weights(CONFIG)
    assert found.cache_bytes == 3 * sum(part.nbytes for kept in cache for part in kept) and found.n_tokens == 3
    assert found.intensity == found.flops / (found.weight_bytes + found.cache_bytes)


def test_the_roof_is_a_slope_up_to_the_ridge_and_flat_beyond():
    peak, bandwidth = 100.0, 4.0
    assert roofline.ridge(peak, bandwidth) == 25
    for intensity, expected in ((1, 4), (24, 96), (25, 100), (1000, 100)):
        assert roofline.attainable(intensity, peak, bandwidth) == expected
    slow, fast = roofline.Pass("a", 240, 40, 20, 2), roofline.Pass("b", 4000, 20, 20, 50)
    assert roofline.bound(slow, peak, bandwidth) == (16, 15, "memory", 2 / 15)  # 60 bytes at 4 a second
    assert roofline.bound(fast, peak, bandwidth) == (100, 40, "arithmetic", 50 / 40)


def test_llama_3_8b_decodes_no_faster_than_its_weights_can_be_read():
    machine = roofline.MACHINES["NVIDIA A100 80GB SXM"]
    one = roofline.one_pass("decode", KNOWN["llama-3-8b"], 1, 0, 1, 2, 2)
    table = 128256 * 4096
    assert roofline.multiplied_weights(KNOWN["llama-3-8b"]) == 8030261248 - table - 65 * 4096  # less the input table and the gains
    found = roofline.bound(one, machine.peak["16 bit"], machine.bandwidth)
    assert found.by == "memory" and found.tokens == pytest.approx(2039e9 / (2 * (8030261248 - table - 65 * 4096) + 131072))


def test_the_rule_of_two_and_the_six_of_training():
    found = roofline.rule_of_two(KNOWN["gpt2"], 0)
    counted = 2 * (12 * 12 * 768**2 + 50257 * 768 + 12 * 2 * 768)  # matrices, the table as output, one pair a layer, twice
    assert found == (124439808, 2 * 124439808, counted, (2 * 124439808 - counted) / counted) and abs(found.error) < 0.01
    assert roofline.rule_of_two(KNOWN["gpt2"], 100_000).error < -0.9
    assert roofline.training_estimate(KNOWN["gpt3-175b"], 300 * 10**9) == 6 * 174604259328 * 300 * 10**9
    for call in (lambda c: roofline.rule_of_two(c, 0), roofline.multiplied_weights, lambda c: roofline.one_pass("x", c, 1, 0, 1, 2, 2)):
        with pytest.raises(ValueError, match="count one stack at a time"):
            call(KNOWN["t5-small"])


def test_every_machine_has_both_precisions_and_a_source():
    for name, machine in roofline.MACHINES.items():
        assert machine.name == name and set(machine.peak) == {"16 bit", "float32"} and "NVIDIA" in machine.source
        assert 10 < roofline.ridge(machine.peak["16 bit"], machine.bandwidth) < 1000
