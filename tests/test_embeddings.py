"""The lookup is one row per token and the same as a one-hot row times the table; likeness and the view of most spread."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from core.embeddings import cosine, lookup, nearest, one_hot, principal_components, unembed

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = (np.float16, np.float32, np.float64)
TABLES = hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(-100, 100).map(lambda v: round(v, 3)))


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


@pytest.mark.parametrize("ids", [[0.0], [[1.5]], [True], ["0"]])
def test_ids_that_are_no_whole_numbers_are_refused(ids):
    with pytest.raises(ValueError, match="Token ids are whole numbers, not"):
        lookup(np.ones((3, 2)), ids)


# --- one-hot rows and logits ----------------------------------------------------------------------------------------

@given(st.data(), st.integers(1, 5))
def test_a_one_hot_row_has_its_1_at_the_id(data, vocab_size):
    ids = data.draw(hnp.arrays(np.int64, hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=4),
                               elements=st.integers(0, vocab_size - 1)))
    rows = one_hot(ids, vocab_size)
    assert rows.shape == (*ids.shape, vocab_size)
    for index in np.ndindex(ids.shape):
        assert rows[index].tolist() == [1.0 if i == ids[index] else 0.0 for i in range(vocab_size)]
    w_embed = np.random.default_rng(0).normal(size=(vocab_size, 3))
    assert_array_equal(rows @ w_embed, lookup(w_embed, ids))


def test_a_one_hot_row_keeps_the_precision_asked_for_and_refuses_other_ids():
    assert one_hot([0], 2, np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="rows 0 to 1"):
        one_hot([2], 2)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 4, 3)])
def test_logits_are_dot_products_with_every_row_of_the_table(shape):
    rng = np.random.default_rng(1)
    x, w_embed = rng.normal(size=shape), rng.normal(size=(5, 3))
    logits = unembed(x, w_embed)
    assert logits.shape == (*shape[:-1], 5)
    for index in np.ndindex(shape[:-1]):
        expected = [math.fsum(a * b for a, b in zip(x[index].tolist(), row)) for row in w_embed.tolist()]
        assert_allclose(logits[index], expected, rtol=0, atol=1e-12)


def test_a_tied_table_gives_an_orthonormal_token_itself_back():
    table = np.eye(4)
    assert unembed(lookup(table, [2, 0, 3]), table).argmax(axis=-1).tolist() == [2, 0, 3]


def test_logits_of_another_width_are_refused():
    with pytest.raises(ValueError, match="have 3 features and the rows of the table 4"):
        unembed(np.ones((2, 3)), np.ones((5, 4)))


# --- likeness -------------------------------------------------------------------------------------------------------

def naive_cosine(a, b):
    lengths = math.hypot(*a) * math.hypot(*b)
    return math.fsum(p * q for p, q in zip(a, b)) / lengths if lengths else 0.0


def test_cosine_by_hand():
    """[3, 4] and [4, 3]: 24 / 25; a row of zeros is like nothing, itself included."""
    assert_allclose(cosine([[3.0, 4.0], [4.0, 3.0], [-6.0, -8.0], [0.0, 0.0]]),
                    [[1, 0.96, -1, 0], [0.96, 1, -0.96, 0], [-1, -0.96, 1, 0], [0, 0, 0, 0]], rtol=0, atol=1e-15)


@given(TABLES)
def test_cosine_matches_plain_python(x):
    alike = cosine(x)
    rows = x.tolist()
    assert_allclose(alike, [[naive_cosine(a, b) for b in rows] for a in rows], rtol=0, atol=1e-12)
    assert_allclose(alike, alike.T, rtol=0, atol=1e-15)


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 7.0, 1e200, 1e300])
def test_the_length_of_a_vector_does_not_matter_however_small_or_large(factor):
    x = np.array([[3.0, 4.0], [4.0, 3.0]])
    assert_allclose(cosine(x * factor), [[1, 0.96], [0.96, 1]], rtol=0, atol=1e-15)
    assert_allclose(cosine([[3.0, 4.0], [4.0 * factor, 3.0 * factor]])[0, 1], 0.96, rtol=1e-15)


@given(TABLES, st.integers(0, 5), st.integers(0, 7))
def test_nearest_are_all_others_best_first(x, row, n):
    row %= len(x)
    found = nearest(x, row, n)
    assert len(found) == min(n, len(x) - 1)
    assert row not in dict(found)
    values = [value for _, value in found]
    assert values == sorted(values, reverse=True)
    rows = x.tolist()
    best = sorted((naive_cosine(rows[row], other) for i, other in enumerate(rows) if i != row), reverse=True)
    assert_allclose(values, best[:n], rtol=0, atol=1e-12)
    assert_allclose(values, [naive_cosine(rows[row], rows[i]) for i, _ in found], rtol=0, atol=1e-12)


@given(st.integers(2, 40), st.integers(1, 40), st.integers(0, 99))
def test_equal_rows_tie_and_stand_in_order(n, d, seed):
    vector = np.random.default_rng(seed).normal(size=d)
    table = np.tile(vector, (n, 1))
    assert [other for other, _ in nearest(table, 1, n)] == [0, *range(2, n)]
    assert [other for other, _ in nearest(table, 0)] == list(range(1, n))[:5]


@pytest.mark.parametrize("row", [-1, 3])
def test_a_row_that_is_not_there_has_no_neighbours(row):
    with pytest.raises(ValueError, match=f"There are 3 rows, counted from 0; there is no row {row}"):
        nearest(np.ones((3, 2)), row)


# --- the view of most spread ----------------------------------------------------------------------------------------

def test_principal_components_by_hand():
    """Along [1, 1] the points stand at ±2√2, along [1, -1] at ±√2: variances 8 and 2, shares 0.8 and 0.2."""
    x = np.array([[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]]) + [10, 20]
    view = principal_components(x)
    assert_allclose(np.abs(view.directions), math.sqrt(0.5), rtol=0, atol=1e-12)
    assert_allclose(view.directions[0], [math.sqrt(0.5)] * 2, rtol=0, atol=1e-12)
    assert_allclose(view.points[:, 0], [math.sqrt(8), -math.sqrt(8), 0, 0], rtol=0, atol=1e-12)
    assert_allclose(np.abs(view.points[:, 1]), [0, 0, math.sqrt(2), math.sqrt(2)], rtol=0, atol=1e-12)
    assert_allclose(view.shares, [0.8, 0.2], rtol=0, atol=1e-12)


@given(TABLES, st.integers(1, 6))
def test_principal_components_are_the_eigenvectors_of_the_covariance(x, n_dims):
    view = principal_components(x, n_dims)
    n, d = x.shape
    assert (view.points.shape, view.directions.shape, view.shares.shape) == ((n, n_dims), (n_dims, d), (n_dims,))
    centred = x - [math.fsum(column) / n for column in x.T]
    covariance = centred.T @ centred
    values = np.sort(np.linalg.eigvalsh(covariance))[::-1]
    whole = max(values.sum(), 1e-300)
    expected = np.pad(values / whole, (0, n_dims))[:n_dims]
    assert_allclose(view.shares, expected, rtol=0, atol=1e-7)
    assert_allclose(view.points, centred @ view.directions.T, rtol=0, atol=1e-9)
    assert_allclose((view.points**2).sum(axis=0), view.shares * values.sum(), rtol=1e-6, atol=1e-6)
    lengths = (view.directions**2).sum(axis=1)
    kept = lengths > 0.5
    assert_allclose(view.directions @ view.directions.T, np.diag(kept.astype(float)), rtol=0, atol=1e-9)
    assert all(row[np.abs(row).argmax()] > 0 for row in view.directions[kept])
    assert not view.directions[~kept].any()


def test_beyond_the_rank_there_is_nothing():
    """Three points on a line, and three equal points."""
    line = principal_components(np.outer([1.0, 2.0, 4.0], [1.0, 2.0, 3.0]), 3)
    assert_allclose(line.shares, [1, 0, 0], rtol=0, atol=1e-15)
    assert_array_equal(line.directions[1:], 0)
    assert_array_equal(line.points[:, 1:], 0)
    for part in principal_components(np.full((3, 2), 0.5)):
        assert_array_equal(part, 0)
    for part in principal_components([[1.0, 2.0]]):
        assert_array_equal(part, 0)


def test_a_view_of_no_row_is_refused():
    with pytest.raises(ValueError, match="at least 1 row, not 0"):
        principal_components(np.zeros((0, 3)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_field_keeps_the_precision(dtype):
    x = np.array([[1, 2], [3, 5], [0, 1]], dtype)
    assert {field.dtype for field in principal_components(x)} == {np.dtype(dtype)}
    assert cosine(x).dtype == unembed(x, x).dtype == dtype
