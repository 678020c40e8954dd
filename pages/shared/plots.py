"""Curves, bars and points from arrays and labels. Nothing here computes a lesson's numbers or knows Streamlit."""

import math

import numpy as np

from pages.shared import text, theme
from pages.shared.figures import Ready, layout, typed


def curves(x, series, *, title, x_title, y_title, log_x=False, log_y=False, points=None, height=300, y_range=None, x_range=None, at=None,
           level=None, markers=True, dark=False):
    """Lines over a common x; each is told apart by colour and by dash.

    x       (n,)
    series  {name: (n,) values}, drawn in this order
    points  {name: (x, y)} single marked values
    at      an x to mark with a vertical line
    level   (name, y) of a horizontal line to compare with; the y axis then begins at 0 and has room for it
    markers False draws the lines alone, for many points
    """
    colours = theme.palette(dark)
    looks = ((colours.first, "solid"), (colours.second, "dash"), (colours.third, "dot"), (colours.mark, "dashdot"))
    data = []
    for (name, values), (colour, dash) in zip(series.items(), looks, strict=False):
        data.append({"type": "scatter", "mode": "lines+markers" if markers else "lines", "name": name,
                     "x": typed(np.asarray(x, dtype=float)), "y": typed(np.asarray(values, dtype=float)),
                     "line": {"color": colour, "dash": dash, "width": 2.5}, "marker": {"size": 6},
                     "hovertemplate": f"{name}<br>{x_title} %{{x}}<br>%{{y:.4~g}}<extra></extra>"})
    for name, (px, py) in (points or {}).items():
        data.append({"type": "scatter", "mode": "markers", "name": name, "x": [px], "y": [py], "showlegend": False,
                     "marker": {"size": 13, "symbol": "circle-open", "color": colours.mark, "line": {"width": 3}},
                     "hovertemplate": f"{name}<br>{x_title} %{{x}}<br>%{{y:.4~g}}<extra></extra>"})
    axis = {"gridcolor": colours.quiet, "griddash": "dot", "zeroline": False, "tickfont": {"color": colours.text}, "fixedrange": True,
            "exponentformat": "power"}
    notes, shapes = [], [] if at is None else [{"type": "line", "xref": "x", "yref": "paper", "x0": at, "x1": at, "y0": 0, "y1": 1,
                                     "line": {"color": colours.mark, "width": 1.5, "dash": "dot"}}]
    if level is not None:
        values = np.concatenate([[level[1]], *(np.asarray(values, dtype=float) for values in series.values())])
        y_range = (0, 1.12 * float(values[np.isfinite(values)].max())) if y_range is None else y_range
        shapes.append({"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": level[1], "y1": level[1],
                       "line": {"color": colours.mark, "width": 1.5, "dash": "dash"}})
        notes.append({"xref": "paper", "x": 1, "xanchor": "right", "y": level[1], "yanchor": "bottom", "text": level[0], "showarrow": False,
                      "font": {"color": colours.mark, "size": 12}})
    return Ready({"data": data, "layout": layout(
        colours, height, title, {"l": 58, "r": 14, "t": 34, "b": 78}, shapes=shapes, annotations=notes,
        xaxis=axis | {"title": {"text": x_title, "standoff": 4}, "type": "log" if log_x else "linear"}
        | ({} if x_range is None else {"range": list(x_range)})
        | ({"tickvals": list(map(float, x)), "ticktext": [f"{value:g}" for value in x]} if log_x else {}),
        yaxis=axis | {"title": {"text": ", ".join(filter(None, (y_title, "log scale"))) if log_y else y_title, "standoff": 6},
                      "type": "log" if log_y else "linear"}
        | (_log_ticks(series.values()) if log_y else {})
        | ({} if y_range is None else {"range": list(y_range)}),
    ) | {"showlegend": len(series) > 1,
         "legend": {"orientation": "h", "y": -0.3, "x": 0, "yanchor": "top", "font": {"size": 12}}}},
                 (x, list(series), np.transpose(list(series.values()))))


def _log_ticks(series):
    """Even steps for numbers close together; then 1, 2 and 5 times powers of 10; powers of 4 near 1; at most nine powers of 10 beyond.

    Numbers that are all but equal get a range round them: without one, rounding in the last digit would fill the height.
    """
    numbers = np.concatenate([np.asarray(values, dtype=float) for values in series])
    numbers = numbers[(numbers > 0) & np.isfinite(numbers)]
    low, high = (numbers.min(), numbers.max()) if numbers.size else (1.0, 1.0)
    room = {}
    if high < 1.01 * low:
        low, high = low / 2, high * 2
        room = {"range": [math.log10(low), math.log10(high)]}
    if high < 5 * low:
        least = (high - low) / 6
        power = 10.0 ** math.floor(math.log10(least))
        step = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= least)
        values = [i * step for i in range(max(math.floor(low / step), 1), math.ceil(high / step) + 1)]
        return room | {"tickvals": values, "ticktext": [f"{value:.4g}" for value in values]}
    if high < 16 * low:
        values = [digit * 10.0**i for i in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1) for digit in (1, 2, 5)]
        return {"tickvals": values, "ticktext": [f"{value:.3g}" for value in values]}
    if low >= 4.0**-3 and high <= 4.0**6:
        return {"tickvals": [4.0**i for i in range(-6, 7)], "ticktext": [f"{4.0**i:.3g}" for i in range(-6, 7)]}
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    powers = range(first, last + 1, math.ceil((last - first + 1) / 9))
    return {"tickvals": [10.0**i for i in powers], "ticktext": [f"10<sup>{i}</sup>".replace("-", "−") for i in powers]}


def bars(labels, values, *, title, y_title, height=280, y_range=None, digits=3, dark=False):
    """One bar a label, with its value on it. Labels are escaped here."""
    colours = theme.palette(dark)
    return Ready({"data": [_bar_trace(labels, values, digits, colours)],
                  "layout": _bar_layout(labels, title, y_title, height, y_range, colours)},
                 (labels, [y_title], np.asarray(values)[:, None]))


def bar_groups(labels, series, *, title, y_title, stacked=False, height=320, dark=False):
    """Several bars a label: side by side, or one on top of the other where they add up.

    series  {name: (n,) values}, told apart by colour and by hatching
    """
    colours = theme.palette(dark)
    looks = ((colours.first, ""), (colours.second, "/"), (colours.third, "."), (colours.mark, "x"))
    data = [_bar_trace(labels, values, 3, colours) | {"name": name, "texttemplate": "", "marker": {
        "color": colour,
        "pattern": {"shape": hatch, "fillmode": "overlay", "fgcolor": "#ffffff", "fgopacity": 0.55, "size": 6}},
        "hovertemplate": f"%{{hovertext}}<br>{name} %{{y:.6~g}}<extra></extra>"}
        for (name, values), (colour, hatch) in zip(series.items(), looks, strict=False)]
    spec = _bar_layout(labels, title, y_title, height, None, colours)
    return Ready({"data": data, "layout": spec | {
        "barmode": "relative" if stacked else "group", "showlegend": True, "margin": spec["margin"] | {"t": 70},
        "legend": {"orientation": "h", "y": 1.02, "x": 0, "yanchor": "bottom", "font": {"size": 12}}}},  # above: labels below may slant
        (labels, list(series), np.transpose(list(series.values()))))


def _bar_trace(labels, values, digits, colours):
    few = len(labels) <= 16
    return {"type": "bar", "x": list(range(len(labels))), "y": typed(np.asarray(values, dtype=float)), "marker": {"color": colours.first},
            **({"texttemplate": f"%{{y:.{digits}~g}}", "textposition": "outside", "cliponaxis": False} if few else {}),
            "hovertext": [text.plotly(str(label), text.HOVER_LENGTH) for label in labels],
            "hovertemplate": "%{hovertext}<br>%{y:.6~g}<extra></extra>"}


def _bar_layout(labels, title, y_title, height, y_range, colours, width=470):
    axis = {"tickfont": {"color": colours.text}, "zeroline": False, "fixedrange": True}
    step = math.ceil(15 * len(labels) / (width - 70))
    return layout(
        colours, height, title, {"l": 58, "r": 12, "t": 44, "b": 46},
        xaxis=axis | {"tickvals": list(range(0, len(labels), step)), "ticktext": [text.plotly(str(label)) for label in labels[::step]],
                      "showgrid": False, "range": [-0.6, len(labels) - 0.4], "automargin": True},
        yaxis=axis | {"title": {"text": y_title}, "gridcolor": colours.quiet, "griddash": "dot"}
        | ({} if y_range is None else {"range": list(y_range)}))


def points(x, y, labels, *, title, x_title, y_title, marked=None, height=380, dark=False):
    """Named points in the plane, one scale on both axes so that distances can be compared. Labels are escaped here.

    x, y    (n,)
    marked  the number of the point to mark
    """
    colours = theme.palette(dark)
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    names = [text.plotly(str(label)) for label in labels]
    here = [i == marked for i in range(len(names))]
    reach = max(float(np.ptp(x)), float(np.ptp(y)), 1e-9) if len(x) else 1.0
    axis = {"gridcolor": colours.quiet, "griddash": "dot", "zeroline": True, "zerolinecolor": colours.quiet, "fixedrange": True,
            "tickfont": {"color": colours.text}}
    room = {"range": [float(x.min()) - 0.14 * reach, float(x.max()) + 0.14 * reach]}
    return Ready({"data": [{
        "type": "scatter", "mode": "markers+text", "name": "points", "x": typed(x), "y": typed(y), "text": names, "cliponaxis": False,
        "textposition": [("top center", "bottom center", "middle right", "middle left")[i % 4 if len(names) > 6 else 0]
                         for i in range(len(names))],
        "textfont": {"size": 13 if len(names) <= 16 else 11, "color": [colours.mark if own else colours.text for own in here]},
        "marker": {"size": [13 if own else 8 for own in here], "color": [colours.mark if own else colours.first for own in here],
                   "symbol": ["diamond" if own else "circle" for own in here]},
        "hovertext": [text.plotly(str(label), text.HOVER_LENGTH) for label in labels],
        "hovertemplate": "<b>%{hovertext}</b><br>%{x:.4~g}, %{y:.4~g}<extra></extra>"}],
        "layout": layout(colours, height, title, {"l": 58, "r": 14, "t": 40, "b": 50},
                         xaxis=axis | room | {"title": {"text": x_title, "standoff": 4}},
                         yaxis=axis | {"title": {"text": y_title, "standoff": 6}, "scaleanchor": "x",
                                       "range": [float(y.min()) - 0.14 * reach, float(y.max()) + 0.14 * reach]})},
        (labels, [x_title, y_title], np.column_stack([x, y])))


def animated_bars(labels, frames, *, title, y_title, slider_title, start=0, height=380, y_range=(0, 1.12), digits=3, dark=False):
    """Bars that move with a slider in the browser, without asking the server.

    frames  {name of the slider's stop: (n,) values}
    start   which stop is shown first
    """
    colours = theme.palette(dark)
    names = list(frames)
    drawn = [_bar_trace(labels, values, digits, colours) for values in frames.values()]
    spec = _bar_layout(labels, title, y_title, height, y_range, colours)
    move = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    play = {"frame": {"duration": 350, "redraw": True}, "transition": {"duration": 250}, "fromcurrent": True}
    spec |= {
        "margin": {"l": 58, "r": 12, "t": 44, "b": 130},
        "sliders": [{"active": start, "currentvalue": {"prefix": f"{slider_title} ", "font": {"size": 14}},
                     "pad": {"t": 34, "l": 70}, "len": 0.96, "font": {"color": colours.text, "size": 11},
                     "steps": [{"label": name, "method": "animate", "args": [[name], move]} for name in names]}],
        "updatemenus": [{"type": "buttons", "direction": "left", "x": 0, "y": 0, "xanchor": "left", "yanchor": "top", "pad": {"t": 52},
                         "showactive": False, "bgcolor": colours.fill, "bordercolor": colours.quiet, "font": {"color": colours.text},
                         "buttons": [{"label": "Play", "method": "animate", "args": [None, play]}]}],
    }
    return Ready({"data": [drawn[start]], "layout": spec,
                  "frames": [{"name": name, "data": [bar]} for name, bar in zip(names, drawn, strict=True)]},
                 (names, labels, np.stack(list(frames.values()))))


def clocks(tips, labels, *, title, across=8, dark=False):
    """A clock a point, its hand from the middle to (x, y) of the unit circle: up is (0, 1), a quarter on is (1, 0).

    tips    (n, 2)
    labels  one a clock
    """
    tips, colours = np.asarray(tips, dtype=float), theme.palette(dark)
    across = min(across, len(tips))
    down = math.ceil(len(tips) / across)
    places = np.array([(2.5 * (i % across), -3.2 * (i // across)) for i in range(len(tips))])
    ends = places + tips
    gaps = np.full(len(tips), np.nan)
    axis = {"visible": False, "fixedrange": True}
    return Ready({"data": [
        {"type": "scatter", "mode": "markers", "name": "hands", "x": typed(ends[:, 0]), "y": typed(ends[:, 1]), "customdata": typed(tips),
         "marker": {"size": 8, "color": colours.first}, "text": list(labels),
         "hovertemplate": "%{text}<br>sin %{customdata[0]:.4f}<br>cos %{customdata[1]:.4f}<extra></extra>"},
        {"type": "scatter", "mode": "lines", "x": typed(np.stack([places[:, 0], ends[:, 0], gaps], axis=1).ravel()),
         "y": typed(np.stack([places[:, 1], ends[:, 1], gaps], axis=1).ravel()), "hoverinfo": "skip",
         "line": {"color": colours.first, "width": 3}},
        {"type": "scatter", "mode": "text", "x": typed(places[:, 0]), "y": typed(places[:, 1] - 1.4), "text": list(labels),
         "hoverinfo": "skip", "textfont": {"color": colours.text, "size": 12}},
    ], "layout": layout(
        colours, 40 + 92 * down, title, {"l": 4, "r": 4, "t": 34, "b": 4},
        xaxis=axis | {"range": [-1.3, 2.5 * (across - 1) + 1.3]},
        yaxis=axis | {"range": [-3.2 * (down - 1) - 1.8, 1.2], "scaleanchor": "x", "constrain": "domain"},
        shapes=[{"type": "circle", "x0": x - 1, "x1": x + 1, "y0": y - 1, "y1": y + 1, "line": {"color": colours.quiet, "width": 1.5}}
                for x, y in places.tolist()])}, (labels, ["sin", "cos"], tips))


def chain(labels, first, last, *, title, width=960, dark=False):
    """Words in a row: below them one arrow from each to the next, above them one arrow from `last` to `first`.

    labels  as typed; they are escaped here
    """
    colours = theme.palette(dark)
    n = len(labels)
    step = math.ceil(15 * n / (width - 40))
    arrow = {"xref": "x", "yref": "y", "axref": "x", "ayref": "y", "showarrow": True, "arrowhead": 3, "text": ""}
    notes = [arrow | {"x": i + 0.85, "y": 0, "ax": i + 0.15, "ay": 0, "arrowwidth": 2.4 if first <= i < last else 1.2,
                      "arrowcolor": colours.second if first <= i < last else colours.quiet} for i in range(n - 1)]
    shapes = []
    if first != last:
        curve = [(last + (first - last) * t, 0.12 + 3.2 * t * (1 - t)) for t in np.linspace(0, 1, 33).tolist()]
        shapes.append({"type": "path", "path": "M" + " L".join(f"{x:.4f},{y:.4f}" for x, y in curve[:-1]),
                       "line": {"color": colours.first, "width": 2.4}})
        notes += [arrow | {"x": curve[-1][0], "y": curve[-1][1], "ax": curve[-3][0], "ay": curve[-3][1], "arrowwidth": 2.4,
                           "arrowcolor": colours.first},
                  {"x": (first + last) / 2, "y": 0.95, "text": "attention: 1 step", "showarrow": False, "yanchor": "bottom",
                   "font": {"color": colours.first, "size": 13}},
                  {"x": (first + last) / 2, "y": -0.12, "text": f"recurrent: {last - first} step{'s' * (last - first != 1)}",
                   "showarrow": False, "yanchor": "top", "font": {"color": colours.second, "size": 13}}]
    axis = {"fixedrange": True, "showgrid": False, "zeroline": False}
    return Ready({"data": [{
        "type": "scatter", "mode": "markers", "name": "boxes", "x": list(range(n)), "y": [0] * n,
        "marker": {"size": 13 if n <= 20 else 9, "color": [colours.mark if i in (first, last) else colours.quiet for i in range(n)]},
        "text": [text.plotly(str(label), text.HOVER_LENGTH) for label in labels], "hovertemplate": "%{text}<extra></extra>"}],
        "layout": layout(
            colours, 240, title, {"l": 14, "r": 14, "t": 34, "b": 40}, shapes=shapes,
            annotations=notes,
            xaxis=axis | {"range": [-0.6, n - 0.4], "tickvals": list(range(0, n, step)), "automargin": True,
                          "ticktext": [text.plotly(str(label)) for label in labels[::step]], "tickfont": {"color": colours.text}},
            yaxis=axis | {"range": [-0.5, 1.25], "visible": False})})
