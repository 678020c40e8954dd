"""A classifier in use: which words an answer needs, when a person takes over, and the sums behind an answer."""

from typing import NamedTuple

import numpy as np

from core import tasks_router
from core.arithmetic_model import explain_choice
from core.classifier import forward
from core.router_sentences import HELD_OUT
from core.sampling import choose
from core.sums import explain_product


class HandOver(NamedTuple):
    """What becomes of messages when the model answers only where it gives some kind at least so much probability."""

    thresholds: np.ndarray  # (n,)
    answered: np.ndarray    # (n,) the share that the model sorts; the rest goes to a person
    right: np.ndarray       # (n,) the share of these that it sorts right; NaN where it sorts none


class Answered(NamedTuple):
    """What a model says of messages whose kinds are known."""

    probs: np.ndarray  # (n_messages, n_classes)
    kinds: np.ndarray  # (n_messages,) the right ones
    texts: list        # the messages


def read_all(params, own, texts):
    """What a model says of some messages: probabilities (n_messages, n_classes), read-only.

    own      core.classifier.Sizes of a model that uses the vocabulary of `core.tasks_router`
    raises   ValueError for a message without a word, or with too many
    returns  array
    """
    token_ids = tasks_router.batch(texts, [0] * len(texts)).token_ids
    probs = forward(params, token_ids, own, token_ids != 0, heads_apart=False).probs
    probs.flags.writeable = False
    return probs


def fresh(params, own, n_messages):
    """What a model says of messages made from sentences that training never uses: those on which the zoo measures it.

    returns  Answered
    """
    texts, kinds = tasks_router.messages(np.random.default_rng([4096, 2]), n_messages, HELD_OUT)
    return Answered(read_all(params, own, texts), kinds, texts)


def without_each(params, token_ids, own, stand_in):
    """What the model says of a message when one word after the other is hidden from it.

    token_ids  (n_tokens,)
    own        core.classifier.Sizes
    stand_in   the id that a hidden word gets: that of the unknown word
    returns    probs (n_tokens, n_classes): row i with word i hidden

    >>> from core.classifier import init_params, sizes
    >>> own = sizes(3, 4, 2, 1, 2)
    >>> without_each(init_params(own, np.random.default_rng(0)), [0, 1, 2], own, 0).shape
    (3, 2)
    """
    token_ids = np.asarray(token_ids)
    hidden = np.where(np.eye(len(token_ids), dtype=bool), stand_in, token_ids)
    return forward(params, hidden, own).probs


def hand_over(probs, kinds, thresholds):
    """The price of caution: how many messages a model still sorts, and how many of these right, at each threshold.

    A message is sorted where its largest probability is at least the threshold.

    probs       (n_messages, n_classes); kinds: (n_messages,), the right class of each
    thresholds  (n,) from 0 to 1
    returns     HandOver
    source      Chow 1970, "On Optimum Recognition Error and Reject Tradeoff"

    >>> hand_over(np.array([[0.9, 0.1], [0.4, 0.6]]), [0, 0], [0.5, 0.7]).right.tolist()
    [0.5, 1.0]
    """
    probs, thresholds = np.asarray(probs), np.asarray(thresholds, dtype=float)
    sorted_here = probs.max(axis=-1) >= thresholds[:, None]                     # (n, n_messages)
    right = sorted_here & (probs.argmax(axis=-1) == np.asarray(kinds))
    n_sorted = sorted_here.sum(axis=-1)
    return HandOver(thresholds, n_sorted / len(probs),
                    np.divide(right.sum(axis=-1), n_sorted, out=np.full(len(thresholds), np.nan), where=n_sorted > 0))


def confusion(probs, kinds):
    """How often each kind is taken for each other.

    returns  whole numbers (n_classes, n_classes): a row a right kind, a column a guessed one

    >>> confusion(np.array([[0.9, 0.1], [0.4, 0.6]]), [0, 0]).tolist()
    [[1, 1], [0, 0]]
    """
    table = np.zeros((np.shape(probs)[-1],) * 2, dtype=int)
    np.add.at(table, (np.asarray(kinds), np.argmax(probs, axis=-1)), 1)
    return table


def taken_for(answered, right, guessed):
    """The messages of one kind that the model takes for another, each once.

    right, guessed  numbers of kinds
    returns         list of str

    >>> taken_for(Answered(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 0]), ["a", "b"]), 0, 1)
    ['b']
    """
    hits = (np.asarray(answered.kinds) == right) & (answered.probs.argmax(axis=-1) == guessed)
    return list(dict.fromkeys(answered.texts[i] for i in np.flatnonzero(hits)))


def explain_kind(trace, params, kind):
    """The probability of one kind as the sums that make it: its logit from the pooled vector, then its share in the softmax.

    trace    ClassifierTrace of one message
    returns  list of Explanation, the probability last
    """
    logit = explain_product("logits", "pooled", trace.pooled, "w_classes", params["w_classes"][:, kind], 0, kind, trace.logits[kind],
                            ("b_classes", params["b_classes"][kind]))
    return [logit, *explain_choice(trace.logits, choose(trace.logits), 1, kind)[:1]]


def explain_share(trace, params, token):
    """The share of one word in the pooled vector: its score with the learned query, then its share in the softmax.

    returns  list of Explanation, the share last
    """
    score = explain_product("pool_scores", "final", trace.final[token], "w_pool", params["w_pool"], token, 0, trace.pool_scores[token])
    (share,) = explain_choice(trace.pool_scores, choose(trace.pool_scores), 1, token)[:1]
    return [score, share._replace(name=f"pool_pattern[0, {token}]")]
