"""Reading what a page shows, and computing it again: nothing here uses the code that made it."""

import math
import re
from urllib.parse import urlencode

# every lesson: its address, its title
LESSONS = {"why-attention": "Why attention", "tokens": "Tokens", "embeddings": "Embeddings", "positions": "Positions",
           "queries-keys-values": "Queries, keys, values", "attention": "Attention", "scaling": "Scaling and saturation",
           "causal-mask": "Causal mask", "many-heads": "Many heads", "normalisation": "Normalisation", "feed-forward": "Feed-forward",
           "block": "Residual stream and block", "encoder-decoder": "Encoder, decoder, cross-attention",
           "forward-pass": "Forward pass", "training": "Training", "generation": "Generation", "looking-inside": "Looking inside",
           "parameters": "Parameters", "memory-and-compute": "Memory and compute",
           "in-practice": "In practice", "misconceptions": "Misconceptions", "quiz": "Quiz"}
PAGES = {"": "Welcome", **LESSONS, "glossary": "Glossary and sources"}
REFERENCE = {"Welcome", "Glossary and sources"}  # titles of pages without checks

NUMBER = r"(-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf))"
PRODUCT = re.compile(rf"(\S+\[.*?\]) × (\(.*\)|\S+(?:\[.*?\])?) = {NUMBER} × {NUMBER} = {NUMBER}")
EXPONENTIAL = re.compile(rf"exp\((\S+\[.*?\]) - max\) = exp\({NUMBER} - {NUMBER}\) = {NUMBER}")
ROW_SUM = re.compile(rf"sum of the row = {NUMBER}")
SHARE = re.compile(rf"(\S+\[.*?\]) = {NUMBER} / {NUMBER} = {NUMBER}")
SUM = re.compile(rf"(\S+\[.*?\]) = sum of the above = {NUMBER}")
PLAIN = re.compile(rf"(\S+\[.*?\]) = {NUMBER}")
STEP = re.compile(rf"(\S+\[.*?\]) = (.+) = {NUMBER}")
SIGNS = {"×": "*", "²": "**2", "³": "**3", "√": "sqrt", "π": "pi", "^": "**"}
TRACE = re.compile(rf"value on this page: {NUMBER}")


def linked(page, **asked):
    """The address of a page with these settings: linked("attention", text="a b", row="0 · a")."""
    prefix = page.replace("-", "_") or "welcome"
    course = ("text", "seed", "tables")
    return f"{page}?{urlencode({name if name in course else f'{prefix}.{name}': value for name, value in asked.items()})}"


def close(one, other):
    """Equal but for rounding."""
    return one == other or math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)


def worked(panel):
    """Compute a panel of arithmetic again from its operands as printed, and assert every result in it.

    Each block is one step; where a later step uses the result of an earlier one, the number must be that result.
    returns  (the last result, {name: result} of all steps)
    """
    head, trace, *blocks = panel.strip().split("\n\n")
    results, value = {}, None
    for block in blocks:
        terms, row_sum, value, name = [], None, None, None
        for line in block.split("\n"):
            if found := PRODUCT.fullmatch(line):
                left, right, product = map(float, found.groups()[2:])
                assert close(left * right, product), line
                assert close(results.get(found[1], left), left), f"{line}: the step before came to {results[found[1]]}"
                terms.append(product)
            elif found := EXPONENTIAL.fullmatch(line):
                score, top, raised = map(float, found.groups()[1:])
                assert close(math.exp(score - top), raised), line
                assert close(results.get(found[1], score), score), f"{line}: the step before came to {results[found[1]]}"
                terms.append(raised)
            elif found := ROW_SUM.fullmatch(line):
                row_sum = float(found[1])
                assert close(math.fsum(terms), row_sum), line
            elif row_sum is not None and (found := SHARE.fullmatch(line)):
                name, (numerator, total, value) = found[1], map(float, found.groups()[1:])
                assert total == row_sum, line
                assert numerator == 0 or numerator in terms, line
                assert close(numerator / total, value), line
            elif found := SUM.fullmatch(line):
                name, value = found[1], float(found[2])
                assert close(math.fsum(terms), value), line
            elif not PLAIN.fullmatch(line) and (found := STEP.fullmatch(line)):
                name, value = found[1], float(found[3])
                assert close(evaluated(found[2]), value), line
            elif found := PLAIN.fullmatch(line):
                name, value = found[1], float(found[2])
                if terms and terms[-1] == value:
                    continue
                terms.append(value)  # a summand, such as one head's share
            else:
                raise AssertionError(f"not understood: {line!r}")
        assert value is not None, f"the step has no result:\n{block}"
        results[name] = value
    shown = float(TRACE.fullmatch(trace)[1])
    assert close(value, shown), f"the sum comes to {value}, the trace holds {shown}"
    assert f"= {value:.4g}" in head.split("\n")[1] or close(float(head.rsplit("= ", 1)[1]), float(f"{value:.4g}")), head
    return value, results


def evaluated(expression):
    """What an expression such as (1 - 0.25)² / √(0.5) comes to."""
    for sign, code in SIGNS.items():
        expression = expression.replace(sign, code)
    assert re.fullmatch(r"(?:[\d.\s()+\-*/,]|e[+-]?\d|sqrt|sin|cos|exp|tanh|erf|max|pi)+", expression), expression
    return eval(expression, {"__builtins__": {}}, {name: getattr(math, name) for name in ("sqrt", "sin", "cos", "exp", "tanh", "erf", "pi")}
                | {"max": max})


def printed(output):
    """What a downloaded script printed: [(name, rows of numbers)]."""
    found = []
    for line in output.splitlines():
        if line.startswith("["):
            found[-1][1].append([float(number) if number not in ("True", "False") else number == "True"
                                 for number in line.strip("[]").split(", ")])
        else:
            found.append((line, []))
    return found


def far(one, other):
    """The largest distance between two matrices of one shape; empty cells must be empty in both."""
    assert [len(row) for row in one] == [len(row) for row in other], "the shapes differ"
    pairs = [pair for rows in zip(one, other, strict=True) for pair in zip(*rows, strict=True)]
    assert all((a != a) == (b != b) for a, b in pairs), "an empty cell against a number"
    return max((abs(a - b) for a, b in pairs if a == a), default=0.0)


def softmax(scores, temperature=1.0):
    """From the formula, with nothing but math."""
    raised = [math.exp((score - max(scores)) / temperature) for score in scores]
    return [each / math.fsum(raised) for each in raised]


def rgb(css):
    """("rgb(1, 2, 3)" or "rgba(…)" or "#rrggbb") as three channels and an opacity."""
    if css.startswith("#"):
        return [int(css[i:i + 2], 16) for i in (1, 3, 5)] + [1.0]
    numbers = [float(number) for number in re.findall(r"[\d.]+", css)]
    return numbers if len(numbers) == 4 else [*numbers, 1.0]


def contrast(ink, *grounds, opacity=1.0):
    """WCAG 2 contrast of a colour on its grounds, from the nearest to the farthest, the last one opaque; 1 to 21."""
    def over(colour, ground, share=1.0):
        return [a * colour[3] * share + b * (1 - colour[3] * share) for a, b in zip(colour[:3], ground, strict=True)]

    def luminance(channels):
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (channel / 255 for channel in channels)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    *nearer, last = [rgb(ground) for ground in grounds]
    ground = last[:3]
    for colour in reversed(nearer):
        ground = over(colour, ground)
    low, high = sorted((luminance(over(rgb(ink), ground, opacity)), luminance(ground)))
    return (high + 0.05) / (low + 0.05)


def overlap(one, other, slack=1.0):
    """Do two turned rectangles, each as four corners, overlap by more than `slack` pixels?"""
    for corners in (one, other):
        for (x0, y0), (x1, y1) in ((corners[0], corners[1]), (corners[1], corners[2])):
            length = math.hypot(x1 - x0, y1 - y0) or 1.0
            along = ((x1 - x0) / length, (y1 - y0) / length)
            spans = [[x * along[0] + y * along[1] for x, y in shape] for shape in (one, other)]
            if max(spans[0]) - slack <= min(spans[1]) or max(spans[1]) - slack <= min(spans[0]):
                return False
    return True
