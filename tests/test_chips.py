"""Token chips: every piece is drawn, named, numbered and can be clicked; they wrap, and nothing in them is interpreted."""

import html

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.shared import chips, theme
from tests.page_tools import contrast


def trace(figure, name):
    (only,) = [each for each in figure.spec["data"] if each["name"] == name]
    return only


def drawn(pieces, ids=None, **more):
    return chips.chips(chips.names(pieces), list(range(len(pieces))) if ids is None else ids, **more)


@pytest.mark.parametrize("dark", [False, True])
def test_a_figure_is_one_that_plotly_takes(dark):
    figure = drawn(["a", " b", "c"], [1, None, 7], dashed={1}, clicked=2, dark=dark)
    assert go.Figure(figure.spec).data
    assert trace(figure, "ids")["text"] == ["1", "none", "7"] and trace(figure, "pieces")["text"] == ["a", "␣b", "c"]


@pytest.mark.parametrize("piece", ["<b>x</b>", "%{x}", "&amp;", "<br>", "![x](http://e.vil/x)"])
def test_a_piece_is_shown_as_it_is(piece):
    figure = drawn([piece])
    (shown,) = trace(figure, "pieces")["text"]
    (hover,) = set(trace(figure, "chips")["text"])
    assert html.unescape(shown) == chips.shortened(piece) and f"<b>{html.escape(piece, quote=False)}</b>" in hover
    assert shown.count("<") == 0 and "&" not in shown.replace("&lt;", "").replace("&gt;", "").replace("&amp;", "")


def test_hexadecimal_bytes_stay_and_hidden_signs_are_named():
    assert chips.names(["<F0 9F>", " ", "\n", "\u200d", "\u0301"], {0}) == ["<F0 9F>", "␣", "⏎", "‹U+200D›", "◌\u0301"]


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=60), st.sampled_from([345, 900]))
def test_boxes_stay_inside_and_apart(pieces, width):
    boxes = chips.places(chips.names(pieces), list(range(len(pieces))), width)
    assert all(0 <= box.x0 < box.x1 <= width for box in boxes)
    for one, other in zip(boxes, boxes[1:], strict=False):
        assert (other.y0 == one.y0 and other.x0 > one.x1) or (other.y0 > one.y1 and other.x0 == boxes[0].x0)


@pytest.mark.parametrize("width", [345, 900])
def test_the_nearest_point_belongs_to_the_box_under_the_pointer(width):
    pieces = ["a", "incomprehensibilities", "b", "two words", "日本語", "x"] * 4
    figure = drawn(pieces, width=width)
    spots, boxes = trace(figure, "chips"), chips.places(chips.names(pieces), range(len(pieces)), width)
    at = np.column_stack([spots["x"], spots["y"]])
    for number, box in enumerate(boxes):
        for x in np.linspace(box.x0 + 1, box.x1 - 1, 9):
            for y in (box.y0 + 4, box.y1 - 4):
                assert spots["customdata"][int(np.hypot(*(at - (x, y)).T).argmin())] == number


def test_letters_shrink_with_their_box_and_lie_above_its_fill():
    figure = drawn(["a", "<F0>", "b"], [1, 240, 1], dashed={1})
    boxes = chips.places(["a", "<F0>", "b"], [1, 240, 1], 900)
    order = [each["name"] for each in figure.spec["data"] if each["type"] == "bar"]
    assert order == ["fills", "pieces", "ids"] and figure.spec["layout"]["barmode"] == "overlay"
    for name in ("pieces", "ids"):
        letters = trace(figure, name)
        assert letters["constraintext"] == letters["textposition"] == "inside" and letters["textangle"] == 0
        assert [(x, x + wide) for x, wide in zip(letters["base"], letters["x"], strict=True)] == [(box.x0, box.x1) for box in boxes]
    assert len(trace(figure, "fills")["x"]) == 2 and len(set(trace(figure, "fills")["marker"]["color"])) == 1  # the dashed one has no fill


def test_the_picked_box_is_framed():
    figure = drawn(list("abc"), clicked=1)
    box = chips.places(list("abc"), range(3), 900)[1]
    assert min(trace(figure, "picked")["x"][:5]) == box.x0 and max(trace(figure, "picked")["x"][:5]) == box.x1


@pytest.mark.parametrize("dark", [False, True])
def test_type_can_be_read_on_every_fill_and_neighbours_differ_in_more_than_hue(dark):
    palette = theme.palette(dark)
    assert all(contrast(palette.text, fill) >= 4.5 for fill, _ in chips.FILLS[dark])
    assert all(contrast(border, fill) >= 3 for fill, border in chips.FILLS[dark])


def test_no_piece_gives_an_empty_figure():
    assert go.Figure(drawn([]).spec).layout.height < 60
