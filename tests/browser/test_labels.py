"""Labels of tokens: literal, none on top of another, and named in full where the mouse is."""

import pytest

from tests.browser.reading import linked, overlap

ODD = ["the", "cat", "the", "the", "in", "1", "2", "10", "2024-01", "<b>", "<s>", "</s>",
       "<br>", "<sub>2</sub>", "<|endoftext|>", "&amp;", "%{x}"]
# page: (pictures whose rows are tokens, pictures whose columns are tokens)
TOKENS = {
    "queries-keys-values": (("x", "q", "qk"), ("qk",)),
    "attention": (("compare", "scale", "normalise", "mix"), ("compare", "scale", "normalise")),
    "causal-mask": (("scores", "before", "zeroed", "renormalised"), ("scores", "before", "zeroed", "renormalised", "moved.20", "moved.12")),
    "many-heads": (("joined", "pattern.0", "pattern.1", "share", "out"), ("pattern.0", "pattern.1")),
}
# the labels and titles of a picture as turned rectangles in the window, and the picture's own rectangle
BOXES = """chart => { const picture = document.querySelector(chart + ' .js-plotly-plot');
  const corners = text => { const box = text.getBBox(), to = text.getScreenCTM();
    return [[box.x, box.y], [box.x + box.width, box.y], [box.x + box.width, box.y + box.height], [box.x, box.y + box.height]]
      .map(([x, y]) => [x * to.a + y * to.c + to.e, x * to.b + y * to.d + to.f]); };
  const all = (name, within = /./) => [...picture.querySelectorAll(name)]
    .filter(text => text.textContent.trim() && within.test(text.parentElement.getAttribute('class')))
    .map(text => [text.textContent, corners(text), text.getBBox().height]);
  const frame = picture.querySelector('.main-svg').getBoundingClientRect();
  const titles = all('.gtitle, .annotation text, [class^="g-x"] text, [class^="g-y"] text');
  const ticks = axis => all('g[class$="tick"] text', RegExp('^' + axis + '[0-9]*tick$'));
  return {x: ticks('x'), y: ticks('y'), titles,
          frame: [frame.left, frame.top, frame.right, frame.bottom]}; }"""
FORTY = [" ".join(f"{word}{i}" for i in range(40)) for word in ("word", "incomprehensible", "i")]


def collisions(visitor, chart):
    """What stands on top of something else in a picture, reaches out of it or is left out."""
    boxes = visitor.page.evaluate(BOXES, visitor.where(chart))
    found = []
    for axis in ("x", "y"):
        found += [(label, "not to be seen") for label, _, height in boxes[axis] if not height]
        labels = [box for box in boxes[axis] if box[2]]
        slack = 0.25 * labels[0][2]  # a line of type has air above and below its letters
        found += [(one, other) for (one, a, _), (other, b, _) in zip(labels, labels[1:], strict=False) if overlap(a, b, slack)]
        found += [(one, title) for one, a, _ in labels for title, b, _ in boxes["titles"] if overlap(a, b, slack)]
        left, top, right, bottom = boxes["frame"]
        found += [(one, "the picture's edge") for one, a, _ in labels for x, y in a
                  if not (left - 3 <= x <= right + 3 and top - 3 <= y <= bottom + 3)]
    found += [(one, other) for i, (one, a, _) in enumerate(boxes["titles"]) for other, b, _ in boxes["titles"][i + 1:] if overlap(a, b, 3)]
    return list(dict.fromkeys(found))


def pictures(visitor):
    """The keys of all pictures on the page."""
    classes = visitor.page.locator('[data-testid="stElementContainer"]:has(.js-plotly-plot)').evaluate_all(
        "all => all.map(one => [...one.classList].find(name => name.startsWith('st-key-chart-')))")
    return [name.removeprefix("st-key-chart-") for name in classes]


@pytest.mark.parametrize("page", TOKENS)
def test_every_token_is_drawn_as_typed_and_once_for_each_time_it_stands_there(visitor, page):
    visitor.open(linked(page, text=" ".join(ODD)))
    rows, columns = ([f"{page.replace('-', '_')}.{name}" for name in names] for names in TOKENS[page])
    for chart in rows:
        assert visitor.labels(chart, "y") == ODD, chart
    for chart in columns:
        assert visitor.labels(chart, "x") == ODD, chart
    assert visitor.errors == []


def test_more_heads_than_four_have_every_token_on_every_picture(visitor):
    words = ["the", "<b>", "10", "the"]
    visitor.open(linked("many-heads", text=" ".join(words), n_heads=8))
    assert visitor.labels("many_heads.patterns", "x") == words * 8
    assert visitor.labels("many_heads.patterns", "y") == words * 2  # one for each line of pictures


def test_the_hover_names_the_query_the_key_and_the_number(visitor):
    visitor.open(linked("attention", text=" ".join(ODD)))
    assert visitor.hover("attention.normalise", 1, 4)[:2] == ["query cat", "key in"]
    for row, column in ((4, 1), (9, 16), (16, 9), (12, 8), (3, 5), (13, 15)):
        query, key, weight = visitor.hover("attention.normalise", row, column)
        assert (query, key) == (f"query {ODD[row]}", f"key {ODD[column]}")
        assert float(weight.removeprefix("weight ")) == pytest.approx(visitor.behind("attention.normalise")[row][column], rel=1e-5)
    assert visitor.hover("attention.mix", 9, 0)[:2] == ["query <b>", "feature 0"]


def test_the_hover_names_whole_what_is_cut_short_or_left_out_on_the_axes(visitor):
    words = [f"<i>incomprehensibilities{i}" for i in range(40)]
    visitor.open(linked("attention", text=" ".join(words)))
    assert set(visitor.labels("attention.normalise")) == {"<i>incomprehe…"}
    assert visitor.hover("attention.normalise", 31, 22)[:2] == [f"query {words[31]}", f"key {words[22]}"]
    assert visitor.hover("attention.normalise", 0, 39, (0.8, 0.2))[:2] == [f"query {words[0]}", f"key {words[39]}"]


def test_the_hover_over_a_head_in_the_joint_picture_names_the_head(visitor):
    visitor.open(linked("many-heads", text="the <b> 12", n_heads=8))
    assert visitor.hover("many_heads.patterns", 1, 2, axes="7")[:3] == ["head 6", "query <b>", "key 12"]


@pytest.mark.parametrize("page", ["attention", "many-heads"])
def test_with_forty_words_no_label_stands_on_another_or_is_cut_off(visitor, page):
    for sentence in FORTY if page == "attention" else FORTY[:1]:  # the pictures share their labels' code
        visitor.open(linked(page, text=sentence)) if sentence is FORTY[0] else visitor.type_sentence(sentence)
        assert [hit for chart in pictures(visitor) for hit in collisions(visitor, chart)] == []


def test_with_forty_words_and_eight_heads_no_label_stands_on_another_or_is_cut_off(visitor):
    visitor.open(linked("many-heads", text=FORTY[0], n_heads=8))
    assert [hit for chart in pictures(visitor) for hit in collisions(visitor, chart)] == []


@pytest.mark.parametrize("page", ["scaling", *TOKENS])
def test_in_the_default_state_no_label_stands_on_another(visitor, page):
    visitor.open(page)
    assert [hit for chart in pictures(visitor) for hit in collisions(visitor, chart)] == []


PHONE = {"width": 375, "is_mobile": True, "has_touch": True, "device_scale_factor": 2,
         "user_agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1"}
WIDE = """() => { const app = document.querySelector('[data-testid="stMain"]'), wide = [];
  if (document.scrollingElement.scrollWidth > innerWidth) wide.push('the window');
  if (app.scrollWidth > app.clientWidth) wide.push('the page');
  for (const one of document.querySelectorAll('.js-plotly-plot .main-svg'))
    if (one.getBoundingClientRect().right > innerWidth + 1) wide.push('a picture');
  return wide; }"""
CELL = """chart => { const x = document.querySelector(chart + ' .js-plotly-plot')._fullLayout.xaxis; return x.l2p(1) - x.l2p(0); }"""


def small(visitor):
    """Is a phone's page too wide, or a heatmap so small that a cell can't be told from its neighbour?"""
    tiny = [chart for chart in pictures(visitor) if visitor.numbers(chart.replace("-", ".")) and visitor.page.evaluate(
        CELL, f".st-key-chart-{chart}") < 4]
    return visitor.page.evaluate(WIDE) + tiny


@pytest.fixture(scope="module")
def phone(chromium, server):
    from tests.browser.conftest import Visitor
    someone = Visitor(chromium, server, **PHONE)
    yield someone
    someone.context.close()


@pytest.mark.parametrize("page", ["", "attention", "many-heads"], ids=["welcome", "attention", "many-heads"])
def test_on_a_phone_nothing_scrolls_sideways_with_one_twelve_or_forty_words(phone, page):
    phone.open(linked(page, text="one"))
    assert small(phone) == []
    for n_words in (12, 40):
        phone.type_sentence(" ".join(f"word{i}" for i in range(n_words)))
        assert small(phone) == []
    assert phone.errors == []


def test_in_a_narrow_window_nothing_scrolls_sideways(visitor):
    visitor.page.set_viewport_size({"width": 375, "height": 800})
    visitor.open(linked("attention", text=FORTY[1]))
    assert visitor.page.evaluate(WIDE) == []
