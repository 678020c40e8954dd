"""Editing the matrices of an example in place: a grid to type in, and the same numbers as text in the address."""

import streamlit as st

from core.softmax import as_float
from pages.shared import controls, examples, text


def edited(page, example):
    """The example with the person's own numbers in it, where they asked to edit it.

    returns  (Example, sentences about what could not be read)
    """
    if not controls.switch(page, "edit", "Edit the numbers", help="Change any number of x and the three matrices; everything below "
                                                                  "follows."):
        return example, ()
    arrays = {"x": example.x, **example.params}
    changed, remarks = {}, []
    for place, (name, array) in zip(st.columns([array.shape[1] for array in arrays.values()]), arrays.items(), strict=True):
        with place:
            rows, fault = controls.numbers(page, name, f"{name}, {array.shape[0]} × {array.shape[1]}", array, *array.shape)
            if fault:
                remarks.append(f"{name} can't be read: {fault} The example's own {name} is used until then.")
            changed[name] = examples.frozen(rows if rows is not None else array)
            _grid(f"{page}.{name}", changed[name])
    same = all((changed[name] == array).all() for name, array in arrays.items())
    where_from = example.where_from if same else "typed in by you"
    params = {name: changed[name] for name in example.params}
    return example._replace(x=changed["x"], params=params, where_from=where_from, id=example.id if same else "edited"), tuple(remarks)


def _grid(key, array):
    """A grid whose edits go into the text control `key`. Its own start values stay put while a person types in it."""
    import pandas as pd  # only here: it takes longer to import than all else

    held = st.session_state.setdefault(f"_grid.{key}", {"version": 0, "text": None, "start": array})
    now = text.matrix_text(array)
    gone = f"{key}.grid.{held['version']}" not in st.session_state  # another page, or the switch, took its edits away
    if held["text"] != now or gone:  # begin afresh with the numbers as they stand
        held.update(version=held["version"] + 1, text=now, start=array)
    grid_key = f"{key}.grid.{held['version']}"

    def typed():
        table = as_float(held["start"]).copy()
        for row, cells in st.session_state[grid_key]["edited_rows"].items():
            for column, value in cells.items():
                if value is not None and abs(value) <= 1e6:  # an emptied cell keeps its number
                    table[int(row), int(column)] = value
        held["text"] = st.session_state[key] = text.matrix_text(table)

    names = [str(i) for i in range(array.shape[1])]
    numbers = st.column_config.NumberColumn(min_value=-1e6, max_value=1e6, width=56)
    st.data_editor(pd.DataFrame(held["start"], columns=names), key=grid_key, on_change=typed, hide_index=True,
                   column_config=dict.fromkeys(names, numbers), alt=f"{key.split('.')[-1]} as a grid to type in")
