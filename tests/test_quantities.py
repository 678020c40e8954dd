"""Pictures of quantities: figures that Plotly takes, and axes whose labels can be read."""

import numpy as np
import plotly.graph_objects as go
import pytest

from pages.shared import quantities
from tests.page_tools import decode

SERIES = {"n²": ([1, 10, 1000], [1, 100, 1e6], (0, "solid")), "measured": ([10, 100], [50, 7000], (1, "points"))}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("more", [{}, {"linear": True}, {"points": {"here": (10, 100)}, "at": ("n = d", 512), "base": 10}])
def test_lines_are_a_figure_that_plotly_takes(more, dark):
    figure = quantities.lines(SERIES, title="t", x_title="n", y_title="y", dark=dark, **more)
    go.Figure(figure.to_dict())
    spec = decode(figure.spec)
    assert spec["data"][0]["y"].tolist() == [1, 100, 1e6] and spec["data"][1]["mode"] == "markers"
    rows, columns, values = figure.table
    assert rows == ["1", "10", "100", "1,000"] and columns == ["n²", "measured"]
    assert values[1].tolist() == [100, 50] and np.isnan(values[2, 0])


@pytest.mark.parametrize("low, high, base", [(1, 65536, 2), (1.5, 2.5, 10), (3e9, 4e15, 10), (1e-6, 0.5, 10), (7, 7, 2)])
def test_an_axis_has_a_few_labels_that_lie_in_its_range(low, high, base):
    ticks = quantities._ticks(np.array([low, high, np.nan, 0.0]), base)
    inside = [value for value in np.log10(ticks["tickvals"]) if ticks["range"][0] <= value <= ticks["range"][1]]
    assert 1 <= len(inside) <= 10 and len(ticks["ticktext"]) == len(ticks["tickvals"]) == len(set(ticks["ticktext"]))
    assert ticks["range"][0] < np.log10(low) and ticks["range"][1] > np.log10(high)


def test_lying_bars_keep_their_order_and_their_names():
    figure = quantities.lying(["read, 16 bit", "learn"], {"weights": [1, 2], "gradients": [0, 2]}, title="t", unit="GiB", stacked=True)
    go.Figure(figure.to_dict())
    assert figure.spec["layout"]["yaxis"]["ticktext"] == ["read, 16 bit", "learn"] and figure.spec["layout"]["barmode"] == "stack"
    assert figure.spec["layout"]["yaxis"]["range"][0] > figure.spec["layout"]["yaxis"]["range"][1]  # the first one on top
    assert figure.table[2].tolist() == [[1, 0], [2, 2]]
