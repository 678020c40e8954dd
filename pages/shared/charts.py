"""Heatmaps from arrays and labels. Nothing here computes a lesson's numbers or knows Streamlit."""

import math

import numpy as np

from pages.shared import text, theme
from pages.shared.figures import Ready, layout, typed

QUANTITIES = {
    # colour scale, where on it black type takes over from white, smallest and largest value
    "weight": (theme.SHARE, theme.turning_point(theme.SHARE), 0.0, 1.0),
    "value": (theme.SIGNED, theme.turning_point(theme.SIGNED), None, None),  # from the data, the same on both sides of 0
}


def heatmap(z, rows, columns, *, title, quantity="value", name="value", row_title="query (who looks)", column_title="key (looked at)",
            clicked=None, framed=(), hidden=None, outline=None, limit=None, width=470, max_cell=72, digits=2, small=False, dark=False):
    """A matrix as square cells: rows from the top, columns from the left, values in the cells while they fit.

    A few rows of many columns get cells that are taller than wide, so that every row keeps its label.

    z             (n_rows, n_columns); NaN is left empty
    rows, columns token labels as typed, or numbers of features; they are escaped and shortened here
    quantity      a key of QUANTITIES: it sets the colours and their range
    name          what a value is called in the hover text
    clicked       (row, column) to frame, or (row, None) for a whole row, (None, column) for a whole column
    framed        numbers of whole rows to frame besides
    hidden        bool, same shape: True is drawn as −∞ (may not be looked at)
    outline       (first, last) column to frame as a block
    limit         the largest absolute value on the colour scale, to give linked pictures one scale
    width         the width in pixels that the figure will roughly have
    small         True: a number that `digits` would print as 0 although it is not is written as a power of ten, where that fits
    """
    z = np.asarray(z)
    n_rows, n_columns = z.shape
    colours = theme.palette(dark)
    low, high = _ends(z, quantity, limit)
    y_ticks = [text.plotly(str(row)) for row in rows]
    x_ticks = [text.plotly(str(column)) for column in columns]
    longest_y = max(len(text.short(str(row))) for row in rows)
    longest_x = max(len(text.short(str(column))) for column in columns)
    if z.size and (np.isfinite(z) & (z == np.round(z))).all():
        digits = 0  # whole numbers read as such
    max_cell = min(max_cell, max(600 / n_rows, 10.0))  # many rows: no taller than a screen
    left = 30 + 7 * longest_y
    cell = max(min(max_cell, (width - left - 12) / n_columns), 6.0)
    finite = z[np.isfinite(z)]
    characters = max(len(f"{value:.{digits}f}") for value in (finite.min(initial=0), finite.max(initial=0)))
    type_size = max(8.0, min(14.0, cell * 0.3))
    fits = 0.56 * type_size * characters + 3 <= cell
    tiny = _vanishing(finite, digits) if small else None
    precise = next((form for form in (".1~e", ".0e") if tiny is not None and tiny.any()
                    and 0.56 * type_size * max(len(_power(value, form)) for value in finite[tiny]) + 3 <= cell), None)
    if not fits:
        cell = max(min(max_cell, (width - left - 46) / n_columns), 6.0)
    tall = cell
    if 2 * n_rows <= n_columns:
        tall = max(cell, min(max_cell, 16.0 if fits else max(16.0, min(48.0, 110 / n_rows))))
    flat = 7.5 * longest_x <= cell
    top = 64 + (14 if flat else 7 * longest_x)
    step, row_step = math.ceil(15 / cell), math.ceil(15 / tall)
    right = (12 if fits else 46) + (0 if flat else 3.6 * len(text.short(str(columns[-1]))))  # a slanted label leans out

    drawn = z if hidden is None else np.where(hidden, np.nan, z)
    data = _cells(drawn, quantity, low, high, digits, type_size, precise) if fits else [_cells(drawn, quantity, low, high)[0] | {
        "showscale": True,
        "colorbar": {"thickness": 8, "len": 1, "x": 1.01, "xpad": 0, "tickfont": {"size": 11}, "nticks": 3 if tall * n_rows < 130 else 5,
                     "ypad": 0, "outlinewidth": 0}}]
    spots = _spots(z, cell if tall == cell else min(cell, (width - left - right) / n_columns), colours.mark)
    where = _places(spots, rows, columns, row_title.split(" (")[0], column_title.split(" (")[0], max(step, row_step))
    spots["hovertemplate"] = f"{where}<br>{name} %{{customdata:.6~g}}<extra></extra>"
    data.append(spots)
    if hidden is not None and hidden.any():
        rows_at, columns_at = np.nonzero(hidden)
        data.append({"type": "scatter", "mode": "text", "x": typed(columns_at.astype(np.int32)), "y": typed(rows_at.astype(np.int32)),
                     "text": ["−∞" if cell >= 16 else "·"] * len(rows_at), "hoverinfo": "skip", "name": "hidden",
                     "textfont": {"size": max(9, min(14, round(cell * 0.3))), "color": colours.text}})
    block = [] if outline is None else [_box(outline[0] - 0.5, -0.5, outline[1] + 0.5, n_rows - 0.5, colours.mark, 3)]
    row_name = row_title if 6 * len(row_title) <= tall * n_rows else row_title.split(" (")[0]
    axis = {"showgrid": False, "zeroline": False, "constrain": "domain", "ticks": "", "tickfont": {"color": colours.text},
            "showline": False, "fixedrange": True}
    return Ready({"data": data, "layout": layout(
        colours, round(top + 12 + tall * n_rows), title, {"l": round(left), "r": round(right), "t": round(top), "b": 8},
        xaxis=axis | {"range": [-0.5, n_columns - 0.5], "tickvals": list(range(0, n_columns, step)), "ticktext": x_ticks[::step],
                      "side": "top", "tickangle": 0 if flat else -60, "constraintoward": "left",
                      "title": {"text": column_title, "standoff": 4, "font": {"size": 12}}},
        yaxis=axis | {"range": [n_rows - 0.5, -0.5], "tickvals": list(range(0, n_rows, row_step)), "ticktext": y_ticks[::row_step],
                      "tickangle": 0,
                      "constraintoward": "top", "title": {"text": row_name, "standoff": 4, "font": {"size": 12}}}
        | ({"scaleanchor": "x"} if tall == cell else {}),
        shapes=[frame for each in (clicked, *((row, None) for row in framed)) for frame in _frames(each, n_rows, n_columns, colours)]
        + block)}, (rows, columns, drawn))


def _ends(z, quantity, limit):
    """The smallest and largest value of the colour scale."""
    _, _, low, high = QUANTITIES[quantity]
    if low is not None:
        return low, high
    high = float(limit if limit is not None else np.abs(z[np.isfinite(z)]).max(initial=0.0)) or 1.0
    return -high, high


def _vanishing(z, digits):
    """Which numbers would be printed as 0 although they are not; what rounding leaves behind stays a 0."""
    return (np.abs(z) < 0.5 * 10.0**-digits) & (np.abs(z) > 1e-12)


def _power(value, form):
    """A number as the browser writes it in this form.

    >>> _power(0.0001, ".1~e")
    '1e-4'
    """
    head, power = f"{value:{form.replace('~', '')}}".split("e")
    return f"{head.removesuffix('.0')}e{int(power)}"


def _cells(z, quantity, low, high, digits=None, type_size=10.0, precise=None):
    """The coloured cells: one trace; with numbers in them two, white on the dark cells and black on the light ones.

    precise  how numbers are written that `digits` would print as 0; None: like all others
    """
    scale, turn, _, _ = QUANTITIES[quantity]
    plain = {"type": "heatmap", "zmin": low, "zmax": high, "colorscale": scale, "showscale": False, "xgap": 1, "ygap": 1,
             "hoverinfo": "skip", "hoverongaps": False}
    if digits is None:
        return [plain | {"z": typed(z)}]
    with np.errstate(invalid="ignore"):
        light = (z - low) / (high - low) >= turn
        tiny = _vanishing(z, digits) & (precise is not None)
    return [plain | {"z": typed(np.where((light == black) & (tiny == power), z, np.nan)), "texttemplate": f"%{{z:{form}}}",
                     "textfont": {"size": round(type_size, 1), "color": "#000000" if black else "#ffffff"}}
            for power, form in ((False, f".{digits}f"), (True, precise))[:1 if precise is None else 2] for black in (False, True)]


def _spots(z, size, colour):
    """Invisible squares over the cells, which can be clicked and hovered; a heatmap's own cells report no click."""
    y_at, x_at = np.divmod(np.arange(z.size), z.shape[1])
    invisible = {"marker": {"opacity": 0}}
    return {"type": "scatter" if z.size < 48 * 48 else "scattergl", "mode": "markers", "x": typed(x_at.astype(np.int32)),
            "y": typed(y_at.astype(np.int32)), "customdata": typed(z.ravel()), "name": "cells",
            "marker": {"symbol": "square", "size": round(size, 1), "opacity": 0, "color": colour},
            "selected": invisible, "unselected": invisible}


def _places(spots, rows, columns, row_word, column_word, step):
    """How the hover text names a cell's row and column: by the labels on the axes, or whole where those are cut short or left out."""
    labels = [[text.visible(str(label)) for label in side] for side in (rows, columns)]
    if step == 1 and max(len(label) for side in labels for label in side) <= text.LABEL_LENGTH:
        return f"{row_word} <b>%{{y}}</b><br>{column_word} <b>%{{x}}</b>"
    long_rows, long_columns = ([text.plotly(str(label), text.HOVER_LENGTH) for label in side] for side in (rows, columns))
    spots["text"] = [f"{row_word} <b>{row}</b><br>{column_word} <b>{column}</b>" for row in long_rows for column in long_columns]
    return "%{text}"


def _frames(clicked, n_rows, n_columns, colours, axes=("x", "y")):
    """A thin frame round the clicked row (or column), and a thick one round the clicked cell."""
    if clicked is None:
        return []
    row, column = clicked
    place = {"xref": axes[0], "yref": axes[1]}
    if row is None:
        return [place | _box(column - 0.5, -0.5, column + 0.5, n_rows - 0.5, colours.mark, 2)]
    shapes = [place | _box(-0.5, row - 0.5, n_columns - 0.5, row + 0.5, colours.mark, 2)]
    if column is not None:
        shapes += [place | _box(column - 0.5, row - 0.5, column + 0.5, row + 0.5, "#ffffff", 5),
                   place | _box(column - 0.5, row - 0.5, column + 0.5, row + 0.5, colours.mark, 3)]
    return shapes


def _box(x0, y0, x1, y1, colour, width, fill="rgba(0,0,0,0)"):
    return {"type": "rect", "x0": x0, "y0": y0, "x1": x1, "y1": y1, "line": {"color": colour, "width": width}, "fillcolor": fill}


def small_multiples(zs, rows, columns, *, titles, name="weight", clicked=None, marks=(), width=960, most_across=4, row_title="query",
                    column_title="key", dark=False):
    """Several weight matrices of one shape in one figure, each with a title; as many across as there is room for.

    zs       (n, n_rows, n_columns), values 0 to 1
    clicked  (which, row, column) to frame
    marks    (row, column) of cells that get a thin frame in every matrix
    A click is reported on trace 2·which + 1, or 3·which + 2 where numbers stand in the cells; its `meta` is which.
    """
    zs = np.asarray(zs)
    n, n_rows, n_columns = zs.shape
    colours = theme.palette(dark)
    across = min(n, most_across, max(1, width // 170))
    down = math.ceil(n / across)
    longest = max(len(text.short(str(label))) for label in (*rows, *columns))
    left, right, gap, head = 46 + 7 * longest, 2 + 3.6 * len(text.short(str(columns[-1]))), 14, 44 + 7 * longest
    flat = max(len(text.short(str(label))) for label in columns) == 1  # a single letter needs no slant
    cell = min(60.0, (width - left - right - gap * (across - 1)) / across / n_columns)
    type_size = max(8.0, min(13.0, cell * 0.3))
    digits = 0 if (zs == np.round(zs)).all() else 2
    fits = 0.56 * type_size * (4 if digits else 1) + 3 <= cell
    step = 1 if cell >= 11 else math.ceil(15 / cell)  # in small type every label has its line
    plot = cell * n_columns / (width - left - right)
    height = down * (cell * n_rows + head) + 10
    x_ticks, y_ticks = [text.plotly(str(column)) for column in columns], [text.plotly(str(row)) for row in rows]
    axis = {"showgrid": False, "zeroline": False, "ticks": "", "fixedrange": True, "constrain": "domain",
            "tickfont": {"color": colours.text, "size": 11 if cell >= 15 else 10}}
    data, axes, shapes, notes = [], {}, [], []
    for which, z in enumerate(zs):
        line, place = divmod(which, across)
        suffix = "" if which == 0 else str(which + 1)
        here = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        x0 = place * (plot + gap / (width - left - right))
        top = 1 - (line * (cell * n_rows + head) + head) / height
        data += [trace | here for trace in _cells(z, "weight", 0.0, 1.0, digits if fits else None, type_size)]
        spots = _spots(z, cell, colours.mark) | here
        where = _places(spots, rows, columns, row_title, column_title, step)
        data.append(spots | {"meta": which, "hovertemplate": f"{titles[which]}<br>{where}<br>{name} %{{customdata:.6~g}}<extra></extra>"})
        axes[f"xaxis{suffix}"] = axis | {"domain": [x0, min(x0 + plot, 1)], "range": [-0.5, n_columns - 0.5], "side": "top",
                                         "anchor": here["yaxis"], "tickvals": list(range(0, n_columns, step)),
                                         "ticktext": x_ticks[::step], "tickangle": 0 if flat else -60, "constraintoward": "left",
                                         "title": {"text": f"{column_title} (looked at)", "standoff": 2, "font": {"size": 11}}}
        axes[f"yaxis{suffix}"] = axis | {"domain": [max(top - cell * n_rows / height, 0), top], "range": [n_rows - 0.5, -0.5],
                                         "anchor": here["xaxis"], "scaleanchor": here["xaxis"], "constraintoward": "top",
                                         "tickvals": list(range(0, n_rows, step)), "ticktext": y_ticks[::step], "tickangle": 0,
                                         "showticklabels": place == 0, "title": {"text": f"{row_title} (who looks)" if place == 0 else "",
                                                                                 "standoff": 4, "font": {"size": 11}}}
        notes.append({"text": f"<b>{titles[which]}</b>", "xref": "paper", "yref": "paper", "x": x0, "y": top, "xanchor": "left",
                      "yanchor": "bottom", "yshift": 7 * longest + 22, "showarrow": False, "font": {"color": colours.text, "size": 13}})
        axes_of = {"xref": here["xaxis"], "yref": here["yaxis"]}
        shapes += [axes_of | _box(x - 0.5, y - 0.5, x + 0.5, y + 0.5, colours.mark, 1.5) for y, x in marks]
        if clicked is not None:
            frame = (clicked[1], clicked[2]) if clicked[0] == which else (clicked[1], None)
            shapes += _frames(frame, n_rows, n_columns, colours, (here["xaxis"], here["yaxis"]))
    table_rows = [f"{title}: {row}" for title in titles for row in rows]
    return Ready({"data": data, "layout": layout(colours, round(height), "", {"l": left, "r": round(right), "t": 2, "b": 4},
                                                 shapes=shapes, annotations=notes, **axes)},
                 (table_rows, columns, zs.reshape(-1, n_columns)))
