"""What the tests of pages and charts share: opening a page as a visitor does, and reading the numbers that are really drawn."""

import base64
import html
import json
import math
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages.shared import syllabus

ROOT = Path(__file__).resolve().parents[1]
URLS = [lesson.url for lesson in syllabus.LESSONS]
REFERENCE = {"welcome", "glossary"}  # pages to look things up in: the map and the words
LESSONS = [url for url in URLS if url not in REFERENCE]  # the pages that teach
PICTURELESS = {"glossary"}
SCRIPTLESS = {"quiz"}  # its script would hold the answers
TOKEN_PAGES = ["queries-keys-values", "attention", "causal-mask", "many-heads"]  # the pages that draw the person's own words
# lessons that draw no words of the person's
WORDLESS = {"quiz", "memory-and-compute", "scaling", "training", "looking-inside", "parameters", "in-practice",
            "misconceptions", "glossary"}

_NO_COMPONENTS = BidiComponentManager()  # else every session searches all installed packages for components: 0.2 s


# --------------------------------------------------------------------------------------------------- opening pages


def address(**parameters):
    """Query parameters from keywords: page__name stands for page.name."""
    return {name.replace("__", "."): value for name, value in parameters.items()}


def visit(url, *, theme="light", **parameters):
    """A fresh visitor opens a page by its address, with these query parameters (page__name for page.name)."""
    at = AppTest.from_file(ROOT / "pages" / "frame.py", default_timeout=60)
    at._bidi_component_manager = _NO_COMPONENTS
    at._page_hash = calc_hash(url)  # what a browser sends for /url; switch_page knows the pages only after a first run
    at.context["theme"] = theme
    at.query_params.update(address(**parameters))
    return at.run()


def go(at, url):
    """The visitor opens another page from the menu; their browser then drops the old page's own parameters."""
    at.query_params = {key: value for key, value in at.query_params.items() if "." not in key}
    return at.switch_page(syllabus.by_url(url).file).run()


def shown(at, kind):
    """What the lesson showed of one kind, in order."""
    return [what for name, what in at.session_state["_shown"] if name == kind]


def everything_said(at):
    """All text that the course wrote on the page, as one string."""
    return "\n".join([*shown(at, "say"), *shown(at, "words"), *shown(at, "remark"), *shown(at, "weights"),
                      *(caption.value for caption in at.caption), *(line.value for line in at.markdown)])


def notes(at):
    """The lines about what the address asked for in vain, as they stand on the page."""
    return at.text[0].value.split("\n") if any(button.key == "dismiss" for button in at.button) else []


def widget(at, key):
    """The control with this key."""
    (only,) = [element for kind in ("selectbox", "radio", "toggle", "text_input", "text_area", "number_input", "slider", "select_slider",
                                     "button_group")
               for element in at.get(kind) if element.key == key]
    return only


def asked(at):
    """The keys of all controls that the page has just drawn."""
    return list(at.session_state["_asked"])


# ------------------------------------------------------------------------------------------------- reading figures


def decode(value):
    """A figure with its base64 arrays turned back into numpy arrays."""
    if isinstance(value, dict):
        if "bdata" in value:
            array = np.frombuffer(base64.b64decode(value["bdata"]), dtype=np.dtype(value["dtype"]))
            return array.reshape([int(n) for n in value["shape"].split(",")]) if "shape" in value else array
        return {key: decode(part) for key, part in value.items()}
    return [decode(part) for part in value] if isinstance(value, list) else value


def strings(value):
    """Every string in a figure."""
    if isinstance(value, dict):
        return [text for part in value.values() for text in strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


def is_cells(trace):
    """Is this the invisible overlay over a matrix's cells?"""
    return trace.get("name") == "cells"


class Matrix(NamedTuple):
    """One matrix of a figure, as it is drawn."""

    values: np.ndarray       # (n_rows, n_columns) of the coloured cells; NaN where none is drawn
    overlay: np.ndarray      # (n_rows, n_columns) of the clickable squares
    rows: list[str]          # labels, entities turned back
    columns: list[str]
    traces: list[dict]       # the heatmap traces
    cells: dict              # the overlay trace


def matrices(figure):
    """The matrices of a decoded figure, in order; the dark and the light cells of each are merged."""
    found = []
    for cells in filter(is_cells, figure["data"]):
        suffix = cells.get("xaxis", "x")[1:]
        traces = [trace for trace in figure["data"] if trace["type"] == "heatmap" and trace.get("xaxis", "x")[1:] == suffix]
        values = np.full(traces[0]["z"].shape, np.nan)
        for trace in traces:
            filled = ~np.isnan(trace["z"])
            assert np.isnan(values[filled]).all(), "a cell is drawn twice"
            values[filled] = trace["z"][filled]
        layout = figure["layout"]
        found.append(Matrix(values, cells["customdata"].reshape(values.shape), labels(layout[f"yaxis{suffix}"]),
                            labels(layout[f"xaxis{suffix}"]), traces, cells))
    return found


def labels(axis):
    """The tick labels of an axis, entities turned back."""
    return [html.unescape(label) for label in axis["ticktext"]]


class Picture(NamedTuple):
    """A picture on a page."""

    title: str
    alt: str
    spec: dict   # decoded
    raw: str     # the JSON as sent
    key: str     # of the widget, "chart.page.name"

    @property
    def matrix(self):
        """The picture's only matrix."""
        (only,) = matrices(self.spec)
        return only


def pictures(at):
    """All pictures of a page, in order."""
    found = []
    for element in at.get("plotly_chart"):
        spec = decode(json.loads(element.proto.spec))
        found.append(Picture(spec["layout"]["title"]["text"], element.proto.alt, spec, element.proto.spec,
                             element.proto.id.split("-")[-1] if "chart." in element.proto.id else ""))
    return found


def picture(at, start):
    """The picture whose title starts like this."""
    (only,) = [each for each in pictures(at) if each.title.startswith(start)]
    return only


def drawn(at, start):
    """The numbers drawn in the picture whose title starts like this."""
    return picture(at, start).matrix.values


# ------------------------------------------------------------------------------------ an independent small computation


def softmax_rows(scores):
    """Softmax of each row, one number at a time."""
    rows = []
    for row in np.asarray(scores, dtype=float):
        raised = [np.exp(score - max(row)) for score in row]
        rows.append([each / sum(raised) for each in raised])
    return np.array(rows)


def attention_by_hand(x, w_q, w_k, w_v, visible=None):
    """q, k, v, raw scores, scores, weights and mixed values of one head, without the core."""
    q, k, v = (np.einsum("td,dh->th", x, w) for w in (w_q, w_k, w_v))
    raw = np.einsum("qd,kd->qk", q, k)
    scores = raw / q.shape[1] ** 0.5
    weights = softmax_rows(scores if visible is None else np.where(visible, scores, -np.inf))
    return {"q": q, "k": k, "v": v, "raw_scores": raw, "scores": scores, "pattern": weights, "mixed": np.einsum("qk,kd->qd", weights, v)}


# ---------------------------------------------------------------------------------------------- the arithmetic panel


NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
SIGNS = {"×": "*", "²": "**2", "³": "**3", "√": "sqrt", "−": "-", "π": "pi", "^": "**"}


def panel(at):
    """The text of the arithmetic panel, its lines."""
    (code,) = [block.value for block in at.code if block.language in (None, "", "plaintext") and "value on this page: " in block.value]
    return code.split("\n")


def evaluated(expression):
    """What an expression in the panel comes to, such as (1 - 0.25)² / √(0.5)."""
    for sign, code in SIGNS.items():
        expression = expression.replace(sign, code)
    names = {name: getattr(math, name) for name in ("sqrt", "sin", "cos", "exp", "tanh", "erf", "pi")} | {"max": max}
    assert set(re.findall(r"[a-z]+", re.sub(NUMBER, "", expression))) <= set(names), expression
    return eval(expression, {"__builtins__": {}}, names)


def recomputed(lines):
    """The arithmetic panel done again from its own operands: [(name of the cell, value that the terms come to)]."""
    results = []
    for block in "\n".join(lines).split("\n\n")[2:]:
        *before, last = block.split("\n")
        terms = [term for term in map(_term, before) if term is not None]
        share = re.fullmatch(rf"((?:pattern|probs)\[\d+, \d+\]) = ({NUMBER}) / ({NUMBER}) = ({NUMBER})", last)
        step = re.fullmatch(rf"(.+?\]) = (.*[^\d.e+-].*) = ({NUMBER})", last)
        result = re.fullmatch(rf"(.+?\]) = (?:sum of the above = )?({NUMBER})", last)
        if share:
            assert abs(sum(terms) - float(share[3])) <= 1e-12 * max(1, sum(terms)), last
            assert float(share[2]) == 0 or any(abs(float(share[2]) - term) <= 1e-12 for term in terms), last
            results.append((share[1], float(share[2]) / sum(terms)))
        elif result:
            assert abs(sum(terms) - float(result[2])) <= 1e-9 * max(1, abs(sum(terms))), last
            results.append((result[1], sum(terms)))
        else:
            results.append((step[1], _term(last)))
    return results


def _term(line):
    """What a line of the panel comes to, computed again; None for a line that sums what stands above it."""
    product = re.fullmatch(rf"(.+) × (.+) = ({NUMBER}) × ({NUMBER}) = ({NUMBER})", line)
    raised = re.fullmatch(rf"exp\((.+) - max\) = exp\(({NUMBER}) - ({NUMBER})\) = ({NUMBER})", line)
    if line.startswith("sum of the row = "):
        return None
    if product and "[" in product[2]:
        value, said = float(product[3]) * float(product[4]), float(product[5])
    elif raised:
        value, said = math.exp(float(raised[2]) - float(raised[3])), float(raised[4])
    else:
        _, *expression, said = line.split(" = ")
        value, said = evaluated(expression[0] if expression else said), float(said)
    assert abs(value - said) <= 1e-12 * max(1, abs(value)), line
    return value


# ------------------------------------------------------------------------------------------- colours, as the WCAG define


def luminance(colour):
    """Relative luminance of "#rrggbb"."""
    channels = np.array([int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def contrast(one, other):
    """Contrast ratio of two colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colour_on(scale, share):
    """The colour that Plotly paints at `share` of a colour scale: each channel in proportion between the two stops."""
    stops = [stop for stop, _ in scale]
    channels = [np.interp(share, stops, [int(colour[i:i + 2], 16) for _, colour in scale]) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(channel):02x}" for channel in channels)
