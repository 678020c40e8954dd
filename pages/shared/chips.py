"""The pieces of a text as coloured boxes in reading order, each with its id below it."""

import html
import unicodedata
from typing import NamedTuple

from pages.shared import text, theme
from pages.shared.figures import Ready, layout

# Five fills that differ in lightness as well as in hue; each with the colour of its border.
FILLS = {False: (("#f1f5ff", "#5573b8"), ("#ffdfa8", "#a8660c"), ("#bfe8d2", "#23805a"), ("#e7c6ea", "#8a3f92"), ("#b4c8ee", "#2f55a4")),
         True: (("#172440", "#6f92dd"), ("#5a4310", "#d9a441"), ("#0d4a36", "#3fb88a"), ("#572a5c", "#cf86d6"), ("#2b4a85", "#9dbcff"))}
HEIGHT, GAP, ROW = 44, 6, 52  # of a box, between two boxes, from one line of boxes to the next, in pixels
LETTER, ID_LETTER, PADDING = 8.4, 7.0, 14


class Place(NamedTuple):
    """Where a box stands, in pixels from the top left."""

    x0: float
    x1: float
    y0: float
    y1: float


def names(pieces, parts=()):
    """The pieces as they can be read: nothing hidden in them; those in `parts` are hexadecimal bytes and stay as they are.

    >>> names([" a", "<F0 9F>"], {1})
    ['␣a', '<F0 9F>']
    """
    return [piece if i in parts else _seated(text.visible(piece)) for i, piece in enumerate(pieces)]


def _seated(shown):
    """A mark that needs a letter below it gets a dotted circle."""
    return "◌" + shown if shown and unicodedata.category(shown[0]).startswith("M") else shown


def shortened(name, length=text.LABEL_LENGTH):
    """The first characters of a name that is already readable.

    >>> shortened("incomprehensibilities")
    'incomprehensi…'
    """
    return name if len(name) <= length else name[: length - 1] + "…"


def options(readable):
    """Labels of a list to pick a piece from, numbered from 0.

    >>> options(["a", "a"])
    ['0 · a', '1 · a']
    """
    return [f"{i} · {shortened(name, 40)}" for i, name in enumerate(readable)]


def places(readable, ids, width):
    """Where every box stands when they fill lines of `width` pixels.

    >>> [place.x0 for place in places(["ab", "c"], [1, 2], 100)]
    [2, 38.8]
    """
    found, x, y = [], 2, 2
    for name, i in zip(readable, ids, strict=True):
        wide = min(max(LETTER * _columns(shortened(name)), ID_LETTER * len(_id(i)), LETTER) + PADDING, width - 4)
        if found and x + wide > width - 2:
            x, y = 2, y + ROW
        found.append(Place(x, x + wide, y, y + HEIGHT))
        x += wide + GAP
    return found


def _columns(name):
    """How many letters wide a name is: Chinese, Japanese and Korean signs and emoji take two."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in name)


def _id(i):
    return "none" if i is None else str(i)


def chips(readable, ids, *, title="", dashed=(), clicked=None, width=900, dark=False):
    """The boxes as one figure. Equal ids have equal colours.

    readable  from `names`; shortened and escaped here
    ids       whole numbers, None for a piece without an id
    dashed    the numbers of pieces to draw with a dashed border and no fill
    clicked   the number of the piece to frame
    width     the width in pixels that the figure will roughly have
    A click is reported by a point of the trace "chips"; its customdata is the number of the piece.
    """
    colours = theme.palette(dark)
    boxes, dashed = places(readable, ids, width), set(dashed)
    looks = {number: FILLS[dark][(i or 0) % len(FILLS[dark])] for number, i in enumerate(ids) if number not in dashed}
    data = [_bars("fills", [boxes[number] for number in looks], HEIGHT / 2, HEIGHT) | {"marker": {
        "color": [fill for fill, _ in looks.values()], "line": {"color": [border for _, border in looks.values()], "width": 1.4}}}]
    labels = [html.escape(shortened(name), quote=False) for name in readable]
    data += [_letters("pieces", labels, boxes, 15, 28, 15, colours.text),
             _letters("ids", [_id(i) for i in ids], boxes, 34, 24, 12, colours.text),
             _outlines([box for i, box in enumerate(boxes) if i in dashed], {"color": colours.text, "width": 1.4, "dash": "dash"})]
    if clicked is not None:
        data.append(_outlines([boxes[clicked]], {"color": colours.mark, "width": 3.5}) | {"name": "picked"})
    data.append(_spots(readable, ids, boxes))
    height = (boxes[-1].y1 if boxes else 0) + 4
    axis = {"visible": False, "fixedrange": True}
    top = 34 if title else 4
    return Ready({"data": data, "layout": layout(colours, round(height + top + 4), title, {"l": 2, "r": 2, "t": top, "b": 4},
                                                 xaxis=axis | {"range": [0, width]}, yaxis=axis | {"range": [height, 0]})
                  | {"hoverdistance": 30, "barmode": "overlay"}},
                 (readable, ["id"], [[float("nan") if i is None else i] for i in ids]))


def _outlines(boxes, line):
    """The frames of many boxes as one trace: a gap lifts the pen between them."""
    x, y = [], []
    for box in boxes:
        x += [box.x0, box.x1, box.x1, box.x0, box.x0, None]
        y += [box.y0, box.y0, box.y1, box.y1, box.y0, None]
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line, "hoverinfo": "skip", "name": "outlines"}


def _letters(name, texts, boxes, down, tall, size, colour):
    """A line of text in every box, as labels of invisible bars: in a narrow window these shrink with the boxes, as plain text would not."""
    return _bars(name, boxes, down, tall) | {
        "text": texts, "texttemplate": "%{text}", "textposition": "inside", "insidetextanchor": "middle", "textangle": 0,
        "constraintext": "inside", "insidetextfont": {"size": size, "color": colour},
        "marker": {"color": "rgba(0,0,0,0)", "line": {"width": 0}}}


def _bars(name, boxes, down, tall):
    """Bars as wide as the boxes, their middle so far below the top of each. Bars lie below lines, whatever their order."""
    still = {"marker": {"opacity": 1}}
    return {"type": "bar", "orientation": "h", "name": name, "base": [box.x0 for box in boxes], "x": [box.x1 - box.x0 for box in boxes],
            "y": [box.y0 + down for box in boxes], "width": [tall] * len(boxes), "hoverinfo": "skip", "selected": still,
            "unselected": still}


def _spots(readable, ids, boxes):
    """Invisible points over the boxes, close enough together that the nearest one belongs to the box under the pointer."""
    x, y, number, lines = [], [], [], []
    for i, box in enumerate(boxes):
        n_points = max(round((box.x1 - box.x0) / 26), 1)
        step = (box.x1 - box.x0) / n_points
        line = f"piece {i}: <b>{html.escape(shortened(readable[i], text.HOVER_LENGTH), quote=False)}</b><br>id {_id(ids[i])}"
        for point in range(n_points):
            x.append(box.x0 + step * (point + 0.5))
            y.append((box.y0 + box.y1) / 2)
            number.append(i)
            lines.append(line)
    hidden = {"marker": {"opacity": 0}}
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "customdata": number, "text": lines, "name": "chips",
            "marker": {"symbol": "square", "size": 26, "opacity": 0}, "hovertemplate": "%{text}<extra></extra>", "selected": hidden,
            "unselected": hidden}
