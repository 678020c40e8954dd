"""A shared address as the very first thing that a new server is asked for."""

import pytest

from tests.browser.conftest import serve
from tests.browser.reading import PAGES, linked

# page: (settings in the address, what must then stand on the page)
LINKS = {
    "generation": ({"view": "KV cache", "step": 2, "scheme": "rotary"}, "reads 1 token, at position 6"),
}


@pytest.mark.parametrize("page", LINKS, ids=[page or "welcome" for page in LINKS])
def test_the_first_visitor_of_a_server_gets_the_page_the_whole_menu_and_the_settings(visitor, page):
    settings, words = LINKS[page]
    address = linked(page, **settings)
    with serve() as fresh:
        visitor.server = fresh  # put back when the test is over
        visitor.open(address)
        assert visitor.page.locator('[data-testid="stSidebarNav"] a').all_inner_texts() == list(PAGES.values())
        assert visitor.page.title() == visitor.page.locator("h1").inner_text() == PAGES[page]
        assert words in visitor.text() + visitor.foot()
        assert sorted(visitor.address().values()) == sorted(map(str, settings.values()))
        assert visitor.exceptions() == visitor.errors == visitor.outside == []
