"""The nine beliefs: what is said, what holds, which experiment tests it, on which ready-made text, and how its numbers are shown."""

from functools import cache
from typing import NamedTuple

from core import classifier, draws, misconceptions, tasks_router, tokenizers
from core.config import ModelConfig
from pages.shared import belief_pictures, controls, examples, router, slow, text

D_MODEL, D_HEAD, SEED, N_MERGES = 8, 4, 1, 200  # of the ready-made experiments
CONTEXT = "By the way, the weather was lovely last week and the train was late."
HEADS = (1, 2, 3, 4, 6, 8, 12, 16)
FOUR = "Ali makan nasi lemak"


class Belief(NamedTuple):
    """One belief."""

    said: str      # as people say it
    holds: str     # what holds instead
    url: str       # the page that takes its numbers apart
    preset: str    # a text that is sure to refute it
    run: object    # function of (text, seed) -> Tried; ValueError with a sentence where the text can't be used
    tell: object   # function of (Tried) -> the finding in a sentence, Markdown without the person's words
    draw: object   # function of (page, where, Tried): the pictures
    behind: object # function of (Tried) -> the sums behind the verdict


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
    return Tried(["words", "tokens", "characters", "bytes"], misconceptions.words_are_tokens(**given),
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


# -------------------------------------------------------------------------------------------------------------- the list


def _gap(tried):
    return f"{tried.found.figures['gap']:.1e}" if tried.found.figures["gap"] else "0"


def _tell_meaning(tried):
    if not tried.found.figures["n_words"]:
        return "No word comes twice in this text, so there is nothing to compare."
    return (f"Words that come more than once: {tried.found.figures['n_words']}. Largest difference between the rows of the same word: "
            f"**{_gap(tried)}**.")


def _tell_random(tried):
    if tried.found.figures["n_words"] < 2:
        return "All words are the same here, so all weights are: there is nothing to compare."
    return (f"Of {tried.found.figures['n_seeds']} random models, **{tried.found.figures['share']:.0%}** agree with the commonest choice of "
            "what the last word looks at most.")


def _tell_seen(tried):
    still, n = int((tried.found.arrays["moved"] == 0).sum()), len(tried.tokens)
    return (f"The first of {n} token{'s' * (n > 1)} sees {tried.found.figures['n_seen']}. When the last word changes, **{still}** "
            f"output{' does' if still == 1 else 's do'} not move at all.")


def _tell_shares(tried):
    found = tried.found.figures
    return (f"**{found['distance']:.0%}** of the weight moved to other words. The probability of “{tasks_router.CLASSES[found['kind']]}” "
            f"went from **{found['probability']:.3f}** to **{found['with others']:.3f}**.")


def _tell_longer(tried):
    found = tried.found.figures
    return (f"The probability of “{tasks_router.CLASSES[found['kind']]}” went from **{found['alone']:.3f}** to **{found['with it']:.3f}**; "
            f"the answer is now “{tasks_router.CLASSES[found['answer']]}”.")


BELIEFS = (
    Belief(
        "Attention knows the order of the words",
        "Without positions, and without a mask, attention sees a set: turn the text round, and each word gets the same numbers. Positions "
        "have to be put in.",
        "positions", "dog bites man", _attend(misconceptions.knows_order),
        lambda tried: f"Largest difference between what a word gets in one order and in the other: **{_gap(tried)}**.",
        belief_pictures.order, lambda tried: misconceptions.explain_order(tried.found, **tried.given)),
    Belief(
        "Attention understands what a word means",
        "Attention compares vectors. The same word has the same vector wherever it stands, so without positions its row is the same too, "
        "be it a river bank or one that is robbed.",
        "queries-keys-values", "he sat on a river bank and robbed the other bank",
        _attend(misconceptions.understands_meaning, before=("tokens",)), _tell_meaning, belief_pictures.meaning,
        lambda tried: misconceptions.explain_meaning(tried.found, *list(tried.given.values())[1:])),
    Belief(
        "A striking pattern means something, even with random weights",
        "Random weights make patterns too, some of them striking. With the next random model the pattern is another one.",
        "attention", "the umpire warned the bowler after he overstepped", _random, _tell_random, belief_pictures.favourites,
        lambda tried: misconceptions.explain_share(tried.found)),
    Belief(
        "A token is a word",
        "A tokenizer cuts a text into pieces that came often in its training text: whole words, parts of words, single bytes.",
        "tokens", "unbelievably, internationalisation isn't one piece", _pieces,
        lambda tried: f"Words: **{tried.found.figures['n_words']}**. Tokens: **{tried.found.figures['n_tokens']}**, by byte pairs, "
                      f"trained on this course's story with {N_MERGES} merges.",
        belief_pictures.counts, lambda tried: misconceptions.explain_tokens(tried.found)),
    Belief(
        "Every token sees the whole sentence",
        "In an encoder, yes. In a decoder such as GPT-2 a token sees itself and what came before: the first sees 1, only the last sees "
        "all.",
        "causal-mask", "the bank refused the loan", _attend(misconceptions.every_token_sees_all, _other), _tell_seen, belief_pictures.seen,
        lambda tried: misconceptions.explain_sight(tried.found, *list(tried.given.values())[:4])),
    Belief(
        "The attention weights are the reason for the answer",
        "They *need not* be: other weights can lead to the same answer (Jain & Wallace 2019), which does not show that they never are "
        "(Wiegreffe & Pinter 2019). Here a trained model's weights are turned round, the largest to the smallest.",
        "in-practice", "Where is my certificate?", _explain, _tell_shares, belief_pictures.shares,
        lambda tried: misconceptions.explain_turn(tried.found)),
    Belief(
        "More context always helps",
        "What does not belong to the question takes part in the sums as well, and can lead a model astray. Here the sentence “" + CONTEXT
        + "” is put before the message. For large models, too, it matters where the important part stands (Liu et al. 2024).",
        "in-practice", "I paid twice for the course", _context, _tell_longer, belief_pictures.longer,
        lambda tried: misconceptions.explain_loss(tried.found)),
    Belief(
        "Masking after the softmax is as good",
        "After the softmax the future has already taken its part of the 1: rows sum to less, and what is hidden still moves what is seen.",
        "causal-mask", FOUR, _attend(misconceptions.masking_afterwards_is_as_good, _other),
        lambda tried: f"Smallest row sum: **{tried.found.figures['least']:.3g}**. When the last word changes, an earlier weight moves by "
                      f"up to **{tried.found.figures['leak']:.2g}**.",
        belief_pictures.sums, lambda tried: misconceptions.explain_row_sum(tried.found)),
    Belief(
        "More heads, more parameters",
        "The heads share the width: twice as many are half as wide. Fewer *key/value* heads do save parameters.",
        "parameters", "", lambda _words, _seed: heads_of(12),
        lambda tried: f"**{', '.join(tried.tokens)} heads: {tried.found.figures['count']:,} parameters each**, counted on arrays that were "
                      "really drawn.",
        belief_pictures.heads, lambda tried: misconceptions.explain_heads(tried.given["configs"][0])),
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


@cache
def presets():
    """The verdicts on the ready-made texts."""
    return tuple(verdict(tried(number, belief.preset, SEED)[0]) for number, belief in enumerate(BELIEFS))
