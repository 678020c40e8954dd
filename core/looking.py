"""What the heads of a small trained model look at and are needed for, measured over many texts and not on one that suits."""

from typing import NamedTuple

import numpy as np

from core import lens, training
from core.attention import causal_mask
from core.transformer import forward

LEAST, TIMES = 0.3, 2.0  # a head is called after a score of at least LEAST that is TIMES that of looking everywhere alike


class HeadScores(NamedTuple):
    """How much each head looks at five kinds of places: mean weights, each (n_layers, n_heads), NaN where there is no such place."""

    previous: np.ndarray   # the token just before
    first: np.ndarray      # the first token
    same: np.ndarray       # earlier places of the same token
    followed: np.ndarray   # what followed the same token before: the induction score
    answer: np.ndarray     # the places that hold the answer, from the queries that are asked


class Blind(NamedTuple):
    """How often guesses without reading would be right, over the places of some texts that are asked."""

    n_answers: int   # different right answers
    even: float      # guessing among all of them alike: 1 / n_answers
    in_text: float   # guessing among those of them that the text has named by then; NaN where it sometimes has named none


def blind(batch):
    """What an accuracy has to be compared with: guesses that know which answers occur, and which of them the text has named.

    even = 1 / n_answers; in_text = mean over the asked places of 1 / (how many of the answers stand there or before)

    batch    Batch of texts and targets, -1 where nothing is asked
    returns  Blind

    >>> from core.tasks import Batch
    >>> blind(Batch(np.array([[5, 6, 1]]), np.array([[-1, 6, 5]])))
    Blind(n_answers=2, even=0.5, in_text=0.5)
    """
    asked = np.asarray(batch.targets) >= 0
    answers = np.unique(batch.targets[asked])
    named = np.maximum.accumulate(np.asarray(batch.token_ids)[..., None] == answers, axis=1).sum(axis=-1)[asked]
    return Blind(len(answers), 1 / len(answers), float((1 / named).mean()) if named.all() else float("nan"))


def double(params):
    """The same parameters in float64, for sums that are to agree in every digit.

    >>> double({"w": np.zeros(2, np.float32)})["w"].dtype.name
    'float64'
    """
    if isinstance(params, dict):
        return {name: double(part) for name, part in params.items()}
    if isinstance(params, list):
        return [double(part) for part in params]
    array = params.astype(np.float64)
    array.flags.writeable = False
    return array


def pattern_scores(pattern, token_ids, where):
    """The five scores of some heads' patterns.

    pattern    (n_sequences, n_heads, n_tokens, n_tokens), rows sum to 1
    token_ids  (n_sequences, n_tokens)
    where      bool (n_sequences, n_tokens, n_tokens): for each query, the keys that hold the answer
    returns    (5, n_heads): means over the sequences

    >>> pattern_scores(np.eye(2)[None, None], [[7, 7]], np.eye(2, dtype=bool)[None])[:, 0].tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0]
    """
    ids, asked = np.asarray(token_ids), where.any(axis=-1)
    same = np.array([lens.duplicate_token_score(each, own) for each, own in zip(pattern, ids, strict=True)])
    followed = np.array([lens.induction_score(each, own) for each, own in zip(pattern, ids, strict=True)])
    answer = (pattern * where[:, None]).sum(axis=-1).swapaxes(0, 1)[:, asked]
    return np.array([lens.previous_token_score(pattern).mean(axis=0), lens.first_token_score(pattern).mean(axis=0), _mean(same),
                     _mean(followed), answer.mean(axis=-1) if asked.any() else np.full(pattern.shape[1], np.nan)], dtype=np.float64)


def _mean(scores):
    """The mean over the sequences that have a score."""
    there = ~np.isnan(scores[:, 0])
    return scores[there].mean(axis=0) if there.any() else np.full(scores.shape[1], np.nan)


def head_scores(params, recipe, batch):
    """What each head looks at, over many texts of its task.

    returns  HeadScores
    """
    trace = forward(params, batch.token_ids, recipe.config, heads_apart=False)
    where = recipe.task.looks_at(batch)
    scores = [pattern_scores(layer.attention.pattern, batch.token_ids, where) for layer in trace.blocks]
    return HeadScores(*np.stack(scores, axis=1))


def even_pattern(n_tokens):
    """The pattern of a head that looks alike at every token it may see: 1 / (query + 1) each.

    returns  (n_tokens, n_tokens)

    >>> even_pattern(2).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    return causal_mask(n_tokens) / np.arange(1, n_tokens + 1)[:, None]


def even_scores(recipe, batch):
    """The same for a head that looks alike at every token it may see: what a score has to be compared with.

    returns  HeadScores of single numbers
    """
    n_sequences, n_tokens = batch.token_ids.shape
    pattern = np.broadcast_to(even_pattern(n_tokens), (n_sequences, 1, n_tokens, n_tokens))
    return HeadScores(*(float(score) for score in pattern_scores(pattern, batch.token_ids, recipe.task.looks_at(batch))[:, 0]))


def role(scores, even, block, head):
    """The kind of place that a head looks at most, if it does so clearly.

    scores, even  HeadScores of the heads, and of looking everywhere alike
    returns       a field of HeadScores, the first of those that are equal to two digits; "" where no score is LEAST and TIMES the even one

    >>> role(HeadScores(*np.array([[[0.9]], [[0.1]], [[0.0]], [[0.0]], [[0.0]]])), HeadScores(*[0.2] * 5), 0, 0)
    'previous'
    """
    own = np.array([score[block, head] for score in scores]).round(2)
    clear = np.where((own >= LEAST) & (own >= TIMES * np.array(even)), own, -1.0)
    return HeadScores._fields[int(clear.argmax())] if clear.max() > 0 else ""


def answer_heads(scores):
    """The heads that look at the answer: those of the block that does most, with at least half of the best one's weight.

    returns  [(block, head)]

    >>> answer_heads(HeadScores(*np.array([[[0.9, 0.5, 0.1]]] * 5)))
    [(0, 0), (0, 1)]
    """
    block = int(scores.answer.max(axis=1).argmax())
    return [(block, int(head)) for head in np.flatnonzero(scores.answer[block] >= scores.answer[block].max() / 2)]


def first_attention(params, token_ids, config):
    """What the attention of the first block reads, and its matrices.

    returns  x (n_tokens, d_model): the stream before any block, after the block's first norm; {"w_qkv", "w_o"}
    """
    trace, own = forward(lens.cut_after(params, 1), token_ids, config), params["blocks"][0]["attention"]
    return trace.blocks[0].attn_in, {"w_qkv": own["w_qkv"], "w_o": own["w_o"]}


def head_matrices(w_qkv, n_heads, head):
    """The columns of one head.

    returns  {"w_q", "w_k", "w_v"}, (d_model, d_head) each

    >>> {name: w.tolist() for name, w in head_matrices(np.arange(6.0)[None], 2, 1).items()}
    {'w_q': [[1.0]], 'w_k': [[3.0]], 'w_v': [[5.0]]}
    """
    parts = np.split(w_qkv, 3 * n_heads, axis=1)
    return {name: parts[part * n_heads + head] for part, name in enumerate(("w_q", "w_k", "w_v"))}


def accuracy_without(params, recipe, heads, batch):
    """The share of right answers with some heads switched off: what they would write is 0.

    heads    [(block, head)], none for the whole model
    returns  float from 0 to 1
    """
    changed = lens.without_heads(params, heads, recipe.config.d_head) if heads else params
    return training.accuracy(recipe.learner, changed, batch)
