"""What takes longer than a rerun may: computed once, kept for all visitors. The door computes the defaults before the first one comes."""

import streamlit as st

from core import (
    draws,
    encoder_decoder,
    experiments,
    guessing,
    kv_cache,
    ledger,
    looking,
    misconceptions,
    routing,
    tasks_dates,
    tasks_router,
    tokenizers,
    writing,
    zoo,
)
from core.optimizer import walk
from core.router_sentences import OUT_OF_SCOPE
from core.zoo import figures
from pages.shared import texts

UNKNOWN_WORD = tasks_router.NUMBERS[tasks_router.UNKNOWN]
WIDTHS = tuple(2**i for i in range(11))


@st.cache_data(max_entries=64, show_spinner=False)
def scaling_curve(seed):
    """The scaling experiment at all WIDTHS, each from its own child seed; most of a second."""
    return experiments.scaling_curve(WIDTHS, seed)


@st.cache_data(show_spinner=False)
def scaling_printed():
    """The three rows of the course text, drawn from one stream with seed 42."""
    return experiments.scaling_stream((4, 64, 512), 42)


@st.cache_resource(max_entries=64, show_spinner=False)
def trained(text, n_merges):
    """A byte-pair tokenizer trained on a text; nobody changes it."""
    return tokenizers.BytePairTokenizer.train(text, n_merges)


@st.cache_data(max_entries=64, show_spinner=False)
def pieces_after(training, n_merges, text, stops):
    """How many pieces `text` has after so many merges of the tokenizer trained on `training`."""
    merges = trained(training, n_merges).merges
    return [len(tokenizers.BytePairTokenizer(merges[:stop]).byte_pieces(text)) for stop in stops]


@st.cache_resource(max_entries=64, show_spinner=False)
def encoder_decoder_params(seed, vocabulary, d_model, n_layers):
    """Random parameters of an encoder-decoder, read-only."""
    params = draws.encoder_decoder_params(seed, vocabulary, d_model, 4 * d_model, n_layers)
    params["w_embed"].flags.writeable = False
    return params


@st.cache_resource(max_entries=64, show_spinner=False)
def untrained(config, seed, spread, precision="float64"):
    """Random parameters of a model, read-only."""
    params = guessing.untrained(config, seed, spread, precision)
    for _, array in walk(params):
        array.flags.writeable = False
    return params


@st.cache_resource(show_spinner=False)
def both_nasi():
    """The ready-made model of characters before and after its training, in float64 as the pages compute, read-only."""
    model = zoo.load("nasi")
    found = {}
    for name, params in (("random", model.untrained), ("trained", model.params)):
        found[name] = zoo.nested(params, {path: array.astype("float64") for path, array in zoo.flat(params).items()})
        for _, array in walk(found[name]):
            array.flags.writeable = False
    return found


@st.cache_resource(max_entries=64, show_spinner=False)
def written(model, _params, token_ids, config, n_new, seed, temperature, top_k, top_p):
    """What a model writes from a seed; nobody changes it.

    model  words that tell its parameters apart from those of others
    """
    return writing.write(_params, token_ids, config, n_new, draws.child_rng(seed, "writing"), temperature, top_k, top_p)


@st.cache_resource(max_entries=64, show_spinner=False)
def with_and_without_cache(token_ids, config, seed, spread, precision, n_new):
    """The steps of `core.kv_cache.side_by_side` of a random model; nobody changes them."""
    return kv_cache.side_by_side(untrained(config, seed, spread, precision), token_ids, config, n_new)


@st.cache_data(max_entries=64, show_spinner=False)
def untrained_losses(config, seed):
    """The loss of untrained models of these sizes, one for each of the spreads."""
    return [guessing.untrained_loss(config, seed, spread) for spread in guessing.SPREADS]


@st.cache_resource(show_spinner=False)
def inside_params(name):
    """A model of the zoo before and after its training, in float64, read-only."""
    model = zoo.load(name)
    return {"trained": looking.double(model.params), "random": looking.double(model.untrained)}


@st.cache_resource(show_spinner=False)
def inside_texts(name, n_texts):
    """Texts of a model's task that its training never drew."""
    return figures.fresh(zoo.recipe(name).task, n_texts)


@st.cache_data(max_entries=64, show_spinner=False)
def inside_scores(name, weights, n_texts):
    """What each head of a model looks at, over so many texts."""
    return looking.head_scores(inside_params(name)[weights], zoo.recipe(name), inside_texts(name, n_texts))


@st.cache_data(max_entries=64, show_spinner=False)
def inside_even(name, n_texts):
    """The same for a head that looks everywhere alike."""
    return looking.even_scores(zoo.recipe(name), inside_texts(name, n_texts))


@st.cache_data(max_entries=1024, show_spinner=False)
def inside_accuracy(name, weights, heads, n_texts):
    """The share of right answers on so many texts with these heads switched off."""
    return looking.accuracy_without(inside_params(name)[weights], zoo.recipe(name), heads, inside_texts(name, n_texts))


@st.cache_data(max_entries=256, show_spinner=False)
def gap_to_arrays(config):
    """How far the ledger of a small model is from the arrays that are really made."""
    return ledger.gap_to_arrays(config)


@st.cache_data(max_entries=64, show_spinner=False)
def written_date(typed):
    """The ids that the model of dates writes for a text that it can read, trained and untrained."""
    sizes, start = zoo.recipe("alignment").config, tasks_dates.VOCABULARY.index(tasks_dates.START)
    return {name: encoder_decoder.write(params, tasks_dates.encode(typed), start, tasks_dates.N_TARGETS, sizes.n_heads, **sizes.choices)
            for name, params in inside_params("alignment").items()}


@st.cache_resource(show_spinner=False)
def routed(weights, n_messages):
    """What the model that sorts messages says of fresh ones; nobody changes it."""
    return routing.fresh(inside_params("router")[weights], zoo.recipe("router").config, n_messages)


@st.cache_resource(show_spinner=False)
def router():
    """The sizes and the trained parameters of the model that sorts messages."""
    return zoo.recipe("router").config, inside_params("router")["trained"]


@st.cache_resource(max_entries=64, show_spinner=False)
def hidden(token_ids, weights):
    """What the model that sorts messages says of one with each word hidden in turn; nobody changes it."""
    return routing.without_each(inside_params("router")[weights], token_ids, zoo.recipe("router").config, UNKNOWN_WORD)


@st.cache_resource(max_entries=64, show_spinner=False)
def favourites(tokens, seed):
    """What the last of these words looks at most, in one random model after the other; nobody changes it."""
    return misconceptions.random_patterns_mean_something(list(tokens), seed)


def story_pieces(text, n_merges):
    """The pieces of a text after so many merges of the tokenizer trained on the story."""
    return tokenizers.BytePairTokenizer(trained(texts.STORY, n_merges).merges).byte_pieces(text)


@st.cache_resource(show_spinner=False)
def foreign():
    """What the trained model says of messages that no academy could answer; nobody changes it."""
    return routing.read_all(inside_params("router")["trained"], zoo.recipe("router").config, OUT_OF_SCOPE)


def warm():
    """Fill the caches for the default settings."""
    scaling_curve(1)
    scaling_printed()
    for weights in ("trained", "random"):
        inside_scores("pronoun", weights, 200)
