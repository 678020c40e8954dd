"""Bars that lie, for long names and exact numbers: parts that open at a click, and long lists. They receive numbers and labels."""

import html

import numpy as np

from pages.shared import theme
from pages.shared.figures import Ready, layout, typed

LINE, BAR, GAP = 19, 16, 9  # pixels: a line of words, a bar, and the room below an item


def opened(labels, series, lines, *, title, marked=None, top=None, dark=False):
    """Items one below the other, each a name and a bar for each series under its own line of numbers; an item opens at a click.

    labels  one an item
    series  {name: (n,) values}, told apart by colour and by hatching; one scale for all
    lines   {name: [the numbers of each item in words]}
    marked  the number of the item to frame
    top     where the scale ends; the largest value unless given
    A click is reported with the number of its item.
    """
    colours = theme.palette(dark)
    several = len(series) > 1
    tall = (LINE if several else 0) + len(series) * (LINE + BAR) + GAP
    starts = [tall * i for i in range(len(labels))]
    most = max(top or 0, *(float(np.max(values)) for values in series.values())) or 1.0
    names = _escaped(labels)
    looks = ((colours.first, ""), (colours.second, "/"))
    data, words_y, words = [], [], []
    for which, ((name, values), (colour, hatch)) in enumerate(zip(series.items(), looks, strict=False)):
        above = (LINE if several else 0) + which * (LINE + BAR)
        data.append({"type": "bar", "orientation": "h", "name": name, "x": typed(np.asarray(values, dtype=float)), "width": BAR - 2,
                     "y": [start + above + LINE + BAR / 2 for start in starts], "hoverinfo": "skip",
                     "unselected": {"marker": {"opacity": 1}},
                     "marker": {"color": colour, "pattern": {"shape": hatch, "fillmode": "overlay", "fgcolor": "#ffffff",
                                                             "fgopacity": 0.55, "size": 6}}})
        for start, label, line in zip(starts, names, lines[name], strict=True):
            words_y.append(start + above + LINE / 2 + 1)
            words.append(f"{name}: {line}" if several else f"<b>{label}</b>  {line}")
    if several:
        words_y += [start + LINE / 2 for start in starts]
        words += [f"<b>{label}</b>" for label in names]
    told = [f"<b>{label}</b><br>" + "<br>".join(f"{name}: {lines[name][i]}" for name in series) for i, label in enumerate(names)]
    data.append({"type": "scatter", "mode": "text", "x": [0] * len(words), "y": words_y, "text": words, "textposition": "middle right",
                 "hoverinfo": "skip", "cliponaxis": False, "textfont": {"color": colours.text, "size": 13}})
    data.append(_rows([most] * len(labels), [start + tall / 2 for start in starts], tall - 2, colours.first, told))
    shapes = [] if marked is None else [
        {"type": "rect", "xref": "paper", "x0": -0.006, "x1": 1, "y0": starts[marked], "y1": starts[marked] + tall - 5,
         "line": {"color": colours.mark, "width": 2}}]
    axis = {"visible": False, "fixedrange": True}
    return Ready({"data": data, "layout": layout(
        colours, 38 + tall * len(labels), title, {"l": 10, "r": 6, "t": 32, "b": 4}, barmode="overlay", shapes=shapes,
        xaxis=axis | {"range": [0, most]}, yaxis=axis | {"range": [tall * len(labels), 0]})},
        (labels, list(series), np.transpose(list(series.values()))))


def listed(labels, values, lines, *, title, marked=None, framed=None, level=None, dark=False):
    """A long list: names on the left, a bar, and a few words at its end.

    lines   what stands at the end of each bar
    marked  the numbers of the items to colour
    framed  the number of the item that is taken apart
    level   (words, value) of an upright line to compare with
    A click anywhere in an item's row is reported with its number.
    """
    colours = theme.palette(dark)
    values, n = np.asarray(values, dtype=float), len(labels)
    most = float(values.max()) or 1.0
    end = most * (1.45 if max(map(len, lines)) < 12 else 1.95)  # words stand behind the longest bar, on a phone too
    bars = {"type": "bar", "orientation": "h", "name": "list", "x": typed(values), "y": list(range(n)), "width": 0.72,
            "marker": {"color": [colours.mark if i in (marked or ()) else colours.first for i in range(n)]}, "hoverinfo": "skip",
            "unselected": {"marker": {"opacity": 1}}}
    rows = _rows([end] * n, list(range(n)), 0.98, colours.first,
                 [f"<b>{label}</b><br>{line}" for label, line in zip(_escaped(labels), lines, strict=True)])
    ends = {"type": "scatter", "mode": "text", "x": typed(values), "y": list(range(n)), "text": [f" {line}" for line in lines],
            "textposition": "middle right", "hoverinfo": "skip", "cliponaxis": False, "textfont": {"color": colours.text, "size": 12}}
    shapes, notes = [], []
    if framed is not None:
        shapes.append({"type": "rect", "xref": "paper", "x0": -0.006, "x1": 1, "y0": framed - 0.48, "y1": framed + 0.48,
                       "line": {"color": colours.mark, "width": 2}})
    if level is not None:
        shapes.append({"type": "line", "x0": level[1], "x1": level[1], "y0": -0.6, "y1": n - 0.4,
                       "line": {"color": colours.quiet, "width": 1.5, "dash": "dash"}})
        notes = [{"x": level[1], "y": -0.6, "yanchor": "bottom", "text": level[0], "showarrow": False,
                  "font": {"color": colours.text, "size": 12}}]
    axis = {"fixedrange": True, "zeroline": False, "showgrid": False}
    return Ready({"data": [bars, ends, rows], "layout": layout(
        colours, (38 if level is None else 58) + 21 * n, title, {"l": 10, "r": 10, "t": 32 if level is None else 52, "b": 6},
        shapes=shapes, annotations=notes, barmode="overlay",
        xaxis=axis | {"visible": False, "range": [0, end]},
        yaxis=axis | {"range": [n - 0.4, -0.6], "tickvals": list(range(n)), "ticktext": _escaped(labels),
                      "automargin": True, "ticks": "", "tickfont": {"color": colours.text, "size": 12}})},
        (labels, [title], values[:, None]))


def _rows(x, y, width, colour, told):
    """Unseen bars as wide as the figure, so that a whole row can be pointed at and clicked."""
    clear = {"marker": {"opacity": 0}}
    return {"type": "bar", "orientation": "h", "name": "rows", "x": x, "y": y, "width": width, "selected": clear, "unselected": clear,
            "marker": {"color": colour, "opacity": 0}, "hovertext": told, "hovertemplate": "%{hovertext}<extra></extra>"}


def _escaped(labels):
    """Names by the course, so that nothing in them is taken for markup."""
    return [html.escape(str(label), quote=False) for label in labels]
