"""Ways through the course: the map, the lists of pages, next and back, the browser's own buttons."""

import pytest

from tests.browser.reading import LESSONS, linked

WORDS = "the cat <b>sat</b>"
BOXES = """([chart, name, dx, dy]) => { const plot = document.querySelector(chart + ' .js-plotly-plot');
  plot.scrollIntoView({block: 'center'});
  const box = plot.getBoundingClientRect(), x = plot._fullLayout.xaxis, y = plot._fullLayout.yaxis, boxes = plot.data[0];
  const i = boxes.customdata.indexOf(name);
  return [box.left + x._offset + x.l2p(boxes.x[i] + dx), box.top + y._offset + y.l2p(boxes.y[i] + dy)]; }"""


def press_box(visitor, title, place=(0, 0), chart="welcome.map"):
    """Click into a box of the map or of a drawing; `place` is how far from its middle, in units of half its size."""
    spot = visitor.page.evaluate(BOXES, [visitor.where(chart), title, 0.44 * place[0], 0.35 * place[1]])
    visitor.page.mouse.move(*spot)
    visitor.page.mouse.click(*spot)
    return visitor.settle()


def shows(visitor, page):
    """Is this page open, by its address, its heading and the window's title, with the sentence kept?"""
    return (visitor.page.url.split("?")[0].endswith(f"/{page}"), visitor.page.locator("h1").inner_text(), visitor.page.title(),
            visitor.page.get_by_label("Your own sentence").input_value()) == (True, LESSONS[page], LESSONS[page], WORDS)


def test_a_box_of_the_map_opens_its_lesson_with_the_sentence_and_the_browser_goes_back(visitor):
    visitor.open("").type_sentence(WORDS)
    for page in ("queries-keys-values", "causal-mask", "many-heads"):
        press_box(visitor, LESSONS[page])
        assert shows(visitor, page)
        visitor.page.go_back()
        visitor.settle()
        assert visitor.page.locator("h1").inner_text() == "Welcome"
    assert visitor.errors == []


@pytest.mark.parametrize("place", [(0.9, 0.8), (-0.9, -0.8)], ids=["right end", "left end"])
def test_a_box_of_the_map_can_be_pressed_anywhere_in_it(visitor, place):
    visitor.open("").type_sentence(WORDS)
    press_box(visitor, "Scaling and saturation", place)
    assert shows(visitor, "scaling")


def test_a_box_of_a_drawing_opens_the_page_of_its_part(visitor):
    for chart, name, page in (("block.drawing", "Feed-forward", "feed-forward"),
                              ("encoder_decoder.drawing", "Masked self-att.", "causal-mask")):
        visitor.open(linked(chart.split(".")[0].replace("_", "-"), text=WORDS))
        press_box(visitor, name, chart=chart)
        assert shows(visitor, page)
    visitor.open(linked("encoder-decoder", text=WORDS, stage="encoder"))
    press_box(visitor, "Cross-attention", chart="encoder_decoder.drawing")
    assert "encoder_decoder.stage" not in visitor.address() and visitor.arithmetic().startswith("cross, ")


def test_the_list_next_and_back_work_from_the_keyboard_and_the_browsers_buttons_follow(visitor):
    visitor.open("").type_sentence(WORDS)
    main = visitor.page.locator('[data-testid="stMain"]')

    def follow(name):
        link = main.get_by_role("link", name=name, exact=True)
        link.focus()
        visitor.page.keyboard.press("Enter")
        visitor.settle()

    follow("Attention")
    assert shows(visitor, "attention")
    follow("Next: Scaling and saturation")
    assert shows(visitor, "scaling")
    follow("Back: Attention")
    follow("Back: Queries, keys, values")
    assert shows(visitor, "queries-keys-values")
    for step, page in (("go_back", "attention"), ("go_back", "scaling"), ("go_forward", "attention")):
        getattr(visitor.page, step)()
        visitor.settle()
        assert shows(visitor, page)
    assert visitor.errors == []


def test_an_address_that_is_no_page_says_so_and_shows_the_welcome(visitor):
    visitor.open("no-such-page?text=a")
    assert visitor.page.locator("h1").inner_text() == "Welcome"
    assert visitor.page.get_by_role("dialog").inner_text().startswith("Page not found")


@pytest.mark.parametrize("path", ["I want to learn", "I teach", "I look something up"])
def test_three_ways_through_the_course_are_told(visitor, path):
    visitor.open("").choose(path)
    firsts = {"I want to learn": "Take the pages in order", "I teach": "Every setting and the clicked cell stand in the address",
              "I look something up": "Lessons end with the functions that ran"}
    assert [first in visitor.text() for first in firsts.values()] == [name == path for name in firsts]
