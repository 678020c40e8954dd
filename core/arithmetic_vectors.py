"""The arithmetic behind comparing vectors: a dot product of two rows, and the cosine of two rows."""

import math

import numpy as np

from core.sums import Explanation, explain_steps, number, products


def explain_dot(name, left, left_row, row, right, right_row, other, value):
    """Take the dot product of two rows apart.

    name         of the result, e.g. "logits[0, 1]"
    left, right  names of the matrices; left_row (d,) is row number `row` of the left one, right_row (d,) is row `other` of the right one
    value        the number that the sum must equal
    returns      Explanation

    >>> explain_dot("logits[0, 1]", "x", [2.0], 0, "w_embed", [3.0], 1, 6.0).terms[0].right_name
    'w_embed[1, 0]'
    """
    terms = products(left, left_row, right, right_row, row, None, right_row=other)
    total = sum(term.value for term in terms)
    return Explanation(name, "product", tuple(terms), total, None, total, float(value))


def explain_cosine(name, x, row, other, value):
    """Take the cosine of two rows of x apart: their dot product, the length of each, and the quotient.

    cosine = x[row]·x[other] / (|x[row]| |x[other]|);  0 where a row is all zeros

    name     of the matrix, e.g. "w_embed"
    x        (n, d)
    value    the cosine that the last step must equal
    returns  list of Explanation, the cosine last

    >>> explain_cosine("x", np.array([[3.0, 4.0], [1.0, 0.0]]), 0, 1, 0.6)[-1].result
    0.6
    """
    chain, lengths = [], []
    for made, one, two in ((f"{name}[{row}]·{name}[{other}]", row, other), (f"|{name}[{row}]|²", row, row),
                           (f"|{name}[{other}]|²", other, other)):
        chain.append(explain_dot(made, name, x[one], one, name, x[two], two, float(np.dot(x[one], x[two]))))
    dot, *squares = (each.total for each in chain)
    steps = []
    for which, square in zip((row, other), squares, strict=True):
        lengths.append(math.sqrt(square))
        steps.append((f"|{name}[{which}]|", f"√({number(square)})", lengths[-1]))
    both = lengths[0] * lengths[1]
    steps.append((f"cosine[{row}, {other}]", f"{number(dot)} / ({number(lengths[0])} × {number(lengths[1])})", dot / both)
                 if both else (f"cosine[{row}, {other}]", "0, because a row is all zeros", 0.0))
    return [*chain, explain_steps(f"cosine[{row}, {other}]", steps, value)]
