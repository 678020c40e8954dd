"""Every kind of question, read from its own words and worked out again by hand: 200 draws of each come to the answer that is marked "
  "right."""

import math
import re

import numpy as np
import pytest

from core import questions
from core.questions.marking import mark

N_DRAWS = 200


def found(pattern, question):
    """The groups of a pattern in what is asked, numbers as numbers."""
    match = re.search(pattern, question.asks)
    assert match, (pattern, question.asks)
    return [float(group.replace("−", "-")) if re.fullmatch(r"[−\d.]+", group) else group for group in match.groups()]


def at(pattern, question):
    """The same as whole numbers."""
    return [int(each) for each in found(pattern, question)]


def vectors(text):
    """Every vector (a, b, …) in a text."""
    return [[float(entry.replace("−", "-")) for entry in inner.split(", ")] for inner in re.findall(r"\(((?:−?[\d.]+, )+−?[\d.]+)\)", text)]


def given(question, n=0):
    return question.given[n].values


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def only(flags):
    """The place of the only True."""
    (place,) = [i for i, flag in enumerate(flags) if flag]
    return place


# ------------------------------------------------------------------------------------------------------- solved by hand


def pairs_of(question):
    counts = {}
    for word, times in re.findall(r"\*\*(\w{2,})\*\* (\d+)×", question.asks):
        for i in range(len(word) - 1):
            counts[word[i:i + 2]] = counts.get(word[i:i + 2], 0) + int(times)
    return counts


def next_merge(question):
    counts = pairs_of(question)
    most = max(counts.values())
    best = only([count == most for count in counts.values()])
    return question.options.index(" + ".join(list(counts)[best]))


def pair_count(question):
    return pairs_of(question)["".join(found(r"do \*\*(\w)\*\* and \*\*(\w)\*\*", question))]


def sinusoidal_entry(question):
    feature, position = found(r"\*\*feature (\d)\*\* at \*\*position (\d)\*\*", question)
    angle = position * (1 if feature < 2 else 0.01)
    return math.cos(angle) if feature in (1, 3) else math.sin(angle)


def rotary_shift(question):
    i, j = at(r"query stands at position (\d+) and a key at position (\d+)", question)
    moves = [[int(number) for number in re.findall(r"position (\d+)", option)] for option in question.options]
    return only([later_i - later_j == i - j for later_i, later_j in moves])


def alike(question):
    a, b = vectors(question.asks)
    return dot(a, b) / (math.hypot(*a) * math.hypot(*b))


def position_added(question):
    (x,), (feature,) = vectors(question.asks), at(r"\*\*feature (\d)\*\*", question)
    return x[feature] + (0, 1)[feature]


def raw_score(question):
    i, j = at(r"\*\*query (\d)\*\* with \*\*key (\d)\*\*", question)
    return dot(given(question)[i], given(question, 1)[j])


def scaled_score(question):
    return raw_score(question) / 2


def softmax_weight(question):
    (scores,), (j,) = vectors(question.asks), at(r"\*\*key (\d)\*\*", question)
    return math.exp(scores[j]) / sum(map(math.exp, scores))


def mixed_value(question):
    (weights,), (f,) = vectors(question.asks), at(r"\*\*feature (\d)\*\*", question)
    return dot(weights, given(question)[:, f])


def divisor(question):
    d_model, n_heads = found(r"d_model = (\d+) and (\d+) heads", question)
    return math.sqrt(d_model / n_heads)


def causal_heatmap(question):
    def causal(z):
        return all((z[i][j] > 0) == (j <= i) for i in range(len(z)) for j in range(len(z)))
    return only([causal(shown.values) for shown in question.options])


def normalised_over_keys(question):
    return only([all(abs(sum(row) - 1) < 0.05 for row in shown.values.tolist()) for shown in question.options])


def not_a_pattern(question):
    rows = [vectors(option)[0] for option in question.options]
    return {i for i, row in enumerate(rows) if min(row) < 0 or round(10 * sum(row)) != 10}


def split_shape(question):
    n_tokens, d_model, n_heads = at(r"(\d+) tokens, d_model = (\d+), (\d+) heads", question)
    return question.options.index(f"{n_heads} × {n_tokens} × {d_model // n_heads}")


def ranked(question, words):
    """The steps in the order in which their words stand in a list written here by hand."""
    ranks = [only([word in option for word in words]) for option in question.options]
    return sorted(range(len(ranks)), key=ranks.__getitem__)


def order_attention(question):
    assert not any("√" in one and "−∞" in other for one in question.options for other in question.options)
    return ranked(question, ["w_q", "dot product", "divide the scores", "later tokens", "softmax", "mix the values", "side by side",
                             "by w_o"])


def order_block(question):
    if "**pre-norm**" in question.asks:
        return ranked(question, ["stream for attention", "attention reads", "attention wrote", "stream for the feed", "layer reads",
                                 "layer wrote"])
    return sorted(range(6), key=lambda i: ["attention reads the stream", "add what attention wrote to the stream", "normalise the stream",
                                           "the feed-forward layer reads the stream", "add what the feed-forward layer wrote to the stream",
                                           "normalise the stream again"].index(question.options[i]))


def causal_edit(question):
    (j,) = at(r"\*\*Token (\d)\*\*", question)
    reached = {i for i in range(5) if i >= j}
    return reached if "**changes**" in question.asks else set(range(5)) - reached


def pattern_cell(question):
    words = [label.split(" · ")[1] for label in question.options[0]]
    return tuple(words.index(word) for word in found(r"“(\w+)” takes from “(\w+)”", question))


def causal_count(question):
    (n,) = at(r"has (\d+) tokens", question)
    return sum(1 for i in range(n) for j in range(n) if j <= i)


def layer_norm_entry(question):
    (x,), (i,) = vectors(question.asks), at(r"\*\*feature (\d)\*\*", question)
    mean = sum(x) / 4
    return (x[i] - mean) / math.sqrt(sum((value - mean) ** 2 for value in x) / 4)


def rms_norm_entry(question):
    (x,), (i,) = vectors(question.asks), at(r"\*\*feature (\d)\*\*", question)
    return x[i] / math.sqrt(sum(value * value for value in x) / 4)


def hidden_unit(question):
    (x,), (f,) = vectors(question.asks), at(r"\*\*hidden feature (\d)\*\*", question)
    return max(0, dot(x, given(question)[:, f]))


def which_bend(question):
    x, made = found(r"turns (−?[\d.]+) into (−?[\d.]+)\?", question)
    bends = {"ReLU": max(x, 0), "GELU": x * (1 + math.erf(x / math.sqrt(2))) / 2, "SiLU": x / (1 + math.exp(-x)), "no bend: x itself": x}
    return only([abs(bends[option] - made) < 1e-3 for option in question.options])


def residual_sum(question):
    return sum(found(r"stands at (−?[\d.]+) in .* attention writes (−?[\d.]+) and the feed-forward layer writes (−?[\d.]+)\.", question))


BROKEN = [r"softmax\(2 s\) = softmax\(s\)$", r"softmax\(q kᵀ / √d\) = ", r"softmax\(q kᵀ\) v = softmax\(k", r"RMSNorm\(x \+",
          r"LayerNorm\(x\) = x /",
          r"stream out = .*\(post-norm\)$", r"pe\[2\]", r"out = \(mixed", r"ReLU\("]  # read and judged by hand


def broken_formula(question):
    return only([any(re.match(pattern, option) for pattern in BROKEN) for option in question.options])


def shares(texts):
    return {text.rsplit(" ", 1)[0]: float(text.rsplit(" ", 1)[1]) for text in texts}


def shares_asked(question):
    return {name: float(p) for name, p in re.findall(r"(tea|rain|bread|music|snow) (0\.\d+)", question.asks)}


def top_p_kept(question):
    (p,), probs, kept, total = found(r"p = ([\d.]+) keeps", question), shares(question.options), set(), 0.0
    for name in sorted(probs, key=lambda name: -probs[name]):
        if total < p:
            kept.add(list(probs).index(name))
            total += probs[name]
    return kept


def top_k_share(question):
    (k,), (name,), probs = at(r"k = (\d)", question), found(r"“(\w+)” drawn", question), shares_asked(question)
    return probs[name] / sum(sorted(probs.values())[-k:])


def temperature(question):
    (to,), (name,), probs = found(r"goes to \*\*([\d.]+)\*\*", question), found(r"of “(\w+)”\?", question), shares_asked(question)
    powers = {each: p ** (1 / max(to, 0.01)) for each, p in probs.items()}
    return 0 if powers[name] / sum(powers.values()) > probs[name] else 1


def loss_of(question):
    return -math.log(shares_asked(question)[found(r"goes on with “(\w+)”", question)[0]])


def loss_of_guessing(question):
    return math.log(found(r"of the (\d+) tokens", question)[0])


def forward_shape(question):
    n, vocab, d, heads, d_ff = at(r"reads (\d+) tokens: vocabulary (\d+), d_model (\d+), (\d+) heads, d_ff (\d+)", question)
    shape = {"the logits": (n, vocab), "the attention weights of one block": (heads, n, n), "the queries of one block, split into heads":
             (heads, n, d // heads), "the hidden features of a feed-forward layer": (n, d_ff), "the residual stream after a block": (n, d)}
    return question.options.index(" × ".join(map(str, shape[found(r"\*\*(.*)\*\*", question)[0]])))


def greedy(question):
    (logits,) = vectors(question.asks)
    return only([logit == max(logits) for logit in logits])


def block_parameters(question):
    (d,) = at(r"d_model = (\d+)", question)
    return 4 * d * d + d * 4 * d + 4 * d * d


def embedding_parameters(question):
    vocab_size, d = at(r"vocabulary of (\d+) tokens and d_model = (\d+)", question)
    return vocab_size * d


def cache_of_a_token(question):
    n_layers, _, n_kv_heads, d_head = at(r"has (\d+) blocks; each has (\d+) query heads and (\d+) key/value heads? of width (\d+)",
                                         question)
    return sum(2 * n_kv_heads * d_head * 2 for _ in range(n_layers))


def longer_text(question):
    (times,) = at(r"\*\*(\d) times\*\*", question)
    return times * times if "queries with keys" in question.asks else times


def attention_against_recurrence(question):
    n, d = at(r"n = (\d+) tokens and vectors of d = (\d+)", question)
    return d / n


# ------------------------------------------------------------------------------------------------------------- the test


@pytest.mark.parametrize("name", questions.KINDS)
def test_the_answer_worked_out_by_hand_is_marked_right_and_others_are_not(name):
    solve = globals()[name]
    for seed in range(N_DRAWS):
        question = questions.draw(name, seed, 1 + seed % 3)
        answer = solve(question)
        if question.answer in ("number", "whole"):
            value = float(answer)
            decimals = 2 if question.tolerance == 0.01 else 4
            right = [repr(value), f"{value:.{decimals}f}"]
            wrong = [repr(value + gap) for gap in (4 * max(question.tolerance, 0.25 * (question.answer == "whole")), -1, 1, 10,
                                                   -abs(value) * 0.2 - 1)]
        elif question.answer in ("choice", "pictures"):
            right, wrong = [answer], [i for i in range(len(question.options)) if i != answer]
        elif question.answer == "set":
            right, wrong = [answer], [answer ^ {i} for i in range(len(question.options))]
        elif question.answer == "order":
            right, wrong = [tuple(answer)], [tuple(answer[::-1]), tuple(answer[1:]) + tuple(answer[:1])]
        else:
            right, wrong = [answer], [answer[::-1], (answer[0], answer[0])]
        assert all(mark(question, each).points == 1 for each in right), (seed, question, right)
        assert all(mark(question, each).points < 1 for each in wrong), (seed, question, wrong)


def test_a_rotation_by_hand_agrees_that_only_the_distance_counts():
    def score(q, k, i, j):  # two pairs: features 0 and 2 turn by 1 a position, 1 and 3 by 1/100
        turned = []
        for x, p in ((q, i), (k, j)):
            a, b = p * 1.0, p * 0.01
            turned.append([x[0] * math.cos(a) - x[2] * math.sin(a), x[1] * math.cos(b) - x[3] * math.sin(b),
                           x[0] * math.sin(a) + x[2] * math.cos(a), x[1] * math.sin(b) + x[3] * math.cos(b)])
        return dot(*turned)
    q, k = np.array([1.0, 2, 3, 1]), np.array([2.0, 1, 1, 3])
    assert abs(score(q, k, 5, 3) - score(q, k, 12, 10)) < 1e-12 < 0.1 < abs(score(q, k, 5, 3) - score(q, k, 6, 3))
