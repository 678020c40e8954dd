"""Drawings of boxes and arrows whose parts can be clicked."""

from typing import NamedTuple

from pages.shared import theme
from pages.shared.figures import Ready, layout


class Box(NamedTuple):
    """One box of a drawing, its middle at (x, y); y grows downwards."""

    heading: str
    line: str          # under the heading, may be empty
    x: float
    y: float
    width: float = 0.9
    height: float = 0.72
    plain: bool = False  # a name without a frame, such as what goes in and what comes out
    opens: bool = True   # can it be clicked?
    anchor: str = "center"  # where x is: in the middle of the words, or at their left


class Arrow(NamedTuple):
    """A line through these points with a head at its end, and a label beside its middle."""

    points: tuple[tuple[float, float], ...]
    label: str = ""
    side: str = "right"   # of the line, where the label stands
    dashed: bool = False


def flow(boxes, arrows, *, title, marked=(), height=400, type_size=13, dark=False):
    """Boxes, and arrows between them that may bend and carry a label.

    boxes   [Box]; a click on the i-th of those that open is reported as point i of the trace "boxes"
    arrows  [Arrow]
    marked  the numbers of the boxes to frame
    """
    colours = theme.palette(dark)
    shapes, notes = [], []
    for number, box in enumerate(boxes):
        if not box.plain:
            line_style = {"color": colours.mark if number in marked else colours.quiet, "width": 3 if number in marked else 1.2}
            shapes.append({"type": "rect", "x0": box.x - box.width / 2, "x1": box.x + box.width / 2, "y0": box.y - box.height / 2,
                           "y1": box.y + box.height / 2, "line": line_style, "fillcolor": colours.fill, "layer": "below"})
        notes.append({"x": box.x, "y": box.y, "text": f"<b>{box.heading}</b>" + f"<br>{box.line}" * bool(box.line), "showarrow": False,
                      "xanchor": box.anchor, "font": {"color": colours.text, "size": type_size}})
    for arrow in arrows:
        *before, (x0, y0), (x1, y1) = arrow.points
        if before or arrow.dashed:
            path = "M" + " L".join(f"{x:g},{y:g}" for x, y in (arrow.points if arrow.dashed else (*before, (x0, y0))))
            shapes.append({"type": "path", "path": path, "line": {"color": colours.text, "width": 1.6,
                                                                  "dash": "dot" if arrow.dashed else "solid"}, "layer": "below"})
        notes.append({"x": x1, "y": y1, "ax": x0, "ay": y0, "xref": "x", "yref": "y", "axref": "x", "ayref": "y", "showarrow": True,
                      "arrowhead": 3, "arrowwidth": 0.1 if arrow.dashed else 1.6, "arrowsize": 12 if arrow.dashed else 1,
                      "arrowcolor": colours.text, "text": ""})
        if arrow.label:
            (xa, ya), (xb, yb) = max(zip(arrow.points, arrow.points[1:], strict=False),
                                     key=lambda ends: abs(ends[0][0] - ends[1][0]) + abs(ends[0][1] - ends[1][1]))
            upright = xa == xb
            notes.append({"x": (xa + xb) / 2, "y": (ya + yb) / 2, "text": arrow.label, "showarrow": False,
                          "xanchor": ("left" if arrow.side == "right" else "right") if upright else "center",
                          "yanchor": "middle" if upright else "bottom", "xshift": (5 if arrow.side == "right" else -5) if upright else 0,
                          "font": {"color": colours.text, "size": type_size - 2}})
    left, right = (min(box.x - box.width / 2 for box in boxes), max(box.x + box.width / 2 for box in boxes))
    bends = [x for arrow in arrows for x, _ in arrow.points]
    top, bottom = (min(box.y - box.height / 2 for box in boxes), max(box.y + box.height / 2 for box in boxes))
    axis = {"visible": False, "fixedrange": True}
    open_ones = [box for box in boxes if box.opens and not box.plain]
    hidden = {"marker": {"opacity": 0}}
    return Ready({
        "data": [{"type": "scatter", "mode": "markers", "x": [box.x for box in open_ones], "y": [box.y for box in open_ones],
                  "name": "boxes", "customdata": [box.heading.replace("<br>", " ") for box in open_ones],
                  "marker": {"symbol": "square", "size": 46, "opacity": 0}, "hovertemplate": "open %{customdata}<extra></extra>",
                  "selected": hidden, "unselected": hidden}],
        "layout": layout(colours, height, title, {"l": 4, "r": 4, "t": 30 if title else 4, "b": 4}, hoverdistance=-1, shapes=shapes,
                         annotations=notes, xaxis=axis | {"range": [min([left, *bends]) - 0.05, max([right, *bends]) + 0.05]},
                         yaxis=axis | {"range": [bottom + 0.09, top - 0.09]})})


def rows(groups, across, *, title, height_of_row=92, marked=None, dark=False):
    """Groups of boxes, each group under its heading and read from left to right; narrow enough in words for a phone.

    groups  {heading: [(heading, line)]}; all boxes open
    across  how many boxes stand side by side
    marked  the name of the box to frame
    """
    drawn, arrows, frames, y = [], [], [], 0.0
    for heading, places in groups.items():
        drawn.append(Box(heading, "", -0.45, y, 0, 0.3, plain=True, anchor="left"))
        y += 0.62
        for number, (name, line) in enumerate(places):
            down, place = divmod(number, across)
            if number:
                back, before = divmod(number - 1, across)
                arrows.append(Arrow(((before + 0.45, y + back), (place - 0.45, y + back))) if down == back else
                              Arrow(((before, y + back + 0.39), (before, y + back + 0.5), (0, y + back + 0.5), (0, y + down - 0.39))))
            frames += [len(drawn)] * (name == marked)
            drawn.append(Box(wrapped(name), wrapped(line), place, y + down, 0.9, 0.78))
        y += (len(places) - 1) // across + 0.86
    return flow(drawn, arrows, title=title, marked=tuple(frames), height=round(height_of_row * y), type_size=12, dark=dark)


def wrapped(name, length=15):
    """A long name on two lines, broken at the space nearest its middle."""
    if len(name) <= length:
        return name
    places = [i for i, character in enumerate(name) if character == " "]
    middle = min(places, key=lambda i: abs(i - len(name) / 2)) if places else len(name)
    return name[:middle] + "<br>" + name[middle + 1:]
