"""One block: worked examples, plain Python for both places of the norm, and what it may never do."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from core.attention import causal_mask
from core.block import block, normalise, shares_along, stack
from core.embeddings import lookup
from core.positions import sinusoidal

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = (np.float16, np.float32, np.float64)
CHOICES = [(position, norm) for position in ("pre", "post") for norm in ("layer", "rms", "none")]
EACH_CHOICE = pytest.mark.parametrize(("position", "norm"), CHOICES)


def assert_same(actual, expected):
    assert_allclose(actual, expected, rtol=0, atol=1e-12)


def random_params(seed, d_model=4, d_ff=6):
    """A block with everything that can be learned."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return rng.normal(size=shape) * 0.6

    return {"attention": {"w_qkv": draw(d_model, 3 * d_model), "b_qkv": draw(3 * d_model), "w_o": draw(d_model, d_model),
                          "b_o": draw(d_model)},
            "feed_forward": {"w_in": draw(d_model, d_ff), "b_in": draw(d_ff), "w_out": draw(d_ff, d_model), "b_out": draw(d_model),
                             "w_gate": draw(d_model, d_ff)},
            "norm_1": {"gain": 1 + draw(d_model), "offset": draw(d_model)}, "norm_2": {"gain": 1 + draw(d_model), "offset": draw(d_model)}}


def mapped(params, change):
    return {name: mapped(value, change) if isinstance(value, dict) else change(value) for name, value in params.items()}


def arrays(trace):
    """Every array of a trace, also of the traces in it."""
    return [array for field in trace for array in (arrays(field) if isinstance(field, tuple) else [field])]


# --- worked examples ------------------------------------------------------------------------------------------------

def test_decoder_block(worked):
    """Drawn as the worked example says; rounded to 8 decimals there."""
    tokens = worked["bank_sentence"]["tokens"]
    words = list(dict.fromkeys(tokens))
    table = np.random.default_rng(42).normal(0, 0.5, (9, 16))
    x = table[[words.index(token) for token in tokens]] + sinusoidal(len(tokens), 16)
    rng = np.random.default_rng(0)
    w_qkv, w_o, w_1, w_2 = (rng.normal(0, shape[0]**-0.5, shape) for shape in ((16, 48), (16, 16), (16, 64), (64, 16)))
    params = {"attention": {"w_qkv": w_qkv, "w_o": w_o}, "feed_forward": {"w_in": w_1, "w_out": w_2}}
    example = worked["decoder_block"]
    trace = block(x, params, example["n_heads"], causal_mask(11), activation="gelu_tanh")
    assert trace.feed_forward.hidden_pre.shape == (11, example["d_ff"])
    assert_allclose(trace.attention.pattern, example["attention_weights"], rtol=0, atol=1e-8)
    assert_allclose(trace.resid_post, example["output"], rtol=0, atol=1e-8)


def test_nasi_forward(worked):
    """The last token's vector, what attention and what the feed-forward layer write to it, and what the model says next."""
    example = worked["nasi_forward"]
    rng = np.random.default_rng(42)
    table, w_pos, w_qkv, w_o, w_1, w_2 = (
        rng.standard_normal(shape) * 0.1 for shape in ((9, 16), (5, 16), (16, 48), (16, 16), (16, 64), (64, 16)))
    x = lookup(table, [example["vocab"].index(letter) for letter in example["prompt"]]) + w_pos
    params = {"attention": {"w_qkv": w_qkv, "w_o": w_o}, "feed_forward": {"w_in": w_1, "w_out": w_2}}
    trace = block(x, params, 2, causal_mask(5), activation="relu")
    assert_allclose(trace.attention.pattern, example["attention_weights"], rtol=0, atol=1e-8)
    norms = [float(np.linalg.norm(part[-1])) for part in (trace.resid_pre, trace.attn_out, trace.ff_out)]
    assert_allclose(norms, list(example["residual_norms_last_token"].values()), rtol=0, atol=1e-12)
    assert [round(norm, 3) for norm in norms] == [0.443, 0.281, 0.868]
    assert_allclose(normalise(trace.resid_post, None)[-1] @ table.T, example["logits_last"], rtol=0, atol=1e-8)


def doubling():
    """A block whose attention writes twice what it reads (one token looks at itself), and whose feed-forward layer writes nothing."""
    return {"attention": {"w_qkv": np.hstack([np.zeros((4, 8)), np.eye(4)]), "w_o": 2 * np.eye(4)},
            "feed_forward": {"w_in": np.zeros((4, 1)), "w_out": np.zeros((1, 4))}}


def test_where_the_norm_sits():
    """N27: x = [1, 2, 3, 4] and a step f(v) = 2v."""
    x = [[1.0, 2.0, 3.0, 4.0]]
    assert_allclose(block(x, doubling(), 1, norm_position="post").resid_mid, [[-1.34164, -0.447213, 0.447213, 1.34164]], rtol=0, atol=2e-6)
    pre = block(x, doubling(), 1, norm_position="pre")
    assert_allclose(pre.resid_mid, [[-1.68327, 1.105576, 3.894424, 6.683271]], rtol=0, atol=1e-6)
    assert_array_equal(pre.resid_post, pre.resid_mid)  # no norm after the last step
    assert_allclose(block(x, doubling(), 1).resid_mid, pre.resid_mid, rtol=0, atol=0)  # pre unless told otherwise


# --- against plain Python -------------------------------------------------------------------------------------------

def naive_norm(row, params, norm):
    mean = math.fsum(row) / len(row) if norm == "layer" else 0.0
    root = math.sqrt(math.fsum((v - mean) ** 2 for v in row) / len(row) + (1e-5 if norm == "layer" else 1e-6))
    offset = params["offset"] if norm == "layer" else [0.0] * len(row)
    return list(row) if norm == "none" else [(v - mean) / root * g + o for v, g, o in zip(row, params["gain"], offset)]


def times(rows, matrix, bias):
    return [[math.fsum(v * matrix[i][c] for i, v in enumerate(row)) + bias[c] for c in range(len(bias))] for row in rows]


def naive_attention(rows, params, n_heads, visible):
    qkv, width = times(rows, params["w_qkv"], params["b_qkv"]), len(params["w_o"])
    d_head, mixed = width // n_heads, [[] for _ in rows]
    for head in range(n_heads):
        q, k, v = ([row[part * width + head * d_head:part * width + (head + 1) * d_head] for row in qkv] for part in range(3))
        for i, query in enumerate(q):
            raised = [math.exp(math.fsum(a * b for a, b in zip(query, key)) / math.sqrt(d_head)) * visible[i][j] for j, key in enumerate(k)]
            mixed[i] += [math.fsum(r * value[c] for r, value in zip(raised, v)) / math.fsum(raised) for c in range(d_head)]
    return times(mixed, params["w_o"], params["b_o"])


def naive_block(rows, params, n_heads, visible, position, norm, residual):
    """Lists of numbers; gives resid_mid and resid_post, by the two lines of the docstring."""
    def feed(inner):
        hidden = times(inner, params["feed_forward"]["w_in"], params["feed_forward"]["b_in"])
        return times([[max(h, 0.0) for h in row] for row in hidden], params["feed_forward"]["w_out"], params["feed_forward"]["b_out"])

    def step(stream, which, write):
        def normed(inner):
            return [naive_norm(row, params[which], norm) for row in inner]

        written = write(normed(stream) if position == "pre" else stream)
        total = [[a * residual + b for a, b in zip(old, new)] for old, new in zip(stream, written)]
        return total if position == "pre" else normed(total)

    mid = step(rows, "norm_1", lambda inner: naive_attention(inner, params["attention"], n_heads, visible))
    return mid, step(mid, "norm_2", feed)


@EACH_CHOICE
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_a_block_matches_plain_python(position, norm, residual, causal, batch):
    params, x = random_params(0), np.random.default_rng(1).normal(size=(*batch, 3, 4))
    visible = causal_mask(3) if causal else np.ones((3, 3), bool)
    trace = block(x, params, 2, visible, activation="relu", norm=norm, norm_position=position, residual=residual)
    lists = mapped(params, lambda array: array.tolist())
    for index in np.ndindex(batch):
        mid, post = naive_block(x[index].tolist(), lists, 2, visible.tolist(), position, norm, residual)
        assert_same(trace.resid_mid[index], mid)
        assert_same(trace.resid_post[index], post)


# --- laws -----------------------------------------------------------------------------------------------------------

@given(st.integers(0, 999), st.integers(1, 5))
def test_pre_norm_the_stream_is_the_sum_of_what_was_written(seed, n_tokens):
    x = np.random.default_rng(seed).normal(size=(n_tokens, 4))
    trace = block(x, random_params(seed), 2, causal_mask(n_tokens))
    assert_array_equal(trace.resid_pre, x)
    assert_array_equal(trace.resid_mid, trace.resid_pre + trace.attn_out)
    assert_array_equal(trace.resid_post, trace.resid_mid + trace.ff_out)
    assert_same(trace.resid_post, x + trace.attn_out + trace.ff_out)
    assert_array_equal(trace.attn_out, trace.attention.out)
    assert_array_equal(trace.ff_out, trace.feed_forward.out)


@EACH_CHOICE
def test_each_step_reads_what_the_trace_says_it_reads(position, norm):
    params, x = random_params(2), np.random.default_rng(3).normal(size=(3, 4))
    trace = block(x, params, 2, norm=norm, norm_position=position)
    reads = (normalise(x, params["norm_1"], norm), normalise(trace.resid_mid, params["norm_2"], norm))
    assert_array_equal(trace.attn_in, reads[0] if position == "pre" else x)
    assert_array_equal(trace.ff_in, reads[1] if position == "pre" else trace.resid_mid)
    assert_same(trace.feed_forward.hidden_pre, trace.ff_in @ params["feed_forward"]["w_in"] + params["feed_forward"]["b_in"])


@EACH_CHOICE
@pytest.mark.parametrize("changed", range(4))
def test_a_later_token_never_changes_an_earlier_row(position, norm, changed):
    """E05: under the causal mask the rows before it stay bit for bit; without the mask they move."""
    params, x = random_params(4), np.random.default_rng(5).normal(size=(4, 4))
    other = x.copy()
    other[changed] += np.arange(4)
    rows = [[block(v, params, 2, visible, norm=norm, norm_position=position).resid_post for v in (x, other)]
            for visible in (causal_mask(4), None)]
    assert_same(rows[0][0][:changed], rows[0][1][:changed])
    assert (np.abs(rows[0][0] - rows[0][1])[changed:].max(axis=-1) > 1e-6).all()
    assert (np.abs(rows[1][0] - rows[1][1]).max(axis=-1) > 1e-6).all()


def test_without_a_mask_tokens_in_another_order_come_out_in_that_order():
    params, x = random_params(6), np.random.default_rng(7).normal(size=(5, 4))
    order = [2, 0, 4, 3, 1]
    assert_same(block(x[order], params, 2).resid_post, block(x, params, 2).resid_post[order])


def test_post_norm_without_gain_and_offset_every_token_leaves_with_mean_0_and_variance_1():
    params = {name: part for name, part in random_params(8).items() if not name.startswith("norm")}
    out = block(np.random.default_rng(9).normal(size=(3, 4)), params, 2, norm_position="post").resid_post
    assert_allclose(out.mean(axis=-1), 0, rtol=0, atol=1e-12)
    assert_allclose(out.var(axis=-1), 1, rtol=0, atol=1e-3)


def test_further_arguments_reach_attention():
    params, x = random_params(10), np.random.default_rng(11).normal(size=(3, 4))
    bias = np.random.default_rng(12).normal(size=(2, 3, 3))
    assert_same(block(x, params, 2, bias=bias, scale=0.1).attention.scores,
                block(x, params, 2, scale=0.1).attention.scores + bias)


def test_a_stack_hands_each_stream_on():
    layers, x = [random_params(seed) for seed in range(3)], np.random.default_rng(13).normal(size=(3, 4))
    traces = stack(x, layers, 2, causal_mask(3), activation="relu", norm="rms", norm_position="post")
    assert len(traces) == 3
    for layer, trace in zip(layers, traces):
        alone = block(x, layer, 2, causal_mask(3), activation="relu", norm="rms", norm_position="post")
        for one, other in zip(arrays(trace), arrays(alone), strict=True):
            assert_array_equal(one, other)
        x = trace.resid_post


# --- shares ---------------------------------------------------------------------------------------------------------

@given(st.integers(0, 999), st.integers(1, 4), st.integers(1, 4))
def test_shares_of_the_parts_add_up_to_the_length_of_their_sum(seed, n_parts, n_tokens):
    parts = np.random.default_rng(seed).normal(size=(n_parts, n_tokens, 3))
    total = parts.sum(axis=0)
    shares = shares_along(parts, total)
    assert shares.shape == (n_parts, n_tokens)
    assert_same(shares.sum(axis=0), [math.hypot(*row) for row in total])


def test_shares_by_hand_and_of_nothing():
    """[6, 8] has length 10 and direction [0.6, 0.8]."""
    assert_same(shares_along([[[6.0, 3.0]], [[0.0, 5.0]]], [[6.0, 8.0]]), [[6], [4]])
    assert_array_equal(shares_along([[[1.0, 0.0]], [[-1.0, 0.0]]], [[0.0, 0.0]]), 0)


# --- precision and wrong use ----------------------------------------------------------------------------------------

@EACH_CHOICE
@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "silu", "swiglu"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_field_keeps_the_precision(position, norm, activation, dtype):
    params = mapped(random_params(14), lambda array: array.astype(dtype))
    trace = block(np.ones((2, 4), dtype), params, 2, causal_mask(2), activation=activation, norm=norm, norm_position=position)
    assert {array.dtype for array in arrays(trace)} == {np.dtype(dtype)}
    assert shares_along(trace.attn_out[None], trace.resid_post).dtype == dtype


def test_choices_that_do_not_exist_are_refused():
    x, params = np.ones((2, 4)), random_params(15)
    with pytest.raises(ValueError, match="norm_position is 'middle'; it can be \"pre\" or \"post\""):
        block(x, params, 2, norm_position="middle")
    for position in ("pre", "post"):
        with pytest.raises(ValueError, match="norm is 'batch'; it can be \"layer\", \"rms\" or, for an experiment, \"none\""):
            block(x, params, 2, norm="batch", norm_position=position)
    with pytest.raises(ValueError, match="activation is 'step'"):
        block(x, params, 2, activation="step")


@pytest.mark.parametrize(("part", "name", "shape", "sentence"), [
    ("attention", "w_qkv", (5, 12), "features, so w_qkv needs 4 rows, not 5"),
    ("attention", "w_o", (4, 1), "The stream has 4 features and what is written to it 1"),
    ("feed_forward", "w_in", (3, 6), "features, so w_in needs 4 rows, not 3"),
    ("feed_forward", "w_out", (6, 1), "The stream has 4 features and what is written to it 1"),
    ("norm_2", "gain", (3,), r"gain needs the shape \(4,\), not \(3,\)"),
])
@pytest.mark.parametrize("position", ["pre", "post"])
def test_sizes_that_do_not_fit_are_named(part, name, shape, sentence, position):
    params = random_params(16)
    for which in ("attention", "feed_forward"):
        params[which] = {key: array for key, array in params[which].items() if not key.startswith("b_")}
    params[part] = {**params[part], name: np.ones(shape)}
    with pytest.raises(ValueError, match=sentence):
        block(np.ones((2, 4)), params, 2, norm_position=position)
