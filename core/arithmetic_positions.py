"""The sum behind any number that carries a position: sinusoidal vectors, their shifts, rotations and ALiBi's penalties."""

import math

from core.arithmetic_layers import written
from core.positions import alibi_slopes
from core.sums import Explanation, explain_steps, number, products

BASE = 10000.0


def explain_sinusoidal(pe, position, feature):
    """Take one cell of a table of sinusoidal positions apart: the pair's frequency, the angle, its sine or cosine.

    pe       (n_positions, d_model)
    returns  Explanation
    raises   ValueError for a cell that is not there

    >>> from core.positions import sinusoidal
    >>> explain_sinusoidal(sinusoidal(1, 2), 0, 1).result
    1.0
    """
    _inside(pe, position, feature)
    turn, angle = _angle(feature // 2, pe.shape[1], position)
    function = "cos" if feature % 2 else "sin"
    name = f"pe[{position}, {feature}]"
    return explain_steps(name, [*turn, (name, f"{function}({number(angle)})", getattr(math, function)(angle))], pe[position, feature])


def explain_shift(matrix, k, row, column):
    """Take one cell of the matrix R(k) apart: cosine or sine of how far its pair turns; 0 between pairs.

    matrix   (d_model, d_model) from `shift_matrix`
    returns  Explanation
    raises   ValueError for a cell that is not there

    >>> from core.positions import shift_matrix
    >>> explain_shift(shift_matrix(0, 2), 0, 0, 0).result
    1.0
    """
    _inside(matrix, row, column)
    name = f"R[{row}, {column}]"
    if row // 2 != column // 2:
        return explain_steps(name, [(name, "0", 0.0)], matrix[row, column])
    turn, angle = _angle(row // 2, matrix.shape[0], k)
    if row == column:
        last = (name, f"cos({number(angle)})", math.cos(angle))
    else:
        sign = 1 if row < column else -1
        last = (name, f"{'-' * (sign < 0)}sin({number(angle)})", sign * math.sin(angle) + 0.0)
    return explain_steps(name, [*turn, last], matrix[row, column])


def explain_shifted(matrix, pe, position, feature, value):
    """Take one feature of R(k) · pe[position] apart.

    value    the number that the sum must equal
    returns  Explanation
    raises   ValueError for a cell that is not there

    >>> from core.positions import shift_matrix, sinusoidal
    >>> explain_shifted(shift_matrix(0, 2), sinusoidal(1, 2), 0, 1, 1.0).result
    1.0
    """
    _inside(pe, position, feature)
    return _dot(f"turned[{feature}]", products("R", matrix[feature], "pe", pe[position], feature, None, right_row=position), value)


def explain_dot(name, left, right, row, column, value):
    """Take the dot product of two rows apart, of one matrix or of two.

    name         of the result
    left, right  (name, matrix)
    row, column  the row of the left matrix, the row of the right one
    returns      Explanation

    >>> explain_dot("dots", ("a", [[2.0]]), ("b", [[3.0]]), 0, 0, 6.0).result
    6.0
    """
    terms = products(left[0], left[1][row], right[0], right[1][column], row, None, right_row=column)
    return _dot(f"{name}[{row}, {column}]", terms, value)


def explain_rotary(name, x, turned, position, layout="half"):
    """Take a rotated vector apart: each pair's frequency and angle, then both features that it turns.

    name     of the rotated vectors
    x        (d,) before; turned: (d,) after, as `rotary` made it
    returns  list of Explanation, one a feature, in the order of the features
    raises   ValueError where the layout is not known, or x and turned do not fit

    >>> [each.result for each in explain_rotary("q", [3.0, 4.0], [3.0, 4.0], 0)]
    [3.0, 4.0]
    """
    d = len(x)
    if layout not in ("half", "interleaved") or d % 2 or len(turned) != d:
        raise ValueError(f'A rotation takes the layout "half" or "interleaved" and an even number of features, not {layout!r} and {d}.')
    found = {}
    for i in range(d // 2):
        first, second = (i, i + d // 2) if layout == "half" else (2 * i, 2 * i + 1)
        a, b = float(x[first]), float(x[second])
        turn, angle = _angle(i, d, position)
        cos, sin, at = math.cos(angle), math.sin(angle), number(angle)
        for feature, result, text in (
                (first, a * cos - b * sin, f"{written(a)} × cos({at}) - {written(b)} × sin({at})"),
                (second, a * sin + b * cos, f"{written(a)} × sin({at}) + {written(b)} × cos({at})")):
            place = f"{name}[{position}, {feature}]"
            found[feature] = explain_steps(place, [*turn, (place, text, result)], turned[feature])
    return [found[feature] for feature in range(d)]


def explain_alibi(bias, head, row, column):
    """Take one cell of ALiBi's bias apart: the head's slope, how far back the key is, minus their product.

    bias     (n_heads, n_tokens, n_tokens) from `alibi_bias`
    returns  Explanation
    raises   ValueError for a cell that is not there

    >>> from core.positions import alibi_bias
    >>> explain_alibi(alibi_bias(1, 2), 0, 1, 0).result
    -0.00390625
    """
    n_heads = bias.shape[0]
    if not 0 <= head < n_heads:
        raise ValueError(f"There is no head {head}; there are heads 0 to {n_heads - 1}.")
    _inside(bias[head], row, column)
    below = 2 ** int(math.log2(n_heads))
    power = f"-8 / {below} × {head + 1}" if head < below else f"-8 / {2 * below} × {2 * (head - below) + 1}"
    slope, back = float(alibi_slopes(n_heads)[head]), max(row - column, 0)
    name = f"bias[{head}][{row}, {column}]"
    return explain_steps(name, [(f"slope[{head}]", f"2^({power})", slope), (f"back[{row}, {column}]", f"max({row} - {column}, 0)", back),
                                (name, f"-{number(slope)} × {back}", -slope * back + 0.0)], bias[head, row, column])


def _angle(pair, d, position):
    """How far a pair turns by a position: the steps, and the angle."""
    frequency = BASE ** (-2 * pair / d)
    steps = [(f"frequency[{pair}]", f"{number(BASE)}^(-{2 * pair} / {d})", frequency),
             (f"angle[{position}, {pair}]", f"{position} × {number(frequency)}", position * frequency)]
    return steps, position * frequency


def _dot(name, terms, value):
    total = sum(term.value for term in terms)
    return Explanation(name, "product", tuple(terms), total, None, total, float(value))


def _inside(cells, row, column):
    if not (0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]):
        raise ValueError(f"There are {cells.shape[0]} rows and {cells.shape[1]} columns; there is no cell [{row}, {column}].")
