"""A text with the person's own words, to keep: saved as a file when they ask for it."""

import time

import streamlit as st

ARRIVAL = 0.5  # seconds: a click on a button sends the words of the field that was just left, and they arrive after the click


def button(label, file, build, *given):
    """A button that saves a Markdown text, the words typed last among it.

    build  function of what is given -> the text; it runs in a thread of its own once the person asks for the file
    """
    key = f"save.{file}"
    st.session_state[f"_{key}"] = kept = st.session_state.get(f"_{key}", {})
    kept["given"] = given

    def text_now():
        time.sleep(ARRIVAL)
        return build(*kept["given"])

    st.download_button(label, text_now, file, "text/markdown", key=key, on_click="ignore", icon=":material/download:")
