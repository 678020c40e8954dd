"""The address carries the settings: read with care, kept up to date, and left behind when the page is left."""

import pytest

from tests.browser.reading import linked

NOTE = "Part of the address was not understood, so the defaults are shown instead:"
BAD = {
    "attention?attention.stage=nope&attention.row=99&attention.guess=%3Cscript%3E&tables=maybe&foo=bar&attention.x=5":
        ["tables", "attention.guess", "attention.stage", "attention.row", "foo", "attention.x"],
    "attention?seed=1e400&text=a": ["seed"],
    "many-heads?many_heads.n_heads=2&many_heads.n_heads=4": ["many_heads.n_heads"],
    "many-heads?page=nope&many_heads.head=head+5": ["page", "many_heads.head"],
    "queries-keys-values?text=a+b&queries_keys_values.d_head=5&queries_keys_values.tied=2":
        ["queries_keys_values.d_head", "queries_keys_values.tied"],
    "scaling?scaling.d=65&scaling.temperature=cold&scaling.scores=" + "1+" * 300: ["scaling.d", "scaling.temperature", "scaling.scores"],
    "?welcome.path=%F0%9F%99%82&%3Cb%3E=%3Cb%3E": ["welcome.path", "<b>"],
}


def note(visitor):
    """The lines of the note about the address."""
    _, _, after = visitor.text().partition(NOTE)
    return [line for line in after.partition("Close")[0].strip().split("\n") if line.strip()]


@pytest.mark.parametrize("address", BAD, ids=[address[:60] for address in BAD])
def test_what_an_address_asks_in_vain_is_named_in_one_note_and_leaves_the_address(visitor, address):
    visitor.open(address)
    assert visitor.text().count(NOTE) == 1
    assert sorted(line.split(" = ")[0] for line in note(visitor)) == sorted(BAD[address])
    assert not set(BAD[address]) & set(visitor.address())
    assert visitor.exceptions() == visitor.errors == visitor.outside == []


def test_the_note_goes_when_it_is_closed_or_the_page_is_left_and_the_defaults_stay(visitor):
    visitor.open("attention?attention.stage=nope&attention.row=99")
    assert visitor.picked() == (0, 0)
    assert visitor.page.get_by_role("radio", name="normalise").is_checked()
    visitor.page.get_by_role("button", name="Close", exact=True).click()
    assert note(visitor.settle()) == []
    visitor.open("attention?attention.stage=nope").menu("Causal mask")
    assert note(visitor) == []
    assert note(visitor.menu("Attention")) == []


def test_a_whole_number_written_with_a_point_is_understood(visitor):
    visitor.open("many-heads?many_heads.n_heads=4.0")
    assert note(visitor) == []
    assert visitor.page.get_by_role("slider", name="Heads").input_value() == "4"


def test_parameters_of_other_programs_are_left_alone(visitor):
    visitor.open("attention?utm_source=mail&fbclid=1&embed=true")
    assert note(visitor) == []


@pytest.mark.parametrize(("page", "start", "then"), [
    ("attention", {"edit": "true", "x": "1 2 3 4; 0 0 0 0; 1 1 1 1"}, "a <b> c"),
    ("causal-mask", {"text": "a b c d", "mask": "padding", "n_padding": 3, "row": "3 · d"}, "x y")])
def test_after_another_sentence_the_address_still_opens_what_is_seen(visitor, elsewhere, page, start, then):
    visitor.open(linked(page, **start))
    assert note(visitor) == []
    visitor.type_sentence(then)
    elsewhere.open(visitor.page.url)
    assert note(elsewhere) == []
    assert elsewhere.arithmetic() == visitor.arithmetic()
    assert elsewhere.page.url == visitor.page.url
    assert visitor.exceptions() == elsewhere.exceptions() == []


def test_settings_survive_a_walk_through_other_pages(visitor):
    visitor.open(linked("attention", text="a b c d", seed=7))
    visitor.choose("mix").switch("Add positions").click_cell("attention.mix", 2, 5)
    attention = visitor.arithmetic(), visitor.address()
    visitor.menu("Scaling and saturation")
    assert not [key for key in visitor.address() if key.startswith("attention")]
    visitor.type_into("Scores", "4 3 2")
    visitor.switch("Divide by √d").click_cell("scaling.slopes", 2, 1)
    scaling = visitor.arithmetic(), visitor.address()
    visitor.menu("Causal mask").choose("padding").click_cell("causal_mask.before", 3, 0)
    mask = visitor.arithmetic(), visitor.address()
    for title, (panel, address) in {"Attention": attention, "Scaling and saturation": scaling, "Causal mask": mask}.items():
        visitor.menu(title)
        assert visitor.arithmetic() == panel, title
        assert visitor.address() == address, title
    assert visitor.address()["text"], visitor.address()["seed"] == ("a b c d", "7")
    assert visitor.errors == []
