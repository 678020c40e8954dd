"""The forward pass and generation: boxes, cells and bars that are clicked, and their address in another window."""

from tests.browser.reading import close, linked, worked
from tests.browser.test_odd_text import harmless
from tests.browser.test_ways import press_box

OWN = "a <b> $x$"


def press_bar(visitor, chart, number):
    """Click into the middle of a bar."""
    bar = visitor.page.locator(f"{visitor.where(chart)} .point path").nth(number)
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    visitor.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    visitor.settle()


def test_a_box_shows_its_step_a_cell_its_sum_and_the_address_opens_the_same(visitor, elsewhere):
    visitor.open(linked("forward-pass", text=OWN, stage="logits"))
    visitor.click_cell("forward_pass.array", 4, 2, (0.94, 0.06))
    value, _ = worked(visitor.arithmetic())
    assert visitor.picked() == (4, 2) and close(value, visitor.numbers("forward_pass.array")[4][2])
    assert visitor.labels("forward_pass.array", "y") == [letter.replace(" ", "␣") for letter in OWN]
    press_box(visitor, "v", chart="forward_pass.steps")
    assert visitor.address()["forward_pass.stage"] == "v"
    for _ in range(2):
        visitor.page.get_by_role("button", name="One step on").click()
        visitor.settle()
    value, _ = worked(visitor.arithmetic())
    assert visitor.address()["forward_pass.stage"] == "pattern" and close(value, visitor.numbers("forward_pass.array")[4][2])
    elsewhere.open(visitor.page.url)
    assert elsewhere.arithmetic() == visitor.arithmetic() and elsewhere.page.url == visitor.page.url
    harmless(visitor)


def test_a_preset_stands_in_the_address_and_a_bar_shows_its_sum(visitor):
    visitor.open(linked("generation", source="typed in", top_k=2))
    visitor.page.get_by_role("button", name=".3 .1 .1 .5, p = 0.8").click()
    visitor.settle()
    asked = visitor.address()
    assert "generation.top_k" not in asked and (asked["generation.numbers"], asked["generation.top_p"]) == (".3 .1 .1 .5", "0.8")
    press_bar(visitor, "generation.kept", 1)
    assert close(worked(visitor.arithmetic())[0], 0.3 / 0.8)
    visitor.open(linked("generation", text=OWN, view="write"))
    press_bar(visitor, "generation.written", 3)
    assert visitor.address()["generation.at_token"].startswith("3 · ")
    assert close(worked(visitor.arithmetic())[0], visitor.drawn("generation.written")[0]["y"][3])
    harmless(visitor)


def test_the_cache_step_by_step(visitor):
    visitor.open(linked("generation", view="KV cache", step=3, scheme="rotary"))
    assert f"value on this page: {visitor.drawn('generation.cost')[0]['y'][3]:.0f}\n" in visitor.arithmetic()
    assert "at position 7" in visitor.text()
    harmless(visitor)
