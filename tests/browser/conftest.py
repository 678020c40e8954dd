"""A real browser for the tests: one server for the session, one fresh page a test.

Without Playwright or Chromium these tests say so and skip; where REQUIRE_BROWSER is set, as in continuous integration, that
is a failure.
"""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
IDLE = """() => { const app = document.querySelector('[data-testid="stApp"]');
  return app && app.getAttribute('data-test-script-state') === 'notRunning' && !document.querySelector('[data-testid="stSkeleton"]'); }"""
CHROMIUM = next((path for path in ("/usr/bin/chromium", shutil.which("chromium"), shutil.which("chromium-browser"),
                                   shutil.which("google-chrome")) if path and os.path.exists(path)), None)


def missing(what):
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

    def __init__(self, browser, server, width=1360, **options):
        self.context = browser.new_context(viewport={"width": width, "height": 1000}, **options)
        self.page, self.server = self.context.new_page(), server
        self.errors, self.outside = [], []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.outside.append(request.url)
                     if request.url.startswith("http") and not request.url.startswith(server) else None)

    def _heard(self, message):
        # a deep link makes Streamlit probe /PAGE/_stcore/…, which answers 404 and is harmless
        if message.type == "error" and "_stcore" not in message.location.get("url", ""):
            self.errors.append(message.text)

    def open(self, address):
        self.page.goto(address if address.startswith("http") else f"{self.server}/{address}")
        return self.settle()

    def settle(self):
        """Wait until the script and the pictures are at rest."""
        self.page.wait_for_timeout(150)
        self.page.wait_for_function(IDLE, timeout=30_000)
        self.page.wait_for_timeout(500)
        self.page.wait_for_function(IDLE, timeout=30_000)
        return self

    def type_sentence(self, words):
        box = self.page.get_by_label("Your own sentence")
        box.fill(words)
        box.press("Enter")
        return self.settle()

    def click_cell(self, chart, row, column, at=(0.5, 0.5)):
        """Click into a heatmap's cell; `at` is where in the cell, from its top left."""
        spot = self.page.evaluate("""([chart, row, column, at]) => {
            const root = document.querySelector('.st-key-chart-' + CSS.escape(chart.replaceAll('.', '-')) + ' .js-plotly-plot');
            root.scrollIntoView({block: 'center'});
            const box = root.getBoundingClientRect(), x = root._fullLayout.xaxis, y = root._fullLayout.yaxis;
            return [box.left + x._offset + x.l2p(column - 0.5 + at[0]), box.top + y._offset + y.l2p(row - 0.5 + at[1])]; }""",
                                  [chart, row, column, list(at)])
        self.page.mouse.move(*spot)
        self.page.mouse.click(*spot)
        return self.settle()

    def arithmetic(self):
        """The text of the sum at the foot of the page."""
        return self.page.locator('[data-testid="stBottom"] code').first.inner_text()

    def exceptions(self):
        return self.page.locator('[data-testid="stException"]').all_inner_texts()

    def text(self):
        return self.page.locator('[data-testid="stMain"]').inner_text()


@pytest.fixture
def visitor(chromium, server):
    someone = Visitor(chromium, server)
    yield someone
    someone.context.close()


@pytest.fixture
def new_visitor(chromium, server):
    """A function that opens another browser, with nothing remembered."""
    made = []

    def make(**options):
        made.append(Visitor(chromium, server, **options))
        return made[-1]

    yield make
    for someone in made:
        someone.context.close()


NUMBER = r"-?(?:\d+\.?\d*(?:e[+-]?\d+)?|∞)"


def read_terms(text):
    """The products in an arithmetic panel: [(left name, right name, left, right, product)]."""
    found = re.findall(rf"^(\S+\[.*?\]) × (\S+(?:\[.*?\])?) = ({NUMBER}) × ({NUMBER}) = ({NUMBER})$", text, re.M)
    return [(left, right, float(a), float(b), float(c)) for left, right, a, b, c in found]
