"""Encoder and decoder: who asks whom, what may change what, and plain steps put together by hand."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from core.attention import attend, causal_mask, multi_head_attention
from core.encoder_decoder import decoder_layer, forward, who_sees_whom

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = (np.float16, np.float32, np.float64)
PLACES = pytest.mark.parametrize("position", ["pre", "post"])
SOURCE, TARGET = [3, 1, 4, 1, 5], [2, 0, 6]


def assert_same(actual, expected):
    assert_allclose(actual, expected, rtol=0, atol=1e-12)


def layer_params(rng, kinds, d_model=6, d_ff=5):
    params = {kind: {"w_qkv": rng.normal(size=(d_model, 3 * d_model)) * 0.5, "w_o": rng.normal(size=(d_model, d_model)) * 0.5}
              for kind in kinds}
    params["feed_forward"] = {"w_in": rng.normal(size=(d_model, d_ff)) * 0.5, "w_out": rng.normal(size=(d_ff, d_model)) * 0.5}
    for i in range(len(kinds) + 1):
        params[f"norm_{i + 1}"] = {"gain": 1 + rng.normal(size=d_model) * 0.3, "offset": rng.normal(size=d_model) * 0.3}
    return params


def decoder_params(seed, d_model=6):
    return layer_params(np.random.default_rng(seed), ("self_attention", "cross_attention"), d_model)


def whole_params(seed, n_layers=2, vocab_size=7, d_model=6):
    rng = np.random.default_rng(seed)
    return {"w_embed": rng.normal(size=(vocab_size, d_model)) * 0.4,
            "encoder": [layer_params(rng, ("attention",), d_model) for _ in range(n_layers)],
            "decoder": [layer_params(rng, ("self_attention", "cross_attention"), d_model) for _ in range(n_layers)],
            "final_norm_encoder": {"gain": 1 + rng.normal(size=d_model) * 0.3, "offset": rng.normal(size=d_model) * 0.3},
            "final_norm_decoder": {"gain": 1 + rng.normal(size=d_model) * 0.3, "offset": rng.normal(size=d_model) * 0.3}}


def mapped(params, change):
    if isinstance(params, dict):
        return {name: mapped(value, change) for name, value in params.items()}
    return [mapped(each, change) for each in params] if isinstance(params, list) else change(params)


def arrays(trace):
    return [array for field in trace for array in (arrays(field) if isinstance(field, tuple) else [field])]


# --- plain steps ----------------------------------------------------------------------------------------------------

def plain_norm(x, params):
    """Row by row, by the formula: this project's own is tested in test_normalization.py."""
    rows = [[(v - math.fsum(row) / len(row)) / math.sqrt(np.var(row) + 1e-5) for v in row] for row in x]
    return np.array(rows) * params["gain"] + params["offset"]


def plain_attention(x, context, params, n_heads, visible):
    """One query and one head after the other."""
    width = len(params["w_o"])
    d_head, out = width // n_heads, np.zeros((len(x), width))
    q, k, v = x @ params["w_qkv"][:, :width], context @ params["w_qkv"][:, width:2 * width], context @ params["w_qkv"][:, 2 * width:]
    for i in range(len(x)):
        for part in (slice(h * d_head, (h + 1) * d_head) for h in range(n_heads)):
            raised = np.array([math.exp(q[i, part] @ k[j, part] / math.sqrt(d_head)) * visible[i, j] for j in range(len(context))])
            out[i, part] = raised / raised.sum() @ v[:, part]
    return out @ params["w_o"]


def plain_feed_forward(x, params):
    return np.where(x @ params["w_in"] > 0, x @ params["w_in"], 0) @ params["w_out"]


def plain_layer(x, params, steps, position):
    """Each step reads the stream and is added; the norm stands before the step or after the sum. Gives the stream after each step."""
    streams = []
    for number, step in enumerate(steps, 1):
        norm = params[f"norm_{number}"]
        x = x + step(plain_norm(x, norm)) if position == "pre" else plain_norm(x + step(x), norm)
        streams.append(x)
    return streams


def plain_decoder_layer(x, memory, params, n_heads, visible, memory_visible, position):
    return plain_layer(x, params, (lambda y: plain_attention(y, y, params["self_attention"], n_heads, visible),
                                   lambda y: plain_attention(y, memory, params["cross_attention"], n_heads, memory_visible),
                                   lambda y: plain_feed_forward(y, params["feed_forward"])), position)


def plain_embed(table, ids):
    d = table.shape[1]
    pe = [[(math.cos if i % 2 else math.sin)(p / 10000 ** (i // 2 * 2 / d)) for i in range(d)] for p in range(len(ids))]
    return np.array([table[i] * math.sqrt(d) for i in ids]) + pe


@PLACES
@pytest.mark.parametrize("masks", ["default", "given"])
def test_a_decoder_layer_matches_plain_steps(position, masks):
    params, rng = decoder_params(0), np.random.default_rng(1)
    x, memory = rng.normal(size=(3, 6)), rng.normal(size=(5, 6))
    visible, memory_visible = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]], bool), np.arange(5) != np.array([[4], [0], [2]])
    given = (visible, memory_visible) if masks == "given" else ()
    trace = decoder_layer(x, memory, params, 2, *given, norm_position=position)
    plain_masks = given or (np.tril(np.ones((3, 3))), np.ones((3, 5)))
    mid, crossed, post = plain_decoder_layer(x, memory, params, 2, *plain_masks, position)
    assert_array_equal(trace.resid_pre, x)
    assert_same(trace.resid_mid, mid)
    assert_same(trace.resid_cross, crossed)
    assert_same(trace.resid_post, post)


@PLACES
def test_the_whole_forward_matches_plain_steps(position):
    """Scaled embeddings plus positions, two layers each, a last norm with "pre" only, and the same table at the end."""
    params = whole_params(2)
    table, everyone = params["w_embed"], np.ones((5, 5))
    trace = forward(params, SOURCE, TARGET, 3, norm_position=position)
    source = stream = plain_embed(table, SOURCE)
    for layer in params["encoder"]:
        def own(y, layer=layer):
            return plain_attention(y, y, layer["attention"], 3, everyone)

        stream = plain_layer(stream, layer, (own, lambda y, layer=layer: plain_feed_forward(y, layer["feed_forward"])), position)[-1]
    memory = plain_norm(stream, params["final_norm_encoder"]) if position == "pre" else stream
    target = stream = plain_embed(table, TARGET)
    for layer in params["decoder"]:
        stream = plain_decoder_layer(stream, memory, layer, 3, np.tril(np.ones((3, 3))), np.ones((3, 5)), position)[-1]
    out = plain_norm(stream, params["final_norm_decoder"]) if position == "pre" else stream
    logits = [[math.fsum(a * b for a, b in zip(row, word)) for word in table.tolist()] for row in out.tolist()]
    probs = [[math.exp(logit) / math.fsum(map(math.exp, row)) for logit in row] for row in logits]
    for name, expected in {"source": source, "memory": memory, "target": target, "out": out, "logits": logits, "probs": probs}.items():
        assert_allclose(getattr(trace, name), expected, rtol=0, atol=1e-11)
    assert len(trace.encoder) == len(trace.decoder) == 2


# --- cross-attention ------------------------------------------------------------------------------------------------

def test_cross_attention_by_hand():
    """N26: two queries, three keys; each query takes most from the two keys it matches."""
    q, k, v = [[1.0, 0], [0, 1]], [[1.0, 0], [0, 1], [1, 1]], [[1.0, 0], [0, 1], [2, 2]]
    trace = attend(q, k, v)
    assert_allclose(trace.pattern, [[0.4011121, 0.1977758, 0.4011121], [0.1977758, 0.4011121, 0.4011121]], rtol=0, atol=5e-8)
    assert_allclose(trace.mixed, [[1.20333628, 1.0], [1.0, 1.20333628]], rtol=0, atol=5e-9)
    params = {"w_qkv": np.hstack([np.eye(2)] * 3), "w_o": np.eye(2)}
    crossed = multi_head_attention(np.array(q), params, 1, context=np.array(k))  # the same pattern; there the values are the keys
    assert_same(crossed.pattern[0], trace.pattern)


@PLACES
@pytest.mark.parametrize("n_heads", [1, 2, 3])
def test_patterns_have_a_row_for_each_target_and_a_column_for_each_source(position, n_heads):
    """N26: no causal mask lies over the source."""
    for layer in forward(whole_params(3), SOURCE, TARGET, n_heads, norm_position=position).decoder:
        assert layer.self_attention.pattern.shape == (n_heads, 3, 3)
        assert layer.cross_attention.pattern.shape == (n_heads, 3, 5)
        assert (layer.cross_attention.pattern > 0).all()
        assert_same(layer.cross_attention.pattern.sum(axis=-1), 1)
        assert_same(layer.self_attention.pattern.sum(axis=-1), 1)
        assert_array_equal(np.triu(layer.self_attention.pattern, 1), 0)


@PLACES
def test_hidden_sources_get_no_weight_and_change_nothing(position):
    params, rng = decoder_params(4), np.random.default_rng(5)
    x, memory = rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 5, 6))
    visible = np.arange(5) < np.array([2, 5])[:, None, None]
    trace = decoder_layer(x, memory, params, 2, memory_visible=visible, norm_position=position)
    assert_array_equal(trace.cross_attention.pattern[0, ..., 2:], 0)
    assert_same(trace.resid_post[0], decoder_layer(x[0], memory[0, :2], params, 2, norm_position=position).resid_post)
    assert_same(trace.resid_post[1], decoder_layer(x[1], memory[1], params, 2, norm_position=position).resid_post)


def test_queries_come_from_the_decoder_and_keys_and_values_from_the_encoder():
    params, rng = decoder_params(6), np.random.default_rng(7)
    x, memory = rng.normal(size=(3, 6)), rng.normal(size=(5, 6))
    trace = decoder_layer(x, memory, params, 1)
    w_qkv = params["cross_attention"]["w_qkv"]
    assert_same(trace.cross_attention.q[0], trace.resid_mid @ w_qkv[:, :6])
    assert_same(trace.cross_attention.k[0], memory @ w_qkv[:, 6:12])
    assert_same(trace.cross_attention.v[0], memory @ w_qkv[:, 12:])


# --- what may change what -------------------------------------------------------------------------------------------

@PLACES
@pytest.mark.parametrize("changed", range(3))
def test_a_later_target_moves_no_earlier_output(position, changed):
    params, other = whole_params(8), list(TARGET)
    other[changed] = 5
    before, after = (forward(params, SOURCE, target, 2, norm_position=position).logits for target in (TARGET, other))
    assert_same(after[:changed], before[:changed])
    assert (np.abs(after - before)[changed:].max(axis=-1) > 1e-6).all()


@PLACES
@pytest.mark.parametrize("changed", range(5))
def test_every_source_token_moves_every_output(position, changed):
    params, other = whole_params(9), list(SOURCE)
    other[changed] = 6
    before, after = (forward(params, source, TARGET, 2, norm_position=position) for source in (SOURCE, other))
    assert (np.abs(after.memory - before.memory).max(axis=-1) > 1e-6).all()
    assert (np.abs(after.logits - before.logits).max(axis=-1) > 1e-6).all()
    assert_array_equal(after.target, before.target)


def test_the_target_moves_nothing_in_the_encoder():
    params = whole_params(10)
    for one, other in zip(arrays(forward(params, SOURCE, TARGET, 2).encoder), arrays(forward(params, SOURCE, [1], 2).encoder), strict=True):
        assert_array_equal(one, other)


def test_the_figure_of_2017_is_the_default_relu_and_post_norm():
    params = whole_params(11)
    named = forward(params, SOURCE, TARGET, 2, activation="relu", norm_position="post")
    assert_array_equal(forward(params, SOURCE, TARGET, 2).logits, named.logits)
    assert np.abs(forward(params, SOURCE, TARGET, 2, activation="gelu").logits - named.logits).max() > 1e-6
    x, memory, layer = named.target, named.memory, params["decoder"][0]
    assert_array_equal(decoder_layer(x, memory, layer, 2).resid_post,
                       decoder_layer(x, memory, layer, 2, causal_mask(3), activation="relu", norm_position="post").resid_post)


# --- the three families ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("n_sources", "n_targets"), [(0, 0), (1, 1), (2, 3), (3, 0), (0, 3)])
def test_who_sees_whom(n_sources, n_targets):
    n, families = n_sources + n_targets, who_sees_whom(n_sources, n_targets)
    rules = {"encoder-only": lambda i, j: True, "decoder-only": lambda i, j: j <= i,
             "encoder–decoder": lambda i, j: j < n_sources if i < n_sources else j <= i}
    assert list(families) == list(rules)
    for name, rule in rules.items():
        assert families[name].dtype == bool
        assert families[name].shape == (n, n)
        assert families[name].tolist() == [[rule(i, j) for j in range(n)] for i in range(n)]


# --- precision and wrong use ----------------------------------------------------------------------------------------

@PLACES
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_field_keeps_the_precision(position, activation, dtype):
    params = mapped(whole_params(12), lambda array: array.astype(dtype))
    trace = forward(params, SOURCE, TARGET, 2, activation=activation, norm_position=position)
    assert {array.dtype for array in arrays(trace)} == {np.dtype(dtype)}


def test_ids_outside_the_vocabulary_are_refused_in_either_sentence():
    for source, target in (([7], [0]), ([0], [7]), ([-1], [0])):
        with pytest.raises(ValueError, match="rows 0 to 6"):
            forward(whole_params(13), source, target, 2)


def test_sizes_and_choices_that_do_not_fit_are_named():
    x, memory, params = np.ones((2, 6)), np.ones((3, 6)), decoder_params(14)
    with pytest.raises(ValueError, match="norm_position is 'both'"):
        decoder_layer(x, memory, params, 2, norm_position="both")
    with pytest.raises(ValueError, match="norm is 'batch'"):
        decoder_layer(x, memory, params, 2, norm="batch")
    with pytest.raises(ValueError, match="Tokens have 6 features and the context 4"):
        decoder_layer(x, np.ones((3, 4)), params, 2)
    with pytest.raises(ValueError, match="Head counts that work: 1, 2, 3, 6"):
        forward(whole_params(15), SOURCE, TARGET, 4)
    params["feed_forward"]["w_out"] = np.ones((5, 1))
    with pytest.raises(ValueError, match="The stream has 6 features and what is written to it 1"):
        decoder_layer(x, memory, params, 2)
    for counts in ((-1, 3), (3, -1)):
        with pytest.raises(ValueError, match=f"not {counts[0]} in the source and {counts[1]} in the target"):
            who_sees_whom(*counts)
