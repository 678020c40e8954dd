"""The classifier: a plain loop says the same, filler changes nothing, and every gradient is the finite difference."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from core import classifier
from core.loss import cross_entropy
from core.optimizer import at, walk

OWN = classifier.sizes(7, 6, 8, 2, 3, n_layers=2, d_ff=10)
IDS, REAL = np.array([[3, 1, 4, 1], [2, 6, 0, 0], [5, 0, 0, 0]]), np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]], bool)


def drawn(seed=0, dtype=np.float64):
    params, rng = classifier.init_params(OWN, np.random.default_rng(seed), 0.5, dtype), np.random.default_rng(seed + 1)
    for _, array in walk(params):
        array += (rng.normal(size=array.shape) * 0.1).astype(dtype)
    return params


def plain_norm(row, gain):
    middle = math.fsum(row) / len(row)
    root = math.sqrt(math.fsum((value - middle) ** 2 for value in row) / len(row) + 1e-5)
    return np.array([(value - middle) / root for value in row]) * gain


def plain_gelu(x):
    return x / 2 * (1 + math.erf(x / math.sqrt(2)))


def plain(params, ids, n_heads=2):
    """One message, token by token and head by head; returns (weights of the pooling, logits)."""
    x = [params["w_embed"][each] + params["w_pos"][place] for place, each in enumerate(ids)]
    for layer in params["blocks"]:
        own, fed, d_head = layer["attention"], layer["feed_forward"], len(x[0]) // n_heads
        read = [np.split(plain_norm(row, layer["norm_1"]["gain"]) @ own["w_qkv"], 3) for row in x]  # query, key, value
        mid = []
        for asking in range(len(x)):
            joined = []
            for h in range(n_heads):
                part = slice(h * d_head, (h + 1) * d_head)
                raised = [math.exp(read[asking][0][part] @ key[part] / math.sqrt(d_head)) for _, key, _ in read]
                joined.extend(sum(each / math.fsum(raised) * value[part] for each, (_, _, value) in zip(raised, read, strict=True)))
            mid.append(x[asking] + np.array(joined) @ own["w_o"])
        x = [row + np.array([plain_gelu(value) for value in plain_norm(row, layer["norm_2"]["gain"]) @ fed["w_in"]]) @ fed["w_out"]
             for row in mid]
    final = [plain_norm(row, params["final_norm"]["gain"]) for row in x]
    raised = [math.exp(row @ params["w_pool"]) for row in final]
    weights = [each / math.fsum(raised) for each in raised]
    pooled = sum(weight * row for weight, row in zip(weights, final, strict=True))
    return weights, pooled @ params["w_classes"] + params["b_classes"]


def test_the_forward_pass_says_what_a_plain_loop_says():
    params, trace = drawn(), classifier.forward(drawn(), IDS, OWN, REAL)
    for row, (ids, real) in enumerate(zip(IDS, REAL, strict=True)):
        weights, logits = plain(params, ids[real])
        assert_allclose(trace.pool_pattern[row][real], weights, rtol=0, atol=1e-12)
        assert_allclose(trace.logits[row], logits, rtol=0, atol=1e-12)
    assert_allclose(trace.probs.sum(axis=-1), 1, rtol=0, atol=1e-12)
    assert_allclose(trace.pool_pattern.sum(axis=-1), 1, rtol=0, atol=1e-12)
    assert_array_equal(trace.pool_pattern[~REAL], 0)


def test_filler_changes_nothing_whatever_stands_there():
    params, other = drawn(), IDS.copy()
    other[~REAL] = 6
    logits = classifier.forward(params, IDS, OWN, REAL).logits
    assert_array_equal(logits, classifier.forward(params, other, OWN, REAL).logits)
    assert_allclose(classifier.forward(params, [2, 6], OWN).logits, logits[1], rtol=0, atol=1e-12)


def test_a_message_is_read_both_ways():
    """A changed last word moves what the first token has become, and the pooled weight of the first token with it."""
    one, other = (classifier.forward(drawn(), [3, 1, last], OWN) for last in (4, 5))
    assert abs(one.final[0] - other.final[0]).max() > 1e-6


@pytest.mark.parametrize("real", [REAL, None], ids=["with filler", "without"])
def test_every_gradient_is_the_finite_difference(real):
    params, targets, step = drawn(3), np.array([2, -1, 0]), 1e-5
    loss, grads = classifier.loss_and_grads(params, IDS, targets, OWN, real)
    assert {path for path, _ in walk(grads)} == {path for path, _ in walk(params)}
    assert loss == cross_entropy(classifier.forward(params, IDS, OWN, real).logits, targets)
    for path, array in walk(params):
        flat, numeric = array.reshape(-1), []
        places = np.random.default_rng(0).permutation(flat.size)[:8]
        for place in places:
            kept, losses = flat[place], []
            for sign in (1, -1):
                flat[place] = kept + sign * step
                losses.append(cross_entropy(classifier.forward(params, IDS, OWN, real).logits, targets))
            flat[place] = kept
            numeric.append((losses[0] - losses[1]) / (2 * step))
        gap = abs(np.array(numeric) - at(grads, path).reshape(-1)[places]).max()
        assert gap <= 1e-6 * max(abs(at(grads, path)).max(), abs(np.array(numeric)).max()) + 1e-9, path


def test_precision_is_kept():
    trace = classifier.forward(drawn(dtype=np.float32), IDS, OWN, REAL)
    _, grads = classifier.loss_and_grads(drawn(dtype=np.float32), IDS, [0, 1, 2], OWN, REAL)
    single = {np.dtype(np.float32)}
    assert {getattr(trace, name).dtype for name in trace._fields if name not in ("token_ids", "blocks")} == single
    assert {array.dtype for _, array in walk(grads)} == single


def test_what_can_not_be_read_gets_a_sentence():
    params = drawn()
    for ids, real in (([], None), ([[1, 2]], np.array([[False, False]])), (np.zeros((0, 3), int), None)):
        with pytest.raises(ValueError, match="write at least one word"):
            classifier.forward(params, ids, OWN, real)
    with pytest.raises(ValueError, match="at most 6 tokens; this message has 7"):
        classifier.forward(params, [1] * 7, OWN)
    with pytest.raises(ValueError, match=r"its shape must be \(2,\), not \(3,\)"):
        classifier.forward(params, [1, 2], OWN, np.ones(3, bool))
    with pytest.raises(ValueError, match="rows 0 to 6"):
        classifier.forward(params, [7], OWN)
    with pytest.raises(ValueError, match="can't be cut into 3 equal heads"):
        classifier.sizes(7, 6, 8, 3, 3)
