"""How a lesson speaks: every page shows what it shows through these few functions, and they keep the list of it.

A page calls `say`, `ask`, `formula`, `picture`, `arithmetic` … in reading order. `weights`, `check`, `ran`, `script` and
`source` may be called anywhere; `finish` sets them under the lesson in the same order on every page.
"""

import inspect
from functools import cache

import streamlit as st

from core import arithmetic as core_arithmetic
from pages.shared import controls, glossary, scripts, syllabus, text

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "autoScale2d",
                                                           "resetScale2d"], "displayModeBar": False}


def shown():
    """What this visitor's page has shown in this run: [(kind, what)], in order."""
    return st.session_state["_shown"]


def _keep(kind, what):
    st.session_state["_shown"].append((kind, what))


def dark():
    """Does the visitor see the dark theme?"""
    return st.session_state["_look"][0]


def look(width=470):
    """How a heatmap should look for this visitor: the theme, and its width in pixels (a phone has room for less)."""
    is_dark, phone = st.session_state["_look"]
    return {"dark": is_dark, "width": min(width, 345) if phone else width}


# --------------------------------------------------------------------------------------------------- the frame calls


def begin(lesson, page_of):
    """The head of a page: title, question, the person's own sentence and the seed."""
    st.session_state["_shown"] = []
    st.session_state["_look"] = (st.context.theme.type == "dark", "Mobi" in (st.context.headers.get("User-Agent") or ""))
    st.session_state["_page_of"] = page_of
    st.session_state["_below"] = {"weights": [], "check": [], "ran": [], "script": [], "source": []}
    controls.start(lesson.key)
    with st.sidebar:
        controls.tables()
        small("What you set on this page stands in its address. Copy it to share what you see.")
    st.title(lesson.title, anchor=False)
    say(f"**{lesson.question}**")
    slot = st.empty()
    controls.course()
    return slot


def link(lesson, label=None, icon=None):
    """A link to another lesson, with its question."""
    st.page_link(st.session_state["_page_of"][lesson.url], label=label or f"**{lesson.title}**: {lesson.question}", icon=icon)


def finish(lesson, slot):
    """The foot of a page: where the numbers come from, checks, source code, script, sources, previous and next."""
    below = st.session_state["_below"]
    st.divider()
    if below["weights"]:
        st.markdown("**Where the numbers come from.** " + " ".join(below["weights"]))
    if below["check"]:
        _checks(below["check"])
    _terms(glossary.of_page(lesson.url))
    if below["ran"]:
        with st.expander("The function that ran" if len(below["ran"]) == 1 else "The functions that ran"):
            st.code("\n\n".join(_source(function) for function in below["ran"]), "python")
    for build in below["script"]:
        st.download_button("Download this page as a script", build, f"{lesson.key}.py", "text/x-python", key=f"{lesson.key}.script",
                           on_click="ignore", help="Python with numpy alone. It holds the values on this page and prints the same numbers.")
    if below["source"]:
        small("Sources: " + " · ".join(dict.fromkeys(below["source"])))
    before, after = syllabus.neighbours(lesson)
    left, right = st.columns(2)
    with left:
        if before:
            link(before, f"Back: {before.title}", ":material/arrow_back:")
    with right:
        if after:
            link(after, f"Next: {after.title}", ":material/arrow_forward:")
    _notes(slot)


def small(markdown):
    """A line in small type. Streamlit's caption is paler than 4.5 to 1 on the page."""
    st.markdown(f":small[{markdown}]")


def _notes(slot):
    """One sentence at the top about what the address asked for in vain, with the person's words shown as they are."""
    notes = controls.notes()
    if notes:
        with slot.container(border=True):
            st.markdown("Part of the address was not understood, so the defaults are shown instead:")
            st.text("\n".join(f"{text.visible(key[:60])} = {' and '.join(text.visible(value[:60]) for value in values[:3])}: {takes}."
                              for key, values, takes in notes[:8]))
            st.button("Close", on_click=controls.dismiss, key="dismiss")


def _checks(checks):
    """Every invariant with its residual: one line, and the list on request."""
    failed = [name for name, residual, allowed in checks if not residual <= allowed]
    if failed:
        st.error(f"Checked here: {len(failed)} of {len(checks)} checks fail: {'; '.join(failed)}.")
    with st.expander(f"Checked here: {len(checks) - len(failed)} of {len(checks)} hold, each within its tolerance"):
        st.markdown("\n".join(f"- {name}: gap {residual:.1e}, allowed {allowed:.0e}{'' if residual <= allowed else ' — **fails**'}"
                              for name, residual, allowed in checks))


def _terms(terms):
    """The words that this page teaches, on request."""
    if terms:
        with st.expander("Words of this page"):
            st.markdown("\n".join(glossary.line(term) for term in terms))


@cache
def _source(function):
    return inspect.getsource(function)


# -------------------------------------------------------------------------------------------------- the pages call


def say(markdown):
    """A paragraph written by the course (never a person's own text)."""
    _keep("say", markdown)
    st.markdown(text.narrow(markdown) if st.session_state["_look"][1] else markdown)


def heading(title):
    """The heading of a part of the page."""
    _keep("heading", title)
    st.subheader(title, anchor=False)


def words(plain):
    """A line that may hold a person's own words: shown as it is, nothing in it is interpreted."""
    _keep("words", plain)
    st.text(plain)


def remarks(notes):
    """Plain sentences about what was done to the person's text."""
    for note in notes:
        _keep("remark", note)
        st.info(note, icon=":material/info:")


def warn(sentence):
    """A sentence by the course about something that went wrong and what to change."""
    if sentence:
        _keep("warn", sentence)
        st.warning(sentence, icon=":material/warning:")


def live(draw, every):
    """A part of the page that draws itself again every so many seconds; None: only with the page.

    draw  function without arguments; it must not call `check`, `weights` and the like, which belong to the page's foot
    """
    mark = len(shown())

    @st.fragment(run_every=every)
    def part():
        del shown()[mark:]  # what this part showed before
        draw()

    part()


def formula(latex):
    """A formula."""
    _keep("formula", latex)
    st.latex(latex)


def ask(page, question, answers, right, because):
    """Predict first: a question, and its answer once the person has chosen.

    answers  short texts by the course; right: the number of the right one; because: the explanation
    """
    _keep("ask", (question, answers, right, because))
    with st.container(border=True):
        key = f"{page}.guess"
        if st.session_state.get(key) not in (None, *answers):  # given to another question of this page
            st.session_state[key] = None
        bound = controls.bind(key, answers.__contains__, "one of its answers, written as on the page")
        st.markdown("**Predict first.**")
        guess = st.radio(question, answers, index=None, horizontal=True, **bound)
        if guess is not None:
            st.markdown(f"{'**Yes.**' if guess == answers[right] else f'**Not quite: {answers[right]}.**'} {because}")


def picture(figure, key, alt, on_click=None):
    """A chart; its numbers as a table below it where the person asked for tables.

    key  "page.name"; alt: the finding in a sentence; on_click: called when a cell was clicked
    """
    _keep("picture", (figure, alt))
    st.plotly_chart(figure, key=f"chart.{key}", theme=None, on_select=on_click or "ignore", selection_mode="points", config=CONFIG, alt=alt)
    if st.session_state.get("tables") and figure.table is not None:
        table(*figure.table, key)


def table(rows, columns, values, key):
    """Numbers as a table that can be read aloud, sorted and saved as CSV."""
    import pandas as pd  # only here: tables come on request, and pandas takes longer to import than all else

    names = [f"{i} · {column}" for i, column in enumerate(columns)]
    frame = pd.DataFrame(values, columns=names)
    frame.insert(0, "row", [f"{i} · {row}" for i, row in enumerate(rows)])
    _keep("table", frame)
    st.dataframe(frame, key=f"table.{key}", hide_index=True, alt="The numbers of the picture above, one line a row of it.")


def arithmetic(title, explanations):
    """The sum behind a cell: every operand at full precision, and what the trace holds.

    title         a line that may hold the person's own words
    explanations  core.arithmetic.Explanation, in the order of the computation
    """
    lines = []
    for explanation in explanations:
        lines += core_arithmetic.lines(explanation) + [""]
    last = explanations[-1]
    value = f"value on this page: {core_arithmetic.number(last.value)}"
    panel = "\n".join([title, core_arithmetic.summary(explanations), "", value, "", *lines]).rstrip()
    _keep("arithmetic", (title, explanations))
    with st.bottom:
        st.code(panel, None, height=165, wrap_lines=True)
    check("the clicked cell equals its arithmetic", max(explanation.residual for explanation in explanations), 1e-9)


def panel(title, value, lines):
    """What is behind a clicked part that is no sum: plain lines, shown as they are.

    title  a line that may hold the person's own words; so may the lines
    value  the number on this page that the lines explain, as text
    """
    _keep("panel", (title, value, lines))
    with st.bottom:
        st.code("\n".join([title, "", f"value on this page: {value}", "", *lines]), None, height=165, wrap_lines=True)


def weights(sentence):
    """Where the weights on this page come from."""
    _below("weights", sentence)


def check(name, residual, allowed):
    """An invariant of the page: how far the numbers are from it, and how far rounding may take them."""
    _below("check", (name, float(residual), float(allowed)))


def ran(*functions):
    """The functions of core that computed this page."""
    for function in functions:
        _below("ran", function)


def script(title, functions, arrays, steps, tokens=()):
    """A script to download; it is written when the person asks for it."""
    _below("script", lambda: scripts.build(title, functions, arrays, steps, tokens))


def source(*names):
    """Where the facts on this page come from."""
    for name in names:
        _below("source", name)


def _below(kind, what):
    _keep(kind, what)
    st.session_state["_below"][kind].append(what)
