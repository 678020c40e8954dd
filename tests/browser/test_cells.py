"""Any cell of any picture: a click, its sum at the foot of the page, and the same sum at its shared address."""

import pytest

from tests.browser.reading import close, linked, worked

SENTENCE = "the cat <b>sat</b> on the 2024 mat"
# page: (picture that is clicked, row, column, where in the cell, picture that draws the sum's value)
CELLS = {
    "queries-keys-values": [("q", 2, 3, (0.5, 0.5), "q"), ("q", 6, 1, (0.06, 0.06), "q"), ("qk", 4, 2, (0.94, 0.94), "qk")],
    "attention": [("compare", 1, 6, (0.94, 0.06), "compare"), ("scale", 6, 1, (0.06, 0.94), "scale"),
                  ("normalise", 2, 5, (0.5, 0.5), "normalise"), ("mix", 3, 7, (0.94, 0.94), "mix")],
    "causal-mask": [("scores", 5, 2, (0.5, 0.5), "before"), ("renormalised", 6, 6, (0.94, 0.94), "before"),
                    ("zeroed", 3, 5, (0.06, 0.06), "before")],
    "many-heads": [("share", 2, 15, (0.94, 0.06), "share"), ("pattern.1", 3, 2, (0.06, 0.94), "pattern.1"),
                   ("out", 5, 1, (0.5, 0.5), "out")],
    "feed-forward": [("widen", 2, 15, (0.94, 0.06), "widen"), ("bend", 5, 7, (0.5, 0.5), "bend"), ("narrow", 3, 2, (0.06, 0.94), "narrow")],
    "block": [("attention", 1, 15, (0.94, 0.94), "attention"), ("between", 6, 4, (0.06, 0.06), "between"),
              ("feed-forward", 3, 8, (0.5, 0.5), "feed-forward"), ("out", 2, 5, (0.5, 0.5), "out")],
    "encoder-decoder": [("encoder", 2, 6, (0.06, 0.94), "encoder"), ("encoder", 5, 3, (0.5, 0.5), "encoder")],
}
# where the address is opened in another window too; that an address holds all settings is tested for every page without a browser
PICTURES = {"attention": ("compare", "scale", "normalise", "mix"), "causal-mask": ("scores", "before", "zeroed", "renormalised"),
            "block": ("in", "attention", "between", "out")}


@pytest.mark.parametrize("page", CELLS)
def test_a_clicked_cell_shows_the_sum_that_makes_its_number_and_its_address_opens_the_same(visitor, elsewhere, page):
    key = page.replace("-", "_")
    visitor.open(page).type_sentence(SENTENCE)
    for clicked, row, column, at, drawn in CELLS[page]:
        visitor.click_cell(f"{key}.{clicked}", row, column, at)
        value, _ = worked(visitor.arithmetic())
        assert visitor.picked() == (row, column), f"{clicked}[{row}, {column}] was clicked"
        assert close(value, visitor.numbers(f"{key}.{drawn}")[row][column])
        assert close(value, visitor.behind(f"{key}.{drawn}")[row][column])
        assert visitor.address()[f"{key}.row"] == f"{row} · {SENTENCE.split()[row]}"
        assert visitor.address()[f"{key}.column"].startswith(f"{column} · ")
    if page not in PICTURES:
        assert visitor.errors == []
        return
    elsewhere.open(visitor.page.url)
    assert elsewhere.picked() == visitor.picked()
    assert elsewhere.arithmetic() == visitor.arithmetic()
    for name in PICTURES[page]:
        assert repr(elsewhere.behind(f"{key}.{name}")) == repr(visitor.behind(f"{key}.{name}"))  # repr: an empty cell equals itself
    assert elsewhere.page.url == visitor.page.url
    assert visitor.errors == elsewhere.errors == []


def test_a_slope_of_ones_own_scores_is_the_product_at_the_foot_and_its_address_opens_the_same(visitor, elsewhere):
    visitor.open("scaling").type_into("Scores", "3 1.5 -0.25 0 1.5")
    for row, column, at in ((2, 3, (0.5, 0.5)), (4, 4, (0.94, 0.94)), (1, 4, (0.06, 0.94))):
        visitor.click_cell("scaling.slopes", row, column, at)
        value, _ = worked(visitor.arithmetic())
        assert visitor.picked() == (row, column)
        assert close(value, visitor.numbers("scaling.slopes")[row][column])
    elsewhere.open(visitor.page.url)
    assert elsewhere.picked() == visitor.picked()
    assert elsewhere.arithmetic() == visitor.arithmetic()
    assert elsewhere.behind("scaling.slopes") == visitor.behind("scaling.slopes")


def test_a_cell_of_cross_attention_is_taken_by_target_and_source(visitor):
    visitor.open(linked("encoder-decoder", text="one two three", target="eins <b> drei vier"))
    visitor.click_cell("encoder_decoder.cross", 3, 1, (0.94, 0.06))
    value, _ = worked(visitor.arithmetic())
    assert (visitor.address()["encoder_decoder.row"], visitor.address()["encoder_decoder.column"]) == ("3 · drei", "1 · two")
    assert close(value, visitor.numbers("encoder_decoder.cross")[3][1])
    visitor.click_cell("encoder_decoder.decoder", 2, 2)
    assert close(worked(visitor.arithmetic())[0], visitor.numbers("encoder_decoder.decoder")[2][2])
    visitor.open(linked("encoder-decoder", weights="trained on dates", date="1 May 1805"))
    visitor.click_cell("encoder_decoder.cross", 6, 3)
    assert close(worked(visitor.arithmetic())[0], visitor.numbers("encoder_decoder.cross")[6][3])
    assert visitor.address()["encoder_decoder.row"] == "6 · 0→5" and visitor.address()["encoder_decoder.column"] == "3 · a"


def test_in_cells_taller_than_wide_a_click_takes_the_cell_under_the_mouse(visitor):
    visitor.open(linked("encoder-decoder", text=" ".join(f"w{i}" for i in range(40))))
    visitor.click_cell("encoder_decoder.cross", 2, 38, (0.8, 0.95))
    assert visitor.picked() == (2, 38)
    assert close(worked(visitor.arithmetic())[0], visitor.numbers("encoder_decoder.cross")[2][38])


def test_with_eight_heads_a_click_in_the_joint_picture_takes_head_and_cell(visitor):
    visitor.open(linked("many-heads", text="the cat sat", n_heads=8))
    visitor.click_cell("many_heads.patterns", 1, 2, axes="6")
    assert visitor.address()["many_heads.head"] == "head 5"
    value, _ = worked(visitor.arithmetic())
    cells = [trace["values"] for trace in visitor.drawn("many_heads.patterns") if trace["name"] == "cells"]
    assert close(value, cells[5][1 * 3 + 2])


def test_with_forty_words_a_click_takes_the_cell_under_the_mouse(visitor):
    visitor.open(linked("attention", text=" ".join(f"w{i}" for i in range(40))))
    visitor.click_cell("attention.normalise", 23, 17, (0.3, 0.7))
    assert visitor.picked() == (23, 17)
    assert close(worked(visitor.arithmetic())[0], visitor.numbers("attention.normalise")[23][17])


def test_numbers_stand_rounded_in_their_cells_and_a_frame_round_the_clicked_one(visitor):
    visitor.open("attention").click_cell("attention.normalise", 2, 1)
    picture = visitor.where("attention.normalise")
    written = visitor.page.locator(f"{picture} .heatmaplayer text").all_text_contents()
    assert sorted(written) == sorted(f"{weight:.2f}" for row in visitor.behind("attention.normalise") for weight in row)
    boxes = visitor.page.evaluate("chart => document.querySelector(chart + ' .js-plotly-plot')._fullLayout.shapes"
                                  ".map(shape => [shape.x0, shape.x1, shape.y0, shape.y1])", picture)
    assert [0.5, 1.5, 1.5, 2.5] in boxes
