"""How long a change of a control takes on the server, page by page, against two empty pages.

    python tests/benchmarks/rerun.py [--rounds 40] [--only attention]

It serves (1) a copy of this app with one empty page added and (2) a plain `streamlit run` script that imports Plotly and
shows one slider: Streamlit as it comes, without our door and settings. A client on the websocket changes one control, as a
browser would, and takes the time until the server says that the script has finished; so the socket's own delay counts. All
pages take turns, round by round, and the median of each is divided by the medians of the two empty pages of the same run.

Needs a quiet machine. Prints one line a page: milliseconds, ratio (a) to the empty page of this app, ratio (b) to the plain
script, and the bytes that a rerun sends.
"""

import argparse
import asyncio
import contextlib
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

ROOT = pathlib.Path(__file__).resolve().parents[2]
SENTENCE = " ".join(f"word{i}" for i in range(40))  # as many tokens as a page takes
EMPTY_LESSON = '    Lesson("99_empty.py", "empty", ATTENTION, "Empty", "?", ""),\n)\n\n\ndef by_url'
EMPTY_PAGE = 'from pages.shared import controls\n\ncontrols.whole("empty", "n", "n", 0, 100, 1)\n'
STOCK = 'import plotly.graph_objects  # noqa\nimport streamlit as st\n\nst.slider("n", 0, 100, 1, key="n")\n'

# (page, address of the default, address of the largest setting, the control that moves)
VIEWS = [
    ("why-attention", "", f"text={SENTENCE}&why_attention.width=32", "why_attention.row"),
    ("tokens", "", f"text={SENTENCE}&tokens.n_merges=200", "tokens.piece"),
    ("embeddings", "", f"text={SENTENCE}&embeddings.d_model=32", "embeddings.row"),
    ("positions", "", "positions.n_positions=100&positions.d_model=32", "positions.row"),
    ("positions", "positions.scheme=rotary", "", "positions.row"),
    ("positions", "positions.scheme=order+experiment", f"positions.scheme=order+experiment&text={SENTENCE}", "positions.row"),
    ("queries-keys-values", "", f"text={SENTENCE}&queries_keys_values.d_model=32&queries_keys_values.d_head=32", "queries_keys_values.row"),
    ("attention", "", f"text={SENTENCE}", "attention.row"),
    ("scaling", "", "", "scaling.row"),
    ("causal-mask", "", f"text={SENTENCE}", "causal_mask.row"),
    ("many-heads", "", f"text={SENTENCE}&many_heads.d_model=64&many_heads.n_heads=8", "many_heads.row"),
    ("normalisation", "", f"text={SENTENCE}&normalisation.d_model=16", "normalisation.row"),
    ("feed-forward", "", f"text={SENTENCE}&feed_forward.d_model=16&feed_forward.wider=8", "feed_forward.row"),
    ("block", "", f"text={SENTENCE}&block.d_model=32&block.n_layers=24", "block.row"),
    ("encoder-decoder", "", f"text={SENTENCE}&encoder_decoder.target={SENTENCE}&encoder_decoder.n_layers=4&encoder_decoder.d_model=32",
     "encoder_decoder.row"),
    ("encoder-decoder", "encoder_decoder.weights=trained+on+dates", "", "encoder_decoder.row"),
    ("looking-inside", "", "looking_inside.model=Repeated+row", "looking_inside.row"),
    ("looking-inside", "looking_inside.view=switch+heads+off", "looking_inside.view=switch+heads+off&looking_inside.model=Repeated+row",
     "looking_inside.number"),
    ("forward-pass", "", f"text={SENTENCE}&forward_pass.d_model=64&forward_pass.n_layers=4&forward_pass.stage=widen", "forward_pass.row"),
    ("training", "", "training.task=Pronoun+and+colour", "training.row"),
    ("generation", "", f"text={SENTENCE}&generation.d_model=64&generation.n_layers=4", "generation.token"),
    ("generation", "generation.view=KV+cache",
     f"text={SENTENCE}&generation.view=KV+cache&generation.d_model=64&generation.n_layers=4&generation.n_steps=24", "generation.step"),
    ("parameters", "", "parameters.other=mixtral-8x7b", "parameters.n_layers"),
    ("parameters", "parameters.view=12+%C2%B7+d%C2%B2", "", "parameters.n_layers"),
    ("memory-and-compute", "", "memory_and_compute.model=your+own+sizes", "memory_and_compute.cache_number"),
    ("memory-and-compute", "memory_and_compute.view=FLOPs", "memory_and_compute.view=FLOPs&memory_and_compute.model=deepseek-v3",
     "memory_and_compute.work_number"),
    ("in-practice", "", f"in_practice.message={'+'.join(['my+certificate'] * 24)}", "in_practice.column"),
    ("misconceptions", "", f"text={SENTENCE}", "misconceptions.belief"),
    ("quiz", "quiz.view=questions", "", "quiz.row.0.pattern_cell 1 1 0"),
    ("glossary", "", "", "glossary.page"),
]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def server(folder, script):
    """`streamlit run` in that folder; yields the port."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port), "--server.address", "127.0.0.1",
               "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ})
    try:
        for _ in range(240):
            with contextlib.suppress(OSError, urllib.error.URLError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1)
                break
            time.sleep(0.25)
        else:
            raise SystemExit(f"{folder} did not become healthy within 60 s")
        yield port
    finally:
        process.terminate()
        process.wait()


class Tab:
    """One browser tab: it opens a page, then moves one control to and fro."""

    def __init__(self, name, port, page, query, key):
        self.name, self.port, self.page, self.query, self.key = name, port, page, query, key
        self.hash, self.widget, self.options, self.turn, self.cached = "", None, [], 0, set()
        self.times, self.bytes = [], []

    async def open(self, stack):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/_stcore/health")
        with urllib.request.urlopen(request) as answer:
            cookies = [header.split(";", 1)[0] for header in answer.headers.get_all("Set-Cookie") or []]
        self.socket = await stack.enter_async_context(connect(
            f"ws://127.0.0.1:{self.port}/_stcore/stream", subprotocols=["streamlit", "PLACEHOLDER_AUTH_TOKEN"],
            additional_headers={"Cookie": "; ".join(cookies)} if cookies else {}, max_size=None, compression=None, ping_interval=None))
        await self.run()
        if self.widget is None:
            raise SystemExit(f"{self.name}: no control {self.key!r} on the page")
        for _ in range(3):
            await self.move()
        self.times.clear()
        self.bytes.clear()

    async def move(self):
        self.turn += 1
        await self.run()

    async def run(self):
        """Send the state of the tab, wait for the end of the script, keep the time."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        state.page_script_hash = self.hash
        state.page_name = "" if self.hash else self.page
        state.cached_message_hashes.extend(self.cached)
        state.context_info.timezone, state.context_info.locale = "UTC", "en-US"
        state.context_info.url = f"http://127.0.0.1:{self.port}/{self.page}"
        if self.widget is not None:
            widget = state.widget_states.widgets.add(id=self.widget)
            if self.options:
                widget.string_value = self.options[self.turn % min(len(self.options), 7)]
            else:
                widget.double_array_value.data.append(self.turn % 50)
        start, size = time.perf_counter(), 0
        await self.socket.send(message.SerializeToString())
        while True:
            raw = await asyncio.wait_for(self.socket.recv(decode=False), 60)
            size += len(raw)
            answer = ForwardMsg.FromString(raw)
            kind = answer.WhichOneof("type")
            if kind == "delta":
                self.note(answer)
            elif kind == "new_session":
                self.hash = answer.new_session.page_script_hash
            elif kind == "navigation":
                self.hash = answer.navigation.page_script_hash
            elif kind == "script_finished" and answer.script_finished != ForwardMsg.ScriptFinishedStatus.Value("FINISHED_EARLY_FOR_RERUN"):
                self.times.append(time.perf_counter() - start)
                self.bytes.append(size)
                return

    def note(self, answer):
        """Find the control; stop at an exception; remember what a browser would keep."""
        if answer.metadata.cacheable:
            self.cached.add(answer.hash)
        if answer.delta.WhichOneof("type") != "new_element":
            return
        element = answer.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise SystemExit(f"{self.name}: {element.exception.type} {element.exception.message}")
        if kind in ("slider", "selectbox") and getattr(element, kind).id.endswith(f"-{self.key}"):
            self.widget = getattr(element, kind).id
            self.options = list(element.selectbox.options) if kind == "selectbox" else []


async def measure(app, stock, rounds, only):
    tabs = [Tab("empty page of this app", app, "empty", "", "empty.n"), Tab("empty plain script", stock, "", "", "n")]
    for page, default, largest, key in VIEWS:
        if only in page:
            name = page + (f", {default.split('=')[1].split('+')[0]}" if default else "")
            tabs.append(Tab(name, app, page, default, key))
            if largest:
                tabs.append(Tab(f"{name}, largest", app, page, largest.replace(" ", "+"), key))
    async with contextlib.AsyncExitStack() as stack:
        for tab in tabs:
            await tab.open(stack)
        for _ in range(rounds):
            for tab in tabs:
                await tab.move()
                await asyncio.sleep(0.02)
    return tabs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only", default="", help="only pages whose address holds this text")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy, plain = pathlib.Path(folder) / "app", pathlib.Path(folder) / "plain"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", "tests"))
        plain.mkdir()
        (plain / "plain.py").write_text(STOCK)
        (copy / "pages" / "99_empty.py").write_text(EMPTY_PAGE)
        syllabus = copy / "pages" / "shared" / "syllabus.py"
        source = syllabus.read_text()
        assert ")\n\n\ndef by_url" in source
        syllabus.write_text(source.replace(")\n\n\ndef by_url", EMPTY_LESSON))
        with server(copy, "app.py") as app, server(plain, "plain.py") as stock:
            tabs = asyncio.run(measure(app, stock, args.rounds, args.only))
    medians = [statistics.median(tab.times) * 1000 for tab in tabs]
    print(f"{'page':34} {'ms':>7} {'p90':>7} {'(a)':>6} {'(b)':>6} {'kB':>7}")
    for tab, median in zip(tabs, medians):
        p90 = statistics.quantiles(tab.times, n=10)[-1] * 1000
        kilobytes = statistics.median(tab.bytes) / 1000
        print(f"{tab.name:34} {median:7.1f} {p90:7.1f} {median / medians[0]:6.2f} {median / medians[1]:6.2f} {kilobytes:7.1f}")


if __name__ == "__main__":
    main()
