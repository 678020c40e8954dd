"""In practice and Misconceptions in a browser: bars, cells and ticks that are clicked, and tests on one's own sentence."""

from tests.browser.reading import close, linked, worked
from tests.browser.test_model_pages import press_bar
from tests.browser.test_odd_text import harmless

OWN = "My <b>certificat</b> is $lost$ and I paid"


def test_an_own_message_is_taken_apart_by_click_and_ticks_stand_in_the_address(visitor, tmp_path):
    visitor.open("in-practice").type_into("Or your own message to the academy", OWN)
    shares = visitor.drawn("in_practice.words")[0]["y"]
    press_bar(visitor, "in_practice.words", shares.index(max(shares)))
    assert visitor.address()["in_practice.stage"] == "share"
    assert visitor.address()["in_practice.column"].startswith(f"{shares.index(max(shares))} · ")
    assert close(worked(visitor.arithmetic())[0], max(shares))
    visitor.click_cell("in_practice.pattern.1", 3, 5)
    assert visitor.address()["in_practice.stage"] == "head 1" and visitor.picked() == (3, 5)
    assert close(worked(visitor.arithmetic())[0], visitor.numbers("in_practice.pattern.1")[3][5])
    harmless(visitor)
    visitor.choose("checklist")
    visitor.page.get_by_text("2. Simple things first").click()
    visitor.settle()
    visitor.page.get_by_label("Project", exact=True).fill("Helpdesk <b>")
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="Save the list as Markdown").click()
    download.value.save_as(tmp_path / "list.md")
    page = (tmp_path / "list.md").read_text(encoding="utf-8")
    assert visitor.address()["in_practice.ticked"] == "2"
    assert "- [x] 2." in page and page.count("- [x]") == 1 and "Helpdesk <b>" in page


def test_a_belief_is_tested_on_ones_own_sentence(visitor):
    visitor.open(linked("misconceptions", belief="6. The attention weights are the reason for the answer")).type_sentence(OWN)
    assert visitor.text().count("Verdict: ") == 2 and visitor.labels("misconceptions.own.shares")[2] == "certificat"
    harmless(visitor)
