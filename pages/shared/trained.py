"""A trained attention layer as an example: the first block of a small model that learned to let the verb agree with its subject."""

from functools import cache

import streamlit as st

from core import attention, draws, embeddings, looking, tasks, zoo
from pages.shared import controls, examples, lesson, slow

NAME, WEIGHTS, N_TEXTS = "agreement", ("trained", "random"), 200


def _text():
    """A drawn text that fills the row and so ends where the verb is asked for: its ids, and where the subject stands."""
    batch = slow.inside_texts(NAME, N_TEXTS)
    number = int((batch.targets[:, -1] >= 0).argmax())
    return batch.token_ids[number], int(zoo.recipe(NAME).task.looks_at(batch)[number, -1].argmax())


@cache
def all_heads(weights="trained"):
    """The layer with all its heads, as an Example."""
    recipe, (ids, _) = zoo.recipe(NAME), _text()
    x, params = looking.first_attention(slow.inside_params(NAME)[weights], ids, recipe.config)
    return examples.Example("trained", f"Trained: {recipe.title}", tuple(recipe.task.words(ids)), x, params, _where_from(weights),
                            recipe.config.n_heads, causal=True)


@cache
def table(weights="trained"):
    """The model's table of vectors, one for each word of its vocabulary, as an Example."""
    recipe = zoo.recipe(NAME)
    return examples.Example("trained", f"Trained: {recipe.title}", recipe.task.vocabulary,
                            examples.frozen(slow.inside_params(NAME)[weights]["w_embed"]), {}, _where_from(weights))


def _where_from(weights):
    """Where the numbers come from, for a person."""
    seed, n_steps = zoo.recipe(NAME).settings.seed, zoo.recipe(NAME).settings.n_steps
    if weights == "trained":
        return (f"those of a model that was drawn at random (seed {seed}) and then trained for {n_steps} steps by this course's own loop, "
                "to let the verb agree with its subject")
    return f"those that a model began with before it was trained, drawn at random (seed {seed})"


@cache
def one_head(weights="trained"):
    """The head that looks most at the answer, as an Example."""
    whole = all_heads(weights)
    head = int(slow.inside_scores(NAME, "trained", N_TEXTS).answer[0].argmax())
    return whole._replace(params=looking.head_matrices(whole.params["w_qkv"], whole.n_heads, head), n_heads=1)


def ask(page, make):
    """The switch between the trained and the random weights of this example."""
    return make(controls.choice(page, "weights", "Weights", WEIGHTS))


def say_table(alike):
    """What the cosines of the table say about its nouns.

    alike    (n_words, n_words) cosines, in the order of the vocabulary
    """
    vocabulary, weights = zoo.recipe(NAME).task.vocabulary, st.session_state.get("embeddings.weights", "trained")
    one, many = ([vocabulary.index(noun) for noun in nouns] for nouns in (tasks.SINGULAR, tasks.PLURAL))
    same, across = embeddings.mean_cosines(alike, one, many)
    dog = alike[vocabulary.index("dog"), vocabulary.index("dogs")]
    lesson.say(f"**Trained and random.** These are the {weights} weights. Two nouns of the same number have a mean cosine of "
               f"**{same:.2f}**, a singular and a plural **{across:.2f}**; “dog” and “dogs” have **{dog:.2f}**. The model was trained to "
               "choose “runs” or “run”, so its table came to hold the number of a noun, which the task needs, and not that dog and dogs "
               "are the same animal, which it does not need. Alike means alike for the task.")


def visible(example):
    """The mask that an example's model was trained with; None for the others."""
    return attention.causal_mask(len(example.tokens)) if example.causal else None


def say(page, example, patterns):
    """What the last token looks at, for the weights that are shown.

    patterns  (n_heads, n_tokens, n_tokens)
    """
    subject, weights = _text()[1], st.session_state.get(f"{page}.weights", "trained")
    share = ", ".join(f"**{pattern[-1, subject]:.2f}**" for pattern in patterns)
    who = "each head puts" if len(patterns) > 1 else "this head puts"
    lesson.say(f"**Trained and random.** These are the {weights} weights. From its last token, where the verb is asked for, {who} {share} "
               f"of its weight on the subject, “{example.tokens[subject]}”. Switch the weights to compare. The model was trained with a "
               "causal mask, so no token looks at later ones here. Its x is what the first block reads: token vectors with positions, "
               "normed. The page “Looking inside” measures such heads on many texts.")


def ask_heads(page):
    """What the page of many heads shows: the person's own sentence with random vectors, two heads drawn at random, or the trained layer.

    returns  (Example, x, n_heads)
    """
    tokens, notes = controls.own_tokens()
    lesson.remarks(notes)
    if not tokens:
        made = (examples.two_heads, all_heads)[controls.pick(page, "example", "Example", [examples.two_heads().title, all_heads().title])]
        if made is all_heads:
            example = ask(page, made)
            return example, example.x, example.n_heads  # it was trained with so many
        return made(), made().x, controls.whole(page, "n_heads", "Heads", 1, 8, made().n_heads)
    left, middle, right = st.columns([2, 2, 1.2], vertical_alignment="bottom")
    with left:
        d_model = controls.stop(page, "d_model", "Features of a token, d_model", (8, 16, 32, 64), 16)
    with middle:
        n_heads = controls.whole(page, "n_heads", "Heads", 1, 8, 2)
    seed = st.session_state["seed"]
    params = {"w_qkv": draws.projection(seed, "w_qkv", d_model, 3 * d_model), "w_o": draws.projection(seed, "w_o", d_model, d_model)}
    vectors = examples.frozen(draws.token_vectors(tokens, seed, d_model))
    example = examples.Example("own", "Your own sentence", tuple(tokens), vectors, params,
                               f"drawn at random (seed {seed}), never trained", n_heads, takes_positions=True)
    with right:
        return example, controls.with_positions(page, example), n_heads
