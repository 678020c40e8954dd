"""Questions about attention that are drawn anew each time: scores, weights, values, masks, heads."""

import numpy as np

from core import arithmetic
from core.activations import logistic
from core.attention import attend, causal_mask, split_heads
from core.config import ModelConfig
from core.questions.asking import CALCULATOR, PAPER, TWO_DECIMALS, Question, Shown, Slip, in_words, kind, mixed, numbered, on_paper
from core.softmax import softmax
from core.sums import explain_steps, number

STEPS = ("multiply the token vectors by w_q, w_k and w_v", "take the dot product of each query with each key",
         ("divide the scores by √d_head", "set the scores of later tokens to −∞"), "apply the softmax to each row",
         "mix the values with the weights", "put the results of the heads side by side", "multiply by w_o")
WORDS = ("the", "bank", "refused", "a", "loan")
LETTERS = "ABCD"


def _drawn(rng, d_head=4):
    """Two queries and three keys in small whole numbers, and which two are asked about."""
    q, k = rng.integers(-2, 4, (2, d_head)).astype(float), rng.integers(-2, 4, (3, d_head)).astype(float)
    return q, k, int(rng.integers(2)), int(rng.integers(3))


def _matrices(q, k):
    features = numbered(q.shape[1])
    return (Shown("Queries q", q, numbered(len(q)), features, "token", "feature"),
            Shown("Keys k", k, numbered(len(k)), features, "token", "feature"))


@kind("attention", "queries-keys-values", "A raw score")
def raw_score(rng):
    """The dot product of one query and one key."""
    q, k, i, j = _drawn(rng, 3)
    trace = attend(q, k, k)
    right = float(trace.raw_scores[i, j])
    swapped = [Slip(float(trace.raw_scores[j, i]), f"this is query {j} with key {i}; query and key changed places.")] if j < 2 else []
    if not right or (abs(q[i]) > 0).sum() < 2:
        return None
    return Question(f"What is the raw score of **query {i}** with **key {j}**, before anything is divided?", "whole", right,
                    given=_matrices(q, k), slips=tuple(swapped), hint=PAPER,
                    working=(arithmetic.explain(trace, "raw_scores", i, j, q=q, k=k),))


@kind("attention", "scaling", "A scaled score")
def scaled_score(rng):
    """A raw score divided by the root of the head's width."""
    q, k, i, j = _drawn(rng)
    trace = attend(q, k, k)
    raw, right = float(trace.raw_scores[i, j]), float(trace.scores[i, j])
    if not right:
        return None
    return Question(f"What is the score of **query {i}** with **key {j}** that goes into the softmax? The head's width is "
                    f"{q.shape[1]}.", "number", right, given=_matrices(q, k), hint=PAPER,
                    slips=(Slip(raw, "this is the raw score; it has still to be divided by √d_head."),
                           Slip(raw / q.shape[1], "this is divided by d_head, not by its root.")),
                    working=(arithmetic.explain(trace, "raw_scores", i, j, q=q, k=k),
                             f"scale = 1 / √d_head = 1 / √{q.shape[1]} = {on_paper(right / raw, 4)}",
                             arithmetic.explain(trace, "scores", i, j, q=q, k=k)))


@kind("attention", "attention", "A weight")
def softmax_weight(rng):
    """One weight of a softmax over three scores."""
    scores = rng.integers(-2, 4, 3).astype(float)
    j = int(rng.integers(3))
    trace = attend([[1.0]], scores[:, None], np.ones((3, 1)), scale=1.0)
    right = float(trace.pattern[0, j])
    if len(set(scores.tolist())) < 3 or not 0.02 < right < 0.98:
        return None
    total = float(scores.sum())
    why = "this divides the scores by their sum; the softmax takes e to each score first."
    shares = (Slip(float(scores[j]) / total, why),) if total else ()
    return Question(f"The scores of one query are {in_words(scores)}. What weight does **key {j}** get?", "number", right,
                    tolerance=TWO_DECIMALS, hint=CALCULATOR, slips=shares, working=(arithmetic.explain(trace, "pattern", 0, j),))


@kind("attention", "attention", "A mixed value")
def mixed_value(rng):
    """One feature of a weighted mean of values."""
    weights = np.array([[0.5, 0.25, 0.25], [0.25, 0.75, 0.0], [0.1, 0.4, 0.5], [0.2, 0.2, 0.6]][rng.integers(4)])[rng.permutation(3)]
    v, f = rng.integers(-4, 9, (3, 2)).astype(float), int(rng.integers(2))
    with np.errstate(divide="ignore"):
        trace = attend([[1.0]], np.maximum(np.log(weights), -1e4)[:, None], v, scale=1.0)
    right = round(float(trace.mixed[0, f]), 9)
    plain = float(v[:, f].mean())
    if len(set(v[:, f].tolist())) < 3:
        return None
    steps = [("mixed", " + ".join(f"{number(w)} × {number(x)}" if x >= 0 else f"{number(w)} × ({number(x)})"
                                  for w, x in zip(weights, v[:, f], strict=True)), right)]
    return Question(f"One query gives the three keys the weights {in_words(weights)}. What is **feature {f}** of its mixed value?",
                    "number", right, given=(Shown("Values v", v, numbered(3), numbered(2), "token", "feature"),), hint=PAPER,
                    slips=(Slip(plain, "this is the plain mean; each value has to be taken with its weight."),
                           Slip(round(float(trace.mixed[0, 1 - f]), 9), "this is the other feature.")),
                    tolerance=1e-3, working=(explain_steps("mixed", steps, right),))


@kind("attention", "scaling", "The divisor")
def divisor(rng):
    """What the scores are divided by, from d_model and the number of heads."""
    d_head, n_heads = int(rng.choice([4, 9, 16, 25, 64, 100])), int(rng.choice([2, 4, 5, 8, 12, 16]))
    config = ModelConfig(10, 10, d_model=d_head * n_heads, n_layers=1, n_heads=n_heads)
    trace = attend(np.ones((1, config.d_head)), np.ones((1, config.d_head)), [[0.0]])
    right = round(float(trace.raw_scores[0, 0] / trace.scores[0, 0]), 9)
    return Question(f"A layer has d_model = {config.d_model} and {n_heads} heads of equal width. By what are the scores of a head divided?",
                    "number", right, hint=PAPER, tolerance=0.005,
                    slips=(Slip(float(np.sqrt(config.d_model)), "this is the root of d_model; it is the head's width that counts."),
                           Slip(float(config.d_head), "this is the head's width; its root is still to be taken.")),
                    working=(explain_steps("divisor", [("d_head", f"{config.d_model} / {n_heads}", config.d_head),
                                                       ("divisor", f"√({config.d_head})", right)], right),))


@kind("attention", "causal-mask", "Which pattern is causal")
def causal_heatmap(rng):
    """Four patterns from the same scores under four masks; one mask is causal."""
    n = int(rng.integers(4, 6))
    scores, see = rng.normal(size=(n, n)), causal_mask(n)
    away = np.ones((n, n), bool)
    away[:, rng.integers(1, n)] = False
    masks = (see, see.T, away, [np.ones((n, n), bool), see[:, ::-1], abs(np.arange(n) - np.arange(n)[:, None]) <= 1][rng.integers(3)])
    patterns = [attend(scores, np.eye(n), np.eye(n), mask).pattern for mask in masks]
    order = rng.permutation(4).tolist()
    tokens = numbered(n)
    options = tuple(Shown(LETTERS[at], patterns[which], tokens, tokens, "query", "key", "weight") for at, which in enumerate(order))
    return Question("Rows are queries, columns are keys. Which of these patterns comes from a **causal mask**?", "pictures", order.index(0),
                    options, working=(("A causal mask lets each token look at itself and at earlier tokens. So every weight right of the "
                                       f"diagonal is 0: in row 0 only column 0 is left, in row {n - 1} all {n} columns."),))


@kind("attention", "attention", "Shared out over the keys")
def normalised_over_keys(rng):
    """The same scores normalised in four ways; in one of them each row sums to 1."""
    scores = rng.normal(size=(3, 3)).round(1) * 1.5
    ways = [softmax(scores), softmax(scores, axis=0), softmax(scores.ravel()).reshape(3, 3), logistic(scores)]
    gaps = [abs(way.sum(axis=1) - 1).max() for way in ways]
    if gaps[0] > 1e-12 or min(gaps[1:]) < 0.15:
        return None
    order = rng.permutation(4).tolist()
    tokens = numbered(3)
    options = tuple(Shown(LETTERS[at], ways[which], tokens, tokens, "query", "key", "weight") for at, which in enumerate(order))
    sums = "; ".join(f"{LETTERS[at]}: {', '.join(f'{total:.2f}' for total in ways[which].sum(axis=1))}" for at, which in enumerate(order))
    return Question("Rows are queries, columns are keys. In which picture does each **query** share out its attention over the **keys**?",
                    "pictures", order.index(0), options, hint="Add up in your head; rounded numbers may miss by a hundredth.",
                    working=("Then every row sums to 1. The row sums are " + sums + ".",))


@kind("attention", "attention", "No attention pattern")
def not_a_pattern(rng):
    """Which rows of numbers no softmax can have made."""
    n_wrong, rows = int(rng.integers(1, 4)), []
    for number_of in range(5):
        tenths = rng.multinomial(10, np.full(4, 0.25))
        if number_of < n_wrong:
            at, other = rng.permutation(4)[:2]
            if rng.integers(2):
                tenths[at] += int(rng.choice([-1, 1, 2])) if tenths[at] else 1  # does not sum to 1
            else:
                tenths[at], tenths[other] = -1, tenths[other] + tenths[at] + 1  # sums to 1, with a number below 0
        rows.append(tenths / 10)
    texts = [in_words(row) for row in rows]
    if len(set(texts)) < 5:
        return None
    order = rng.permutation(5).tolist()
    why = [f"{in_words(rows[i])} " + ("has a number below 0" if rows[i].min() < 0 else f"sums to {number(round(float(rows[i].sum()), 9))}")
           for i in order if not can_be_weights(rows[i])]
    return Question("Each line is meant to be one row of attention weights, some keys perhaps hidden. Tick every line that **can't** be "
                    "one.",
                    "set", frozenset(at for at, i in enumerate(order) if not can_be_weights(rows[i])),
                    tuple(texts[i] for i in order), working=("Weights are 0 or more and sum to 1.", *(f"{each}." for each in why)))


def can_be_weights(row):
    """Could these be attention weights: none below 0, and a sum of 1?

    returns  bool

    >>> can_be_weights([0.5, 0.5, 0.0]), can_be_weights([1.5, -0.5])
    (True, False)
    """
    row = np.asarray(row, dtype=np.float64)
    return bool((row >= 0).all() and abs(row.sum() - 1) < 1e-9)


@kind("attention", "many-heads", "The shape after the split")
def split_shape(rng):
    """The shape of q once it is cut into heads."""
    n_heads, d_head, n_tokens = int(rng.choice([2, 4, 8])), int(rng.choice([3, 5, 16])), int(rng.choice([6, 7, 10]))
    d_model = n_heads * d_head
    right = split_heads(np.zeros((n_tokens, d_model)), n_heads).shape
    shapes = [right, (n_tokens, n_heads, d_head), (n_heads, n_tokens, d_model), (n_heads, d_head, n_tokens)]
    options, place = mixed(rng, [" × ".join(map(str, shape)) for shape in shapes])
    return options and Question(
        f"{n_tokens} tokens, d_model = {d_model}, {n_heads} heads. What is the shape of q after it is split into heads, ready to be "
        "compared with k?", "choice", place, options,
        working=((f"d_head = {d_model} / {n_heads} = {d_head}. The head becomes the first axis, so that each head has its own "
                  f"{n_tokens} × {d_head} queries: {' × '.join(map(str, right))}."),))


@kind("attention", "attention", "The steps of attention")
def order_attention(rng):
    """The steps of attention, to be put in order. Scaling and masking may change places, so only one of them is asked for."""
    steps = [step if isinstance(step, str) else step[rng.integers(len(step))] for step in STEPS]
    steps = [steps[i] for i in sorted(rng.permutation(len(steps))[:5].tolist())]
    shown = rng.permutation(5).tolist()
    if shown == sorted(shown):
        return None
    return Question("Put these steps of multi-head attention in order.", "order", tuple(shown.index(i) for i in range(5)),
                    tuple(steps[i] for i in shown), working=tuple(f"{i}. {step}" for i, step in enumerate(steps, 1)))


@kind("attention", "causal-mask", "What an edit reaches")
def causal_edit(rng):
    """Which outputs of one causal layer change when one token is edited; both sentences are run."""
    n, j, changed = 5, int(rng.integers(1, 5)), bool(rng.integers(2))
    x, w = rng.normal(size=(n, 4)), rng.normal(size=(3, 4, 4)) / 2
    edited = x.copy()
    edited[j] += 1.0
    before, after = (attend(*(rows @ each for each in w), causal_mask(n)).mixed for rows in (x, edited))
    moved = abs(after - before).max(axis=1)
    if ((moved > 1e-12) & (moved < 1e-3)).any():
        return None  # a reach too faint to be shown
    asked = "changes" if changed else "stays as it is"
    return Question(f"One attention layer with a causal mask reads five tokens. **Token {j}** (“{WORDS[j]}”) is replaced by another word. "
                    f"Tick every output that **{asked}**.", "set", frozenset(np.flatnonzero((moved > 1e-9) == changed).tolist()),
                    tuple(f"output {i} ({word})" for i, word in enumerate(WORDS)),
                    working=(f"Output i reads tokens 0 to i. So token {j} reaches output {j} and all later ones, and no earlier one.",
                             "Run on random vectors, the outputs moved by at most "
                             + ", ".join(f"{move:.3g}" for move in moved) + "."))


@kind("attention", "attention", "Row and column")
def pattern_cell(rng):
    """Which cell of a pattern tells how much one word takes from another."""
    i, j = rng.permutation(5)[:2].tolist()
    return Question(f"In an attention pattern as this course draws it, which cell tells how much “{WORDS[i]}” takes from “{WORDS[j]}”?",
                    "cell", (i, j), (tuple(f"{n} · {word}" for n, word in enumerate(WORDS)),) * 2,
                    working=((f"Rows are queries (who looks), columns keys (what is looked at): “{WORDS[i]}” looks, so row {i}; "
                              f"“{WORDS[j]}” is looked at, so column {j}."),))


@kind("attention", "causal-mask", "Open cells")
def causal_count(rng):
    """How many cells of a pattern a causal mask leaves open."""
    n = int(rng.integers(4, 11))
    right = int(causal_mask(n).sum())
    return Question(f"A text has {n} tokens. How many of the {n} × {n} scores does a causal mask leave open?", "whole", right,
                    slips=(Slip(right - n, "the diagonal is missing; each token may look at itself."),), hint=PAPER,
                    working=(explain_steps("open", [("open", " + ".join(str(i) for i in range(1, n + 1)), right)], right),
                             f"Token i sees i + 1 tokens, which is {n} × {n + 1} / 2 in all."))


KINDS = (raw_score, scaled_score, softmax_weight, mixed_value, divisor, causal_heatmap, normalised_over_keys, not_a_pattern, split_shape,
         order_attention, causal_edit, pattern_cell, causal_count)
