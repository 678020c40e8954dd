"""Times that a visitor has measured: only when asked, a little at every tick, with a way to stop."""

import streamlit as st

from core import stopwatch
from pages.shared import lesson, slow_costs

CHUNK = 0.08  # seconds of measuring at one tick, so that other visitors are served in between
TICK = 0.3    # seconds between two ticks


def held(kind):
    """This visitor's measurements of one kind, or None."""
    return st.session_state.get("_stopwatches", {}).get(kind)


def buttons(page, kind, label):
    """Measure, or stop. Returns whether a measurement of this kind goes on."""
    state, watch = st.session_state, held(kind)
    running = bool(state.get("_running")) and state.get("_measured") == kind and watch is not None and not watch.over

    def start():
        state.setdefault("_stopwatches", {})[kind] = stopwatch.Stopwatch(slow_costs.jobs(kind))
        state["_running"], state["_measured"] = True, kind

    def stop():
        state["_running"] = False

    left, right, _ = st.columns([1.6, 1, 2])
    with left:
        st.button(label if watch is None else f"{label} again", key=f"{page}.button.measure", on_click=start, disabled=running,
                  icon=":material/timer:", width="stretch")
    with right:
        st.button("Stop", key=f"{page}.button.stop", on_click=stop, disabled=not running, icon=":material/stop:", width="stretch")
    return running


def tick(kind):
    """What a part that draws itself again calls first: measure a little; at the end, draw the whole page once more."""
    state, watch = st.session_state, held(kind)
    if state.get("_running") and state.get("_measured") == kind and watch is not None:
        watch.go(CHUNK)
        if watch.over:
            state["_running"] = False
            st.rerun()


def status(kind, running):
    """How far it is, as a sentence. Returns the middle times so far."""
    watch = held(kind)
    if watch is None:
        lesson.say("Nothing is measured yet.")
        return {}
    done = f"{watch.done} of {len(watch.todo)} timed runs, {watch.spent:.2f} s of computing"
    lesson.say(f"Measuring: {done}." if running else f"Measured: {done}" + (
        "." if watch.done == len(watch.todo) else "; it was stopped before the end." if not watch.over else
        f"; it ends after {watch.most:g} s, whatever is left."))
    if running:
        st.progress(watch.share)
    return watch.medians()
