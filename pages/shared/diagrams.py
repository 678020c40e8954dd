"""Drawings of boxes and arrows whose parts can be clicked."""

from pages.shared import theme
from pages.shared.figures import Ready, layout


def boxes(places, arrows, *, title, marked=None, height=200, dark=False):
    """Boxes with a heading and a line under it, arrows between them.

    places  [(heading, line, x, y)], one box each, on a grid of unit steps; y grows downwards
    arrows  [(from, to)], places by number
    marked  the number of the box to frame
    A click on box i is reported as point i of the trace "boxes".
    """
    colours = theme.palette(dark)
    half_width, half_height = 0.45, 0.36
    shapes, notes = [], []
    for number, (heading, line, x, y) in enumerate(places):
        line_style = {"color": colours.mark if number == marked else colours.quiet, "width": 3 if number == marked else 1.2}
        shapes.append({"type": "rect", "x0": x - half_width, "x1": x + half_width, "y0": y - half_height, "y1": y + half_height,
                       "line": line_style, "fillcolor": colours.fill, "layer": "below"})
        notes.append({"x": x, "y": y, "text": f"<b>{heading}</b><br>{line}", "showarrow": False,
                      "font": {"color": colours.text, "size": 13}})
    for start, end in arrows:
        (_, _, x0, y0), (_, _, x1, y1) = places[start], places[end]
        dx, dy = (x1 > x0) - (x1 < x0), (y1 > y0) - (y1 < y0)
        if y0 != y1:
            dx = 0
        notes.append({"x": x1 - dx * half_width, "y": y1 - dy * half_height, "ax": x0 + dx * half_width, "ay": y0 + dy * half_height,
                      "xref": "x", "yref": "y", "axref": "x", "ayref": "y", "showarrow": True, "arrowhead": 3, "arrowwidth": 1.6,
                      "arrowcolor": colours.text, "text": ""})
    xs, ys = [place[2] for place in places], [place[3] for place in places]
    axis = {"visible": False, "fixedrange": True}
    return Ready({
        "data": [{"type": "scatter", "mode": "markers", "x": xs, "y": ys, "name": "boxes", "customdata": [place[0] for place in places],
                  "marker": {"symbol": "square", "size": 46, "opacity": 0}, "hovertemplate": "open %{customdata}<extra></extra>",
                  "selected": {"marker": {"opacity": 0}}, "unselected": {"marker": {"opacity": 0}}}],
        "layout": layout(colours, height, title, {"l": 4, "r": 4, "t": 30 if title else 4, "b": 4},
                         hoverdistance=-1, shapes=shapes, annotations=notes,
                         xaxis=axis | {"range": [min(xs) - 0.5, max(xs) + 0.5]}, yaxis=axis | {"range": [max(ys) + 0.45, min(ys) - 0.45]})})
