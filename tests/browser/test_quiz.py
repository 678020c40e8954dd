"""The quiz in a browser: answered from the keyboard, and a page to keep with what was just written."""

from core import questions
from tests import test_questions_by_hand as by_hand
from tests.browser.reading import linked


def test_a_number_is_answered_with_enter_and_the_words_just_written_are_saved(visitor, tmp_path):
    number = next(number for number in range(1, 99) if questions.kind_at(1, number) == "raw_score")
    visitor.open(linked("quiz", view="questions", number=number))
    right = by_hand.raw_score(questions.draw("raw_score", 1, number))
    visitor.page.get_by_label("Your answer").fill(f"{right:g}")
    visitor.page.keyboard.press("Enter")
    visitor.settle()
    assert "1 of 1 point. Right." in visitor.text()
    assert visitor.address() == {"quiz.view": "questions", "quiz.number": str(number)}
    field = visitor.page.get_by_label("Class code", exact=True)
    for typed, said in (("1,5", True), ("-3", True), ("77", False)):  # never another number than the one that was typed
        field.fill(typed)
        visitor.page.keyboard.press("Enter")
        visitor.settle()
        assert ("Class code: write a whole number" in visitor.text()) == said and field.input_value() == typed
    assert visitor.address()["quiz.code"] == "77"
    visitor.choose("look back")
    visitor.page.get_by_label("My first step in building with it").fill("train **one** head")
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="Save my page as Markdown").click()
    download.value.save_as(tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "> train **one** head" in page and "1 of 1" in page
    assert visitor.exceptions() == visitor.errors == visitor.outside == []
