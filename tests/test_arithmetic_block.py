"""The sums behind a block's cells."""

import numpy as np
import pytest

from core import arithmetic_block
from core.attention import causal_mask
from core.block import block
from core.draws import block_params
from core.sums import lines
from tests.page_tools import recomputed

PANEL = ["title", "summary", "", "value on this page: 0", ""]
X = np.random.default_rng(3).normal(size=(3, 8))


@pytest.mark.parametrize("stage", arithmetic_block.STAGES)
@pytest.mark.parametrize("norm", ["layer", "rms", "none"])
@pytest.mark.parametrize("norm_position", ["pre", "post"])
@pytest.mark.parametrize("residual", [True, False])
def test_every_cell_of_every_kind_of_block_is_what_its_terms_come_to(stage, norm, norm_position, residual):
    choices = {"activation": "gelu", "norm": norm, "norm_position": norm_position, "residual": residual}
    params = block_params(1, 0, 8, 16)
    if norm != "none":
        rng = np.random.default_rng(9)
        params |= {name: {"gain": rng.normal(size=8)} | ({"offset": rng.normal(size=8)} if norm == "layer" else {})
                   for name in ("norm_1", "norm_2")}
    trace = block(X, params, 2, causal_mask(3), **choices)
    for row, column in ((0, 0), (2, 5)):
        found = arithmetic_block.explain_block(trace, params, stage, row, column, **choices)
        text = [line for each in found for line in [*lines(each), ""]]
        assert recomputed([*PANEL, *text[:-1]])[-1][1] == pytest.approx(getattr(trace, stage)[row, column], abs=1e-12)
        assert max(each.residual for each in found) < 1e-12


def test_the_stream_is_named_as_the_sum_of_what_came_in_and_what_was_written():
    params = block_params(1, 0, 8, 16)
    (found,) = arithmetic_block.explain_block(block(X, params, 2), params, "resid_post", 1, 2)
    assert [term.left_name for term in found.terms] == ["resid_mid[1, 2]", "ff_out[1, 2]"] and found.name == "resid_post[1, 2]"


def test_what_is_not_there_is_refused():
    params = block_params(1, 0, 8, 16)
    trace = block(X, params, 2)
    with pytest.raises(ValueError, match="no stage 'q'"):
        arithmetic_block.explain_block(trace, params, "q", 0, 0)
    for stage in ("attn_in", "attn_out", "ff_out", "resid_mid"):
        with pytest.raises(ValueError, match="no cell"):
            arithmetic_block.explain_block(trace, params, stage, 3, 0)
