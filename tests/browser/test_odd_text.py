"""Whatever is typed or stands in a shared address is shown as it is: nothing runs, nothing is fetched, nothing breaks."""

import pytest

from tests.browser.reading import PAGES, linked

LONG = " ".join(f"w{i}" for i in range(5000))
TEXTS = {
    "emoji": "🙂 sat", "joined emoji": "👩‍👩‍👧 sat", "Arabic": "القط جلس هنا", "tags": "<b>bold</b>", "formula and arrow": "$x$ -> y",
    "named emoji": ":heart:", "template": "%{x}", "image in Markdown": "![x](http://evil.example/a.png)",
    "image in HTML": "<img src=x onerror=alert(1)>", "script address": "javascript:alert(1)",
    "Markdown": "# **a** _b_ `c` [d](http://evil.example) :red[e]",
    "script": "<script>alert(1)</script> </code><script>alert(2)</script>", "one word": "word", "quotes": "\"'\\",
}
ON_EVERY_PAGE = ("emoji", "joined emoji", "Arabic", "tags", "formula and arrow", "template", "image in Markdown", "image in HTML",
                 "script address")
EVERYTHING = " ".join(TEXTS[name] for name in ON_EVERY_PAGE)


def shown(token):
    """A label as the axes show it: at most 14 characters."""
    return token if len(token) <= 14 else f"{token[:13]}…"


def harmless(visitor):
    """Nothing broke, nothing ran, nothing was fetched from elsewhere."""
    assert visitor.exceptions() == []
    assert visitor.errors == []
    assert visitor.outside == []


@pytest.fixture(scope="module")
def typist(chromium, server):
    """Somebody who stays on the attention page and types one text after another."""
    from tests.browser.conftest import Visitor
    someone = Visitor(chromium, server).open("attention")
    yield someone
    someone.context.close()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_typed_text_stands_on_the_axes_and_in_the_sum_as_typed(typist, text):
    typist.type_sentence(text)
    harmless(typist)
    words = text.split()
    assert typist.labels("attention.normalise", "x") == typist.labels("attention.normalise", "y") == [shown(word) for word in words]
    assert typist.arithmetic().startswith(f'query 0 "{words[0]}", key 0 "{words[0]}"\n')
    assert typist.page.get_by_role("combobox", name="Query (row)").input_value() == f"0 · {words[0]}"
    assert typist.remarks() == []


def test_five_thousand_typed_words_are_cut_to_forty_with_a_sentence(typist):
    typist.type_sentence(LONG)
    harmless(typist)
    assert ["Your text has 5,000 words. The first 40 are shown" in remark for remark in typist.remarks()] == [True]
    assert len(typist.behind("attention.normalise")) == 40


@pytest.mark.parametrize("text", ["   ", "\u200b\u200b", "\u3000"], ids=["spaces", "zero width", "wide space"])
def test_text_without_a_word_shows_something_sensible_with_a_sentence_or_a_visible_sign(typist, text):
    typist.type_sentence(text)
    harmless(typist)
    labels = typist.labels("attention.normalise")
    if text.strip():
        assert labels == ["‹U+200B›‹U+20…"]
    else:
        assert ["Your text holds no word" in remark for remark in typist.remarks()] == [True]
        assert labels == ["Bumrah", "bowled", "it"]


@pytest.fixture(scope="module")
def reader(chromium, server):
    """Somebody who opened a shared address with every odd text, and goes from page to page."""
    from tests.browser.conftest import Visitor
    someone = Visitor(chromium, server).open(linked("", text=EVERYTHING))
    yield someone
    someone.context.close()


@pytest.mark.parametrize("page", PAGES, ids=[page or "welcome" for page in PAGES])
def test_a_shared_address_with_every_odd_text_is_harmless_on_every_page(reader, page):
    visitor = reader.walk(page, PAGES[page])
    harmless(visitor)
    assert "text" in visitor.address()
    assert visitor.page.get_by_label("Your own sentence", exact=True).input_value() == EVERYTHING
    pictures = {"queries-keys-values": "qk", "attention": "mix", "causal-mask": "zeroed", "many-heads": "pattern.0",
                "normalisation": "rms", "feed-forward": "narrow", "block": "out", "encoder-decoder": "encoder"}
    for picture in [pictures[page]] if page in pictures else []:
        assert visitor.labels(f"{page.replace('-', '_')}.{picture}", "y") == [shown(word) for word in EVERYTHING.split()]


@pytest.mark.parametrize(("page", "text"), [
    ("attention", LONG), ("causal-mask", "   "), ("many-heads", "word"), ("queries-keys-values", "1"), ("causal-mask", "word")],
    ids=["5,000 words", "spaces", "word", "digit", "word, masked"])
def test_a_shared_address_with_very_long_or_very_short_text_is_harmless(visitor, page, text):
    visitor.open(linked(page, text=text))
    harmless(visitor)
    assert len(visitor.remarks()) == (text in (LONG, "   "))
    assert visitor.page.locator(".js-plotly-plot").count() >= 4


def test_control_characters_are_left_out_with_a_sentence(visitor):
    visitor.open("attention?text=a%00b%1bc+%E2%80%AEd")
    harmless(visitor)
    assert visitor.labels("attention.normalise") == ["abc", "d"]
    assert ["3 invisible control characters were left out" in remark for remark in visitor.remarks()] == [True]


def test_odd_text_in_other_boxes_is_harmless_too(visitor):
    visitor.open("scaling")
    for label in ("Scores", "Scores to try, up to ±1,000,000"):
        visitor.type_into(label, "![x](http://evil.example/a.png) <img src=x onerror=alert(1)> 1e999")
    harmless(visitor)
    assert len(visitor.remarks()) == 2
