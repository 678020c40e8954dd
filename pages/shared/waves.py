"""The sinusoidal part of the page on positions: waves and clocks, distances, shifts."""

import numpy as np
import streamlit as st

from core import arithmetic_positions, order, positions, sums
from pages.shared import charts, controls, lesson, plots, text
from pages.shared.controls import Cell, Grid, features

PAGE = "positions"


def heat(chart, z, rows, columns, title, frame, stage=None, width=470, **looks):
    """A heatmap whose clicked cell goes into the lists above it. chart: the last part of its key; frame: the cell to frame."""
    figure = charts.heatmap(z, rows, columns, title=title, clicked=frame, **looks, **lesson.look(width))
    lesson.picture(figure, f"{PAGE}.{chart}", f"{title}: {z.shape[0]} rows, {z.shape[1]} columns, values from {z.min():.3g} to "
                   f"{z.max():.3g}.", controls.on_click(PAGE, f"{PAGE}.{chart}", stage))


def named(own, place):
    """The person's own word at a place, for the line above a sum."""
    return f" {text.quoted(own[place])}" if place < len(own) else ""


def sinusoidal(own):
    """A computed vector for every position. own: the person's own words, which name the first positions."""
    lesson.formula(r"\begin{gathered} pe_{p,2i} = \sin\!\left(p\,/\,10000^{2i/d}\right) \\ "
                   r"pe_{p,2i+1} = \cos\!\left(p\,/\,10000^{2i/d}\right) \end{gathered}")
    lesson.say("Each pair of features is a clock: its hand turns by a fixed angle a position, the first pair fastest. The vector of a "
               "position is **added** to the word's vector. Nothing is learned, so the table has no end.")
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    with left:
        n = controls.whole(PAGE, "n_positions", "Positions", 2, 100, 50)
    with middle:
        d = controls.whole(PAGE, "d_model", "Features, d_model", 1, 32, 16)
    with right:
        part = controls.choice(PAGE, "part", "Look at", ("waves", "distance", "shift"))
    pe = positions.sinusoidal(n, d)
    {"waves": waves, "distance": distance, "shift": shift}[part](n, d, pe, own)
    lesson.check("sin² + cos² of every pair is 1", abs((pe[:, : d // 2 * 2] ** 2).reshape(n, -1, 2).sum(axis=-1) - 1).max(initial=0), 1e-12)
    lesson.weights("They are computed from the formula. Nothing here is trained, and nothing is drawn at random.")
    lesson.ran(positions.sinusoidal, positions.frequencies, positions.shift_matrix)
    lesson.source("Vaswani et al. 2017, section 3.5")


def waves(n, d, pe, own):
    """The table, the picked pair's two waves, and all clocks at the picked position."""
    places = features(n)
    picked = controls.cell(PAGE, {"pe": Grid(places, features(d), "Position", "Feature")}, Cell("pe", 1, 0))
    p, pair = picked.row, picked.column // 2
    left, right = st.columns([1, 1.9])
    with left:
        heat("pe", pe, places, features(d), f"pe: {n} × {d}", (p, picked.column), name="pe", row_title="position", column_title="feature",
             limit=1.0)
    with right:
        turn = 2 * np.pi / positions.frequencies(d)
        both = {f"feature {i}: {word}": pe[:, i] for i, word in zip(range(2 * pair, min(2 * pair + 2, d)), ("sin", "cos"), strict=False)}
        lesson.picture(plots.curves(range(n), both, title=f"The waves of pair {pair}: one turn in {turn[pair]:,.1f} positions", at=p,
                                    x_title="position", y_title="pe", y_range=(-1.08, 1.08), dark=lesson.dark()),
                       f"{PAGE}.waves", f"Sine and cosine of pair {pair} over {n} positions; one turn takes {turn[pair]:.4g} positions.")
        if d > 1:
            tips = pe[p, : d // 2 * 2].reshape(-1, 2)
            lesson.picture(plots.clocks(tips, [f"pair {i}" for i in range(len(tips))], title=f"The {len(tips)} clocks at position {p}: "
                                        "across = sin, up = cos", dark=lesson.dark()),
                           f"{PAGE}.clocks", f"{len(tips)} clock hands at position {p}; the first has turned farthest.")
        lesson.say(f"One turn takes from {turn[0]:.4g} positions (the first pair) to {turn[-1]:,.0f} (the last)." + (
            " The width is odd, so the last sine stands alone and has no clock." if d % 2 else ""))
    lesson.arithmetic(f"position {p}{named(own, p)}, feature {picked.column}",
                      [arithmetic_positions.explain_sinusoidal(pe, p, picked.column)])
    lesson.check("position 0 is 0, 1, 0, 1, …", abs(pe[0] - np.arange(d) % 2).max(), 0.0)
    lesson.script("Positions", (positions.sinusoidal,), {"n_positions": n, "d_model": d}, 'show("pe", sinusoidal(n_positions, d_model))')


def distance(n, d, pe, own):
    """The dot product of two positions against the gap between them."""
    places = features(n)
    picked = controls.cell(PAGE, {"dots": Grid(places, places, "Position", "Position")}, Cell("dots", min(10, n - 1), min(15, n - 1)))
    a, dots = picked.row, pe @ pe.T
    near, far = order.gap_dots(a, n, d), order.gap_dots(a + 20, n, d)
    rise = order.first_rise(near)
    left, right = st.columns(2)
    with left:
        heat("dots", dots, places, places, "pe[a] · pe[b]", (a, picked.column), name="dot product", row_title="position a",
             column_title="position b")
    with right:
        figure = plots.curves(range(n), {f"from position {a}": near, f"from position {a + 20}": far}, title="Dot product against the gap",
                              x_title="gap", y_title="pe[a] · pe[a + gap]", dark=lesson.dark())
        lesson.picture(figure, f"{PAGE}.gap", f"Dot product of a position with later ones, from {a} and from {a + 20}: it starts at "
                       f"{near[0]:.4g} and its lowest value is {near.min():.4g}.")
        gaps = [gap for gap in (0, 1, 2, 5, 20) if gap < n]
        lesson.say(f"| gap | {' | '.join(map(str, gaps))} |\n|:--|{'--:|' * len(gaps)}\n" + "\n".join(
            f"| from {start} | {' | '.join(f'{values[gap]:.4f}' for gap in gaps)} |" for start, values in ((a, near), (a + 20, far))))
    lesson.say(("Both curves are one: the dot product depends on the **gap alone**." if d % 2 == 0 else
                "The width is odd. The lone sine has no cosine to its side, so here the dot product depends on the position as well.") + (
        f" It does not fall smoothly: from gap {rise - 1} to {rise} it rises, from {near[rise - 1]:.4f} to {near[rise]:.4f}."
        if rise else " Over these gaps it never rises."))
    b = picked.column
    lesson.arithmetic(f"position {a}{named(own, a)} with position {b}{named(own, b)}",
                      [arithmetic_positions.explain_dot("dots", ("pe", pe), ("pe", pe), a, b, dots[a, b])])
    if d % 2 == 0:
        lesson.check(f"equal gaps give equal dot products, from {a} and from {a + 20}", abs(near - far).max(), 1e-11)
    lesson.script("Positions", (positions.sinusoidal, order.gap_dots), {"n_positions": n, "d_model": d, "start": a}, """
    pe = sinusoidal(n_positions, d_model)
    show("dots", pe @ pe.T)
    show("by gap", gap_dots(start, n_positions, d_model))
    """)


def shift(n, d, pe, own):
    """R(k) moves the vector of any position k places on."""
    lesson.formula(r"pe_{p+k} = R(k)\,pe_p \qquad R(k)\text{ for each pair: }"
                   r"\begin{pmatrix}\cos k\omega & \sin k\omega\\ -\sin k\omega & \cos k\omega\end{pmatrix}")
    lesson.say("To move k positions on, every clock turns by the same angle, wherever it stands. So **one matrix R(k)** serves all "
               "positions: “k places further” means the same thing everywhere.")
    left, right = st.columns(2)
    with left:
        p = controls.whole(PAGE, "p", "From position p", 0, n - 1, min(10, n - 1))
    with right:
        k = controls.whole(PAGE, "k", "Move on by k", 0, 20, 5)
    pe = positions.sinusoidal(n + 20, d)
    columns, script = features(d), 'show("pe", sinusoidal(n_positions, d_model))'
    try:
        matrix = positions.shift_matrix(k, d)
    except ValueError as fault:
        lesson.remarks([f"{fault} The vectors themselves can have any width; they are shown below."])
        rows, matrix = {"pe[p]": pe[p], "pe[p+k]": pe[p + k]}, None
    else:
        turned = matrix @ pe[p]
        rows = {"pe[p]": pe[p], "R(k)·pe[p]": turned, "pe[p+k]": pe[p + k], "difference": turned - pe[p + k]}
        lesson.check(f"R({k})·pe[p] is pe[p + {k}] at all {n} positions", abs(pe[:n] @ matrix.T - pe[k:n + k]).max(), 1e-12)
        script = """
    pe = sinusoidal(n_positions, d_model)
    show("R", shift_matrix(k, d_model))
    show("pe[p]", pe[p])
    show("R(k) pe[p]", shift_matrix(k, d_model) @ pe[p])
    show("pe[p+k]", pe[p + k])
    """
    names, z = list(rows), np.stack(list(rows.values()))
    grids = {"vectors": Grid(names, columns, "Vector", "Feature")} | (
        {"R(k)": Grid(columns, columns, "Feature", "Feature")} if matrix is not None else {})
    picked = controls.cell(PAGE, grids, Cell("vectors", min(1, len(names) - 1), 0))
    at = (picked.row, picked.column)
    heat("vectors", z, names, columns, f"p = {p}, k = {k}" + ": moved by R(k), and computed directly" * (matrix is not None),
         at if picked.stage == "vectors" else None, "vectors", 960, name="value", row_title="vector", column_title="feature", limit=1.0,
         max_cell=56)
    if matrix is not None:
        lesson.say(f"Moved by the matrix and computed from the formula, the two agree to **{abs(rows['difference']).max():.1e}**.")
        heat("shift", matrix, columns, columns, f"R({k})", at if picked.stage == "R(k)" else None, "R(k)", 620, name="value",
             row_title="feature", column_title="feature", limit=1.0, max_cell=40)
    if picked.stage == "R(k)":
        explanation = arithmetic_positions.explain_shift(matrix, k, *at)
    elif names[picked.row] == "difference":
        parts = {f"turned[{at[1]}]": z[1, at[1]], f"-pe[{p + k}, {at[1]}]": -z[2, at[1]]}
        explanation = sums.explain_sum(f"difference[{at[1]}]", parts, z[at])
    elif names[picked.row] == "R(k)·pe[p]":
        explanation = arithmetic_positions.explain_shifted(matrix, pe, p, at[1], z[at])
    else:
        explanation = arithmetic_positions.explain_sinusoidal(pe, p if picked.row == 0 else p + k, at[1])
    lesson.arithmetic(f"from position {p}{named(own, p)} to {p + k}{named(own, p + k)}: {picked.stage}", [explanation])
    lesson.script("Positions", (positions.sinusoidal, positions.shift_matrix),
                  {"n_positions": n + 20, "d_model": d, "p": p, "k": k}, script)
