"""Positions: sinusoidal for any width, their shifts, the learned table's end, rotations in both layouts, and ALiBi's slopes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from core.positions import alibi_bias, alibi_slopes, frequencies, learned, rotary, shift_matrix, sinusoidal

pytestmark = pytest.mark.filterwarnings("error")

LAYOUTS = pytest.mark.parametrize("layout", ["half", "interleaved"])


def test_sinusoidal_first_rows(worked):
    example = worked["sinusoidal"]
    assert_array_equal(sinusoidal(example["n"], example["d"])[:3, :6].round(2), example["first_rows_2dp"])


def test_sinusoidal_dots(worked):
    """Nearer positions are more alike: row 10 with itself is d/2, and falls off; 30 and 35 are as alike as 10 and 15."""
    example = worked["sinusoidal"]
    pe = sinusoidal(example["n"], example["d"])
    for step, dot in example["dots_from_10"].items():
        assert pe[10] @ pe[10 + int(step)] == pytest.approx(dot, abs=1e-8)
    assert pe[30] @ pe[35] == pytest.approx(example["dot_30_35"], abs=1e-8)
    assert pe[30] @ pe[35] == pytest.approx(pe[10] @ pe[15], abs=1e-12)


def test_an_odd_width_ends_with_a_lone_sine():
    """N10: d = 5, row 1."""
    pe = sinusoidal(4, 5)
    assert pe.shape == (4, 5)
    assert_allclose(pe[1], [0.8414710, 0.5403023, 0.0251162, 0.9996845, 0.0006310], rtol=0, atol=5e-8)


@pytest.mark.parametrize("d_model", [*range(1, 10), 64, 65])
@pytest.mark.parametrize("n_positions", [0, 1, 2, 4, 100])
def test_every_width_follows_the_formula(n_positions, d_model):
    """N10: feature 2i is sin(p / 10000^(2i/d)), feature 2i + 1 is the cosine of the same, in plain Python."""
    pe = sinusoidal(n_positions, d_model)
    assert pe.shape == (n_positions, d_model)
    assert pe.dtype == np.float64
    for p in range(n_positions):
        expected = [(math.cos if feature % 2 else math.sin)(p / 10000 ** (feature // 2 * 2 / d_model)) for feature in range(d_model)]
        assert_allclose(pe[p], expected, rtol=0, atol=1e-12)


def test_a_width_of_1_is_the_sine_of_the_position():
    """N10: d = 1."""
    assert_allclose(sinusoidal(9, 1)[:, 0], [math.sin(p) for p in range(9)], rtol=0, atol=1e-15)


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 100), st.sampled_from([2, 4, 16, 64]))
def test_the_dot_of_two_positions_depends_on_the_step_between_them_alone(a, b, step, d_model):
    pe = sinusoidal(201, d_model)
    assert pe[a] @ pe[a + step] == pytest.approx(pe[b] @ pe[b + step], abs=1e-11)
    assert pe[a] @ pe[a] == pytest.approx(d_model / 2, abs=1e-12)


@pytest.mark.parametrize("step", [1, 7])
def test_a_step_turns_every_pair_by_the_same_angle_wherever_it_starts(step):
    """pe[p + k] = R(k) pe[p]: complex number cos + i·sin of each pair, times e^(i·k·frequency)."""
    d_model = 16
    pe = sinusoidal(50, d_model)
    pairs = pe[:, 1::2] + 1j * pe[:, 0::2]
    turn = [complex(math.cos(a), math.sin(a)) for a in (step / 10000 ** (2 * i / d_model) for i in range(d_model // 2))]
    assert_allclose(pairs[step:], pairs[:-step] * turn, rtol=0, atol=1e-12)


def test_more_positions_leave_the_first_ones_alone():
    assert_array_equal(sinusoidal(50, 7)[:5], sinusoidal(5, 7))


@pytest.mark.parametrize(("n_positions", "d_model"), [(-1, 4), (4, 0), (4, -2), (-3, 0)])
def test_sizes_that_cannot_be_are_refused(n_positions, d_model):
    with pytest.raises(ValueError, match=f"n_positions of 0 or more and d_model of 1 or more, not {n_positions} and {d_model}"):
        sinusoidal(n_positions, d_model)


@pytest.mark.parametrize(("d", "base"), [(1, 10000), (2, 10000), (5, 10000), (8, 500000.0)])
def test_frequencies_fall_from_1_by_the_base(d, base):
    expected = [base ** (-2 * i / d) for i in range((d + 1) // 2)]
    assert_allclose(frequencies(d, base), expected, rtol=1e-14)
    if base == 10000:
        assert_array_equal(frequencies(d), frequencies(d, base))


# --- shifts ---------------------------------------------------------------------------------------------------------

@given(st.integers(0, 300), st.integers(-300, 300), st.sampled_from([2, 4, 6, 16, 64]))
def test_the_shift_matrix_moves_any_position_on(p, k, d_model):
    """pe[p + k] = R(k) pe[p], to 1e-12."""
    pe, q = sinusoidal(601, d_model), max(p + k, 0)
    assert_allclose(shift_matrix(q - p, d_model) @ pe[p], pe[q], rtol=0, atol=1e-12)


@given(st.integers(-50, 50), st.integers(-50, 50), st.sampled_from([2, 6, 16]))
def test_shifts_add_up_and_change_no_length(a, b, d_model):
    assert_allclose(shift_matrix(a, d_model) @ shift_matrix(b, d_model), shift_matrix(a + b, d_model), rtol=0, atol=1e-12)
    assert_allclose(shift_matrix(a, d_model).T, shift_matrix(-a, d_model), rtol=0, atol=1e-12)
    assert_array_equal(shift_matrix(0, d_model), np.eye(d_model))


def test_a_shift_is_a_rotation_of_each_pair():
    """d = 4: pair 0 turns by k, pair 1 by k / 100."""
    c, s, c2, s2 = math.cos(3), math.sin(3), math.cos(0.03), math.sin(0.03)
    assert_allclose(shift_matrix(3, 4), [[c, s, 0, 0], [-s, c, 0, 0], [0, 0, c2, s2], [0, 0, -s2, c2]], rtol=0, atol=1e-15)


@pytest.mark.parametrize("d_model", [-2, 0, 1, 5])
def test_a_shift_of_a_lone_sine_is_refused(d_model):
    with pytest.raises(ValueError, match=f"must be even and at least 2, not {d_model}"):
        shift_matrix(1, d_model)


# --- a learned table ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("n", "first", "rows"), [(0, 0, []), (1, 0, [0]), (3, 0, [0, 1, 2]), (2, 1, [1, 2]), (1, 2, [2]), (0, 3, [])])
def test_a_learned_table_gives_its_rows(n, first, rows):
    table = np.array([[0.0, 10], [1, 11], [2, 12]], np.float32)
    found = learned(table, n, first)
    assert found.shape == (n, 2)
    assert found.dtype == np.float32
    assert found[:, 0].tolist() == rows


@pytest.mark.parametrize(("n", "first", "position"), [(4, 0, 3), (1, 3, 3), (3, 1, 3), (9, 5, 13)])
def test_past_the_end_of_the_table_there_is_no_row(n, first, position):
    with pytest.raises(ValueError, match=f"positions 0 to 2; position {position} has no row. Use at most 3 tokens"):
        learned(np.ones((3, 2)), n, first)


@pytest.mark.parametrize(("n", "first"), [(1, -1), (2, -1), (-1, 0), (-1, 2)])
def test_positions_before_0_are_refused(n, first):
    with pytest.raises(ValueError, match=f"count from 0, so {n} of them can't begin at {first}"):
        learned(np.ones((3, 2)), n, first)


# --- rotations ------------------------------------------------------------------------------------------------------

def naive_rotary(row, position, base, layout):
    """Each pair as a complex number, turned by e^(i · angle)."""
    d = len(row)
    pairs = [(i, i + d // 2) if layout == "half" else (2 * i, 2 * i + 1) for i in range(d // 2)]
    turned = [0.0] * d
    for i, (first, second) in enumerate(pairs):
        angle = position * base ** (-2 * i / d)
        z = complex(row[first], row[second]) * complex(math.cos(angle), math.sin(angle))
        turned[first], turned[second] = z.real, z.imag
    return turned


def test_the_two_layouts_by_hand():
    """N12: x = [1, 2, 3, 4] at position 1; the same after the features change places by [0, 2, 1, 3]."""
    x = np.array([[1.0, 2, 3, 4]])
    assert_allclose(rotary(x, [1], layout="interleaved")[0],
                    [-1.1426396637476532, 1.922075596544176, 2.9598506679133294, 4.029799501669161], rtol=0, atol=1e-14)
    assert_allclose(rotary(x, [1])[0], [-1.9841106485555495, 1.959900667496664, 2.4623779024123156, 4.019799668334994], rtol=0, atol=1e-14)
    order = [0, 2, 1, 3]
    assert_array_equal(rotary(x[:, order], [1], layout="half")[:, order], rotary(x, [1], layout="interleaved"))


@LAYOUTS
def test_scores_depend_on_the_offset_alone(layout):
    """N12: q = [1, 0, 1, 0] and k = [0.5, 1, -1, 2] at offset 2 always give the same."""
    scores = [float((rotary([[1.0, 0, 1, 0]], [p], layout=layout) @ rotary([[0.5, 1, -1, 2]], [r], layout=layout).T)[0, 0])
              for p, r in ((3, 1), (10, 8), (102, 100))]
    assert_allclose(scores, scores[0], rtol=0, atol=1e-12)
    if layout == "interleaved":
        assert scores[0] == pytest.approx(-0.25857866, abs=5e-9)


def test_scores_of_mixed_layouts_depend_on_the_position_too():
    """N12: one layout for queries and the other for keys is wrong."""
    found = [float((rotary([[1.0, 0, 1, 0]], [p], layout="interleaved") @ rotary([[0.5, 1, -1, 2]], [r], layout="half").T)[0, 0])
             for p, r in ((3, 1), (10, 8))]
    assert_allclose(found, [-1.0214, -0.3804], rtol=0, atol=5e-5)


@LAYOUTS
@given(seed=st.integers(0, 999), offset=st.integers(0, 50), here=st.integers(0, 200), there=st.integers(0, 200),
       d=st.sampled_from([2, 4, 8, 16]))
def test_equal_offsets_give_equal_scores_for_any_queries_and_keys(layout, seed, offset, here, there, d):
    q, k = np.random.default_rng(seed).normal(size=(2, 1, d)) / math.sqrt(d)
    scores = [rotary(q, [p + offset], layout=layout) @ rotary(k, [p], layout=layout).T for p in (here, there)]
    assert_allclose(scores[0], scores[1], rtol=0, atol=1e-12)


@LAYOUTS
@pytest.mark.parametrize("base", [10000.0, 100.0])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("d", [0, 2, 6])
def test_rotations_match_complex_numbers(layout, base, batch, d):
    x, positions = np.random.default_rng(0).normal(size=(*batch, 4, d)), [0, 1, 7, 100]
    turned = rotary(x, positions, base, layout)
    assert turned.shape == x.shape
    for index in np.ndindex(batch):
        for row, position, found in zip(x[index].tolist(), positions, turned[index]):
            assert_allclose(found, naive_rotary(row, position, base, layout), rtol=0, atol=1e-13)
    assert_allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1), rtol=0, atol=1e-13)
    assert_array_equal(turned[..., 0, :], x[..., 0, :])


@LAYOUTS
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_rotations_keep_the_precision_and_leave_their_input_alone(layout, dtype):
    x = np.ones((2, 4), dtype)
    assert rotary(x, np.arange(2), layout=layout).dtype == dtype
    assert_array_equal(x, 1)
    assert rotary([[1, 2]], [1], layout=layout).dtype == np.float64


@pytest.mark.parametrize(("x", "positions", "layout", "sentence"), [
    (np.ones((2, 3)), [0, 1], "half", "must be even, not 3"),
    (np.ones((2, 4)), [0, 1], "pairs", "layout is 'pairs'; it can be \"half\" or \"interleaved\""),
    (np.ones((3, 4)), [0], "half", r"Each of the 3 tokens needs its position, so positions need the shape \(3,\), not \(1,\)"),
    (np.ones((1, 4)), [0, 1, 2], "half", r"need the shape \(1,\), not \(3,\)"),
    (np.ones((3, 4)), 0, "half", r"need the shape \(3,\), not \(\)"),
])
def test_rotations_that_cannot_be_are_refused(x, positions, layout, sentence):
    with pytest.raises(ValueError, match=sentence):
        rotary(x, positions, layout=layout)


# --- ALiBi ----------------------------------------------------------------------------------------------------------

def published_slopes(n):
    """The rule of the released code (ofirpress/attention_with_linear_biases), in plain Python and by recursion."""
    if math.log2(n).is_integer():
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]
    below = 2 ** math.floor(math.log2(n))
    return published_slopes(below) + published_slopes(2 * below)[0::2][: n - below]


@pytest.mark.parametrize("n_heads", [*range(1, 17), 12, 20, 32, 40, 64])
def test_slopes_are_those_published(n_heads):
    slopes = alibi_slopes(n_heads)
    assert slopes.shape == (n_heads,)
    assert slopes.dtype == np.float64
    assert_allclose(slopes, published_slopes(n_heads), rtol=1e-13)


def test_slopes_that_the_paper_prints():
    """Section 3: 8 heads 1/2 … 1/256, 16 heads 1/√2, 1/2, 1/(2√2) … 1/256. 12 heads: those of 8, then every other one of 16."""
    assert_array_equal(alibi_slopes(8), [1 / 2**i for i in range(1, 9)])
    assert_allclose(alibi_slopes(16), [2 ** (-i / 2) for i in range(1, 17)], rtol=1e-15)
    assert_allclose(alibi_slopes(12), [*(1 / 2**i for i in range(1, 9)), *(2**-i for i in (0.5, 1.5, 2.5, 3.5))], rtol=1e-15)
    assert_array_equal(alibi_slopes(1), [1 / 256])


@pytest.mark.parametrize("n_heads", [1, 3, 8])
@pytest.mark.parametrize("n_tokens", [0, 1, 5])
def test_the_bias_is_the_slope_times_how_far_back(n_heads, n_tokens):
    bias = alibi_bias(n_heads, n_tokens)
    assert bias.shape == (n_heads, n_tokens, n_tokens)
    assert bias.dtype == np.float64
    for h, slope in enumerate(published_slopes(n_heads)):
        for i in range(n_tokens):
            assert_allclose(bias[h, i], [-slope * (i - j) if j < i else 0.0 for j in range(n_tokens)], rtol=1e-13)
    assert not np.signbit(bias[bias == 0]).any()


@pytest.mark.parametrize("n_heads", [0, -1])
def test_no_head_has_no_slope(n_heads):
    for call in (lambda: alibi_slopes(n_heads), lambda: alibi_bias(n_heads, 3)):
        with pytest.raises(ValueError, match=f"at least 1 head, not {n_heads}"):
            call()
