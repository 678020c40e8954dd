"""Controls whose values live in the address, and what to do when an address can't be understood.

A control's key is "page.name"; the same words stand in the address. A value that the address holds and the control does
not take is never passed on: the default is shown, the value leaves the address, and one sentence says so.
"""

import re
from typing import NamedTuple

import streamlit as st

from core import draws, positions, tokenizers
from pages.shared import examples, text

MAX_SEED = 999_999
IGNORED = re.compile(r"embed|embed_options|utm_\w+|fbclid|gclid|mc_\w+|ref")  # left by other programs, not ours to judge


class Cell(NamedTuple):
    """The cell that a person picked."""

    stage: str
    row: int
    column: int


class Grid(NamedTuple):
    """The labels of one stage's matrix."""

    rows: list[str]
    columns: list[str]
    row_word: str = "Query"
    column_word: str = "Key"


def features(n):
    """Labels for n features, counted from 0 as in the arrays."""
    return [str(i) for i in range(n)]


# ------------------------------------------------------------------------------------------------- the address


def start(page):
    """Forget which keys the last run asked for; on a new page, forget its notes too."""
    state = st.session_state
    state["_asked"] = {}
    if state.get("_page") != page:
        state["_page"], state["_notes"], state["_check_unknown"] = page, [], True
        state["_running"] = False  # whatever ran on the last page ends with it


def notes():
    """What the address asked for and this page does not take: lines of (parameter, its values, what would work)."""
    asked, state = st.session_state["_asked"], st.session_state
    if state.pop("_check_unknown", False):
        for key in list(st.query_params):
            if key not in asked and not IGNORED.fullmatch(key):
                state["_notes"].append((key, st.query_params.get_all(key), "this page, as it is set here, has no such setting"))
                del st.query_params[key]
    return state["_notes"]


def dismiss():
    """Callback: the person has read the notes."""
    st.session_state["_notes"] = []


def bind(key, accepts, takes):
    """The arguments that tie the control `key` to the address, and keep its value while other pages are open.

    accepts  function of the raw string -> is it a value of this control?
    takes    what would work, for the note; a value that does not pass is taken out of the address, unbound for this run
    """
    bound = {"key": key, "bind": "query-params", "persist_state": "session"}
    state = st.session_state
    state["_asked"][key] = True
    if key in state or key not in st.query_params:
        return bound
    values = st.query_params.get_all(key)
    if len(values) == 1 and accepts(values[0]):
        return bound
    sentence = f"it takes {takes}" if len(values) == 1 else f"it can stand there only once, with {takes}"
    state["_notes"].append((key, values, sentence))
    del st.query_params[key]
    return bound | {"bind": None}


# ------------------------------------------------------------------------------------------------ single controls


def choice(page, name, label, options, default=None, **more):
    """One of a few short words, as a row of buttons. Returns the word."""
    key = f"{page}.{name}"
    options = list(options)
    default = options[0] if default is None else default
    if st.session_state.get(key, default) not in options:
        st.session_state[key] = default
    bound = bind(key, options.__contains__, f"one of: {', '.join(options)}")
    return st.segmented_control(label, options, default=default, required=True, **bound, **more) or default


def pick(page, name, label, options, default=0, **more):
    """One of many labels, as a list that opens. Returns its number; keeps the number when the labels change."""
    key = f"{page}.{name}"
    labels = list(options)
    if key in st.session_state and st.session_state.get(f"_labels.{key}") != labels:
        held = st.session_state[key]
        st.session_state[key] = held if isinstance(held, int) and held < len(labels) else min(default, len(labels) - 1)
    st.session_state[f"_labels.{key}"] = labels
    bound = bind(key, labels.__contains__, f"one of its {len(labels)} entries, written as in the list")
    return st.selectbox(label, range(len(labels)), index=min(default, len(labels) - 1), format_func=lambda i: labels[i],
                        **bound, **more)


def whole(page, name, label, low, high, default, **more):
    """A whole number from low to high, as a slider; as plain words when there is only one choice."""
    key = f"{page}.{name}"
    bound = bind(key, lambda raw: bool(re.fullmatch(r"-?[0-9]{1,9}(\.0{1,9})?", raw)) and low <= float(raw) <= high,
                 f"a whole number from {low} to {high}")
    if low == high:
        st.markdown(f":small[{label}: {low}, the only size possible here.]")
        return low
    if key in st.session_state and not low <= st.session_state[key] <= high:
        st.session_state[key] = default
    return st.slider(label, low, high, default, **bound, **more)


def decimal(page, name, label, low, high, default, step, **more):
    """A number from low to high, as a slider."""
    key = f"{page}.{name}"
    bound = bind(key, lambda raw: bool(re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", raw)) and low <= float(raw) <= high,
                 f"a number from {low} to {high}")
    return st.slider(label, float(low), float(high), float(default), float(step), **bound, **more)


def field(page, name, label, low, high, default, **more):
    """A whole number from low to high, as a field to type in; what can't be read stays in it, and the last number goes on counting.

    Not `st.number_input`: that makes 15 of "1,5" and drops what is out of range, without a word.

    returns  (number, None) or (the last number that could be read, what to change)
    """
    key = f"{page}.{name}"

    def accepts(raw):
        return bool(re.fullmatch(r"[0-9]{1,6}", raw)) and low <= int(raw) <= high
    typed = st.text_input(label, str(default), autocomplete="off", **bind(key, accepts, f"a whole number from {low} to {high}"), **more)
    typed = typed.strip()
    if accepts(typed):
        st.session_state[f"_last.{key}"] = int(typed)
        return int(typed), None
    last = st.session_state.get(f"_last.{key}", default)
    return last, f"{label}: write a whole number from {low} to {high}, in digits alone. Until then it stays at {last}."


def private(page, name):
    """The arguments of a control whose value belongs to the person alone: it lives while the tab is open, and never in the address."""
    return {"key": f"{page}.{name}", "persist_state": "session"}


def stop(page, name, label, options, default, **more):
    """One of a row of numbers, as a slider that stops at each. Returns the number."""
    key = f"{page}.{name}"
    options = list(options)
    bound = bind(key, [str(option) for option in options].__contains__, f"one of: {', '.join(map(str, options))}")
    return st.select_slider(label, options, default, **bound, **more)


def switch(page, name, label, default=False, **more):
    """On or off."""
    key = f"{page}.{name}"
    bound = bind(key, lambda raw: raw.lower() in ("true", "false"), "true or false")
    return st.toggle(label, default, **bound, **more)


def words(page, name, label, default, max_length=400, **more):
    """A line of text."""
    key = f"{page}.{name}"
    bound = bind(key, lambda raw: len(raw) <= max_length, f"a text of at most {max_length} characters")
    return st.text_input(label, default, **bound, **more)


def numbers(page, name, label, default, n_rows, n_columns, **more):
    """A matrix typed as text. Returns (rows, None), or (None, what to change) where it can't be read."""
    raw = words(page, name, label, text.matrix_text(default), max_length=2000, **more)
    return text.parse_matrix(raw, n_rows, n_columns)


# --------------------------------------------------------------------------------------------- for the whole course


def course():
    """The person's own sentence and the seed of its random numbers: they follow the person from page to page."""
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    with left:
        bound = bind("text", lambda raw: True, "any text")
        st.text_input("Your own sentence", **bound, placeholder="Type a sentence to follow it through the course; "
                      "leave this empty to see the ready-made examples")
    with right:
        bound = bind("seed", lambda raw: bool(re.fullmatch(r"[0-9]{1,6}", raw)), f"a whole number from 0 to {MAX_SEED}")
        st.number_input("Seed", 0, MAX_SEED, 1, **bound,
                        help="Random numbers for your own sentence start from this seed: the same seed gives the same numbers.")


def tables():
    """Does the person want every picture's numbers as a table?"""
    st.toggle("Numbers as tables", **bind("tables", lambda raw: raw.lower() in ("true", "false"), "true or false"),
              help="Puts a table under every picture: for reading aloud, copying, or saving as CSV.")


def own_tokens():
    """The words of the person's own sentence, and sentences about what was left out of it.

    returns  (tokens, notes); no tokens where the text holds no word
    """
    raw = st.session_state.get("text") or ""
    cleaned = text.clean(raw)
    tokens, cut = text.cut(tokenizers.split_words(cleaned.text))
    if raw and not tokens:
        cut = ("Your text holds no word, only spaces or invisible characters, so the ready-made example is shown.",)
    return tokens, (*cleaned.notes, *cut)


def sentence(page, presets, d_model=16, d_head=8):
    """The sentence this page shows: the person's own if there is one, else one of the presets.

    presets  names of `examples.EXAMPLES`, or functions that make an Example; their titles fill the list of examples
    returns  (Example, notes)
    """
    tokens, remarks = own_tokens()
    if tokens:
        return own_example(tuple(tokens), st.session_state["seed"], d_model, d_head), remarks
    ready = [preset() if callable(preset) else examples.EXAMPLES[preset]() for preset in presets]
    if len(ready) == 1:
        return ready[0], remarks
    return ready[pick(page, "example", "Example", [example.title for example in ready])], remarks


def own_example(tokens, seed, d_model, d_head):
    """A person's own words with random vectors and matrices, each from its own child seed."""
    params = {name: draws.projection(seed, name, d_model, d_head) for name in ("w_q", "w_k", "w_v")}
    return examples.Example("own", "Your own sentence", tokens, examples.frozen(draws.token_vectors(tokens, seed, d_model)), params,
                            f"drawn at random (seed {seed}), never trained", takes_positions=True)


def with_positions(page, example):
    """The token vectors, with sinusoidal positions added where the example takes them and the person wants them."""
    if not example.takes_positions:
        return example.x
    wanted = switch(page, "positions", "Add positions", True,
                    help="Adds the sinusoidal position vectors of Vaswani et al. 2017. Without them, equal words have equal vectors.")
    return examples.frozen(example.x + positions.sinusoidal(*example.x.shape)) if wanted else example.x


# ---------------------------------------------------------------------------------------------- the clicked cell


def cell(page, grids, default):
    """Which cell is taken apart: by click on a picture, or by these lists from the keyboard.

    grids    {stage: Grid}
    default  Cell
    returns  Cell
    """
    if len(grids) > 4:  # a row of its own for many steps
        left, (middle, right) = st.container(), st.columns(2, vertical_alignment="bottom")
    else:
        left, middle, right = st.columns([2.2, 1.4, 1.4], vertical_alignment="bottom")
    with left:
        stage = choice(page, "stage", "Step", list(grids), default.stage) if len(grids) > 1 else default.stage
    grid = grids[stage]
    with middle:
        row = pick(page, "row", f"{grid.row_word} (row)", text.options(grid.rows), default.row)
    with right:
        column = pick(page, "column", f"{grid.column_word} (column)", text.options(grid.columns), default.column)
    return Cell(stage, row, column)


def clicked(chart):
    """The point of a picture that was just clicked, or None; for callbacks. chart: the picture's key."""
    points = st.session_state[f"chart.{chart}"]["selection"]["points"]
    return points[0] if points else None


def on_click(page, chart, stage=None):
    """A callback for a clicked picture: puts the cell's place into the controls, and so into the address."""
    def take():
        point = clicked(chart)
        if point is None:
            return
        if stage is not None:
            st.session_state[f"{page}.stage"] = stage
        st.session_state[f"{page}.row"], st.session_state[f"{page}.column"] = int(point["y"]), int(point["x"])

    return take
