"""A config.json that a person pastes: kept as it is while they walk about; of it the address holds what the count rests on."""

import dataclasses

import streamlit as st

from core import pasted
from pages.shared import controls, lesson, text

IN_ADDRESS = 2000  # characters
TAKEN = 330_000    # by the field: more, in three bytes each, would be more than the server takes in one message
KEPT = list(pasted.READY)
STANDS_IN = f"{KEPT[0]}, ready-made"  # for a file that can't be counted


def ask(page):
    """The field to paste into, ready files to put there, and what was read of them.

    returns  (what to call it, core.published_config.PublishedConfig)
    """
    key = f"{page}.config"
    raw = _field(key)
    for place, name in zip(st.columns(len(KEPT)), KEPT, strict=True):
        with place:
            st.button(f"Put in {name}", on_click=_put, args=(key, pasted.READY[name]), key=f"{key}.{KEPT.index(name)}", width="stretch")
    try:
        found = pasted.count(raw)
    except ValueError as fault:
        with st.container(border=True):
            st.markdown(f":material/warning: **This can't be counted yet.** Until it can, {STANDS_IN} is counted below.")
            lesson.words(text.clean(str(fault)).text)
        _keep(key, raw, "what you pasted")
        return STANDS_IN, pasted.count(pasted.READY[KEPT[0]]).reading.config
    reading = found.reading
    lines = [f"Counted from: {_names(reading.used)}."]
    if reading.neutral:
        lines.append(f"Not used for counting, as no array's size depends on it: {_names(reading.neutral)}.")
    if reading.unknown:
        lines.append(f"Not used for counting, as this reader does not know it: {_names(reading.unknown)}.")
    if "_name_or_path" in reading.neutral:
        lines.append(f"The file calls itself {text.quoted(reading.config.name)}.")
    lesson.words("\n".join([*lines, *reading.notes]))
    _keep(key, found.compact, "the fields that count")
    return "the pasted file", dataclasses.replace(reading.config, name="the pasted file", note="")  # what is kept of it by caches is small


def leave(page):
    """Another thing is counted: the address need not hold the file, the field keeps it."""
    key = f"{page}.config"
    if key in st.session_state and key in st.query_params:
        del st.query_params[key]


def _field(key):
    bound = controls.bind(key, lambda raw: len(raw) <= IN_ADDRESS, f"a text of at most {IN_ADDRESS:,} characters")
    if key not in st.session_state:
        st.session_state[key] = st.query_params.get(key, pasted.READY[KEPT[0]])
    pasted_text = st.text_area("Paste a Hugging Face config.json", **bound | {"bind": None}, height=230, max_chars=TAKEN)
    lesson.small(f"The box takes at most {TAKEN:,} characters; a longer text is not taken over, and what stood there stays. "
                 "A config.json has a few thousand.")
    return pasted_text


def _put(key, file):
    st.session_state[key] = file


def _keep(key, short, what):
    """Put the short form into the address, where it is short enough, and say so."""
    if len(short) <= IN_ADDRESS and short != pasted.count(pasted.READY[KEPT[0]]).compact:
        st.query_params[key] = short
    elif key in st.query_params:
        del st.query_params[key]
    if len(short) > IN_ADDRESS:
        lesson.small(f"The address of this page does not hold {what}: it has {len(short):,} characters, more than {IN_ADDRESS:,}.")
    else:
        lesson.small(f"The address of this page holds {what}, so that a link can carry it.")


def _names(names, most=40):
    """Names from a file, cleaned and cut."""
    shown = [text.short(name, 40) for name in names[:most]]
    return (", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")) or "none"
