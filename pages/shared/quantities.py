"""Pictures of quantities: lines over axes that multiply, and lying bars with whole names. Nothing here computes a lesson's numbers."""

import math

import numpy as np

from pages.shared import text, theme
from pages.shared.figures import Ready, layout, typed

LINES = {"solid": "solid", "dash": "dash", "dot": "dot", "dashdot": "dashdot"}
HATCHES = ("", "/", ".", "x", "-")


def lines(series, *, title, x_title, y_title, points=None, at=None, base=2, linear=False, height=340, dark=False):
    """Lines and measured points, each over its own x, in a plane whose two axes multiply: a power of x is a straight line.

    series  {name: (x, y, look)}; look is (number of its colour, a key of LINES, or "points" for marks without a line)
    points  {name: (x, y)} single marks with their names beside them; the names are the course's own
    at      (name, x) of a vertical line
    base    of the steps of the x axis: 2 or 10; the y axis has powers of 10
    linear  True: both axes add instead of multiplying, and begin at 0
    """
    colours = theme.palette(dark)
    order = _colours(colours)
    data = []
    for name, (x, y, (colour, look)) in series.items():
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        style = ({"mode": "markers", "marker": {"size": 9, "color": order[colour], "symbol": ("circle", "diamond")[colour % 2]}}
                 if look == "points" else {"mode": "lines", "line": {"color": order[colour], "dash": LINES[look], "width": 2.5}})
        data.append({"type": "scatter", "name": name, "x": typed(x), "y": typed(y), **style,
                     "hovertemplate": f"{text.plotly(name, text.HOVER_LENGTH)}<br>{x_title} %{{x:,.5~g}}<br>%{{y:.4~g}}<extra></extra>"})
    xs, ys = (np.concatenate([np.asarray(each[i], dtype=float) for each in series.values()]) for i in (0, 1))
    for number, (name, (x, y)) in enumerate((points or {}).items()):
        data.append({"type": "scatter", "mode": "markers", "name": name, "x": [float(x)], "y": [float(y)], "showlegend": False,
                     "marker": {"size": 12, "symbol": ("circle", "square", "diamond")[number % 3], "color": colours.mark},
                     "hovertemplate": f"{name}<br>{x_title} %{{x:,.5~g}}<br>%{{y:.4~g}}<extra></extra>"})
    axis = {"gridcolor": colours.quiet, "griddash": "dot", "zeroline": False, "tickfont": {"color": colours.text}, "fixedrange": True}
    ends = ({"rangemode": "tozero", "tickformat": ",~g", "nticks": 6},) * 2 if linear else (
        {"type": "log"} | _ticks(xs, base, 5 if base == 2 else 7) | {"tickangle": 0}, {"type": "log"} | _ticks(ys, 10))
    rows = sorted(set(xs.tolist()))
    table = [[dict(zip(np.asarray(x, dtype=float).tolist(), np.asarray(y, dtype=float).tolist(), strict=True)).get(row, math.nan)
              for x, y, _ in series.values()] for row in rows]
    return Ready({"data": data, "layout": layout(
        colours, height, title, {"l": 66, "r": 20, "t": 36, "b": 104},
        xaxis=axis | {"title": {"text": x_title, "standoff": 4}} | ends[0],
        yaxis=axis | {"title": {"text": y_title, "standoff": 6}} | ends[1],
        **_marks(points or {}, at, xs, ys, math.log10 if not linear else float, colours))
        | {"showlegend": True, "legend": {"orientation": "h", "y": -0.25, "x": 0, "yanchor": "top", "font": {"size": 12}}}},
                 ([f"{row:,.6g}" for row in rows], list(series), np.array(table)))


def lying(labels, series, *, title, unit, stacked=False, dark=False):
    """Bars that lie, so that every label has its line; the labels and names are the course's own.

    series  {name: (n,) values}, told apart by colour and by hatching
    stacked True: one after the other, where they add up; else side by side
    """
    colours = theme.palette(dark)
    data = [{"type": "bar", "orientation": "h", "name": name, "x": typed(np.asarray(values, dtype=float)), "y": list(range(len(labels))),
             "hovertext": list(labels), "hovertemplate": f"%{{hovertext}}<br>{name} %{{x:.5~g}}<extra></extra>",
             "marker": {"color": colour, "pattern": {"shape": hatch, "fillmode": "overlay", "fgcolor": "#ffffff", "fgopacity": 0.55,
                                                     "size": 6}}}
            for (name, values), colour, hatch in zip(series.items(), _colours(colours), HATCHES, strict=False)]
    axis = {"tickfont": {"color": colours.text}, "zeroline": False, "fixedrange": True}
    each = 34 if stacked else 20 + 13 * len(series)
    return Ready({"data": data, "layout": layout(
        colours, 80 + 19 * len(series) + each * len(labels), f"{title}, {unit}",
        {"l": 24 + 7 * max(map(len, labels)), "r": 20, "t": 36, "b": 44 + 19 * len(series)},  # a phone gives each name of the legend a line
        barmode="stack" if stacked else "group",
        xaxis=axis | {"gridcolor": colours.quiet, "griddash": "dot", "rangemode": "tozero",
                      "nticks": 6, "exponentformat": "power"},
        yaxis=axis | {"tickvals": list(range(len(labels))), "ticktext": list(labels), "range": [len(labels) - 0.4, -0.6],
                      "showgrid": False})
        | {"showlegend": len(series) > 1, "legend": {"orientation": "h", "y": 0, "yref": "container", "yanchor": "bottom", "x": 0,
                                                     "traceorder": "normal", "font": {"size": 12}}}},
                 (labels, list(series), np.transpose(list(series.values()))))


def _colours(colours):
    """The colours in their order."""
    return (colours.first, colours.second, colours.third, colours.mark, colours.text)


def _marks(points, at, xs, ys, place, colours):
    """The vertical line, and the names of the single marks, each beside its mark and inside the axes.

    place  function of a value -> where it stands on its axis
    """
    inner = []
    for numbers, share in ((xs, 1 / 2), (ys, 1 / 3)):
        finite = numbers[np.isfinite(numbers) & (numbers > 0)]
        low, high = (place(float(finite.min())), place(float(finite.max()))) if finite.size else (0.0, 0.0)
        inner.append(low + share * (high - low))
    middle, third = inner
    shapes, notes = [], []
    for number, (name, (x, y)) in enumerate(points.items()):
        right = place(x) <= middle
        notes.append({"x": place(x), "y": place(y), "text": name, "showarrow": True, "arrowhead": 0, "arrowcolor": colours.mark,
                      "ax": 44 if right else -44, "ay": (36 + 22 * number) * (-1 if place(y) < third else 1),
                      "xanchor": "left" if right else "right", "bgcolor": colours.fill,
                      "borderpad": 2, "font": {"size": 12, "color": colours.text}})
    if at is not None:
        shapes.append({"type": "line", "xref": "x", "yref": "paper", "x0": at[1], "x1": at[1], "y0": 0, "y1": 1,
                       "line": {"color": colours.mark, "width": 1.5, "dash": "dot"}})
        right = place(at[1]) <= middle
        notes.append({"xref": "x", "yref": "paper", "x": place(at[1]), "y": 1, "text": at[0], "showarrow": False, "yanchor": "top",
                      "xanchor": "left" if right else "right", "xshift": 4 if right else -4, "font": {"size": 12, "color": colours.mark}})
    return {"shapes": shapes, "annotations": notes}


def _ticks(numbers, base, most=7):
    """Steps that multiply, at most so many powers, and a range round the numbers with a little room."""
    numbers = numbers[np.isfinite(numbers) & (numbers > 0)]
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (1.0, 1.0)
    room = 0.05 * max(math.log10(high / low), 0.3)
    first, last = math.floor(math.log(low, base) + 1e-9), math.ceil(math.log(high, base) - 1e-9)
    powers = range(first, last + 1, max(math.ceil((last - first + 1) / most), 1))
    digits = (1, 2, 5) if base == 10 and high < 1000 * low else (1,)
    found = {digit * float(base) ** i: _tick(digit, base, i) for i in powers for digit in digits}
    if not any(low <= value <= high for value in found):
        found = {low: f"{low:,.4g}"}
    return {"tickvals": list(found), "ticktext": list(found.values()), "range": [math.log10(low) - room, math.log10(high) + room]}


def _tick(digit, base, power):
    """A number of an axis: plain where it is short, a power elsewhere."""
    if power >= -3 and digit * base**power < 10**5:
        return f"{digit * base**power:,.6g}"
    raised = f"{base}<sup>{power}</sup>".replace("-", "−")
    return raised if digit == 1 else f"{digit}·{raised}"
