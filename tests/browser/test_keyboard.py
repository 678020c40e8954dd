"""Everything can be done from the keyboard, and everything has a name that can be read aloud."""

from tests.browser.reading import close, linked, worked


def focused(visitor):
    """The name of what the keyboard is at."""
    return visitor.page.evaluate("""() => { const at = document.activeElement, labels = at.labels;
        const label = labels && labels.length ? labels[0].innerText.trim() : '';
        return at.getAttribute('aria-label') || label || at.innerText || at.title || at.tagName; }""")


def press(visitor, *keys):
    for key in keys:
        visitor.page.keyboard.press(key)
        visitor.page.wait_for_timeout(80)
    return visitor.settle()


def test_the_cell_is_chosen_with_the_lists(visitor):
    visitor.open("attention")
    visitor.page.get_by_role("radio", name="normalise").focus()
    press(visitor, "ArrowRight", "Space")
    assert visitor.address()["attention.stage"] == "mix"
    for label, keys in (("Query (row)", ["ArrowDown"] * 3 + ["Enter"]), ("Feature (column)", ["ArrowDown"] * 2 + ["Enter"])):
        visitor.page.get_by_role("combobox", name=label).focus()
        press(visitor, *keys)
    row, column = visitor.picked()
    assert (row, column) != (0, 0)
    value, _ = worked(visitor.arithmetic())
    assert close(value, visitor.numbers("attention.mix")[row][column])
    assert visitor.address()["attention.row"].startswith(f"{row} · ")


def test_typing_into_a_list_finds_the_word(visitor):
    visitor.open(linked("attention", text="the cat sat on the mat"))
    visitor.page.get_by_role("combobox", name="Key (column)").focus()
    visitor.page.keyboard.press("ControlOrMeta+a")
    visitor.page.keyboard.type("mat", delay=30)
    press(visitor, "Enter")
    assert visitor.picked() == (0, 5)


def test_the_prediction_is_made_and_answered_from_the_keyboard(visitor):
    visitor.open("attention")
    assert "their ratio is e to the difference" not in visitor.text()
    visitor.page.get_by_role("radio", name="2 times", exact=True).focus()
    press(visitor, "Space")
    assert "Not quite: e² ≈ 7.4 times." in visitor.text()
    press(visitor, "ArrowRight")
    assert "Yes. Both weights share the same denominator" in visitor.text()
    assert visitor.address()["attention.guess"] == "e² ≈ 7.4 times"


def test_sliders_and_switches_answer_to_keys(visitor):
    visitor.open("scaling")
    visitor.page.get_by_role("slider", name="Width of a head, d").focus()
    press(visitor, "ArrowRight")
    assert "At d = 128, divided by √d" in visitor.text()
    visitor.page.get_by_role("switch", name="Divide by √d").focus()
    press(visitor, "Space")
    assert "At d = 128, not divided" in visitor.text()
    assert visitor.address() == {"scaling.d": "128", "scaling.scaled": "false"}


def test_the_tab_key_reaches_every_control_and_the_sum_at_the_foot(visitor):
    visitor.open("attention")
    seen, feet = [], False
    for _ in range(60):
        visitor.page.keyboard.press("Tab")
        seen.append(focused(visitor))
        feet = feet or visitor.page.evaluate("!!document.activeElement.closest('[data-testid=\"stBottom\"]')")
    for name in ("Your own sentence", "Seed", "Example", "Edit the numbers", "2 times", "normalise", "Query (row)", "Key (column)",
                 "Numbers as tables", "Download this page as a script", "Next: Scaling and saturation"):
        assert any(name in each for each in seen), f"{name} is not among {seen}"
    assert feet, f"the sum at the foot can't be scrolled: {seen}"
