"""The working of a question as lines to read: brackets round numbers below 0, one minus sign, few digits, ≈ where digits were cut.

`core.sums.lines` has the same sums with every digit.
"""

import math
import re

PLACES = 4
NUMBER = re.compile(r"(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?(?![\w.])")
ROOT = re.compile(r"√\(([\d.,]+)(?: \+ 0)?\)")


def short(value):
    """A number with at most four decimals, and whether that is all of it. Small ones keep three digits.

    returns  (str, bool)

    >>> short(-1600), short(1 / 3), short(0.5)
    (('−1,600', True), ('0.3333', False), ('0.5', True))
    """
    value = float(value) + 0.0
    places = PLACES if not value or abs(value) >= 1e-3 else 2 - math.floor(math.log10(abs(value)))
    text = f"{value:,.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return ("0" if text == "-0" else text.replace("-", "−")), abs(float(text.replace(",", "")) - value) <= 1e-9 * max(1.0, abs(value))


def expression(text):
    """A formula with its numbers in it, made readable: numbers short, those below 0 in brackets where a sign or × stands beside them.

    returns  (str, are all numbers whole?)

    >>> expression("-4 × -2 + 0.30000000000000004 - √(25 + 0)")
    ('(−4) × (−2) + 0.3 − √25', True)
    """
    whole = True

    def tidy(found):
        nonlocal whole
        shown, exact = short(float(found[0]))
        whole = whole and exact
        before, after = text[:found.start()].rstrip()[-1:], text[found.end():].lstrip()[:1]
        beside = before in ("+", "-", "×", "/") or (before in ("", "(") and after in ("×", "/") and text[:found.start()][-2:] != "^(")
        return f"({shown})" if shown.startswith("−") and beside else shown
    return ROOT.sub(r"√\1", NUMBER.sub(tidy, text).replace("-", "−")), whole


def readable(explanation):
    """A sum as lines to read.

    explanation  core.sums.Explanation
    returns      list of str

    >>> from core.sums import explain_product
    >>> readable(explain_product("y", "x", [2.0], "w", [-3.0], 0, 0, -6.0))
    ['y[0, 0] = x[0, 0] × w[0, 0]', '= 2 × (−3)', '= −6']
    """
    return {"steps": _steps, "product": _product, "sum": _sum, "exponential": _share}[explanation.kind](explanation)


def _equal(*parts):
    """Texts with = between them, ≈ from the first that lost digits on. parts: (text, exact)."""
    line, exact = parts[0][0], parts[0][1]
    for text, whole in parts[1:]:
        exact = exact and whole
        line += f" {'=' if exact else '≈'} {text}" if text != line.rsplit(" = ", 1)[-1] else ""
    return line


def _added(values):
    """Numbers with + between them; those below 0 in brackets, but for the first. Returns (text, exact)."""
    return expression(" + ".join(f"{float(value)!r}" for value in values))


def _steps(explanation):
    return [_equal((term.left_name, True), expression(term.right_name), short(term.value)) for term in explanation.terms]


def _product(explanation):
    terms = explanation.terms
    names = " + ".join(term.left_name if term.right_name == "1" else f"{term.left_name} × {term.right_name}" for term in terms)
    factors = expression(" + ".join(repr(term.left) if term.right_name == "1" else f"{term.left!r} × {term.right!r}" for term in terms))
    parts = [factors, *([_added([term.value for term in terms])] if len(terms) > 1 else []), short(explanation.total)]
    return [f"{explanation.name} = {names}", *_chain(parts)]


def _chain(parts):
    """One line a part, each equal to the one before."""
    lines, exact = [], True
    for text, whole in parts:
        exact = exact and whole
        lines.append(f"{'=' if exact else '≈'} {text}")
    return lines


def _sum(explanation):
    names = [term.left_name for term in explanation.terms]
    parts = [_added([term.left for term in explanation.terms]), short(explanation.total)]
    if len(" + ".join(names)) <= 60:
        return [_equal((explanation.name, True), (" + ".join(names), True), *parts)]
    return [*(_equal((term.left_name, True), short(term.left)) for term in explanation.terms), _equal((explanation.name, True), *parts)]


def _share(explanation):
    powers = [expression(f"{term.left!r} - {term.right!r}") for term in explanation.terms]
    lines = [f"e to each score, the largest ({short(explanation.terms[0].right)[0]}) taken away first:",
             *(_equal((f"e^({text})", exact), short(term.value)) for (text, exact), term in zip(powers, explanation.terms, strict=True)),
             _equal(("sum of the row", True), _added([term.value for term in explanation.terms]), short(explanation.total))]
    over, under = short(explanation.numerator), short(explanation.total)
    return [*lines, _equal((explanation.name, True), (f"{over[0]} / {under[0]}", over[1] and under[1]), short(explanation.result))]
