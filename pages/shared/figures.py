"""What every Plotly figure here is made of.

A figure is one plain dict, built once: `Ready` hands it on without the second validation that a go.Figure costs on every
rerun. A test feeds the same dicts to go.Figure, which does validate them.
"""

import base64

import numpy as np
from plotly.basedatatypes import BaseFigure

from pages.shared import theme


class Ready(BaseFigure):
    """A finished figure: `spec` is the dict that Plotly draws, `table` its numbers as (rows, columns, values)."""

    spec = table = None  # BaseFigure lets only known names be set

    def __init__(self, spec, table=None):  # BaseFigure's own set-up is what this class leaves out
        self.spec, self.table = spec, table

    def to_dict(self):
        return self.spec


def typed(array):
    """An array as Plotly's compact base64 form. What Plotly has no such form for, as 64-bit whole numbers, becomes float64."""
    array = np.ascontiguousarray(array)
    array = array.astype(np.float64) if array.dtype.str[1:] in ("f2", "i8", "u8", "b1") else array
    packed = {"dtype": f"{array.dtype.kind}{array.dtype.itemsize}", "bdata": base64.b64encode(array).decode()}
    return packed if array.ndim == 1 else packed | {"shape": ", ".join(map(str, array.shape))}


def layout(colours, height, title, margin, **more):
    """What all figures share: transparent ground, readable type, no legend unless asked for."""
    return {
        "height": height, "margin": margin, "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "showlegend": False,
        "font": {"family": theme.FONT, "size": theme.FONT_SIZE, "color": colours.text},
        "title": {"text": title, "x": 0, "xanchor": "left", "y": 1, "yanchor": "top", "pad": {"t": 4, "l": 4}, "font": {"size": 15}},
        "hovermode": "closest", "hoverdistance": 100, "dragmode": False, "template": {},
        "hoverlabel": {"font": {"family": theme.FONT, "size": theme.FONT_SIZE}}, **more,
    }
