"""Each page in its default state: no error, names for everything, and type that can be read in light and in dark."""

import urllib.request

import pytest

from tests.browser.conftest import Visitor
from tests.browser.reading import PAGES, REFERENCE, contrast, linked

CONTROLS = {"button", "link", "combobox", "textbox", "slider", "checkbox", "switch", "radio", "radiogroup", "spinbutton", "tab",
            "searchbox", "DisclosureTriangle"}
KINDS = {"text": '[data-testid="stMain"] :is(p, th, td), h1, h3, [data-testid="stSidebar"] :is(p, a span), '
                 ' [data-testid="stBottom"] code',
         "pictures": ":is(.xtick, .ytick) text, .gtitle, .xtitle, .ytitle"}
# the colours of what a person reads, and of the grounds it stands on; a slider's number stands beside its knob, not on it; what can't be
# used now, such as the button of a run that has ended, may be pale
INKS = """name => {
  const line = one => { const all = []; for (let at = one; at; at = at.parentElement) all.push(at); return all; };
  return [...document.querySelectorAll(name)].filter(one => one.textContent.trim() && !one.closest(':disabled')).map(one => {
    const styles = line(one).map(at => getComputedStyle(at)), from = one.closest('[data-testid="stSlider"]');
    return [one.textContent.trim().slice(0, 40), one.closest('svg') ? styles[0].fill : styles[0].color,
            (from ? line(from).map(at => getComputedStyle(at)) : styles).map(style => style.backgroundColor),
            styles.reduce((all, style) => all * style.opacity, 1)]; }); }"""

# pictures that are no drawings: maps, architectures and chains hold no numbers of their own
WITH_NUMBERS = """() => [...document.querySelectorAll('[data-testid="stPlotlyChart"] .js-plotly-plot')]
  .filter(plot => !plot.data.some(trace => ["boxes"].includes(trace.name))).length"""


def pale(visitor, kind):
    """What can be seen, but is written with less contrast than 4.5 to 1."""
    inks = visitor.page.evaluate(INKS, KINDS[kind])
    assert inks
    sheet = visitor.page.locator(".stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    return {(words, ink, round(ratio, 2)) for words, ink, grounds, opacity in inks
            if opacity and (ratio := contrast(ink, *grounds, sheet, opacity=opacity)) < 4.5}


@pytest.fixture(scope="module", params=PAGES, ids=[page or "welcome" for page in PAGES])
def page(request, _window):
    """Somebody who came to a page from the one before and left it as it is."""
    yield _window.walk(request.param, PAGES[request.param])
    if "tables" in _window.address():
        _window.switch("Numbers as tables")
    _window.forget()


def test_a_page_opens_without_an_error(page):
    assert page.exceptions() == page.errors == page.outside == []


def test_every_control_has_a_name_of_plain_words(page):
    tree = page.context.new_cdp_session(page.page).send("Accessibility.getFullAXTree")["nodes"]
    names = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree
             if not node["ignored"] and node["role"]["value"] in CONTROLS]
    assert len(names) > 10
    assert [role for role, name in names if not name.strip()] == []
    assert [name for _, name in names if "**" in name or "](" in name or ":material" in name] == []


def test_every_picture_says_in_words_what_it_shows(page):
    alts = page.page.locator('[data-testid="stPlotlyChart"]').evaluate_all("all => all.map(one => one.getAttribute('aria-label') || '')")
    assert alts or page.page.title() == PAGES["glossary"]
    assert all(len(alt) > 30 for alt in alts)
    assert len(set(alts)) == len(alts)


def test_light_type_can_be_read(page):
    assert pale(page, "text") == set()


def test_light_pictures_can_be_read(page):
    assert page.page.title() in REFERENCE or pale(page, "pictures") == set()


def test_all_checks_of_the_page_hold(page):
    lines = page.page.locator("summary", has_text="Checked here").all_inner_texts()
    assert len(lines) == (page.page.title() not in REFERENCE)
    for line in lines:
        holding, of = (int(word) for word in line.replace("checks", "").split() if word.isdigit())
        assert holding == of


def test_numbers_as_tables_puts_a_table_under_every_picture(page):  # the last of these tests: it changes the page
    page.switch("Numbers as tables")
    pictures = page.page.evaluate(WITH_NUMBERS)
    assert page.page.locator('[data-testid="stDataFrame"]').count() == pictures
    assert page.exceptions() == page.errors == page.outside == []
    assert page.address()["tables"] == "true"


@pytest.fixture(scope="module")
def dark_visitor(chromium, server):
    someone = Visitor(chromium, server, color_scheme="dark")
    yield someone
    someone.context.close()


@pytest.fixture(scope="module", params=PAGES, ids=[page or "welcome" for page in PAGES])
def dark_page(request, dark_visitor):
    yield dark_visitor.walk(request.param, PAGES[request.param])
    dark_visitor.forget()


def test_the_dark_page_is_dark_and_free_of_errors(dark_page):
    sheet = dark_page.page.locator(".stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    assert contrast("#ffffff", sheet) > 10
    assert dark_page.exceptions() == dark_page.errors == []


def test_dark_type_can_be_read(dark_page):
    assert pale(dark_page, "text") == set()


def test_dark_pictures_can_be_read(dark_page):
    assert dark_page.page.title() in REFERENCE or pale(dark_page, "pictures") == set()


def test_pictures_follow_the_system_from_light_to_dark_and_back(new_visitor):
    visitor = new_visitor(color_scheme="light").open("attention")
    inks = []
    for scheme in ("light", "dark", "light"):
        visitor.page.emulate_media(color_scheme=scheme)
        visitor.page.reload()
        visitor.settle()
        assert pale(visitor, "pictures") == set()
        inks.append(visitor.page.locator(".xtick text").first.evaluate("text => getComputedStyle(text).fill"))
    assert inks[0] == inks[2] != inks[1]


def test_a_table_holds_the_numbers_of_its_picture(visitor):
    visitor.open(linked("attention", tables="true", text="the <b>"))
    grid = visitor.page.locator('[data-testid="stDataFrame"]').nth(2).locator('td[role="gridcell"]')
    grid.first.wait_for(state="attached", timeout=30_000)  # the grid's cells follow its picture
    cells = grid.all_text_contents()
    drawn = visitor.numbers("attention.normalise")
    assert cells[0] == "0 · the"
    assert [float(cell) for i, cell in enumerate(cells) if i % 3] == pytest.approx([number for row in drawn for number in row], abs=1e-4)


@pytest.mark.parametrize("path", ["/", "/attention", "/static/index.html", "/_stcore/health"])
def test_security_headers_stand_on_every_answer(server, path):
    with urllib.request.urlopen(server + path, timeout=10) as answer:
        headers = answer.headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["object-src"] == "'none'"
    assert policy["frame-ancestors"] == "'self'"
    assert "http" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_the_server_says_that_it_is_well(server):
    with urllib.request.urlopen(f"{server}/_stcore/health", timeout=10) as answer:
        assert answer.read() == b"ok"
