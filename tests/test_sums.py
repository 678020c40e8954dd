"""Terms, what they come to, and both as text."""

import math

import pytest

from core import sums
from tests.page_tools import evaluated, recomputed

PANEL = ["title", "summary", "", "value on this page: 0", ""]


def test_a_product_names_every_operand_and_adds_them_up():
    found = sums.explain_product("y", "x", [1.0, 2.0], "w", [3.0, -4.0], 5, 6, -5.0)
    assert [(t.left_name, t.right_name, t.value) for t in found.terms] == [("x[5, 0]", "w[0, 6]", 3.0), ("x[5, 1]", "w[1, 6]", -8.0)]
    assert (found.name, found.total, found.result, found.residual) == ("y[5, 6]", -5.0, -5.0, 0.0)


def test_a_bias_is_one_more_term():
    found = sums.explain_product("y", "x", [2.0], "w", [3.0], 0, 1, 6.5, ("b", 0.5))
    assert (found.terms[-1].left_name, found.total, found.residual) == ("b[1]", 6.5, 0.0)


def test_vectors_of_two_lengths_are_not_multiplied():
    with pytest.raises(ValueError, match="shorter|longer"):
        sums.explain_product("y", "x", [1.0], "w", [1.0, 2.0], 0, 0, 1.0)


def test_what_the_trace_holds_is_kept_beside_what_the_sum_comes_to():
    assert sums.explain_product("y", "x", [2.0], "w", [3.0], 0, 0, 6.25).residual == 0.25
    assert sums.explain_sum("s[0]", {"a[0]": 1.0}, 3.0).residual == 2.0
    assert sums.explain_steps("y", [("y", "1 + 1", 2.0)], 5.0).residual == 3.0


def test_a_sum_has_a_line_for_each_part_and_one_for_all():
    found = sums.explain_sum("s[0]", {"a[0]": 1.5, "b[0]": -2.0}, -0.5)
    assert sums.lines(found) == ["a[0] = 1.5", "b[0] = -2", "s[0] = sum of the above = -0.5"]
    assert sums.summary([found]) == "1.5 + -2 = -0.5"


def test_steps_stand_one_a_line_with_their_numbers_in_them():
    found = sums.explain_steps("y[0]", [("m[0]", "(1 + 2) / 2", 1.5), ("y[0]", "1.5² + 0.123456789", 2.373456789)], 2.373456789)
    assert sums.lines(found) == ["m[0] = (1 + 2) / 2 = 1.5", "y[0] = 1.5² + 0.123456789 = 2.373456789"]
    assert sums.summary([found]) == "1.5² + 0.1235 = 2.373"
    assert recomputed([*PANEL, *sums.lines(found)]) == [("y[0]", pytest.approx(2.373456789))]


def test_the_summary_rounds_and_counts_what_it_leaves_out():
    found = sums.explain_product("y", "x", [1.0] * 6, "w", [math.pi] * 6, 0, 0, 6 * math.pi)
    assert sums.summary([found]) == "1×3.142 + 1×3.142 + 1×3.142 + 1×3.142 + … (2 more) = 18.85"


@pytest.mark.parametrize("value, shown", [(2.0, "2"), (-0.0, "0"), (0.1, "0.1"), (1e300, "1e+300"), (1 / 3, "0.3333333333333333"),
                                          (float("nan"), "nan"), (float("inf"), "inf")])
def test_a_number_is_written_so_that_it_reads_back_the_same(value, shown):
    assert sums.number(value) == shown
    assert float(shown) == value or math.isnan(value)


@pytest.mark.parametrize("expression, value", [("√(9) + 2³", 11), ("(1 - 3)² / 4", 1), ("max(-1, 0) + exp(0)", 1),
                                               ("√(2 / π)", 0.7978845608)])
def test_the_reader_of_these_tests_can_read(expression, value):
    assert evaluated(expression) == pytest.approx(value)
