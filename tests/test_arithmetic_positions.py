"""The sums behind positions and states: evaluated again from their text alone, they come to the number in the array."""

import math

import numpy as np
import pytest

from core import arithmetic_positions as explain
from core.arithmetic_recurrent import explain_state
from core.positions import alibi_bias, rotary, shift_matrix, sinusoidal
from core.recurrent import recurrent
from core.sums import lines
from tests.page_tools import evaluated

pytestmark = pytest.mark.filterwarnings("error")


def steps_hold(explanation, value):
    """Every step comes to its result, from its expression alone; the last one to the value."""
    for line in lines(explanation):
        name, expression, result = line.split(" = ")
        assert evaluated(expression) == pytest.approx(float(result), rel=1e-12, abs=1e-12), line
    assert explanation.name == name and float(result) == pytest.approx(value, abs=1e-12) and explanation.value == value
    assert explanation.residual <= 1e-12


def product_holds(explanation, value):
    total = 0.0
    for term in explanation.terms:
        assert term.value == term.left * term.right
        total += term.left * term.right
    assert total == pytest.approx(value, abs=1e-12) and explanation.value == value


@pytest.mark.parametrize("d_model", [1, 2, 5, 16])
def test_a_sinusoidal_cell(d_model):
    pe = sinusoidal(60, d_model)
    for position in (0, 1, 7, 59):
        for feature in range(d_model):
            explanation = explain.explain_sinusoidal(pe, position, feature)
            steps_hold(explanation, pe[position, feature])
            assert [step.split(" = ")[0] for step in lines(explanation)][0] == f"frequency[{feature // 2}]"


@pytest.mark.parametrize("k", [-3, 0, 5])
def test_a_cell_of_the_shift_matrix(k):
    matrix = shift_matrix(k, 6)
    for row in range(6):
        for column in range(6):
            steps_hold(explain.explain_shift(matrix, k, row, column), matrix[row, column])


def test_a_shifted_feature_and_a_dot_product():
    pe, matrix = sinusoidal(20, 6), shift_matrix(5, 6)
    for feature in range(6):
        explanation = explain.explain_shifted(matrix, pe, 10, feature, float(pe[15, feature]))
        product_holds(explanation, pe[15, feature])
        assert explanation.terms[3].left_name == f"R[{feature}, 3]" and explanation.terms[3].left == matrix[feature, 3]
        assert explanation.terms[3].right_name == "pe[10, 3]" and explanation.terms[3].right == pe[10, 3]
    value = math.fsum(a * b for a, b in zip(pe[2], pe[9], strict=True))
    product_holds(explain.explain_dot("dots", ("pe", pe), ("pe", pe), 2, 9, value), value)


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_a_rotated_vector(layout):
    x = [1.0, -2.0, 3.0, 4.0, -0.5, 0.25]
    turned = rotary([x], [7], layout=layout)[0]
    found = explain.explain_rotary("q", x, turned, 7, layout)
    assert len(found) == 6
    for feature, explanation in enumerate(found):
        assert explanation.name == f"q[7, {feature}]"
        steps_hold(explanation, turned[feature])


@pytest.mark.parametrize("n_heads", [1, 2, 3, 8, 12, 16])
def test_an_alibi_cell(n_heads):
    bias = alibi_bias(n_heads, 5)
    for head in range(n_heads):
        for row in range(5):
            for column in range(5):
                steps_hold(explain.explain_alibi(bias, head, row, column), bias[head, row, column])


@pytest.mark.parametrize("bend", [True, False])
@pytest.mark.parametrize("biased", [True, False])
def test_a_state(bend, biased):
    rng = np.random.default_rng(0)
    x, params = rng.standard_normal((4, 3)), {"w_x": rng.standard_normal((3, 2)), "w_h": rng.standard_normal((2, 2))}
    params |= {"b": np.array([0.5, -1.0])} if biased else {}
    trace = recurrent(x, params, bend=bend)
    for step in range(4):
        for feature in range(2):
            found = explain_state(x, params, trace, step, feature, bend)
            assert len(found) == 1 + bend and found[-1].name == f"states[{step + 1}, {feature}]"
            product_holds(found[0], trace.pre[step, feature])
            assert found[0].terms[3].right_name == f"w_h[0, {feature}]" and found[0].terms[3].left == trace.states[step, 0]
            if bend:
                steps_hold(found[1], trace.states[step + 1, feature])


@pytest.mark.parametrize("call", [
    lambda: explain.explain_sinusoidal(sinusoidal(2, 2), 2, 0), lambda: explain.explain_sinusoidal(sinusoidal(2, 2), 0, -1),
    lambda: explain.explain_shift(shift_matrix(1, 2), 1, 0, 2), lambda: explain.explain_shifted(np.eye(2), sinusoidal(2, 2), 5, 0, 0.0),
    lambda: explain.explain_alibi(alibi_bias(2, 2), 2, 0, 0), lambda: explain.explain_alibi(alibi_bias(2, 2), 0, 2, 0),
    lambda: explain.explain_rotary("q", [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], 0), lambda: explain.explain_rotary("q", [1.0], [1.0], 0, "other"),
    lambda: explain_state([[1.0]], {"w_x": np.eye(1), "w_h": np.eye(1)}, recurrent([[1.0]], {"w_x": np.eye(1), "w_h": np.eye(1)}), 1, 0),
])
def test_a_cell_that_is_not_there_is_refused_with_a_sentence(call):
    with pytest.raises(ValueError, match=r"\.$"):
        call()
