"""The experiments show what they claim: what scaling keeps, what a late mask loses, what overflows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from core import experiments
from core.attention import attend, causal_mask, self_attention
from core.draws import child_rng
from core.experiments import entropy, jacobian_norm, mask_three_ways, moved, scaling_curve, scaling_row, scaling_stream, stability
from core.softmax import softmax, softmax_jacobian

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = (np.float16, np.float32, np.float64)


@st.composite
def weights(draw, max_score=30):
    """Rows that sum to 1, from even to nearly all on one."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=6))
    return softmax(draw(hnp.arrays(np.float64, shape, elements=st.floats(-max_score, max_score))))


# --- scaling --------------------------------------------------------------------------------------------------------

def test_scaling_worked_example(worked):
    example = worked["scaling"]
    rows = scaling_stream([row["d"] for row in example["rows"]], 42)
    for row, expected, printed in zip(rows, example["rows"], example["printed"], strict=True):
        for name in ("d", "std", "top_unscaled", "top_scaled"):
            assert getattr(row, name) == pytest.approx(expected[name], rel=0, abs=1e-8)
        assert [row.d, round(row.std, 1), round(row.top_unscaled, 2), round(row.top_scaled, 2)] == printed


@pytest.mark.parametrize(("d", "n_queries", "n_keys"), [(1, 3, 1), (2, 130, 3), (5, 100, 4), (3, 201, 2)])
def test_scaling_row_measures_what_it_says_in_plain_python(d, n_queries, n_keys):
    """All queries are drawn before all keys, however the keys are cut into blocks."""
    row = scaling_row(d, np.random.default_rng(5), n_queries, n_keys)
    rng = np.random.default_rng(5)
    q, k = rng.standard_normal((n_queries, d)).tolist(), rng.standard_normal((n_queries, n_keys, d)).tolist()
    raw = [[math.fsum(a * b for a, b in zip(query, key)) for key in keys] for query, keys in zip(q, k)]

    def mean(numbers):
        return math.fsum(numbers) / len(numbers)

    def measured(scores):
        flat = [s for line in scores for s in line]
        tops, entropies, norms = [], [], []
        for line in scores:
            total = math.fsum(math.exp(s) for s in line)
            p = [math.exp(s) / total for s in line]
            tops.append(max(p))
            entropies.append(-math.fsum(w * math.log(w) for w in p))
            norms.append(math.sqrt(math.fsum((a * (i == j) - a * b) ** 2 for i, a in enumerate(p) for j, b in enumerate(p))))
        return math.sqrt(mean([(s - mean(flat)) ** 2 for s in flat])), mean(tops), mean(entropies), mean(norms)

    std, top, spread, norm = measured(raw)
    std_scaled, top_scaled, spread_scaled, norm_scaled = measured([[s / math.sqrt(d) for s in line] for line in raw])
    assert_allclose(row, [d, std, std_scaled, top, top_scaled, spread, spread_scaled, norm, norm_scaled], rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("d", [4, 16, 64, 256])
@pytest.mark.parametrize("seed", [0, 1])
def test_scores_spread_as_the_root_of_the_width_and_scaled_ones_as_1(d, seed):
    """N07: within 5 %; and the weights of unscaled scores are more peaked."""
    row, = scaling_curve([d], seed)
    assert row.std == pytest.approx(math.sqrt(d), rel=0.05)
    assert row.std_scaled == pytest.approx(1, rel=0.05)
    assert row.top_unscaled > row.top_scaled
    assert row.entropy_unscaled < row.entropy_scaled


def test_without_scaling_wider_vectors_give_more_peaked_weights_and_flatter_slopes_and_with_it_they_do_not():
    rows = scaling_curve([4, 64, 256], 0)
    assert np.ptp([row.top_scaled for row in rows]) < 0.02
    assert rows[0].top_unscaled < rows[1].top_unscaled < rows[2].top_unscaled
    assert rows[0].gradient_unscaled > rows[1].gradient_unscaled > rows[2].gradient_unscaled
    assert all(row.gradient_unscaled < row.gradient_scaled for row in rows[1:])


def test_rows_of_a_curve_do_not_depend_on_each_other_and_those_of_a_stream_do():
    assert scaling_curve([4, 8], 0)[1] == scaling_curve([8], 0)[0] == scaling_curve([8, 4], 0)[0]
    assert scaling_stream([4, 8], 0)[1] != scaling_stream([8], 0)[0]
    assert scaling_stream([4, 8], 0) == scaling_stream([4, 8], 0)
    assert scaling_curve([8], 0) != scaling_curve([8], 1)


def test_each_row_of_a_curve_has_its_own_child_seed():
    assert scaling_curve([2, 8], 3) == [scaling_row(d, child_rng(3, "scaling", str(d))) for d in (2, 8)]


@pytest.mark.parametrize("d", [0, -1])
def test_a_width_below_1_is_refused(d):
    with pytest.raises(ValueError, match=f"{d} .*d must be 1 or more"):
        scaling_row(d, np.random.default_rng(0))


# --- entropy and slope ----------------------------------------------------------------------------------------------

@given(weights())
def test_entropy_lies_between_0_and_the_logarithm_of_the_number_of_keys(p):
    assert entropy(p).shape == p.shape[:-1]
    assert (entropy(p) >= 0).all()
    assert (entropy(p) <= math.log(p.shape[-1]) + 1e-12).all()


@pytest.mark.parametrize(("p", "nats"), [
    ([1.0], 0), ([0.0, 1.0], 0), ([0.5, 0.5], math.log(2)), ([0.25] * 4, math.log(4)), ([0.5, 0.25, 0.25], 1.5 * math.log(2)), ([0, 1], 0),
])
def test_entropy_by_hand(p, nats):
    assert float(entropy(p)) == pytest.approx(nats, abs=1e-15)
    assert math.copysign(1, float(entropy(p))) == 1  # never shown as -0


@given(weights())
def test_the_slope_is_the_norm_of_the_whole_jacobian(p):
    assert jacobian_norm(p).shape == p.shape[:-1]
    for index in np.ndindex(p.shape[:-1]):
        row = p[index].tolist()
        whole = [[a * (i == j) - a * b for j, b in enumerate(row)] for i, a in enumerate(row)]
        assert_allclose(softmax_jacobian(p)[index], whole, rtol=0, atol=1e-15)
        assert jacobian_norm(p)[index] == pytest.approx(math.sqrt(math.fsum(slope**2 for line in whole for slope in line)), abs=1e-14)


@pytest.mark.parametrize(("p", "norm"), [
    ([1.0], 0), ([0.0, 1.0, 0.0], 0), ([0.5, 0.5], 0.5), ([0.25] * 4, math.sqrt(3) / 4), ([0.75, 0.25], 0.375),
])
def test_the_slope_by_hand(p, norm):
    """Two weights p and 1 - p: every entry is ±p(1 - p), so the norm is 2p(1 - p). Even over n: √(n - 1) / n."""
    assert float(jacobian_norm(p)) == pytest.approx(norm, abs=1e-12)


@pytest.mark.parametrize("bits", [1, 10, 27, 40, 60, 300])
def test_near_a_corner_the_slope_keeps_its_digits(bits):
    """p = 2^-bits beside 1 - p, which rounds to 1 from 2^-54 on: still 2p(1 - p)."""
    p = 2.0**-bits
    assert float(jacobian_norm([1 - p, p])) == pytest.approx(2 * p * (1 - p), rel=1e-12, abs=0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_precision_is_kept(dtype):
    p = np.array([[0.5, 0.5], [1, 0]], dtype)
    assert entropy(p).dtype == jacobian_norm(p).dtype == moved(p, p).dtype == dtype
    assert {field.dtype for field in mask_three_ways(p, causal_mask(2))} == {np.dtype(dtype)}


# --- a mask in the wrong place --------------------------------------------------------------------------------------

def test_zeroing_the_future_after_the_softmax_leaves_rows_that_do_not_sum_to_1(worked):
    rng = np.random.RandomState(0)
    x, projections = rng.randn(4, 8), [rng.randn(8, 4) / np.sqrt(8) for _ in range(3)]
    three = mask_three_ways(self_attention(x, *projections).scores, causal_mask(4))
    assert_allclose(three.zeroed_sums, worked["four_tokens_causal"]["after_softmax_mistake_row_sums"], rtol=0, atol=1e-8)
    assert_allclose(three.before, worked["four_tokens_causal"]["weights"], rtol=0, atol=1e-8)
    assert_allclose(three.unmasked, worked["four_tokens"]["weights"], rtol=0, atol=1e-8)
    assert_allclose(three.renormalised, three.before, rtol=0, atol=1e-15)


@given(st.data(), st.integers(1, 6))
def test_renormalising_gives_what_masking_before_gives_wherever_it_is_not_0_over_0(data, n):
    scores = data.draw(hnp.arrays(np.float64, (n, n), elements=st.floats(-1000, 1000)))
    visible = data.draw(hnp.arrays(bool, (n, n)))
    three = mask_three_ways(scores, visible)
    assert_array_equal(three.before, attend(np.eye(n), scores.T, np.eye(n), visible, scale=1.0).pattern)
    assert_allclose(three.unmasked.sum(axis=-1), 1, rtol=0, atol=1e-14)
    assert_array_equal(three.zeroed, [[w if sees else 0 for w, sees in zip(row, mask)] for row, mask in zip(three.unmasked, visible)])
    assert_allclose(three.zeroed_sums, [math.fsum(row) for row in three.zeroed], rtol=1e-12)
    lost = three.zeroed_sums == 0
    assert np.isnan(three.renormalised[lost]).all()
    kept = three.zeroed_sums > 1e-300  # below, weights have lost digits to underflow
    assert_allclose(three.renormalised[kept], three.before[kept], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("dtype", "big"), [(np.float16, 100), (np.float32, 200), (np.float64, 1e4)])
def test_a_future_score_that_dominates_makes_renormalising_0_over_0(dtype, big):
    three = mask_three_ways(np.array([[0, big], [0, 0]], dtype), causal_mask(2))
    assert_array_equal(three.before, [[1, 0], [0.5, 0.5]])
    assert_array_equal(three.zeroed[0], [0, 0])
    assert three.zeroed_sums[0] == 0
    assert np.isnan(three.renormalised[0]).all()
    assert_array_equal(three.renormalised[1], [0.5, 0.5])


# --- movement -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("before", "after", "distances"), [
    ([[1, 2], [3, 4]], [[1, 2], [3, 4]], [0, 0]),
    ([[1, 2], [3, 4]], [[0, 2], [3, 14]], [1, 10]),
    ([[0.0, 5.0]], [[-3.0, 7.0]], [3]),
    (np.zeros((2, 0)), np.zeros((2, 0)), [0, 0]),
    (np.zeros((0, 2)), np.zeros((0, 2)), []),
])
def test_a_row_has_moved_by_its_largest_change(before, after, distances):
    assert_array_equal(moved(before, after), distances)
    assert_array_equal(moved(after, before), distances)


# --- overflow -------------------------------------------------------------------------------------------------------

OVERFLOWS = {"float16": math.log(65504), "float32": math.log(3.4028235e38), "float64": math.log(1.7976931348623157e308)}


@pytest.mark.parametrize(("scores", "broken"), [
    ([11, 11.0], set()),
    ([12, 0], {"float16"}),
    ([0, 89], {"float16", "float32"}),
    ([709, 0], {"float16", "float32"}),
    ([1000, 1001, 1002], {"float16", "float32", "float64"}),
    ([-1000, -1001, -1002], {"float16", "float32", "float64"}),
    ([-90, -90], {"float16"}),
    ([-20, 0], set()),
])
def test_without_the_shift_exp_overflows_where_it_must_and_with_it_never(scores, broken):
    """N03: above 11.09 in float16, 88.72 in float32, 709.78 in float64; or everything rounds to 0."""
    rows = stability(scores)
    assert [row.dtype for row in rows] == ["float16", "float32", "float64"]
    for row in rows:
        assert {field.dtype for field in (row.scores, row.raised, row.without_shift, row.with_shift)} == {np.dtype(row.dtype)}
        assert row.limit == pytest.approx(OVERFLOWS[row.dtype], rel=1e-6)
        assert_array_equal(row.scores, scores)
        assert_array_equal(np.isinf(row.raised), [s > OVERFLOWS[row.dtype] for s in scores])
        assert np.isnan(row.without_shift).any() == (row.dtype in broken)
        exact = [math.exp(s - max(scores)) for s in scores]
        assert_allclose(row.with_shift, [e / math.fsum(exact) for e in exact], rtol=0, atol=2e-3 if row.dtype == "float16" else 1e-6)


@given(st.lists(st.floats(-6e4, 6e4), min_size=1, max_size=8))
def test_with_the_shift_any_scores_that_can_be_stored_give_weights(scores):
    for row in stability(scores):
        assert np.isfinite(row.with_shift).all()
        assert row.with_shift.sum(dtype=np.float64) == pytest.approx(1, abs=0.01)
        if np.isfinite(row.without_shift).all() and (row.raised > 1e-3).any():
            assert_allclose(row.without_shift, row.with_shift, rtol=0, atol=0.02 if row.dtype == "float16" else 1e-5)


# ------------------------------------------------------------------------------------------------------ through depth


def test_lengths_are_those_of_pythagoras():
    assert experiments.lengths([[3, 4], [0, 0], [5, 12]]).tolist() == [5, 0, 13]
    assert experiments.lengths(np.ones((2, 4), dtype=np.float32)).dtype == np.float32


def test_a_stack_is_measured_before_and_after_every_block():
    from core.draws import block_params

    x = np.random.default_rng(0).normal(size=(5, 8))
    layers = [block_params(0, i, 8, 16) for i in range(3)]
    runs = experiments.through_depth(x, layers, 2, activation="relu")
    assert list(runs) == ["pre-norm", "post-norm", "pre-norm, no residuals"]
    for run in runs.values():
        assert run.lengths.shape == run.likeness.shape == (4,)
        assert run.lengths[0] == pytest.approx(np.mean([math.sqrt(sum(v * v for v in row)) for row in x]))
        assert run.likeness[0] == pytest.approx(1)
    np.testing.assert_allclose(runs["post-norm"].lengths[1:], math.sqrt(8), rtol=1e-4)  # a norm is the last step of every block


def test_the_likeness_is_the_mean_cosine_with_what_came_in():
    from core.block import block
    from core.draws import block_params

    x, params = np.random.default_rng(1).normal(size=(3, 4)), block_params(0, 0, 4, 8)
    out = block(x, params, 1, activation="gelu").resid_post
    cosines = [a @ b / math.sqrt((a @ a) * (b @ b)) for a, b in zip(x, out, strict=True)]
    assert experiments.through_depth(x, [params], 1)["pre-norm"].likeness[1] == pytest.approx(np.mean(cosines))


def test_a_stream_of_zeros_is_measured_without_a_fault():
    run = experiments.through_depth(np.zeros((2, 4)), [], 1)["pre-norm"]
    assert (run.lengths.tolist(), run.likeness.tolist()) == ([0.0], [0.0])
