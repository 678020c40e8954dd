"""Editing the numbers of an example: the grid, the text above it, the pictures and the address say the same."""

import pytest
from playwright.sync_api import expect

from tests.browser.reading import close, linked, worked

EDIT = "Edit the numbers"
X = "x, 3 × 4"


class Editor:
    """The grid and the text box of x on the attention page."""

    def __init__(self, visitor):
        self.visitor, self.page = visitor, visitor.page

    def _grid(self):
        return self.page.locator('[data-testid="stDataFrame"]').first

    def type(self, row, column, number):
        """Click a cell of the grid, type, press Enter."""
        cell = self._grid().get_by_test_id(f"glide-cell-{column}-{row}")
        self._grid().scroll_into_view_if_needed()
        box = self._grid().bounding_box()
        self.page.mouse.click(box["x"] + 68 * (column + 0.5), box["y"] + 35 * (row + 1.5))
        expect(cell).to_have_attribute("aria-selected", "true")
        self.page.keyboard.type(number)
        expect(self.page.locator("input.gdg-input")).to_have_value(number)
        self.page.keyboard.press("Enter")
        expect(cell).to_have_text(number)
        self.visitor.settle()

    def grid(self):
        expect(self._grid().locator('td[role="gridcell"]')).to_have_count(12)  # the grid's cells follow its picture
        cells = self._grid().locator('td[role="gridcell"]').all_text_contents()
        return "; ".join(" ".join(cells[start:start + 4]) for start in (0, 4, 8))

    def text(self):
        return self.page.get_by_label(X, exact=True).input_value()

    def first_row_of_x(self):
        """x[0] as the arithmetic on the page must have used it: q[0] = x[0] @ w_q of the example."""
        x = [[float(number) for number in row.split()] for row in self.text().split(";")]
        w_q = [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 0]]
        return [sum(x[0][i] * w_q[i][j] for i in range(4)) for j in range(3)]


@pytest.fixture
def editor(visitor):
    visitor.open(linked("attention", edit="true"))
    return Editor(visitor)


def test_a_number_typed_into_the_grid_reaches_the_text_the_pictures_the_sum_and_the_address(editor, visitor, elsewhere):
    editor.type(0, 1, "7")
    editor.type(2, 3, "-2.5")
    assert editor.grid() == editor.text() == "1 7 1 0; 0 1 0 1; 1 1 0 -2.5"
    value, steps = worked(visitor.arithmetic())
    assert close(value, visitor.numbers("attention.normalise")[0][0])
    assert close(steps["raw_scores[0, 0]"], visitor.numbers("attention.compare")[0][0])
    assert f"q[0, 1] × k[0, 1] = {editor.first_row_of_x()[1]:g} × " in visitor.arithmetic()
    elsewhere.open(visitor.page.url)
    assert Editor(elsewhere).grid() == Editor(elsewhere).text() == editor.text()
    assert elsewhere.arithmetic() == visitor.arithmetic()
    assert elsewhere.numbers("attention.mix") == visitor.numbers("attention.mix")
    assert visitor.errors == elsewhere.errors == []


def test_the_grid_follows_the_text_and_can_be_typed_in_afterwards(editor, visitor):
    visitor.type_into(X, "9 8 7 6; 0 1 0 1; 1 1 0 0")
    assert editor.grid() == "9 8 7 6; 0 1 0 1; 1 1 0 0"
    editor.type(1, 1, "4")
    assert editor.grid() == editor.text() == "9 8 7 6; 0 4 0 1; 1 1 0 0"


@pytest.mark.parametrize("away", ["another page", "the switch"])
def test_coming_back_to_the_grid_finds_the_numbers_typed_before_and_keeps_them(editor, visitor, away):
    editor.type(0, 1, "7")
    if away == "the switch":
        visitor.switch(EDIT).switch(EDIT)
    else:
        visitor.menu("Scaling and saturation").menu("Attention")
    assert editor.text() == "1 7 1 0; 0 1 0 1; 1 1 0 0"
    assert editor.grid() == editor.text()
    editor.type(2, 0, "3")
    assert editor.grid() == editor.text() == "1 7 1 0; 0 1 0 1; 3 1 0 0"


@pytest.mark.parametrize(("typed", "sentence"), [
    ("1 2; 3", "it has 2 rows; it needs 3"), ("1 2 3 4; 5 6 7 8; 9 10 11", "row 3 has 3 numbers; it needs 4"),
    ("1 2 3 4; 5 <b> 7 8; 9 10 11 12", "entry 2 of row 2 is not a number"),
    ("1e400 0 0 0; 0 0 0 0; 0 0 0 0", "entry 1 of row 1 is not a number")])
def test_text_that_is_no_matrix_is_answered_in_a_sentence_and_the_examples_numbers_stay(editor, visitor, typed, sentence):
    before = visitor.arithmetic()
    visitor.type_into(X, typed)
    assert [sentence in remark for remark in visitor.remarks()] == [True]
    assert visitor.arithmetic() == before
    assert visitor.exceptions() == visitor.errors == []


def test_the_name_of_the_source_changes_when_numbers_were_edited(editor, visitor):
    assert "They are set by hand" in visitor.text()
    editor.type(1, 0, "2")
    assert "They are typed in by you" in visitor.text()
