"""A number as the sum that makes it: terms, what they come to, and both as text."""

import math
import re
from typing import NamedTuple

_DECIMAL = re.compile(r"\d+\.\d+(e[+-]?\d+)?")


class Term(NamedTuple):
    """One part of a sum: value = left · right for a product, exp(left - right) for an exponential.

    In "steps" a term is a whole step: left_name is what it makes, right_name the expression with its numbers in it.
    """

    left_name: str
    left: float
    right_name: str
    right: float
    value: float


class Explanation(NamedTuple):
    """The terms behind one cell, what they come to, and the cell of the trace that this must equal."""

    name: str               # e.g. "raw_scores[0, 1]"
    kind: str               # "product", "exponential", "sum" or "steps"
    terms: tuple[Term, ...]
    total: float            # the sum of the terms
    numerator: float | None # of the weight: this key's exponential; None elsewhere
    result: float           # total, or numerator / total
    value: float            # the number in the trace

    @property
    def residual(self):
        """|result - value|: rounding alone."""
        return abs(self.result - self.value)


def products(left, left_row, right, right_column, row, column, right_row=None, offset=0):
    """The terms left[row, i] · right[i, column] for every i, or left[row, i] · right[right_row, i] for a dot of two rows.

    left, right  names; left_row, right_column: the numbers, (n,) each
    offset       added to the row numbers of the right matrix, where it is a part of a larger one
    returns      list of Term

    >>> products("q", [2.0], "k", [3.0], 0, None, right_row=1)[0].right_name
    'k[1, 0]'
    """
    return [Term(f"{left}[{row}, {i}]", float(a), f"{right}[{i + offset}, {column}]" if right_row is None else f"{right}[{right_row}, {i}]",
                 float(b), float(a) * float(b)) for i, (a, b) in enumerate(zip(left_row, right_column, strict=True))]


def explain_product(name, left, left_row, right, right_column, row, column, value, bias=None):
    """Take one cell of left · right (+ bias) apart, for any two matrices.

    name             of the product; left, right: names of the matrices
    left_row         (n,) row `row` of the left matrix
    right_column     (n,) column `column` of the right one
    value            the cell that the sum must equal
    bias             (name, number) that is added, or None
    returns          Explanation

    >>> explain_product("y", "x", [2.0], "w", [3.0], 0, 0, 6.0).total
    6.0
    """
    terms = products(left, left_row, right, right_column, row, column)
    if bias is not None:
        terms.append(Term(f"{bias[0]}[{column}]", float(bias[1]), "1", 1.0, float(bias[1])))
    total = sum(term.value for term in terms)
    return Explanation(f"{name}[{row}, {column}]", "product", tuple(terms), total, None, total, float(value))


def explain_sum(name, parts, value):
    """Take a number apart that is the sum of named others.

    parts    {name: number}
    value    the number that the sum must equal
    returns  Explanation

    >>> explain_sum("after[0]", {"before[0]": 1.0, "written[0]": 2.0}, 3.0).total
    3.0
    """
    terms = tuple(Term(part, float(number), "1", 1.0, float(number)) for part, number in parts.items())
    total = sum(term.value for term in terms)
    return Explanation(name, "sum", terms, total, None, total, float(value))


def explain_steps(name, steps, value):
    """Take a number apart that comes from formulas, one after the other.

    steps    [(what it makes, expression with its numbers in it, result)]; the last one makes `name`
    value    the number that the last result must equal
    returns  Explanation

    >>> explain_steps("y", [("y", "sin(0)", 0.0)], 0.0).result
    0.0
    """
    terms = tuple(Term(made, math.nan, expression, math.nan, float(result)) for made, expression, result in steps)
    return Explanation(name, "steps", terms, terms[-1].value, None, terms[-1].value, float(value))


def number(value):
    """A number at full precision, whole numbers without a decimal point.

    >>> number(2.0), number(0.1)
    ('2', '0.1')
    """
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def lines(explanation):
    """The explanation as plain text, one line a term, every operand at full precision.

    >>> lines(explain_product("y", "x", [2.0], "w", [3.0], 0, 0, 6.0))
    ['x[0, 0] × w[0, 0] = 2 × 3 = 6', 'y[0, 0] = 6']
    """
    if explanation.kind == "steps":
        return [f"{term.left_name} = {term.right_name} = {number(term.value)}" for term in explanation.terms]
    text = []
    for term in explanation.terms:
        if explanation.kind == "product":
            text.append(f"{term.left_name} × {term.right_name} = {number(term.left)} × {number(term.right)} = {number(term.value)}")
        elif explanation.kind == "exponential":
            text.append(f"exp({term.left_name} - {term.right_name}) = exp({number(term.left)} - {number(term.right)}) = "
                        f"{number(term.value)}")
        else:
            text.append(f"{term.left_name} = {number(term.value)}")
    if explanation.kind == "exponential":
        text.append(f"sum of the row = {number(explanation.total)}")
        if not explanation.total:
            text.append(f"{explanation.name} = 0")  # no key is visible: nothing is shared out
        elif not explanation.name.startswith("exponential"):
            text.append(f"{explanation.name} = {number(explanation.numerator)} / {number(explanation.total)} = "
                        f"{number(explanation.result)}")
        else:
            text.append(f"{explanation.name} = {number(explanation.result)}")
    elif len(explanation.terms) > 1:
        text.append(f"{explanation.name} = sum of the above = {number(explanation.total)}")
    else:
        text.append(f"{explanation.name} = {number(explanation.total)}")
    return text


def summary(explanations):
    """The chain in one rounded line, for reading; `lines` has every digit.

    >>> summary([explain_product("y", "x", [2.0, 1.0], "w", [3.0, 4.0], 0, 0, 10.0)])
    '2×3 + 1×4 = 10'
    """
    steps = []
    for explanation in explanations:
        if explanation.kind == "exponential":
            own = explanation.name[explanation.name.index("["):]
            shifted = next((f"{term.left - term.right:.4g}" for term in explanation.terms if term.left_name.endswith(own)), "-∞")
            is_share = not explanation.name.startswith("exponential") and explanation.total
            share = f" / {explanation.total:.4g}" if is_share else ""
            steps.append(f"e^({shifted}){share} = {explanation.result:.4g}")
        elif explanation.kind == "steps":
            last = explanation.terms[-1]
            expression = _DECIMAL.sub(lambda found: f"{float(found[0]):.4g}", last.right_name)
            steps.append(f"{expression} = {last.value:.4g}")
        elif explanation.kind == "sum":
            steps.append(_joined([f"{term.left:.4g}" for term in explanation.terms]) + f" = {explanation.total:.4g}")
        else:
            steps.append(_joined([f"{term.left:.4g}×{term.right:.4g}" for term in explanation.terms]) + f" = {explanation.total:.4g}")
    return " → ".join(steps)


def _joined(parts, most=4):
    """The first few summands, and how many more there are."""
    return " + ".join(parts[:most]) + (f" + … ({len(parts) - most} more)" if len(parts) > most else "")
