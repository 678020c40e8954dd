"""The lookup is one row per token, and the same as a one-hot row times the table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from core.embeddings import lookup

pytestmark = pytest.mark.filterwarnings("error")


@given(st.data(), st.integers(1, 6), st.integers(1, 4))
def test_lookup_is_the_one_hot_row_times_the_table(data, vocab_size, d_model):
    """For ids of any shape, by plain Python."""
    w_embed = np.random.default_rng(0).normal(size=(vocab_size, d_model))
    ids = data.draw(hnp.arrays(np.int64, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
                               elements=st.integers(0, vocab_size - 1)))
    x = lookup(w_embed, ids)
    assert x.shape == (*ids.shape, d_model)
    for index in np.ndindex(ids.shape):
        one_hot = [float(row == ids[index]) for row in range(vocab_size)]
        assert x[index].tolist() == [sum(h * w for h, w in zip(one_hot, column)) for column in w_embed.T.tolist()]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_precision_of_the_table_is_kept(dtype):
    assert lookup(np.ones((2, 3), dtype), [1, 0]).dtype == dtype


def test_vectors_are_copies_so_that_changing_one_leaves_the_table_and_its_equals_alone():
    w_embed = np.array([[1.0], [2.0]])
    x = lookup(w_embed, [0, 0])
    x[0] = 9
    assert_array_equal(x, [[9], [1]])
    assert_array_equal(w_embed, [[1], [2]])


def test_no_token_gives_no_row():
    assert lookup(np.ones((2, 3)), []).shape == (0, 3)


@pytest.mark.parametrize("ids", [[-1], [3], [0, 3, 1], [[0, 1], [-2, 2]], 7])
def test_ids_outside_the_table_are_refused_with_the_rows_there_are(ids):
    """Also negative ones, which NumPy alone would count from the end."""
    with pytest.raises(ValueError, match=rf"from {np.min(ids)} to {np.max(ids)}; .*rows 0 to 2"):
        lookup(np.ones((3, 2)), ids)
