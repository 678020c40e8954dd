"""The nine beliefs: what is said, what holds, which experiment tests it, on which ready-made text, and how its numbers are shown."""

from typing import NamedTuple

import streamlit as st

from core import classifier, draws, misconceptions, tasks_router, tokenizers
from core.config import ModelConfig
from pages.shared import charts, controls, examples, lesson, plots, router, slow, text

D_MODEL, D_HEAD, SEED, N_MERGES = 8, 4, 1, 200  # of the ready-made experiments
CONTEXT = "By the way, the weather was lovely last week and the train was late."
HEADS = (1, 2, 3, 4, 6, 8, 12, 16)


class Belief(NamedTuple):
    """One belief."""

    said: str      # as people say it
    holds: str     # what holds instead
    url: str       # the page that takes its numbers apart
    preset: str    # a text that is sure to refute it
    run: object    # function of (text, seed) -> Tried; ValueError with a sentence where the text can't be used
    tell: object   # function of (Tried) -> the finding in a sentence, Markdown without the person's words
    draw: object   # function of (page, where, Tried): the pictures


class Tried(NamedTuple):
    """An experiment on a text."""

    tokens: list[str]
    found: misconceptions.Found
    function: object  # of core
    given: dict       # what it was given, by name


def _tokens(words):
    """The words of a text, as everywhere in the course."""
    return text.cut(tokenizers.split_words(text.clean(words).text))[0]


def _example(words, seed):
    """Tokens with random vectors and matrices, as the pages on attention draw them; the four words of the course with theirs."""
    if words == FOUR:
        return examples.EXAMPLES["four_tokens"]()
    return controls.own_example(tuple(_tokens(words)), seed, D_MODEL, D_HEAD)


def _attend(function, extra=lambda example, seed: {}, before=()):
    """An experiment on the vectors of a text."""
    def run(words, seed):
        example = _example(words, seed)
        given = {name: list(example.tokens) for name in before} | {"x": example.x, **example.params} | extra(example, seed)
        return Tried(list(example.tokens), function(**given), function, given)

    return run


def _other(example, seed):
    """Another vector for the last word."""
    return {"other": draws.child_rng(seed, "changed", example.tokens[-1]).standard_normal(example.x.shape[1])}


def _random(words, seed):
    tokens = _tokens(words)
    return Tried(tokens, slow.favourites(tuple(tokens), seed), misconceptions.random_patterns_mean_something,
                 {"tokens": tokens, "seed": seed})


def _pieces(words, _seed):
    whole = text.clean(words).text
    given = {"words": tokenizers.split_words(whole), "pieces": slow.story_pieces(whole, N_MERGES), "text": whole}
    return Tried(["words", "byte-pair tokens", "characters", "bytes"], misconceptions.words_are_tokens(**given),
                 misconceptions.words_are_tokens, given)


def _router(words):
    """The message, the model's parameters and its sizes."""
    own, params = slow.router()
    return {"token_ids": tasks_router.encode(words), "params": params, "own": own}


def _explain(words, _seed):
    given = _router(words)
    return Tried(tasks_router.words(words), misconceptions.weights_explain(**given), misconceptions.weights_explain, given)


def _context(words, _seed):
    if len(tasks_router.words(words)) > tasks_router.N_TOKENS - len(tasks_router.words(CONTEXT)):
        raise ValueError(f"With the sentence before it the message has more than the {tasks_router.N_TOKENS} words that the model reads. "
                         "Shorten it.")
    given = _router(words) | {"context_ids": tasks_router.encode(CONTEXT)}
    return Tried(list(tasks_router.CLASSES), misconceptions.more_context_helps(**given), misconceptions.more_context_helps, given)


def heads_of(d_model):
    """The models whose attention is counted: those heads that cut the width evenly."""
    configs = [ModelConfig(9, 5, d_model, 1, n_heads) for n_heads in HEADS if d_model % n_heads == 0]
    found = misconceptions.more_heads_more_parameters(configs)
    return Tried([f"{n}" for n in found.arrays["n_heads"]], found, misconceptions.more_heads_more_parameters, {"configs": configs})


# --------------------------------------------------------------------------------------------------------------- pictures


def _pair(page, where, *pictures):
    """Pictures side by side: (name, figure, alt)."""
    for place, (name, figure, alt) in zip(st.columns(len(pictures)), pictures, strict=True):
        with place:
            lesson.picture(figure, f"{page}.{where}.{name}", f"{alt} On the {'ready-made text' if where == 'preset' else 'own sentence'}.")


def _pattern(tried, name, title, **more):
    return charts.heatmap(tried.found.arrays[name], tried.tokens, tried.tokens, title=title, quantity="weight", name="weight",
                          **more, **lesson.look())


def _order(page, where, tried):
    features, arrays = controls.features(tried.found.arrays["before"].shape[1]), tried.found.arrays
    limit = float(max(abs(arrays["before"]).max(), abs(arrays["after"]).max()))
    _pair(page, where, *(
        (name, charts.heatmap(arrays[name], tried.tokens, features, title=title, limit=limit, row_title="word", column_title="feature",
                              **lesson.look()), f"{title}: {len(tried.tokens)} words, {len(features)} features.")
        for name, title in (("before", "What each word gets"), ("after", "What it gets when the text is turned round"))))


def _meaning(page, where, tried):
    places = tried.found.arrays["places"]
    rows = ", ".join(map(str, places)) or "none"
    _pair(page, where, ("pattern", _pattern(tried, "pattern", f"Pattern; rows of the same word: {rows}",
                                            clicked=(int(places[0]), None) if places.size else None),
                        f"Attention pattern of {len(tried.tokens)} words; rows {rows} belong to the same word."))


def _favourites(page, where, tried):
    _pair(page, where,
          *((name, _pattern(tried, name, title), f"{title}: {len(tried.tokens)} words.")
            for name, title in (("pattern", "One random model"), ("other", "The next random model"))),
          ("favourites", plots.bars(tried.tokens, tried.found.arrays["favourites"], title="What the last word looks at most",
                                    y_title=f"of {tried.found.figures['n_seeds']} random models", dark=lesson.dark()),
           f"How many of {tried.found.figures['n_seeds']} random models give the last word's largest weight to each word."))


def _counts(page, where, tried):
    _pair(page, where, ("counts", plots.bars(tried.tokens, tried.found.arrays["counts"], title="The same text, counted", y_title="pieces",
                                             dark=lesson.dark()), "The number of words, tokens, characters and bytes of the text."))


def _seen(page, where, tried):
    arrays = tried.found.arrays
    _pair(page, where, ("pattern", _pattern(tried, "pattern", "Causal pattern; hidden keys are −∞", hidden=~arrays["visible"]),
                        f"Causal attention pattern of {len(tried.tokens)} words: the first sees {tried.found.figures['n_seen']}."),
          ("moved", plots.bars(tried.tokens, arrays["moved"], title="How far each output moves when the last word changes",
                               y_title="largest change", dark=lesson.dark()), "Only the last output moves when the last word changes."))


def _shares(page, where, tried):
    arrays = tried.found.arrays
    _pair(page, where, ("shares", plots.bar_groups(tried.tokens, {"as learned": arrays["shares"], "turned round": arrays["turned"]},
                                                   title="The share of each word", y_title="weight", dark=lesson.dark()),
                        f"Learned and turned-round weights of {len(tried.tokens)} words."),
          ("probs", plots.bar_groups(tasks_router.CLASSES, {"as learned": arrays["probs"], "turned round": arrays["other"]},
                                     title="What the model answers", y_title="probability", dark=lesson.dark()),
           "Probabilities of the kinds with the learned and with the turned-round weights."))


def _longer(page, where, tried):
    _pair(page, where, ("probs", plots.bar_groups(
        tasks_router.CLASSES, {"message alone": tried.found.arrays["probs"], "with a sentence before it": tried.found.arrays["other"]},
        title="What the model answers", y_title="probability", dark=lesson.dark()),
        "Probabilities of the kinds for the message alone and with another sentence before it."))


def _sums(page, where, tried):
    _pair(page, where, *((name, _pattern(tried, name, title), f"{title}: {len(tried.tokens)} words.")
                         for name, title in (("masked", "Masked before the softmax"), ("zeroed", "Zeroed after the softmax"))),
          ("sums", plots.bars(tried.tokens, tried.found.arrays["sums"], title="Row sums of the second", y_title="sum", y_range=(0, 1.15),
                              dark=lesson.dark()), "Row sums of the weights that were zeroed after the softmax."))


def _heads(page, where, tried):
    _pair(page, where, ("counts", plots.bars(tried.tokens, tried.found.arrays["counts"], title="Numbers in the attention of one block",
                                             y_title="parameters", digits=6, dark=lesson.dark()),
                        "Parameters of attention for each number of heads: all equal."))


# -------------------------------------------------------------------------------------------------------------- the list


FOUR = "Ali makan nasi lemak"
BELIEFS = (
    Belief("Attention knows the order of the words", "Without positions, and without a mask, attention sees a set: turn the text round, "
                                                     "and each word gets the same numbers. Positions have to be put "
                                                     "in.", "positions", "dog bites man",
           _attend(misconceptions.knows_order),
           lambda tried: "Largest difference between what a word gets in one order and in the other: "
                         f"**{tried.found.figures['gap']:.1e}**.",
           _order),
    Belief("Attention understands what a word means", "Attention compares vectors. The same word has the same vector wherever it stands, "
           "so without positions its row is the same too, be it the bank of a river or one that is robbed.", "queries-keys-values",
           "he sat on the bank of the river and robbed the bank", _attend(misconceptions.understands_meaning, before=("tokens",)),
           lambda tried: "No word comes twice in this text, so there is nothing to compare." if not tried.found.figures["n_words"] else
           f"Words that come more than once: {tried.found.figures['n_words']}. Largest difference between the rows of the same word: "
           f"**{tried.found.figures['gap']:.1e}**.", _meaning),
    Belief("A striking pattern means something, even with random weights", "Random weights make patterns too, some of them striking. With "
           "the next random model the pattern is another one.", "attention", "the umpire warned the bowler after he overstepped", _random,
           lambda tried: f"Of {tried.found.figures['n_seeds']} random models, **{tried.found.figures['share']:.0%}** agree with the "
                         "commonest choice of what the last word looks at most.", _favourites),
    Belief("A token is a word", "A tokenizer cuts a text into pieces that came often in its training text: whole words, parts of words, "
           "single bytes.", "tokens", "unbelievably, internationalisation isn't one piece", _pieces,
           lambda tried: f"**{tried.found.figures['n_words']} words, {tried.found.figures['n_tokens']} tokens** by byte pairs, trained on "
                         f"this course's story with {N_MERGES} merges.", _counts),
    Belief("Every token sees the whole sentence", "In an encoder, yes. In a decoder such as GPT-2 a token sees itself and what came "
                                                  "before: the first sees 1, only the last sees all.", "causal-mask", "the bank refused "
                                                  "the loan",
           _attend(misconceptions.every_token_sees_all, _other),
           lambda tried: f"The first of {len(tried.tokens)} tokens sees {tried.found.figures['n_seen']}. When the last word changes, "
           f"**{int((tried.found.arrays['moved'] == 0).sum())}** outputs do not move at all.", _seen),
    Belief("The attention weights are the reason for the answer", "They *need not* be: other weights can lead to the same answer (Jain & "
           "Wallace 2019), which does not show that they never are (Wiegreffe & Pinter 2019). Here a trained model's weights are turned "
           "round, the largest to the smallest.", "in-practice", "Where is my certificate?", _explain,
           lambda tried: f"**{tried.found.figures['distance']:.0%}** of the weight moved to other words. The probability of "
           f"“{tasks_router.CLASSES[tried.found.figures['kind']]}” went from **{tried.found.figures['probability']:.3f}** to "
           f"**{tried.found.figures['with others']:.3f}**.", _shares),
    Belief("More context always helps", "What does not belong to the question takes part in the sums as well, and can lead a model astray. "
           f"Here the sentence “{CONTEXT}” is put before the message. For large models, too, it matters where the important part "
           "stands matters for them too (Liu et al. 2024).", "in-practice", "I paid twice for the course", _context,
           lambda tried: f"The probability of “{tasks_router.CLASSES[tried.found.figures['kind']]}” went from "
           f"**{tried.found.figures['alone']:.3f}** to **{tried.found.figures['with it']:.3f}**; the answer is now "
           f"“{tasks_router.CLASSES[tried.found.figures['answer']]}”.", _longer),
    Belief("Masking after the softmax is as good", "After the softmax the future has already taken its part of the 1: rows sum to less, "
                                                   "and what is hidden still moves what is seen.", "causal-mask", FOUR,
           _attend(misconceptions.masking_afterwards_is_as_good, _other),
           lambda tried: f"Smallest row sum: **{tried.found.figures['least']:.3f}**. When the last word changes, an earlier weight moves "
                         f"by up to **{tried.found.figures['leak']:.2g}**.", _sums),
    Belief("More heads, more parameters", "The heads share the width: twice as many are half as wide. Fewer *key/value* heads do save "
           "parameters.", "parameters", "", lambda _words, _seed: heads_of(12),
           lambda tried: f"**{', '.join(tried.tokens)} heads: {tried.found.figures['count']:,} parameters each**, counted on arrays that "
           "were really drawn.", _heads),
)
WIDTH_ONLY = len(BELIEFS) - 1  # the belief that has nothing to do with a text


def tried(number, words, seed):
    """An experiment on a text.

    returns  (Tried, ""), or (None, what to change) where the text can't be used
    """
    try:
        return BELIEFS[number].run(words, seed), ""
    except ValueError as fault:
        return None, str(fault)


def verdict(result):
    """What a result says of the belief."""
    return "refuted here" if result is not None and result.found.refuted else "not shown here"


def makers(number):
    """What a script needs besides the experiment, to make what can't be written down as numbers."""
    return {WIDTH_ONLY: (ModelConfig,)}.get(number, (classifier.sizes,) if BELIEFS[number].url == "in-practice" else ())


def script_values(number, result):
    """What the experiment was given, as a script can hold it."""
    if number == WIDTH_ONLY:
        return {"n_heads": result.found.arrays["n_heads"], "d_model": result.given["configs"][0].d_model}
    return {name: list(router.arguments()) if name == "own" else value for name, value in result.given.items()}


def call(number, result):
    """The experiment as a script calls it."""
    name = result.function.__name__
    if number == WIDTH_ONLY:
        return f"{name}([ModelConfig(9, 5, d_model, 1, int(n)) for n in n_heads])"
    made = {"own": "sizes(*own[:5], n_layers=own[5], d_ff=own[6])"}
    return f"{name}({', '.join(f'{each}={made.get(each, each)}' for each in result.given)})"


def gap(result):
    """0 where the text refutes the belief, else 1: for the list of checks."""
    return float(not result.found.refuted)


def all_verdicts(words, seed):
    """The verdict on every belief for a text; "" for the one that has nothing to do with a text."""
    return ["" if number == WIDTH_ONLY else verdict(tried(number, words, seed)[0]) for number in range(len(BELIEFS))]


def presets(seed=SEED):
    """The verdicts on the ready-made texts."""
    return [verdict(tried(number, belief.preset, seed)[0]) for number, belief in enumerate(BELIEFS)]
