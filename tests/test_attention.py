"""Attention, one head and many: worked examples, plain Python for every option, and the laws it must keep."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from core.attention import (
    attend,
    causal_mask,
    divisors_sentence,
    merge_heads,
    multi_head_attention,
    padding_mask,
    projection_counts,
    self_attention,
    split_heads,
)
from core.draws import projection, token_vectors
from core.positions import sinusoidal

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = (np.float16, np.float32, np.float64)


def assert_rounded(actual, expected):
    """Equal to numbers that were rounded to 8 decimals."""
    assert_allclose(actual, expected, rtol=0, atol=1e-8)


def assert_same(actual, expected):
    assert_allclose(actual, expected, rtol=0, atol=1e-12)


def normal(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def random_params(seed, d_model, n_heads, n_kv_heads=None, d_head=2, biases=False):
    """Parameters of multi_head_attention, scaled so that scores stay near 1."""
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    n_columns = (n_heads + 2 * n_kv_heads) * d_head
    w_qkv, w_o, b_qkv, b_o = normal(seed, (d_model, n_columns), (n_heads * d_head, d_model), n_columns, d_model)
    params = {"w_qkv": w_qkv / np.sqrt(d_model), "w_o": w_o}
    return {**params, "b_qkv": b_qkv, "b_o": b_o} if biases else params


# --- worked examples ------------------------------------------------------------------------------------------------

def four_tokens():
    """x and the three projections, drawn as the worked example says."""
    rng = np.random.RandomState(0)
    return rng.randn(4, 8), *(rng.randn(8, 4) / np.sqrt(8) for _ in range(3))


def bank_sentence(worked, positions):
    """x, with or without positions, and the three projections, drawn as the worked example says."""
    rng = np.random.default_rng(42)
    tokens = worked["bank_sentence"]["tokens"]
    words = list(dict.fromkeys(tokens))
    x = rng.normal(0, 0.5, (9, 16))[[words.index(token) for token in tokens]]
    return x + sinusoidal(len(tokens), 16) * positions, *(rng.normal(0, 16**-0.5, (16, 16)) for _ in range(3))


def test_by_hand(worked):
    example = worked["by_hand"]
    trace = self_attention(example["X"], example["W_q"], example["W_k"], example["W_v"])
    for name, key in (("q", "Q"), ("k", "K"), ("v", "V")):
        assert_array_equal(getattr(trace, name), example[key])
    assert_rounded(trace.scores, example["scores"])
    assert_rounded(trace.pattern, example["weights"])
    assert_rounded(trace.mixed, example["output"])
    assert_array_equal(trace.pattern.round(4), example["weights_4dp"])
    assert_array_equal(trace.mixed.round(3), example["output_3dp"])


def test_by_hand_the_second_row_is_flat_because_its_scores_tie(worked):
    """q₂ = [0, 2, 0] reads only the second coordinate of the keys, which is 1 in all of them."""
    example = worked["by_hand"]
    trace = self_attention(example["X"], example["W_q"], example["W_k"], example["W_v"])
    assert_array_equal(trace.q[1], [0, 2, 0])
    assert_array_equal(trace.k[:, 1], [1, 1, 1])
    assert_array_equal(trace.raw_scores[1], [2, 2, 2])
    assert_allclose(trace.scores[1], [2 / math.sqrt(3)] * 3, rtol=1e-15)
    assert_allclose(trace.pattern[1], [1 / 3] * 3, rtol=1e-15)


def test_four_tokens(worked):
    example = worked["four_tokens"]
    trace = self_attention(*four_tokens())
    assert trace.x.shape == (len(example["tokens"]), example["d_model"])
    assert trace.q.shape[1] == example["d_k"]
    assert_rounded(trace.scores, example["scores"])
    assert_rounded(trace.pattern, example["weights"])
    assert_rounded(trace.mixed, example["output"])
    assert_array_equal(trace.pattern.round(2), example["printed_weights_2dp"])
    assert_array_equal(trace.scores[3].round(2), example["scores_lemak_2dp"])


def test_four_tokens_causal(worked):
    example = worked["four_tokens_causal"]
    trace = self_attention(*four_tokens(), causal_mask(4))
    assert_rounded(trace.pattern, example["weights"])
    assert_rounded(trace.mixed, example["output"])
    assert_array_equal(trace.pattern.round(2), example["printed_weights_2dp"])


def test_two_heads(worked):
    example = worked["two_heads"]
    rng = np.random.RandomState(1)
    x, w_qkv, w_o = rng.randn(4, 8), rng.randn(8, 24) / np.sqrt(8), rng.randn(8, 8) / np.sqrt(8)
    trace = multi_head_attention(x, {"w_qkv": w_qkv, "w_o": w_o}, 2)
    assert_rounded(trace.pattern, example["weights"])
    assert_rounded(trace.out, example["output"])
    assert_array_equal(trace.pattern[:, 3].round(2), example["printed_last_token_2dp"])
    shapes = {"q": trace.q, "weights": trace.pattern, "heads": trace.mixed, "output": trace.out}
    assert {name: list(array.shape) for name, array in shapes.items()} == example["shapes"]


@pytest.mark.parametrize("causal", [False, True])
def test_bank_sentence_weights(worked, causal):
    trace = self_attention(*bank_sentence(worked, positions=True), causal_mask(11) if causal else None)
    assert_rounded(trace.pattern, worked["bank_sentence"]["causal_weights" if causal else "full_weights"])


def test_bank_sentence_weights_without_positions(worked):
    assert_rounded(self_attention(*bank_sentence(worked, positions=False)).pattern, worked["bank_sentence"]["weights_without_positions"])


@pytest.mark.parametrize(("positions", "key"), [(False, "without"), (True, "with")])
def test_bank_sentence_every_the_gets_the_same_output_only_without_positions(worked, positions, key):
    example = worked["bank_sentence"]
    mixed = self_attention(*bank_sentence(worked, positions)).mixed[example["positions_of_the"]]
    assert bool(np.abs(mixed - mixed[0]).max() < 1e-12) is example[f"same_output_for_every_the_{key}_positions"]


def test_bank_sentence_causal_the_future_gets_no_weight_and_bank_sees_two_words(worked):
    example = worked["bank_sentence"]
    pattern = self_attention(*bank_sentence(worked, positions=True), causal_mask(11)).pattern
    assert max(pattern[i, j] for i in range(11) for j in range(i + 1, 11)) == example["largest_weight_on_the_future_causal"]
    assert_array_equal(pattern[1, :2].round(3), example["bank_attends_causal_3dp"])


@pytest.mark.parametrize(("n_heads", "key"), [(8, "W_q+W_k+W_v, 8 heads of 64"), (1, "W_q+W_k+W_v, 1 head of 512")])
def test_multi_head_budget_many_narrow_heads_cost_what_one_wide_head_costs(worked, n_heads, key):
    example = worked["multi_head_budget"]
    d_model = example["d_model"]
    d_head = d_model // n_heads
    one_head = [np.zeros((d_model, d_head)) for _ in range(n_heads * 3)]
    params = {"w_qkv": np.concatenate(one_head, axis=1), "w_o": np.zeros((n_heads * d_head, d_model))}
    assert params["w_qkv"].size == sum(w.size for w in one_head) == example[key]
    assert params["w_o"].size == example["W_o"]
    assert projection_counts(d_model, n_heads, d_head) == (example[key], example["W_o"])
    trace = multi_head_attention(np.ones((2, d_model)), params, n_heads)
    assert trace.q.shape == trace.k.shape == trace.v.shape == (n_heads, 2, d_head)
    assert trace.out.shape == (2, d_model)


@pytest.mark.parametrize(("d_model", "n_heads", "d_head"), [(1, 1, 1), (6, 2, 3), (6, 3, 5), (512, 8, 64)])
def test_the_projections_counted_are_those_attention_takes(d_model, n_heads, d_head):
    params = random_params(0, d_model, n_heads, d_head=d_head)
    assert multi_head_attention(np.ones((2, d_model)), params, n_heads).q.shape == (n_heads, 2, d_head)
    assert projection_counts(d_model, n_heads, d_head) == (params["w_qkv"].size, params["w_o"].size)


# --- against plain Python -------------------------------------------------------------------------------------------

def naive_attend(q, k, v, visible, scale, bias):
    """Equation 1 on lists of numbers, one query and one key at a time; gives raw_scores, scores, pattern, mixed."""
    scale = 1 / math.sqrt(len(q[0])) if scale is None else scale
    raw_scores, scores, pattern, mixed = [], [], [], []
    for i, query in enumerate(q):
        raw_scores.append([math.fsum(a * b for a, b in zip(query, key)) for key in k])
        scores.append([raw * scale + bias[i][j] for j, raw in enumerate(raw_scores[i])])
        seen = [j for j in range(len(k)) if visible[i][j]]
        raised = {j: math.exp(scores[i][j] - max(scores[i][s] for s in seen)) for j in seen}
        pattern.append([raised[j] / math.fsum(raised.values()) if j in seen else 0.0 for j in range(len(k))])
        mixed.append([math.fsum(w * value[c] for w, value in zip(pattern[i], v)) for c in range(len(v[0]))])
    return raw_scores, scores, pattern, mixed


def sequences(*arrays):
    """Every sequence of a batch as lists of numbers: the last two axes of each array, the axes before them counted through."""
    batch = np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    whole = [np.broadcast_to(array, batch + array.shape[-2:]) for array in arrays]
    return [(index, [array[index].tolist() for array in whole]) for index in np.ndindex(batch)]


@pytest.mark.parametrize("options", ["", "scale", "bias", "scale bias"])
@pytest.mark.parametrize("mask", ["none", "causal", "random", "one row for all"])
@pytest.mark.parametrize(("batch", "n_queries", "n_keys", "d_head", "d_value"), [
    ((), 1, 1, 1, 1), ((), 3, 3, 4, 4), ((), 2, 5, 3, 6), ((), 5, 2, 4, 1), ((2,), 3, 4, 2, 5), ((2, 3), 2, 3, 4, 2), ((1, 2), 4, 4, 16, 3),
])
def test_attend_matches_plain_python(batch, n_queries, n_keys, d_head, d_value, mask, options):
    q, k, v, bias = normal(1, (*batch, n_queries, d_head), (*batch, n_keys, d_head), (*batch, n_keys, d_value), (n_queries, n_keys))
    rng = np.random.default_rng(2)
    visible = {"none": None, "causal": causal_mask(n_queries, n_keys), "one row for all": rng.random((1, n_keys)) < 0.6,
               "random": rng.random((*batch, n_queries, n_keys)) < 0.6}[mask]
    given = {"scale": 0.3} if "scale" in options else {}
    trace = attend(q, k, v, visible, **given, **({"bias": bias} if "bias" in options else {}))

    full_mask = np.broadcast_to(True if visible is None else visible, (*batch, n_queries, n_keys))
    for index, lists in sequences(q, k, v, full_mask):
        expected = naive_attend(*lists, given.get("scale"), (bias * ("bias" in options)).tolist())
        for name, wanted in zip(trace._fields, expected):
            assert_same(getattr(trace, name)[index], wanted)


def test_attend_lines_up_leading_axes_as_numpy_does():
    q, k, v = normal(3, (2, 1, 3, 4), (5, 2, 4), (5, 2, 3))
    trace = attend(q, k, v)
    assert trace.mixed.shape == (2, 5, 3, 3)
    for index, lists in sequences(q, k, v):
        assert_same(trace.mixed[index], naive_attend(*lists, [[True] * 2] * 3, None, [[0.0] * 2] * 3)[3])


def test_self_attention_projects_then_attends():
    x, w_q, w_k, w_v = normal(4, (5, 3), (3, 2), (3, 2), (3, 4))
    trace = self_attention(x, w_q, w_k, w_v, causal_mask(5), scale=0.3)
    q, k, v = ([[math.fsum(a * b for a, b in zip(row, column)) for column in w.T.tolist()] for row in x.tolist()] for w in (w_q, w_k, w_v))
    expected = naive_attend(q, k, v, causal_mask(5).tolist(), 0.3, [[0.0] * 5] * 5)
    for name, wanted in zip(trace._fields, (x, q, k, v, *expected)):
        assert_same(getattr(trace, name), wanted)


def turn(x, positions):
    """Turn feature i and feature i + half by position · 0.5^i: a rotation that depends on the position."""
    half = x.shape[-1] // 2
    angle = (positions[:, None] * 0.5 ** np.arange(half)).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], axis=-1)


def naive_turn(rows, first):
    """The same rotation on lists; the first row stands at position `first`."""
    turned = []
    for p, row in enumerate(rows, first):
        half = len(row) // 2
        pairs = [complex(row[i], row[i + half]) * complex(math.cos(p * 0.5**i), math.sin(p * 0.5**i)) for i in range(half)]
        turned.append([z.real for z in pairs] + [z.imag for z in pairs])
    return turned


def naive_multi_head(x, context, visible, bias, past, params, n_heads, n_kv_heads, scale, rotate):
    """Lists of one sequence, one head after the other; visible and bias have a head axis. Gives the fields of MultiHeadTrace."""
    w_qkv, w_o = params["w_qkv"].tolist(), params["w_o"].tolist()
    b_qkv = params["b_qkv"].tolist() if "b_qkv" in params else [0.0] * len(w_qkv[0])
    b_o = params["b_o"].tolist() if "b_o" in params else [0.0] * len(w_o[0])
    d_head = len(w_o) // n_heads

    def project(tokens, block):
        columns = range(block * d_head, (block + 1) * d_head)
        return [[math.fsum(t * w_qkv[i][c] for i, t in enumerate(token)) + b_qkv[c] for c in columns] for token in tokens]

    q = [project(x, h) for h in range(n_heads)]
    k = [project(context, n_heads + h) for h in range(n_kv_heads)]
    v = [project(context, n_heads + n_kv_heads + h) for h in range(n_kv_heads)]
    if rotate:
        q, k = ([naive_turn(rows, len(past[0][0])) for rows in heads] for heads in (q, k))
    k, v = ([old + new for old, new in zip(before, after)] for before, after in zip(past, (k, v)))
    group = n_heads // n_kv_heads
    heads = [naive_attend(q[h], k[h // group], v[h // group], visible[h], scale, bias[h]) for h in range(n_heads)]
    head_out = [[[math.fsum(m * w_o[h * d_head + c][o] for c, m in enumerate(mixed)) for o in range(len(w_o[0]))] for mixed in heads[h][3]]
                for h in range(n_heads)]
    out = [[math.fsum(head_out[h][i][o] for h in range(n_heads)) + b_o[o] for o in range(len(b_o))] for i in range(len(x))]
    return q, k, v, *zip(*heads), head_out, out


@pytest.mark.parametrize("options", [
    "", "context", "past", "rotate", "past rotate", "scale bias", "context scale", "past rotate scale bias",
])
@pytest.mark.parametrize("mask", ["none", "causal", "padding", "heads"])
@pytest.mark.parametrize("biases", [(), ("b_qkv",), ("b_o",), ("b_qkv", "b_o")])
@pytest.mark.parametrize(("batch", "n_heads", "n_kv_heads"), [((), 1, 1), ((), 4, 2), ((2,), 2, 2), ((2,), 3, 1), ((2, 2), 2, 1)])
def test_multi_head_attention_matches_plain_python(batch, n_heads, n_kv_heads, biases, mask, options):
    d_model, d_head, n_queries = 5, 2, 3
    params = random_params(5, d_model, n_heads, n_kv_heads, d_head, biases=True)
    params = {name: params[name] for name in ("w_qkv", "w_o", *biases)}
    n_past, n_new = 2 * ("past" in options), 4 if "context" in options else n_queries
    n_keys = n_past + n_new
    x, context, past_k, past_v, bias = normal(
        6, (*batch, n_queries, d_model), (*batch, n_new, d_model), (*batch, n_kv_heads, n_past, d_head),
        (*batch, n_kv_heads, n_past, d_head), (*batch, n_heads, n_queries, n_keys))
    rng = np.random.default_rng(7)
    visible = {"none": None, "causal": causal_mask(n_queries, n_keys), "padding": rng.random((*batch, 1, n_keys)) < 0.7,
               "heads": rng.random((*batch, n_heads, n_queries, n_keys)) < 0.7}[mask]
    given = {"context": context} if "context" in options else {}
    given |= {"past": (past_k, past_v)} if "past" in options else {}
    given |= {"rotate": turn} if "rotate" in options else {}
    given |= {"scale": 0.9} if "scale" in options else {}
    given |= {"bias": bias} if "bias" in options else {}
    trace = multi_head_attention(x, params, n_heads, visible, n_kv_heads=n_kv_heads, **given)

    seen = {"none": True, "causal": visible, "padding": visible if visible is None else visible[..., None, :, :], "heads": visible}[mask]
    seen = np.broadcast_to(seen, bias.shape)
    for index in np.ndindex(batch):
        expected = naive_multi_head(x[index].tolist(), given.get("context", x)[index].tolist(), seen[index].tolist(),
                                    (bias * ("bias" in given))[index].tolist(), (past_k[index].tolist(), past_v[index].tolist()),
                                    params, n_heads, n_kv_heads, given.get("scale"), "rotate" in given)
        for name, wanted in zip(trace._fields, expected):
            assert_same(getattr(trace, name)[index], wanted)


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 2), (3, 1)])
@pytest.mark.parametrize("rotate", [None, turn])
@pytest.mark.parametrize(("n_heads", "n_kv_heads"), [(1, 1), (4, 4), (4, 2), (4, 1)])
def test_tokens_fed_in_pieces_with_a_cache_give_what_the_whole_gives(n_heads, n_kv_heads, rotate, sizes):
    params = random_params(8, 6, n_heads, n_kv_heads, 4, biases=True)
    x, = normal(9, (2, 4, 6))
    whole = multi_head_attention(x, params, n_heads, causal_mask(4), n_kv_heads=n_kv_heads, rotate=rotate)
    past, start = None, 0
    for size in sizes:
        stop = start + size
        piece = multi_head_attention(x[:, start:stop], params, n_heads, causal_mask(size, stop), n_kv_heads=n_kv_heads, rotate=rotate,
                                     past=past)
        assert_same(piece.out, whole.out[:, start:stop])
        assert_same(piece.pattern, whole.pattern[:, :, start:stop, :stop])
        past, start = (piece.k, piece.v), stop
    assert_same(past[0], whole.k)
    assert_same(past[1], whole.v)


@pytest.mark.parametrize(("n_past", "n_new"), [(0, 4), (5, 3), (1, 1)])
def test_positions_of_new_tokens_continue_from_the_cache(n_past, n_new):
    """N18, in attention: after a prompt of 5 the next three tokens stand at 5, 6, 7, as queries and as keys."""
    asked = []

    def watch(x, positions):
        asked.append(positions.tolist())
        return x

    past = (np.zeros((2, n_past, 2)), np.zeros((2, n_past, 2)))
    multi_head_attention(np.ones((n_new, 4)), random_params(0, 4, 2), 2, past=past, rotate=watch)
    assert asked == [list(range(n_past, n_past + n_new))] * 2


# --- who may look at whom -------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("n_queries", "n_keys"), [(0, None), (1, None), (4, None), (1, 5), (2, 5), (5, 2), (3, 0), (0, 3)])
def test_causal_mask_the_last_query_sees_the_last_key(n_queries, n_keys):
    mask = causal_mask(n_queries, n_keys)
    n_keys = n_queries if n_keys is None else n_keys
    assert mask.shape == (n_queries, n_keys)
    assert mask.dtype == bool
    for i in range(n_queries):
        for j in range(n_keys):
            assert mask[i, j] == (n_keys - 1 - j >= n_queries - 1 - i)  # counted from the end: no key is younger than its query


@pytest.mark.parametrize("lengths", [[], [0], [3], [1, 3, 0, 2]])
def test_padding_mask_shows_each_sequence_its_own_tokens(lengths):
    mask = padding_mask(lengths, 3)
    assert mask.shape == (len(lengths), 1, 3)
    assert mask.dtype == bool
    assert mask.sum(axis=-1).ravel().tolist() == lengths
    assert all(row == sorted(row, reverse=True) for row in mask[:, 0].tolist())


def test_filler_changes_nothing_for_the_real_tokens():
    params = random_params(10, 6, 2)
    x, = normal(11, (2, 4, 6))
    padded = multi_head_attention(x, params, 2, padding_mask([2, 4], 4) & causal_mask(4))
    alone = multi_head_attention(x[0, :2], params, 2, causal_mask(2))
    assert_same(padded.out[0, :2], alone.out)
    assert_array_equal(padded.pattern[0, :, :, 2:], 0)


def test_a_masked_constant_can_never_win():
    """N05: a query whose only visible score is -20000 still looks there alone."""
    trace = attend([[1.0]], [[-20000.0], [5.0]], [[1.0], [2.0]], [[True, False]], scale=1.0)
    assert_array_equal(trace.scores, [[-20000, 5]])
    assert_array_equal(trace.pattern, [[1, 0]])
    assert_array_equal(trace.mixed, [[1]])


def test_a_mask_is_not_multiplied_into_the_scores():
    """N05: scores [2, 1, 0.5] with the third hidden."""
    trace = attend([[1.0]], [[2.0], [1.0], [0.5]], np.eye(3), [[True, True, False]], scale=1.0)
    assert_rounded(trace.pattern, [[0.73105858, 0.26894142, 0]])
    assert trace.pattern[0, 2] == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_hidden_weights_are_exactly_0_and_the_rest_sum_to_1(data, dtype):
    """N05 and N01 for any scores within ±100000 and any mask; a query that sees nothing gets zeros, and nothing is NaN."""
    scores = data.draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(-1e5, 1e5, width=32)))
    visible = data.draw(hnp.arrays(bool, scores.shape))
    trace = attend(np.eye(len(scores), dtype=dtype), scores.T, np.ones_like(scores.T), visible, scale=1.0)
    assert_array_equal(trace.scores, scores)
    assert (trace.pattern[~visible] == 0).all()
    sees = visible.any(axis=-1)
    assert_allclose(trace.pattern.sum(axis=-1), sees, rtol=0, atol=1e-6 if dtype == np.float32 else 1e-14)
    assert_allclose(trace.mixed, np.repeat(sees[:, None], len(scores), axis=1), rtol=0, atol=1e-6)
    assert_array_equal(trace.mixed[~sees], 0)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("biases", [False, True])
def test_a_query_that_sees_nothing_gets_zeros_from_every_head(biases, dtype):
    """N01: what is left of its output is the bias alone."""
    params = {name: w.astype(dtype) for name, w in random_params(12, 6, 3, biases=biases).items()}
    x = normal(13, (4, 6))[0].astype(dtype)
    visible = causal_mask(4) & (np.arange(4) != 0)[:, None]
    trace = multi_head_attention(x, params, 3, visible)
    for name in ("pattern", "mixed", "head_out"):
        assert_array_equal(getattr(trace, name)[:, 0], 0)
    assert_array_equal(trace.out[0], params.get("b_o", np.zeros(6)))
    assert all(np.isfinite(field).all() for field in trace)


def test_no_mask_and_a_mask_that_hides_nothing_are_the_same():
    x, w_q, w_k, w_v = normal(14, (4, 3), (3, 2), (3, 2), (3, 2))
    for free, shown in zip(self_attention(x, w_q, w_k, w_v), self_attention(x, w_q, w_k, w_v, np.ones((4, 4), bool)), strict=True):
        assert_array_equal(free, shown)


@given(st.integers(2, 6), st.integers(0, 5), st.integers(0, 2**16), st.floats(-100, 100))
def test_a_later_token_never_changes_an_earlier_output_when_the_future_is_hidden(n_tokens, changed, seed, shift):
    """E05: for one head and for several."""
    changed %= n_tokens
    x, w_q, w_k, w_v = normal(seed, (n_tokens, 4), (4, 3), (4, 3), (4, 3))
    other = x + shift * (np.arange(n_tokens) == changed)[:, None]
    visible, params = causal_mask(n_tokens), random_params(seed, 4, 2, biases=True)
    assert_same(self_attention(other, w_q, w_k, w_v, visible).mixed[:changed], self_attention(x, w_q, w_k, w_v, visible).mixed[:changed])
    assert_same(multi_head_attention(other, params, 2, visible).out[:changed], multi_head_attention(x, params, 2, visible).out[:changed])


@pytest.mark.parametrize("n_heads", [1, 2, 4])
def test_an_appended_token_changes_earlier_outputs_only_without_the_mask(n_heads):
    """E05, with the control that shows the mask is what does it."""
    params = random_params(15, 4, n_heads)
    x, = normal(16, (5, 4))
    causal, shorter = (multi_head_attention(x[:n], params, n_heads, causal_mask(n)).out for n in (5, 4))
    assert_same(causal[:4], shorter)
    free, shorter = (multi_head_attention(x[:n], params, n_heads).out for n in (5, 4))
    assert (np.abs(free[:4] - shorter).max(axis=-1) > 1e-3).all()


# --- order ----------------------------------------------------------------------------------------------------------

@given(st.permutations(range(5)), st.integers(0, 2**16))
def test_without_a_mask_reordered_tokens_give_reordered_outputs(order, seed):
    x, w_q, w_k, w_v = normal(seed, (5, 4), (4, 3), (4, 3), (4, 2))
    straight, reordered = self_attention(x, w_q, w_k, w_v), self_attention(x[order], w_q, w_k, w_v)
    assert_same(reordered.mixed, straight.mixed[order])
    assert_same(reordered.pattern, straight.pattern[order][:, order])
    params = random_params(seed, 4, 2)
    assert_same(multi_head_attention(x[order], params, 2).out, multi_head_attention(x, params, 2).out[order])


def test_with_the_causal_mask_order_matters():
    """Tokens 0 and 1 with all weights 1: token 1 gets e/(1+e) after token 0, and 1 when it comes first."""
    after = self_attention([[0.0], [1.0]], [[1.0]], [[1.0]], [[1.0]], causal_mask(2)).mixed
    first = self_attention([[1.0], [0.0]], [[1.0]], [[1.0]], [[1.0]], causal_mask(2)).mixed
    assert_allclose(after, [[0], [math.e / (1 + math.e)]], rtol=1e-15)
    assert_allclose(first, [[1], [0.5]], rtol=1e-15)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n_heads", [1, 2, 4])
def test_one_token_looks_at_itself_alone(n_heads, causal):
    """N25: the text "the"."""
    x = token_vectors(["the"], 0, 8)
    visible = causal_mask(1) if causal else None
    assert_array_equal(self_attention(x, *(projection(0, name, 8, 4) for name in "qkv"), visible).pattern, [[1.0]])
    assert_array_equal(multi_head_attention(x, random_params(0, 8, n_heads), n_heads, visible).pattern, np.ones((n_heads, 1, 1)))


@pytest.mark.parametrize("n_tokens", [2, 3, 7])
def test_one_repeated_token_spreads_its_weights_evenly_until_positions_are_added(n_tokens):
    """N25: the text "the the the"."""
    x = token_vectors(["the"] * n_tokens, 0, 8)
    params = random_params(17, 8, 2)
    full = multi_head_attention(x, params, 2)
    causal = multi_head_attention(x, params, 2, causal_mask(n_tokens))
    for h in range(2):
        assert_same(full.pattern[h], [[1 / n_tokens] * n_tokens] * n_tokens)
        assert_same(causal.pattern[h], [[1 / (i + 1)] * (i + 1) + [0.0] * (n_tokens - 1 - i) for i in range(n_tokens)])
    assert_same(full.out, np.repeat(full.out[:1], n_tokens, axis=0))
    assert_same(causal.out, full.out)
    placed = multi_head_attention(x + sinusoidal(n_tokens, 8), params, 2)
    assert (np.abs(np.diff(placed.out, axis=0)).max(axis=-1) > 1e-3).all()


# --- rows are queries, columns keys ---------------------------------------------------------------------------------

def test_weights_sum_to_1_over_the_keys_of_a_query():
    """N06: scores [[1, 2], [3, 5]]."""
    trace = attend(np.eye(2), np.array([[1.0, 3.0], [2.0, 5.0]]), np.eye(2), scale=1.0)
    assert_array_equal(trace.scores, [[1, 2], [3, 5]])
    assert_rounded(trace.pattern, [[0.26894142, 0.73105858], [0.11920292, 0.88079708]])


@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize("n_heads", [1, 2, 3])
def test_rows_of_every_head_sum_to_1_and_columns_do_not(n_heads, context):
    """N06 for several heads and for cross-attention."""
    x, other = normal(18, (2, 4, 6), (2, 5, 6))
    pattern = multi_head_attention(x, random_params(18, 6, n_heads), n_heads, context=other if context else None).pattern
    assert_allclose(pattern.sum(axis=-1), 1, rtol=0, atol=1e-14)
    assert (np.abs(pattern.sum(axis=-2) - 1) > 1e-3).any()


def test_cross_attention_by_hand():
    """N26."""
    trace = attend([[1, 0], [0, 1]], [[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [2, 2]])
    assert_rounded(trace.pattern, [[0.40111209, 0.19777581, 0.40111209], [0.19777581, 0.40111209, 0.40111209]])
    assert_rounded(trace.mixed, [[1.20333628, 1.0], [1.0, 1.20333628]])


@pytest.mark.parametrize(("n_targets", "n_sources"), [(3, 5), (5, 3), (1, 4), (4, 1)])
def test_in_cross_attention_targets_ask_and_sources_are_looked_at(n_targets, n_sources):
    """N26: rows are targets, columns sources; queries come from the one text, keys and values from the other; padding hides sources."""
    target, source = normal(19, (2, n_targets, 6), (2, n_sources, 6))
    params = random_params(19, 6, 2, biases=True)
    lengths = [n_sources, n_sources - 1]
    trace = multi_head_attention(target, params, 2, padding_mask(lengths, n_sources), context=source)
    assert trace.pattern.shape == (2, 2, n_targets, n_sources)
    assert_same(trace.pattern.sum(axis=-1), np.broadcast_to(np.minimum(lengths, 1)[:, None, None], (2, 2, n_targets)))
    assert_array_equal(trace.pattern[1, :, :, -1], 0)
    other_target = multi_head_attention(target + 1, params, 2, context=source)
    other_source = multi_head_attention(target, params, 2, context=source + 1)
    assert_array_equal(other_target.k, trace.k)
    assert_array_equal(other_target.v, trace.v)
    assert_array_equal(other_source.q, trace.q)
    assert np.abs(other_target.q - trace.q).min() > 1e-6
    assert min(np.abs(other_source.k - trace.k).min(), np.abs(other_source.v - trace.v).min()) > 1e-6


def test_queries_with_no_key_and_keys_with_no_query():
    assert attend(np.ones((0, 2)), np.ones((3, 2)), np.ones((3, 4))).mixed.shape == (0, 4)
    assert_array_equal(attend(np.ones((2, 2)), np.ones((0, 2)), np.ones((0, 4))).mixed, np.zeros((2, 4)))


# --- scaling --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("n_heads", [1, 2, 8, 64])
def test_scores_are_divided_by_the_root_of_the_head_width_not_of_the_model_width(n_heads):
    """N07: d_model 512 with 8 heads divides by √64 = 8."""
    x, w_qkv = normal(20, (2, 512), (512, 3 * 512))
    trace = multi_head_attention(x, {"w_qkv": w_qkv / math.sqrt(512), "w_o": np.zeros((512, 512))}, n_heads)
    assert_allclose(trace.raw_scores / trace.scores, math.sqrt(512 / n_heads), rtol=1e-12)


@pytest.mark.parametrize("d_head", [4, 64, 512])
def test_scores_of_unit_vectors_keep_a_spread_of_1(d_head):
    """N07: q·k spreads as √d_head, and the scaled scores as 1, within 5 %."""
    q, k = normal(21, (400, d_head), (400, d_head))
    trace = attend(q, k, np.zeros((400, 1)))
    assert trace.raw_scores.std() == pytest.approx(math.sqrt(d_head), rel=0.05)
    assert trace.scores.std() == pytest.approx(1, rel=0.05)


# --- heads ----------------------------------------------------------------------------------------------------------

def test_a_head_takes_its_columns_of_every_token():
    """N08."""
    x = np.arange(24).reshape(4, 6)
    heads = split_heads(x, 2)
    assert_array_equal(heads[0], [[0, 1, 2], [6, 7, 8], [12, 13, 14], [18, 19, 20]])
    assert_array_equal(heads[1], [[3, 4, 5], [9, 10, 11], [15, 16, 17], [21, 22, 23]])
    assert_array_equal(merge_heads(heads), x)


@given(st.lists(st.integers(1, 3), max_size=2), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_merging_undoes_splitting(batch, n_tokens, n_heads, d_head):
    """N08 for any sizes: token t of head h is x[t, h·d_head : (h+1)·d_head]."""
    shape = (*batch, n_tokens, n_heads * d_head)
    x = np.arange(math.prod(shape)).reshape(shape)
    heads = split_heads(x, n_heads)
    assert heads.shape == (*batch, n_heads, n_tokens, d_head)
    for h in range(n_heads):
        assert_array_equal(heads[..., h, :, :], x[..., h * d_head:(h + 1) * d_head])
    assert_array_equal(merge_heads(heads), x)


@pytest.mark.parametrize("n_heads", [1, 2])
@pytest.mark.parametrize("batch", [(), (2,), (0,)])
def test_merging_undoes_splitting_where_there_are_no_tokens(batch, n_heads):
    x = np.zeros((*batch, 0, 4))
    heads = split_heads(x, n_heads)
    assert heads.shape == (*batch, n_heads, 0, 4 // n_heads)
    assert merge_heads(heads).shape == x.shape


@pytest.mark.parametrize("n_heads", [1, 2])
def test_a_text_of_no_tokens_gives_an_output_of_no_tokens(n_heads):
    trace = multi_head_attention(np.zeros((0, 4)), random_params(0, 4, n_heads), n_heads)
    assert trace.out.shape == (0, 4)
    assert trace.pattern.shape == (n_heads, 0, 0)


@given(st.integers(1, 5), st.sampled_from([(1, 1), (2, 2), (4, 2), (4, 1)]), st.booleans(), st.booleans(), st.integers(0, 2**16))
def test_what_the_heads_add_sums_to_the_output(n_tokens, heads, biases, causal, seed):
    params = random_params(seed, 6, *heads, biases=biases)
    x, = normal(seed, (2, n_tokens, 6))
    trace = multi_head_attention(x, params, heads[0], causal_mask(n_tokens) if causal else None, n_kv_heads=heads[1])
    assert trace.head_out.shape == (2, heads[0], n_tokens, 6)
    assert_allclose(trace.head_out.sum(axis=1) + params.get("b_o", 0), trace.out, rtol=0, atol=1e-11)
    assert_allclose(merge_heads(trace.mixed) @ params["w_o"] + params.get("b_o", 0), trace.out, rtol=0, atol=1e-11)


def test_shared_key_and_value_heads_equal_copies_of_them():
    params = random_params(22, 6, 4, 2, d_head=3)
    q, k, v = np.split(params["w_qkv"], [12, 18], axis=1)
    copied = np.concatenate([q, *(w[:, start:start + 3] for w in (k, v) for start in (0, 0, 3, 3))], axis=1)
    x, = normal(23, (5, 6))
    assert_same(multi_head_attention(x, params, 4, n_kv_heads=2).out, multi_head_attention(x, {**params, "w_qkv": copied}, 4).out)


# --- precision ------------------------------------------------------------------------------------------------------

VISIBLE = {"free": None, "causal": np.tri(3, dtype=bool), "blind": np.zeros((3, 3), bool)}


@pytest.mark.parametrize("visible", VISIBLE.values(), ids=VISIBLE)
@pytest.mark.parametrize("options", [{}, {"scale": np.float64(0.3)}, {"bias": np.ones((3, 3))}, {"scale": 2, "bias": [[0.5, 1.0, 2.0]]}])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_field_of_attend_keeps_the_precision(dtype, options, visible):
    q, k, v = (array.astype(dtype) for array in normal(24, (3, 2), (3, 2), (3, 4)))
    assert {field.dtype for field in attend(q, k, v, visible, **options)} == {np.dtype(dtype)}


@pytest.mark.parametrize("visible", VISIBLE.values(), ids=VISIBLE)
@pytest.mark.parametrize("scale", [None, np.float64(0.3)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_field_of_self_attention_keeps_the_precision(dtype, scale, visible):
    arrays = (array.astype(dtype) for array in normal(25, (3, 4), (4, 2), (4, 2), (4, 2)))
    assert {field.dtype for field in self_attention(*arrays, visible, scale=scale)} == {np.dtype(dtype)}


@pytest.mark.parametrize("visible", VISIBLE.values(), ids=VISIBLE)
@pytest.mark.parametrize("options", ["", "context", "past", "rotate", "scale bias", "past rotate scale bias"])
@pytest.mark.parametrize(("n_heads", "n_kv_heads", "biases"), [(1, 1, False), (2, 2, True), (4, 2, True)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_field_of_multi_head_attention_keeps_the_precision(dtype, n_heads, n_kv_heads, biases, options, visible):
    params = {name: w.astype(dtype) for name, w in random_params(26, 4, n_heads, n_kv_heads, biases=biases).items()}
    x, past = normal(27, (3, 4), (n_kv_heads, 1, 2))
    given = {"context": x.astype(dtype)} if "context" in options else {}
    given |= {"past": (past.astype(dtype), past.astype(dtype))} if "past" in options else {}
    given |= {"rotate": turn} if "rotate" in options else {}
    given |= {"scale": np.float64(0.3), "bias": np.ones((3, 3 + ("past" in options)))} if "bias" in options else {}
    visible = visible if visible is None or "past" not in options else np.pad(visible, ((0, 0), (1, 0)))
    trace = multi_head_attention(x.astype(dtype), params, n_heads, visible, n_kv_heads=n_kv_heads, **given)
    assert {name: field.dtype for name, field in trace._asdict().items()} == dict.fromkeys(trace._fields, np.dtype(dtype))


def test_whole_numbers_become_float64():
    ones = [[1, 1], [1, 1]]
    for trace in (attend(ones, ones, ones), self_attention(ones, ones, ones, ones),
                  multi_head_attention(ones, {"w_qkv": np.ones((2, 6), int), "w_o": np.ones((2, 2), int)}, 1)):
        assert {field.dtype for field in trace} == {np.dtype(np.float64)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gap_to_exact_numbers_shrinks_with_the_precision(dtype):
    params = random_params(28, 6, 3, biases=True)
    x, = normal(29, (5, 6))
    exact = multi_head_attention(x, params, 3, causal_mask(5))
    single = multi_head_attention(x.astype(dtype), {name: w.astype(dtype) for name, w in params.items()}, 3, causal_mask(5))
    assert_allclose(single.out, exact.out, rtol=0, atol=100 * np.finfo(dtype).eps)


# --- wrong use ------------------------------------------------------------------------------------------------------

def refused(*words, error=ValueError):
    """The message holds these words and numbers, in this order."""
    return pytest.raises(error, match=r"(?s)" + ".*".join(re.escape(str(word)) for word in words))


@pytest.mark.parametrize("visible", [np.ones((2, 2)), np.ones((2, 2), int), [[0, 1], [1, 1]], [[0.0, -np.inf], [0.0, 0.0]]])
def test_a_mask_that_is_not_boolean_is_refused(visible):
    """0 and 1, or 0 and -inf, read the other way round in other programs."""
    x = np.ones((2, 2))
    dtype = np.asarray(visible).dtype
    with refused("True (may look)", "False (hidden)", dtype, error=TypeError):
        attend(x, x, x, visible)
    with refused("True (may look)", dtype, error=TypeError):
        self_attention(x, x, x, x, visible)
    with refused("True (may look)", dtype, error=TypeError):
        multi_head_attention(x, random_params(0, 2, 1), 1, visible)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (3, 2), (4,), (3, 2, 3)])
def test_a_mask_that_does_not_fit_is_refused_with_both_shapes(shape):
    with refused(f"mask of shape {shape}", "scores of shape (4, 2, 3)"):
        attend(np.ones((4, 2, 2)), np.ones((3, 2)), np.ones((3, 2)), np.ones(shape, bool))


def test_sizes_that_do_not_fit_are_named():
    one, two, three = np.ones((2, 1)), np.ones((2, 2)), np.ones((2, 3))
    with refused("Queries have 2", "keys 3", "the same number"):
        attend(two, three, three)
    with refused("2 keys and 3 values", "each key needs its value"):
        attend(two, two, np.ones((3, 2)))
    with refused("2 features and keys 1", "the same number"):
        self_attention(two, two, one, two)
    for place, name in enumerate(("w_q", "w_k", "w_v")):
        projections = [two, two, two]
        projections[place] = np.ones((3, 2))
        with refused("2 features", f"{name} needs 2 rows", "not 3"):
            self_attention(two, *projections)
    with refused("3 features", "w_qkv needs 3 rows", "not 4"):
        multi_head_attention(three, random_params(0, 4, 1), 1)
    with refused("2 query and 2 key/value heads of width 2", "12 columns", "not 11"):
        multi_head_attention(np.ones((2, 4)), {"w_qkv": np.ones((4, 11)), "w_o": np.ones((4, 4))}, 2)
    with refused("4 query and 2 key/value heads of width 2", "16 columns", "not 24"):
        multi_head_attention(np.ones((2, 4)), random_params(0, 4, 4), 4, n_kv_heads=2)


def test_a_context_of_another_width_is_named():
    """Which of the two texts does not fit, how wide it is and how wide it must be."""
    with pytest.raises(ValueError, match="(?i)context") as error:
        multi_head_attention(np.ones((2, 4)), random_params(0, 4, 2), 2, context=np.ones((3, 5)))
    assert {"4", "5"} <= set(re.findall(r"\d+", str(error.value)))


@pytest.mark.parametrize("n_heads", [-1, 0, 5, 7, 24])
def test_a_head_count_that_cannot_be_is_refused_with_those_that_can(n_heads):
    with refused(12, f"{n_heads} equal heads", "Head counts that work: 1, 2, 3, 4, 6, 12."):
        split_heads(np.ones((2, 12)), n_heads)


@pytest.mark.parametrize("n_heads", [-1, 0, 5, 7, 24])
def test_attention_refuses_a_head_count_that_cannot_be_with_those_that_can(n_heads):
    with refused(n_heads, "Head counts that work: 1, 2, 3, 4, 6, 12."):
        multi_head_attention(np.ones((2, 12)), {"w_qkv": np.ones((12, 36)), "w_o": np.ones((12, 12))}, n_heads)


@pytest.mark.parametrize("n_heads", [1, 2, 3, 4, 6, 12])
def test_every_head_count_that_is_offered_works(n_heads):
    assert split_heads(np.ones((2, 12)), n_heads).shape == (n_heads, 2, 12 // n_heads)
    trace = multi_head_attention(np.ones((2, 12)), {"w_qkv": np.ones((12, 36)), "w_o": np.ones((12, 12))}, n_heads)
    assert trace.out.shape == (2, 12)


@pytest.mark.parametrize("n_kv_heads", [-1, 0, 4, 5, 12])
def test_key_value_heads_that_cannot_be_shared_are_refused_with_counts_that_can(n_kv_heads):
    with refused("6 heads", n_kv_heads, "Key/value head counts that work: 1, 2, 3, 6."):
        multi_head_attention(np.ones((2, 12)), random_params(0, 12, 6), 6, n_kv_heads=n_kv_heads)
    for works in (1, 2, 3, 6):
        assert multi_head_attention(np.ones((2, 12)), random_params(0, 12, 6, works), 6, n_kv_heads=works).k.shape == (works, 2, 2)


@pytest.mark.parametrize("width", range(1, 30))
def test_the_head_counts_offered_are_the_divisors(width):
    offered = [int(number) for number in re.findall(r"\d+", divisors_sentence(width))]
    assert offered == [n for n in range(1, 100) if width / n == width // n]


@pytest.mark.parametrize(("n_queries", "n_keys"), [(-1, None), (-1, 2), (2, -3)])
def test_a_mask_of_negative_size_is_refused(n_queries, n_keys):
    with refused("0 or more", f"{n_queries} queries", f"{n_queries if n_keys is None else n_keys} keys"):
        causal_mask(n_queries, n_keys)


@pytest.mark.parametrize("lengths", [[-1], [4], [2, 4], [0, -2, 1]])
def test_lengths_outside_the_keys_are_refused(lengths):
    with refused(f"from {min(lengths)} to {max(lengths)}", "3 keys", "0 to 3"):
        padding_mask(lengths, 3)


@pytest.mark.parametrize("width", [1, 2, 12, 16, 97, 768])
def test_the_head_counts_that_work_are_all_that_divide_the_width(width):
    said = divisors_sentence(width).removeprefix("Head counts that work: ").rstrip(".")
    assert [int(word) for word in said.split(", ")] == [n for n in range(1, width + 1) if width % n == 0]


def test_a_width_beyond_all_models_gets_a_sentence_at_once():
    assert divisors_sentence(10**30) == "A head count works where it divides the width."
