"""A real browser for the tests: one server for the session, and people at browser windows.

Without Playwright or Chromium these tests say so and skip; where REQUIRE_BROWSER is set, as in continuous integration, that
is a failure.

A window is kept open between tests, because the page's scripts take seconds to load into a new one. A page load begins a new
session on the server all the same, and what a browser could remember is cleared.
"""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SIZE = {"width": 1360, "height": 1000}
# the script is not running, and every picture has been drawn: four looks in a row
CALM = """() => { const app = document.querySelector('[data-testid="stApp"]');
  const rest = app && app.getAttribute('data-test-script-state') === 'notRunning' && !document.querySelector('[data-testid="stSkeleton"]')
    && [...document.querySelectorAll('[data-testid="stPlotlyChart"]')].every(chart => chart.querySelector('.js-plotly-plot .main-svg'));
  window.calm = rest ? (window.calm || 0) + 1 : 0;
  return window.calm >= 4; }"""
# what stands in a picture, as the browser holds it
DRAWN = """chart => { const plot = document.querySelector(chart + ' .js-plotly-plot');
  return plot._fullData.map(trace => ({type: trace.type, name: trace.name,
    x: trace.x && Array.from(trace.x), y: trace.y && Array.from(trace.y), values: trace.customdata && Array.from(trace.customdata),
    z: trace.z && Array.from(trace.z, row => Array.from(row))})); }"""
# the labels that can be seen at an axis: x, or in a picture of several parts x2, x3 …
LABELS = """([chart, axis]) => [...document.querySelectorAll(chart + ' g[class$="tick"]')]
  .filter(tick => RegExp('^' + axis + '[0-9]*tick$').test(tick.getAttribute('class'))).map(tick => tick.querySelector('text'))
  .filter(text => text && getComputedStyle(text).display !== 'none').map(text => text.textContent)"""
SPOT = """([chart, row, column, at, axes]) => { const plot = document.querySelector(chart + ' .js-plotly-plot');
  plot.scrollIntoView({block: 'center'});
  const box = plot.getBoundingClientRect(), x = plot._fullLayout['xaxis' + axes], y = plot._fullLayout['yaxis' + axes];
  return [box.left + x._offset + x.l2p(column - 0.5 + at[0]), box.top + y._offset + y.l2p(row - 0.5 + at[1])]; }"""
CHROMIUM = next((path for path in ("/usr/bin/chromium", shutil.which("chromium"), shutil.which("chromium-browser"),
                                   shutil.which("google-chrome")) if path and os.path.exists(path)), None)


def missing(what):
    """A machine without a browser can still run all other tests; where one is asked for, its absence is a failure."""
    if os.environ.get("REQUIRE_BROWSER"):
        pytest.fail(f"{what} is missing, and REQUIRE_BROWSER asks for the browser tests")
    pytest.skip(f"{what} is missing: the browser tests are left out")


@contextlib.contextmanager
def serve():
    """`streamlit run app.py` on a free port; yields the address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port),
                                "--server.address", "127.0.0.1"], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(240):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1)
                break
            time.sleep(0.25)
        else:
            pytest.fail("the server did not become healthy within 60 s")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="session")
def server():
    with serve() as address:
        yield address


@pytest.fixture(scope="session")
def chromium():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright")
    if CHROMIUM is None:
        missing("Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Visitor:
    """A person at a browser window."""

    def __init__(self, browser, server, width=SIZE["width"], **options):
        self.context = browser.new_context(viewport={"width": width, "height": SIZE["height"]}, reduced_motion="reduce", **options)
        self.page, self.server, self.home = self.context.new_page(), server, server
        self.errors, self.outside, self.sent = [], [], []  # console and page errors; requests to other hosts; frames to the server
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", self._asked)
        self.page.on("request", self._requested)
        self.page.on("websocket", lambda socket: socket.on("framesent", self._said))

    def _heard(self, message):
        # a deep link makes Streamlit probe /PAGE/_stcore/…, which answers 404 and is harmless
        if message.type == "error" and "_stcore" not in message.location.get("url", ""):
            self.errors.append(message.text)

    def _said(self, frame):
        self.sent.append(frame)

    def _asked(self, dialog):
        self.errors.append(f"a dialog said {dialog.message}")
        dialog.dismiss()

    def _requested(self, request):
        if request.url.startswith("http") and not request.url.startswith(f"{self.server}/"):
            self.outside.append(request.url)

    # ---------------------------------------------------------------------------------------------- going about

    def open(self, address):
        self.page.goto(address if address.startswith("http") else f"{self.server}/{address}")
        return self.settle()

    def settle(self):
        """Wait until the script and the pictures are at rest."""
        self.page.wait_for_timeout(50)
        self.page.evaluate("window.calm = 0")
        self.page.wait_for_function(CALM, timeout=60_000, polling=50)  # polling by frame would paint without pause
        return self

    def leave(self):
        """Clear the window for the next test."""
        with contextlib.suppress(Exception):
            self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.context.clear_cookies()
        self.page.mouse.move(0, 0)
        self.page.goto("about:blank")
        self.page.set_viewport_size(SIZE)
        self.server = self.home
        self.forget()

    def forget(self):
        """What was heard so far counts no longer."""
        for heard in (self.errors, self.outside, self.sent):
            heard.clear()

    def walk(self, address, title):
        """Come to a page from wherever one is in the app, by the menu, which takes less time than a new load; else by its address."""
        return self.menu(title) if self.page.url.startswith(self.server) else self.open(address)

    def menu(self, title):
        """Go to a page by the menu."""
        self.page.locator('[data-testid="stSidebarNav"]').get_by_role("link", name=title, exact=True).click()
        return self.settle()

    # -------------------------------------------------------------------------------------------------- controls

    def type_sentence(self, words):
        return self.type_into("Your own sentence", words)

    def type_into(self, label, words):
        box = self.page.get_by_label(label, exact=True)
        box.fill(words)
        box.press("Enter")
        return self.settle()

    def choose(self, name):
        """Press one of a row of buttons."""
        self.page.get_by_role("radio", name=name, exact=True).click()
        return self.settle()

    def switch(self, label):
        self.page.locator("label", has=self.page.get_by_role("switch", name=label)).first.click()
        return self.settle()

    def spot(self, chart, row, column, at=(0.5, 0.5), axes=""):
        """Where in the window a heatmap's cell is; `at` is where in the cell, from its top left."""
        return self.page.evaluate(SPOT, [self.where(chart), row, column, list(at), axes])

    def click_cell(self, chart, row, column, at=(0.5, 0.5), axes=""):
        """Click into a heatmap's cell."""
        spot = self.spot(chart, row, column, at, axes)
        self.page.mouse.move(*spot)
        self.page.mouse.click(*spot)
        return self.settle()

    def hover(self, chart, row, column, at=(0.5, 0.5), axes=""):
        """The lines of text that the mouse brings up over a cell."""
        x, y = self.spot(chart, row, column, at, axes)
        self.page.mouse.move(0, 0)
        self.page.mouse.move(x, y)
        shown = self.page.locator(f"{self.where(chart)} .hoverlayer .hovertext text.nums")
        shown.wait_for()
        return shown.evaluate("text => text.querySelectorAll('tspan.line').length"
                              " ? Array.from(text.querySelectorAll('tspan.line'), line => line.textContent) : [text.textContent]")

    # ---------------------------------------------------------------------------------------------------- reading

    @staticmethod
    def where(chart):
        """The selector of the element that holds the picture with this key."""
        return f'.st-key-chart-{chart.replace(".", "-")}'

    def drawn(self, chart):
        """The traces of a picture, in order: their type, name and numbers."""
        return self.page.evaluate(DRAWN, self.where(chart))

    def numbers(self, chart):
        """A heatmap's numbers, read from the coloured cells; where a cell is left empty, NaN."""
        maps = [trace["z"] for trace in self.drawn(chart) if trace["type"] == "heatmap"]
        return [[next((z for z in cell if z == z), float("nan")) for cell in zip(*rows, strict=True)] for rows in zip(*maps, strict=True)]

    def behind(self, chart):
        """A heatmap's numbers, read from what can be clicked and hovered."""
        cells = next(trace for trace in self.drawn(chart) if trace["name"] == "cells")
        width = max(cells["x"]) + 1
        return [cells["values"][start:start + width] for start in range(0, len(cells["values"]), width)]

    def labels(self, chart, axis="x"):
        """The text at a picture's ticks, as it is drawn."""
        return self.page.evaluate(LABELS, [self.where(chart), axis])

    def address(self):
        """What the address asks for: {parameter: value}."""
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.page.url).query, keep_blank_values=True))

    def arithmetic(self):
        """The text of the sum at the foot of the page."""
        return self.page.locator('[data-testid="stBottom"] code').first.inner_text()

    def picked(self):
        """The numbers of the row and the column that the lists show."""
        return tuple(int(self.page.get_by_role("combobox", name=f"({word})").evaluate(
            "box => box.value || box.closest('[data-testid=\"stSelectbox\"]').innerText.split('\\n').find(line => line.includes(' · '))")
            .split(" · ")[0]) for word in ("row", "column"))

    def exceptions(self):
        return self.page.locator('[data-testid="stException"], [data-testid="stErrorElement"]').all_inner_texts()

    def remarks(self):
        """The plain sentences about what was done to the person's text."""
        return self.page.locator('[data-testid="stMain"] [data-testid="stAlert"]').all_inner_texts()

    def text(self):
        return self.page.locator('[data-testid="stMain"]').inner_text()

    def foot(self):
        """What stands at the foot of the window, if anything."""
        return " ".join(self.page.locator('[data-testid="stBottom"]').all_inner_texts())


def kept(chromium, server):
    """A window for many tests."""
    someone = Visitor(chromium, server)
    yield someone
    someone.context.close()


_window = pytest.fixture(scope="session", name="_window")(kept)
_other_window = pytest.fixture(scope="session", name="_other_window")(kept)


@pytest.fixture
def visitor(_window):
    yield _window
    _window.leave()


@pytest.fixture
def elsewhere(_other_window):
    """Somebody with another browser."""
    yield _other_window
    _other_window.leave()


@pytest.fixture
def new_visitor(chromium, server):
    """A function that opens a browser of another kind, such as one with a dark theme."""
    made = []

    def make(**options):
        made.append(Visitor(chromium, server, **options))
        return made[-1]

    yield make
    for someone in made:
        someone.context.close()
