"""The figures: what is drawn is what was given, whatever the labels say, and it can be read and clicked."""

import html
import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.shared import charts, diagrams, horizontal, plots, theme
from pages.shared.text import plotly as label
from pages.shared.text import visible
from tests.page_tools import colour_on, contrast, decode, labels, matrices, strings

RNG = np.random.default_rng(5)
REPEATED = ["the", "cat", "the", "the"]
NUMBERS = ["in", "1", "2", "10"]
DATES = ["2024-01", "2024-02", "2025-01"]
TAGS = ["<b>", "<s>", "</s>", "<br>", "<sub>2</sub>", "<unk>", "<|endoftext|>", "&amp;"]
PLAIN = ["%{x}", "%{y}", "$x$", "a'b\"c"]
SHAPES = [(1, 1), (1, 7), (7, 1), (3, 3), (11, 11), (40, 40), (48, 64), (40, 2), (2, 64)]


def weights(n_rows, n_columns):
    z = RNG.random((n_rows, n_columns)) + 0.01
    return z / z.sum(axis=-1, keepdims=True)


def heat(z, rows=None, columns=None, **more):
    """A heatmap's only matrix and the decoded figure."""
    z = np.asarray(z, dtype=float)
    rows = [f"r{i}" for i in range(z.shape[0])] if rows is None else rows
    columns = [f"c{i}" for i in range(z.shape[1])] if columns is None else columns
    figure = decode(charts.heatmap(z, rows, columns, title="t", **more).spec)
    (matrix,) = matrices(figure)
    return matrix, figure


FIGURES = {
    **{f"weights {shape}": charts.heatmap(weights(*shape), list(range(shape[0])), list(range(shape[1])), title="t", quantity="weight")
       for shape in SHAPES},
    "values, dark": charts.heatmap(RNG.normal(size=(4, 4)), TAGS[:4], REPEATED, title="t", clicked=(1, 2), dark=True),
    "hidden": charts.heatmap(weights(4, 4), NUMBERS, NUMBERS, title="t", hidden=np.triu(np.ones((4, 4), bool), 1), clicked=(1, None)),
    "outline": charts.heatmap(RNG.normal(size=(4, 8)), REPEATED, list("01234567"), title="t", outline=(4, 7), clicked=(None, 3), width=960),
    "nothing": charts.heatmap(np.full((3, 3), np.nan), list("abc"), list("abc"), title="t"),
    "half precision": charts.heatmap(weights(3, 3).astype(np.float16), list("abc"), list("abc"), title="t", quantity="weight"),
    "whole numbers": charts.heatmap(np.arange(9).reshape(3, 3), list("abc"), list("abc"), title="t"),
    "six heads": charts.small_multiples(np.stack([weights(4, 4)] * 6), REPEATED, REPEATED, titles=[f"head {h}" for h in range(6)],
                                        clicked=(2, 1, 3)),
    "eight heads of 40": charts.small_multiples(np.stack([weights(40, 40)] * 8), ["w"] * 40, ["w"] * 40, dark=True,
                                                titles=[f"head {h}" for h in range(8)]),
    "curves": plots.curves([1, 2, 4], {"a": [1, 2, 3], "b": [3, 2, 1], "c": [1, 1, 1]}, title="t", x_title="x", y_title="y", log_x=True,
                            log_y=True, points={"here": (2, 2.0)}, at=2),
    "curve, dark": plots.curves([0, 1], {"a": [1, 2]}, title="t", x_title="x", y_title="y", y_range=(0, 3), dark=True),
    "bars": plots.bars(TAGS, RNG.random(8), title="t", y_title="y"),
    "bars, dark": plots.bars(["1"], [0.0], title="t", y_title="y", y_range=(0, 1), dark=True),
    "parts": horizontal.opened(TAGS[:2], {"a": [1, 3], "b": [0, 2]}, {"a": ["1", "3"], "b": ["0", "2"]}, title="t", marked=1),
    "a list, dark": horizontal.listed(TAGS[:2], [1, 3], ["1", "3"], title="t", marked=[0], level=("2", 2), dark=True),
    "moving bars": plots.animated_bars(NUMBERS, {"0.5": [0.1] * 4, "1": [0.2] * 4}, title="t", y_title="y", slider_title="T =", start=1),
    "boxes": diagrams.flow([diagrams.Box("one", "first", 0, 0), diagrams.Box("two", "second", 1, 0), diagrams.Box("three", "third", 1, 1),
                            diagrams.Box("in", "", 0, 1, plain=True), diagrams.Box("+", "", 2, 0, opens=False)],
                           [diagrams.Arrow(((0.45, 0), (0.55, 0)), "3 × 4"), diagrams.Arrow(((1, 0.36), (1, 0.5), (1, 0.64)), dashed=True)],
                           title="t", marked=(1,)),
    "rows": diagrams.rows({"Part 1": [("one", "a"), ("two", "b"), ("three and much more to read", "c")], "Part 2": [("four", "d")]}, 2,
                          title=""),
}


def same(a, b):
    """Equal, element by element, arrays and lists alike; an empty list or dict says as much as none."""
    if isinstance(a, dict):
        return all(same(a.get(key, []), b.get(key, [])) for key in {**a, **b})
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (a in ({}, []) and b in ({}, []))


@pytest.mark.parametrize("name", FIGURES)
def test_plotly_takes_every_figure_as_it_is(name):
    given_spec = decode(FIGURES[name].to_dict())
    taken = decode(go.Figure(FIGURES[name].spec).to_dict())
    taken["layout"]["template"].pop("data", None)  # Plotly writes the empty template out
    assert same(given_spec, taken)


@pytest.mark.parametrize("name", FIGURES)
def test_every_array_has_a_form_that_the_browser_knows(name):  # an unknown one, as i8, leaves the picture blank without a word
    known = {"f4", "f8", "i1", "i2", "i4", "u1", "u2", "u4"}  # plotly.js, typed arrays by their short names
    assert set(re.findall(r'"dtype": ?"(\w+)"', json.dumps(FIGURES[name].to_dict()))) <= known


def test_plotly_refuses_a_figure_with_a_misspelt_part():
    with pytest.raises(ValueError, match="colourscale"):
        go.Figure({"data": [{"type": "heatmap", "colourscale": "Viridis"}]})


@pytest.mark.parametrize("name", FIGURES)
def test_no_figure_holds_a_placeholder_colour(name):
    assert not [text for text in strings(FIGURES[name].spec) if re.fullmatch(r"#0000[0-2][0-9a-f]|#000030", text) and text != "#000000"]


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_brings_its_own_template_ground_and_type_colour(name):
    layout = FIGURES[name].spec["layout"]
    assert layout["template"] == {} and layout["paper_bgcolor"] == layout["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert layout["font"]["color"] == (theme.DARK if "dark" in name or name == "eight heads of 40" else theme.LIGHT).text


# ------------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize("tokens", [REPEATED, ["1", "2", "10"], NUMBERS, DATES, TAGS, PLAIN, ["the"] * 40], ids=lambda tokens: tokens[0])
@pytest.mark.parametrize("draw", ["heatmap", "small_multiples", "bars", "animated_bars"])
def test_every_token_has_its_own_place_and_reads_as_typed(tokens, draw):
    n = len(tokens)
    figure = decode({
        "heatmap": lambda: charts.heatmap(weights(n, n), tokens, tokens, title="t", width=2000),
        "small_multiples": lambda: charts.small_multiples(weights(n, n)[None], tokens, tokens, titles=["head 0"], width=2000),
        "bars": lambda: plots.bars(tokens, np.arange(n), title="t", y_title="y"),
        "animated_bars": lambda: plots.animated_bars(tokens, {"1": np.arange(n)}, title="t", y_title="y", slider_title="T"),
    }[draw]().spec)
    for name in ("xaxis", "yaxis") if "bars" not in draw else ("xaxis",):
        axis = figure["layout"][name]
        assert all(isinstance(place, int) for place in axis["tickvals"])
        assert labels(axis) == [tokens[place] for place in axis["tickvals"]]
        assert len(axis["tickvals"]) == n or ("bars" in draw and n == 40)  # bars have half a page: there 40 labels are thinned
        assert not any("<" in text or re.search(r"&(?!amp;|lt;|gt;)", text) for text in axis["ticktext"])
        assert axis.get("type", "linear") == "linear"


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=5))
def test_no_label_can_bring_in_markup(tokens):
    _, figure = heat(weights(len(tokens), len(tokens)), tokens, tokens)
    for text in figure["layout"]["xaxis"]["ticktext"]:
        assert not re.search(r"<|&(?!(?:amp|lt|gt);)", text)


def test_rows_run_from_the_top_and_columns_from_the_left():
    for figure in (heat(weights(3, 4))[1], decode(FIGURES["six heads"].spec)):
        for name, axis in figure["layout"].items():
            if name.startswith("yaxis"):
                assert axis["range"][0] > axis["range"][1] == -0.5
            if name.startswith("xaxis"):
                assert -0.5 == axis["range"][0] < axis["range"][1]


def test_the_clickable_ranges_end_half_a_cell_outside():
    _, figure = heat(weights(3, 5))
    assert figure["layout"]["xaxis"]["range"] == [-0.5, 4.5] and figure["layout"]["yaxis"]["range"] == [2.5, -0.5]


def test_cells_are_square():
    _, figure = heat(weights(3, 5))
    assert figure["layout"]["yaxis"]["scaleanchor"] == "x"
    assert figure["layout"]["xaxis"]["constrain"] == figure["layout"]["yaxis"]["constrain"] == "domain"


@pytest.mark.parametrize("width", [345, 470])
@pytest.mark.parametrize("n_rows", [1, 4, 20])
def test_a_few_rows_of_many_columns_keep_their_labels_and_a_height_that_a_colour_bar_can_be_read_at(n_rows, width):
    matrix, figure = heat(weights(n_rows, 40), quantity="weight", width=width)
    layout = figure["layout"]
    assert layout["yaxis"]["tickvals"] == list(range(n_rows)) and "scaleanchor" not in layout["yaxis"]
    assert layout["xaxis"]["range"] == [-0.5, 39.5] and layout["yaxis"]["range"] == [n_rows - 0.5, -0.5]
    inside = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    assert inside >= 45 and matrix.traces[0]["colorbar"]["nticks"] * 15 <= inside
    cell = (width - layout["margin"]["l"] - layout["margin"]["r"]) / 40
    assert matrix.cells["marker"]["size"] <= cell + 0.1  # squares that overlap would make a click in the overlap ambiguous


def written(figure):
    """What the cells show, by (row, column), as the browser's number formats write it."""
    found = {}
    for trace in figure["data"]:
        if trace["type"] == "heatmap":
            (form,) = re.fullmatch(r"%\{z:(.+)\}", trace["texttemplate"]).groups()
            for row, column in np.argwhere(~np.isnan(trace["z"])):
                number = f"{trace['z'][row, column]:{form.replace('~', '')}}".replace("e-0", "e-")  # a browser writes 1e-4, not 1e-04
                found[row, column] = number.replace(".0e", "e") if "~" in form else number
    return found


def test_numbers_too_small_for_two_decimals_are_written_as_powers_of_ten_where_asked():
    z = [[1.0, 1e-4], [-2.5e-3, 0.0], [0.5, 1e-17]]
    asked = written(heat(z, small=True)[1])
    assert [asked[cell] for cell in np.ndindex(3, 2)] == ["1.00", "1e-4", "-2.5e-3", "0.00", "0.50", "0.00"]
    narrow = written(heat(z, small=True, width=150)[1])
    assert narrow[0, 1] == "1e-4" and narrow[1, 0] in ("-2e-3", "-3e-3")  # one digit where two do not fit
    plain = written(heat(z)[1])
    assert plain[0, 1] == "0.00" and plain[1, 0] == "-0.00"


def test_axis_titles_say_that_rows_ask_and_columns_are_looked_at():
    _, figure = heat(weights(2, 2))
    assert figure["layout"]["yaxis"]["title"]["text"] == "query (who looks)"
    assert figure["layout"]["xaxis"]["title"]["text"] == "key (looked at)"


def hover(figure, matrix, row, column):
    """The hover text of one cell, as Plotly puts it together; the bare number where an axis has no label there."""
    number = row * matrix.values.shape[1] + column
    text = matrix.cells["hovertemplate"].replace("%{text}", matrix.cells.get("text", [""] * matrix.overlay.size)[number])
    for letter, place in (("x", column), ("y", row)):
        axis = figure["layout"][f"{letter}axis{matrix.cells.get('xaxis', 'x')[1:]}"]
        ticks = dict(zip(axis["tickvals"], axis["ticktext"], strict=True))
        text = text.replace(f"%{{{letter}}}", ticks.get(place, str(place)))
    return html.unescape(text)


@pytest.mark.parametrize("shape", [(3, 3), (40, 40), (48, 64)], ids=str)
def test_the_hover_text_names_the_row_as_query_and_the_column_as_key(shape):
    matrix, figure = heat(weights(*shape), [f"row{i}" for i in range(shape[0])], [f"col{i}" for i in range(shape[1])])
    for row, column in ((0, 1), (2, 0), (shape[0] - 1, shape[1] - 1)):
        assert hover(figure, matrix, row, column).startswith(f"query <b>row{row}</b><br>key <b>col{column}</b><br>value ")


@pytest.mark.parametrize("n", [4, 40])
def test_the_hover_text_of_several_heads_names_head_query_and_key(n):
    tokens = [f"word{i}" for i in range(n)]
    figure = decode(charts.small_multiples(np.stack([weights(n, n)] * 8), tokens, tokens, titles=[f"head {h}" for h in range(8)]).spec)
    for head, matrix in enumerate(matrices(figure)):
        for row, column in ((0, 1), (2, 0), (n - 1, n - 2)):
            assert hover(figure, matrix, row, column).startswith(f"head {head}<br>query <b>word{row}</b><br>key <b>word{column}</b>")


LONG = [f"{{}}-{word}" for word in ("incomprehensibilities-and-more", "\u200b\u200b\u200b", "a\u2067b\u2067c")]


@pytest.mark.parametrize("word", LONG, ids=ascii)
@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("draw", ["heatmap", "small_multiples"])
def test_the_hover_text_holds_a_long_word_whole(n, draw, word):
    tokens = [word.format(i) for i in range(n)]
    figure = decode(charts.heatmap(weights(n, n), tokens, tokens, title="t").spec if draw == "heatmap" else
                    charts.small_multiples(np.stack([weights(n, n)] * 5), tokens, tokens, titles=list("abcde")).spec)
    assert f"<b>{visible(tokens[1])}</b><br>key <b>{visible(tokens[2])}</b>" in hover(figure, matrices(figure)[-1], 1, 2)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_tick_labels_have_fifteen_pixels_each(shape):
    matrix, figure = heat(weights(*shape), quantity="weight")
    margin = figure["layout"]["margin"]
    tall = (figure["layout"]["height"] - margin["t"] - margin["b"]) / shape[0]
    for axis, letter, size in ((figure["layout"]["xaxis"], "c", matrix.cells["marker"]["size"]), (figure["layout"]["yaxis"], "r", tall)):
        assert all(np.diff(axis["tickvals"]) * size >= 15)
        assert labels(axis) == [f"{letter}{place}" for place in axis["tickvals"]]


@pytest.mark.parametrize("tokens", [["a", "bb"], ["incomprehensibilities", "a"], ["\u200b", "a"], ["x\u2067y", "\u200e"]], ids=ascii)
def test_there_is_room_for_the_row_labels(tokens):
    _, figure = heat(weights(2, 2), tokens, tokens)
    assert figure["layout"]["margin"]["l"] >= 7 * max(map(len, labels(figure["layout"]["yaxis"])))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_matrix_is_taller_than_a_screen(shape):
    _, figure = heat(weights(*shape), quantity="weight")
    assert figure["layout"]["height"] <= 800


# ------------------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("quantity", ["weight", "value"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_number_is_drawn_in_its_cell(shape, quantity):
    z = weights(*shape)
    matrix, _ = heat(z, quantity=quantity)
    assert (matrix.values == z).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_overlay_covers_each_cell_once_in_reading_order_with_its_value(shape):
    z = weights(*shape)
    matrix, figure = heat(z, quantity="weight")
    rows, columns = np.indices(shape)
    assert (matrix.cells["y"] == rows.ravel()).all() and (matrix.cells["x"] == columns.ravel()).all()
    assert (matrix.cells["customdata"] == z.ravel()).all()
    assert matrix.cells["type"] == ("scattergl" if z.size >= 48 * 48 else "scatter")
    assert all(matrix.cells[state]["marker"]["opacity"] == 0 for state in ("selected", "unselected"))
    assert figure["data"].index(matrix.cells) == len(matrix.traces)  # nothing lies between the cells and the overlay


def test_weights_are_coloured_from_0_to_1_and_values_the_same_on_both_sides_of_0():
    assert [(t["zmin"], t["zmax"]) for t in heat(weights(3, 3), quantity="weight")[0].traces] == [(0, 1)] * 2
    assert [(t["zmin"], t["zmax"]) for t in heat([[-3.0, 1.0]])[0].traces] == [(-3, 3)] * 2
    assert [(t["zmin"], t["zmax"]) for t in heat([[-3.0, 1.0]], limit=8)[0].traces] == [(-8, 8)] * 2
    heads = matrices(decode(FIGURES["six heads"].spec))
    assert all((trace["zmin"], trace["zmax"]) == (0, 1) for head in heads for trace in head.traces)


@pytest.mark.parametrize("z", [np.zeros((2, 2)), np.full((2, 2), np.nan), [[np.nan, 1.0], [0.5, np.nan]], [[5.0]], [[-5.0]]], ids=str)
def test_zeros_gaps_and_single_numbers_are_drawn_as_they_are(z):
    matrix, figure = heat(z)
    assert np.array_equal(matrix.values, z, equal_nan=True) and np.array_equal(matrix.overlay, z, equal_nan=True)
    assert all(np.isfinite([t["zmin"], t["zmax"]]).all() and t["zmin"] < t["zmax"] for t in matrix.traces)
    go.Figure(figure)


def test_hidden_cells_are_left_blank_and_signed():
    z, hidden = weights(4, 4), np.triu(np.ones((4, 4), bool), 1)
    matrix, figure = heat(z, hidden=hidden)
    (signs,) = [trace for trace in figure["data"] if trace.get("name") == "hidden"]
    assert (np.isnan(matrix.values) == hidden).all() and (matrix.values[~hidden] == z[~hidden]).all()
    assert np.stack([signs["y"], signs["x"]], axis=1).tolist() == np.argwhere(hidden).tolist()
    assert signs["text"] == ["−∞"] * 6 and signs["hoverinfo"] == "skip"
    assert (matrix.overlay == z)[~hidden].all()


def cell_text(trace, value):
    """The number as the trace's texttemplate writes it."""
    digits = int(re.fullmatch(r"%\{z:\.(\d)f\}", trace["texttemplate"])[1])
    return f"{value:.{digits}f}"


def longest_number(trace):
    """How many characters the longest number in the cells of a trace has."""
    return max((len(cell_text(trace, value)) for value in trace["z"].ravel() if np.isfinite(value)), default=0)


@pytest.mark.parametrize("scale", [1.0, 100.0, 12345.678, 1e6])
@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "with gaps"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_number_in_a_cell_fits_into_it(shape, gaps, scale):
    z = RNG.normal(size=shape) * scale
    z.ravel()[1::2] = np.nan if gaps else z.ravel()[1::2]
    matrix, _ = heat(z)
    for trace in matrix.traces:
        if "texttemplate" in trace:
            assert longest_number(trace) * 0.5 * trace["textfont"]["size"] <= matrix.cells["marker"]["size"]


def test_whole_numbers_are_written_as_whole_numbers():
    (dark, light) = heat([[1, 2], [3, -4]])[0].traces
    assert dark["texttemplate"] == light["texttemplate"] == "%{z:.0f}"
    assert heat([[1, 2], [3, 4.5]])[0].traces[0]["texttemplate"] == "%{z:.2f}"


def test_a_matrix_too_fine_for_numbers_has_a_colour_bar_instead():
    matrix, _ = heat(weights(40, 40), quantity="weight")
    (trace,) = matrix.traces
    assert trace["showscale"] and "texttemplate" not in trace
    assert not any(trace["showscale"] for trace in heat(weights(3, 3))[0].traces)


@pytest.mark.parametrize("quantity, low", [("weight", 0.0), ("value", -1.0)])
def test_a_number_in_a_cell_can_be_read_at_any_shade(quantity, low):
    z = np.linspace(low, 1, 101)[None]
    matrix, _ = heat(z, quantity=quantity, width=20_000)
    checked = 0
    for trace in matrix.traces:
        assert trace["textfont"]["color"] in ("#000000", "#ffffff")
        for value in trace["z"][np.isfinite(trace["z"])]:
            share = (value - trace["zmin"]) / (trace["zmax"] - trace["zmin"])
            assert contrast(trace["textfont"]["color"], colour_on(trace["colorscale"], share)) >= 4.5
            checked += 1
    assert checked == 101


def test_the_clicked_cell_and_its_row_are_framed():
    _, figure = heat(weights(3, 4), clicked=(1, 2))
    boxes = [(shape["x0"], shape["y0"], shape["x1"], shape["y1"]) for shape in figure["layout"]["shapes"]]
    assert boxes == [(-0.5, 0.5, 3.5, 1.5), (1.5, 0.5, 2.5, 1.5), (1.5, 0.5, 2.5, 1.5)]
    _, figure = heat(weights(3, 4), clicked=(None, 2))
    assert [(shape["x0"], shape["y0"], shape["x1"], shape["y1"]) for shape in figure["layout"]["shapes"]] == [(1.5, -0.5, 2.5, 2.5)]


@pytest.mark.parametrize("n_heads, n", [(5, 4), (6, 11), (8, 40)])
def test_each_head_of_several_has_its_matrix_its_place_and_its_number(n_heads, n):
    zs = np.stack([weights(n, n) for _ in range(n_heads)])
    figure = charts.small_multiples(zs, [f"r{i}" for i in range(n)], [f"c{i}" for i in range(n)],
                                    titles=[f"head {h}" for h in range(n_heads)], clicked=(1, 2, 0))
    found = matrices(decode(figure.spec))
    assert (np.stack([matrix.values for matrix in found]) == zs).all() and (np.stack([matrix.overlay for matrix in found]) == zs).all()
    assert [matrix.cells["meta"] for matrix in found] == list(range(n_heads))
    traces = len(figure.spec["data"]) // n_heads
    assert [trace.get("meta") for trace in figure.spec["data"]][traces - 1::traces] == list(range(n_heads))
    assert [note["text"] for note in figure.spec["layout"]["annotations"]] == [f"<b>head {h}</b>" for h in range(n_heads)]
    places = {(round(axis["domain"][0], 6), axis.get("anchor")) for name, axis in figure.spec["layout"].items() if name.startswith("xaxis")}
    assert len(places) == n_heads
    rows, columns, values = figure.table
    assert (values == zs.reshape(-1, n)).all() and rows[n] == "head 1: r0" and len(rows) == n_heads * n and list(columns)[0] == "c0"


# -------------------------------------------------------------------------------------------------- curves and bars


def test_curves_carry_the_given_numbers_and_differ_in_dash_and_colour():
    x, series = [1, 2, 4], {"a": [1.5, 2, 3], "b": [3, 2, 1], "c": [0.5, 0.25, 0.125]}
    figure = plots.curves(x, series, title="t", x_title="d", y_title="y", log_x=True, points={"here": (2, 2.0)}, at=2)
    lines = [trace for trace in decode(figure.spec)["data"] if trace["mode"] == "lines+markers"]
    assert {trace["name"]: trace["y"].tolist() for trace in lines} == series and all(trace["x"].tolist() == x for trace in lines)
    assert len({trace["line"]["dash"] for trace in lines}) == len({trace["line"]["color"] for trace in lines}) == 3
    (point,) = [trace for trace in decode(figure.spec)["data"] if trace["mode"] == "markers"]
    assert (point["x"], point["y"]) == ([2], [2.0])
    rows, columns, values = figure.table
    assert list(rows) == x and list(columns) == list(series) and values.T.tolist() == list(series.values())
    assert figure.spec["layout"]["showlegend"] and figure.spec["layout"]["xaxis"]["type"] == "log"


@pytest.mark.parametrize("values, within", [([1, 0.9, 0.81], (0.8, 1.0)), ([0.5, 1], (0.5, 1)), ([1, 1, 1 + 1e-15], (0.5, 2)),
                                            ([2.0, 3.1], (2, 3.2)), ([1, 0.12], (0.1, 1)), ([1e-9, 1], (1e-9, 1)), ([0.0], (0.5, 2))],
                         ids=str)
def test_a_logarithmic_axis_says_so_and_has_ticks_to_read_it_by(values, within):
    spec = plots.curves(range(len(values)), {"a": values}, title="t", x_title="x", y_title="norm", log_y=True).spec
    axis = spec["layout"]["yaxis"]
    assert axis["type"] == "log" and axis["title"]["text"] == "norm, log scale"
    seen = [tick for tick in axis["tickvals"] if within[0] * (1 - 1e-9) <= tick <= within[1] * (1 + 1e-9)]
    assert 3 <= len(seen) <= 10 and len(set(axis["ticktext"])) == len(axis["ticktext"])
    if max(values) < 16 * min(values):
        assert [float(text) for text in axis["ticktext"]] == pytest.approx(axis["tickvals"])
    if "range" in axis:  # all but equal: without room, rounding would fill the height
        low, high = (10**end for end in axis["range"])
        assert high >= 2 * low
    bare = plots.curves([0], {"a": [1]}, title="t", x_title="x", y_title="", log_y=True)
    assert bare.spec["layout"]["yaxis"]["title"]["text"] == "log scale"


def test_bars_carry_the_given_numbers():
    figure = plots.bars(REPEATED, [0.1, 0.2, 0.3, 0.4], title="t", y_title="share")
    (trace,) = decode(figure.spec)["data"]
    assert trace["x"] == [0, 1, 2, 3] and trace["y"].tolist() == [0.1, 0.2, 0.3, 0.4]
    rows, columns, values = figure.table
    assert (rows, columns, values.tolist()) == (REPEATED, ["share"], [[0.1], [0.2], [0.3], [0.4]])


def test_moving_bars_carry_every_frame_and_begin_with_the_one_asked_for():
    frames = {"0.5": [0.1, 0.9], "1": [0.4, 0.6], "2": [0.5, 0.5]}
    figure = plots.animated_bars(["a", "<b>"], frames, title="t", y_title="y", slider_title="T =", start=1)
    spec = decode(figure.spec)
    assert {frame["name"]: frame["data"][0]["y"].tolist() for frame in spec["frames"]} == frames
    (slider,) = spec["layout"]["sliders"]
    assert spec["data"][0]["y"].tolist() == frames["1"] and slider["active"] == 1
    assert [(step["label"], step["args"][0]) for step in slider["steps"]] == [(name, [name]) for name in frames]
    rows, columns, values = figure.table
    assert list(rows) == list(frames) and list(columns) == ["a", "<b>"] and values.tolist() == list(frames.values())


@pytest.mark.parametrize("name", [name for name in FIGURES if name.startswith(("weights", "values", "hidden", "outline", "half"))])
def test_the_table_holds_the_numbers_that_are_drawn(name):
    values = np.asarray(FIGURES[name].table[2], dtype=float)
    (matrix,) = matrices(decode(FIGURES[name].spec))
    assert np.array_equal(np.where(np.isfinite(values), values, np.nan), matrix.values, equal_nan=True)


def test_a_drawing_names_the_box_under_the_pointer():
    spec = FIGURES["boxes"].spec
    (trace,) = spec["data"]
    assert trace["name"] == "boxes" and trace["customdata"] == ["one", "two", "three"]
    rectangles = [shape for shape in spec["layout"]["shapes"] if shape["type"] == "rect"]
    assert [shape["line"]["width"] > 2 for shape in rectangles] == [False, True, False, False]
    assert [note["text"] for note in spec["layout"]["annotations"] if not note["showarrow"]] == [
        "<b>one</b><br>first", "<b>two</b><br>second", "<b>three</b><br>third", "<b>in</b>", "<b>+</b>", "3 × 4"]
    assert sum(note["showarrow"] for note in spec["layout"]["annotations"]) == 2
    assert trace["x"] == [0, 1, 1] and trace["y"] == [0, 0, 1]


def test_boxes_in_rows_keep_their_order_and_a_long_name_is_broken_between_words():
    spec = FIGURES["rows"].spec
    (trace,) = spec["data"]
    assert trace["customdata"] == ["one", "two", "three and much more to read", "four"]
    assert trace["x"] == [0, 1, 0, 0] and trace["y"][0] == trace["y"][1] < trace["y"][2] < trace["y"][3]
    texts = [note["text"] for note in spec["layout"]["annotations"] if not note["showarrow"]]
    assert "<b>three and much<br>more to read</b><br>c" in texts and texts[0] == "<b>Part 1</b>"


@given(st.text(min_size=1, max_size=60))
def test_a_label_is_short_and_turns_back_into_what_it_shows(token):
    assert len(html.unescape(label(token))) <= 14
    assert html.escape(html.unescape(label(token)), quote=False) == label(token)


@pytest.mark.parametrize("draw", ["bars", "animated_bars"])
def test_many_bars_have_fifteen_pixels_for_each_label_and_the_whole_word_in_the_hover_text(draw):
    tokens = [f"{i}-incomprehensibilities" for i in range(40)]
    figure = decode({"bars": lambda: plots.bars(tokens, np.arange(40), title="t", y_title="y"),
                     "animated_bars": lambda: plots.animated_bars(tokens, {"1": np.arange(40)}, title="t", y_title="y", slider_title="T"),
                     }[draw]().spec)
    axis, margin = figure["layout"]["xaxis"], figure["layout"]["margin"]
    assert len(axis["tickvals"]) * 15 <= 470 - margin["l"] - margin["r"]  # the width of half a page, as for a matrix
    assert any("39-incomprehensibilities" in text for text in strings(figure))


def test_parts_and_lists_show_their_names_as_written_and_a_part_answers_over_its_whole_height():
    parts, listed = (decode(FIGURES[name].spec) for name in ("parts", "a list, dark"))
    words = next(trace for trace in parts["data"] if trace.get("mode") == "text")["text"]
    assert [html.unescape(word) for word in words[-2:]] == [f"<b>{tag}</b>" for tag in TAGS[:2]] and "a: 3" in words
    assert [html.unescape(word) for word in listed["layout"]["yaxis"]["ticktext"]] == TAGS[:2]
    rows = parts["data"][-1]
    bottom, top = parts["layout"]["yaxis"]["range"]
    assert top == 0 and bottom == 2 * (rows["width"] + 2) and rows["x"] == [3, 3]
    for trace in parts["data"][:2]:  # every bar lies inside its part
        for middle, height in zip(trace["y"], (0, 1), strict=True):
            assert bottom / 2 * height < middle - trace["width"] / 2 and middle + trace["width"] / 2 < bottom / 2 * (height + 1)
