"""The sum behind any cell of a forward pass, for every kind of model, and behind the choice of a token."""

import numpy as np
import pytest

from core import arithmetic_model, sampling, transformer
from core.arithmetic_model import BLOCK, HEADS, WHOLE, explain_choice, explain_model, model_matrix
from core.config import ModelConfig
from core.sums import lines
from tests.page_tools import evaluated, recomputed

KINDS = [{}, {"norm": "rms", "positions": "rotary", "activation": "swiglu", "n_kv_heads": 2},
         {"norm_position": "post", "positions": "sinusoidal"},
         {"norm": "none", "positions": "none", "tied": False, "activation": "gelu_tanh"},
         {"scaled": False, "causal": False, "residual": False}]


def model(**more):
    config = ModelConfig(**{"vocab_size": 7, "n_ctx": 9, "d_model": 8, "n_layers": 2, "n_heads": 4, "d_ff": 12} | more)
    params = transformer.init_params(config, np.random.default_rng(0), std=0.4)
    return params, config, transformer.forward(params, [3, 0, 6, 3, 1], config, all_probs=True)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_stage_of_every_kind_of_model_is_its_sum(kind):
    params, config, trace = model(**kind)
    for stage in (*WHOLE, *HEADS, *BLOCK):
        for block, head in ((0, 0), (1, 3)) if stage not in WHOLE else ((0, 0),):
            cells = model_matrix(trace, stage, block, head)
            for row, column in ((0, 0), (4, cells.shape[1] - 1)):
                chain = explain_model(trace, params, config, stage, row, column, block, head)
                assert chain[-1].value == pytest.approx(cells[row, column], abs=1e-12), stage
                assert all(each.residual <= 1e-12 for each in chain), stage
                text = ["", "", "", ""] + "\n\n".join("\n".join(lines(each)) for each in chain).split("\n")
                if not (stage == "pattern" and cells[row, column] == 0):  # printed without a division
                    assert recomputed(text)[-1][1] == pytest.approx(cells[row, column], abs=1e-9), stage


def test_a_probability_lists_the_whole_vocabulary_and_a_logit_every_feature():
    params, config, trace = model()
    (share,) = explain_model(trace, params, config, "probs", 2, 5)
    assert len(share.terms) == 7 and share.terms[5].left == trace.logits[2, 5]
    (logit,) = explain_model(trace, params, config, "logits", 2, 5)
    assert [term.right for term in logit.terms] == params["w_embed"][5].tolist()
    (position,) = explain_model(trace, params, config, "resid_pre", 3, 1)
    assert [term.value for term in position.terms] == [params["w_embed"][3, 1], params["w_pos"][3, 1]]


@pytest.mark.parametrize("stage, row, column", [("probs", 5, 0), ("probs", 0, 7), ("hidden_pre", 0, 12), ("token_ids", 0, 1), ("q", -1, 0)])
def test_a_cell_that_is_not_there_is_refused(stage, row, column):
    params, config, trace = model()
    with pytest.raises(ValueError, match="there is no cell"):
        explain_model(trace, params, config, stage, row, column)
    with pytest.raises(ValueError, match="There is no stage 'nope'"):
        arithmetic_model.model_array(trace, "nope")


LOGITS = np.array([1.5, -2.0, 3.0, 3.0, 0.25, -np.inf])


@pytest.mark.parametrize("more", [(1,), (0,), (0.5,), (2, 3), (1, None, 0.6), (0.7, 4, 0.9)], ids=str)
def test_a_chosen_probability_is_its_chain(more):
    steps = sampling.choose(LOGITS, *more)
    for token in range(6):
        chain = explain_choice(LOGITS, steps, more[0], token)
        assert chain[-1].value == steps.probs[token] and all(each.residual <= 1e-12 for each in chain)
        *_, last = lines(chain[-1])
        assert evaluated(last.split(" = ")[1]) == pytest.approx(steps.probs[token], abs=1e-12)
