"""Embeddings: an id picks a row of a table, and rows can be compared."""

import streamlit as st

from core import arithmetic_vectors, embeddings, sums
from pages.shared import charts, controls, lesson, plots, text, trained
from pages.shared.controls import Cell, Grid

PAGE = "embeddings"

own, _ = controls.own_tokens()
d_model = controls.stop(PAGE, "d_model", "Features of a token, d_model", (2, 4, 8, 16, 32), 8) if own else 16
example, notes = controls.sentence(PAGE, ("bank_sentence", "four_tokens", trained.table), d_model)
lesson.remarks(notes)
if example.id == "trained":
    example = trained.ask(PAGE, trained.table)
tokens = example.tokens
vocabulary = list(dict.fromkeys(tokens))
w_embed = example.x[[tokens.index(word) for word in vocabulary]]
token_ids = [vocabulary.index(token) for token in tokens]
vocab_size, d_model = w_embed.shape
one_hot = embeddings.one_hot(token_ids, vocab_size)
x = embeddings.lookup(w_embed, token_ids)
alike = embeddings.cosine(w_embed)
logits = embeddings.unembed(x, w_embed)

lesson.say("Each id of the vocabulary owns one row of a table, **w_embed**: the vector of that token. Looking a token up copies its row. "
           "Multiplying a **one-hot** row, all 0 but a 1 at the id, by the table gives the same numbers. Equal tokens get equal vectors, "
           "wherever they stand. The vocabulary here is the distinct words of the text, in the order in which they first appear.")
lesson.formula(r"x_t = w_{\text{embed}}[\text{id}_t] = \text{onehot}(\text{id}_t)\, w_{\text{embed}}")
lesson.ask(PAGE, "A word stands twice in a sentence. How do its two looked-up vectors differ?",
           ["not at all", "by their position", "by the words around them"], 0,
           "The lookup sees the id alone. Position is added afterwards, and the words around it come in with attention.")

features = controls.features(d_model)
picked = controls.cell(PAGE, {"vector": Grid(tokens, features, "Token", "Feature"),
                              "similarity": Grid(vocabulary, vocabulary, "Word", "Word"),
                              "logit": Grid(tokens, vocabulary, "Token", "Word")}, Cell("vector", 0, 1))
row, column = picked.row, picked.column
word = row if picked.stage == "similarity" else token_ids[row]


def framed(stage):
    """The cell to frame in the picture of this stage."""
    return (row, column) if picked.stage == stage else None


def draw(z, rows, columns, chart, title, stage=None, width=470, **more):
    """One matrix of the page."""
    figure = charts.heatmap(z, rows, columns, title=title, **lesson.look(width), **more)
    lesson.picture(figure, f"{PAGE}.{chart}", f"{title}: {z.shape[0]} × {z.shape[1]}, values from {z.min():.3g} to {z.max():.3g}.",
                   None if stage is None else controls.on_click(PAGE, f"{PAGE}.{chart}", stage))


lesson.heading("A lookup is a row of the table")
of_token = row if picked.stage != "similarity" else token_ids.index(word)
limit = float(abs(w_embed).max())
left, right = st.columns(2)
with left:
    draw(one_hot, tokens, vocabulary, "one_hot", "One-hot rows", quantity="weight", row_title="token", column_title="word",
         clicked=(of_token, None), max_cell=40)
with right:
    draw(w_embed, vocabulary, features, "table", "The table w_embed", row_title="word", column_title="feature", limit=limit,
         clicked=(word, None), max_cell=40)
draw(x, tokens, features, "vectors", "One-hot rows × table = the looked-up vectors", "vector", 960, row_title="token",
     column_title="feature", limit=limit, clicked=framed("vector") or (of_token, None), max_cell=56)
gap = abs(one_hot @ w_embed - x).max()
lesson.say(f"Largest difference between the product and the lookup: **{gap:.2g}**. A program copies the row, because the product would "
           f"multiply {vocab_size - 1} of {vocab_size} rows by 0. The framed row is the one that token {of_token} picks.")

lesson.heading("An id that the table does not have")
asked = controls.whole(PAGE, "id", "Look up this id", -1, 50, min(1, vocab_size - 1))
try:
    vector = embeddings.lookup(w_embed, [asked])[0]
    lesson.words(f"id {asked} is {text.quoted(vocabulary[asked])}: [{', '.join(f'{value:.4g}' for value in vector[:8])}"
                 + (f", … {d_model - 8} more]" if d_model > 8 else "]"))
except ValueError as fault:
    lesson.remarks([str(fault)])
lesson.say(f"The table has {vocab_size} row{'s' * (vocab_size != 1)}, so ids run from 0 to {vocab_size - 1}. A negative id is refused as "
           "well: NumPy alone would count from the end and return a wrong row without a word.")

lesson.heading("How alike are two vectors?")
lesson.say("The **cosine** of two vectors is their dot product divided by both lengths: 1 for the same direction, 0 at right angles, −1 "
           "for opposite directions. The flat map lays the vectors flat along the two directions in which they spread most "
           "(principal component analysis); the axes say how much of the spread each one keeps.")
left, right = st.columns(2)
with left:
    draw(alike, vocabulary, vocabulary, "alike", "Cosine of every two words", "similarity", row_title="word", column_title="word", limit=1,
         name="cosine", clicked=framed("similarity") or (word, None))
projection = embeddings.principal_components(w_embed)
shares = [f"{share:.0%} of the variance" for share in projection.shares]
if vocab_size > 1:  # one point has no spread: no axis would mean anything
    times = [token_ids.count(i) for i in range(vocab_size)]
    figure = plots.points(*projection.points.T, [f"{each}×{n}" if n > 1 else each for each, n in zip(vocabulary, times, strict=True)],
                          title="The words on a flat map", x_title=f"direction 0: {shares[0]}", y_title=f"direction 1: {shares[1]}",
                          marked=word, height=460, dark=lesson.dark())
    with right:
        lesson.picture(figure, f"{PAGE}.map", f"{vocab_size} words as points along two principal directions, which keep {shares[0]} and "
                       f"{shares[1]}.")
    lesson.words(f"Nearest to {text.quoted(vocabulary[word])} by cosine\n" + "\n".join(
        f"{text.quoted(vocabulary[other])}: {cosine:.4f}" for other, cosine in embeddings.nearest(w_embed, word)))
else:
    lesson.say("The text has one distinct word: there is nothing to compare it with, and no spread to draw on a map.")
if example.id == "trained":
    trained.say_table(alike)
else:
    lesson.say("These vectors are random, so near and far mean nothing here: two words are alike by chance. Equal words share one row and "
               "one point; ×n says that a word stands n times.")

lesson.heading("The same table, used backwards")
draw(logits, tokens, vocabulary, "logits", "Logits: each looked-up vector · each row of the table", "logit", 960, name="logit",
     row_title="token", column_title="word of the vocabulary", clicked=framed("logit") or (of_token, None), max_cell=44)
first = int((logits.argmax(axis=-1) == token_ids).sum())
lesson.say(f"At its end a model compares a vector with a row for every word; the dot products are its **logits**. A **tied** model uses "
           f"the same table for this (Press & Wolf 2017). Here {first} of {len(tokens)} looked-up vectors "
           f"{'has its' if first == 1 else 'have their'} largest logit at {'its' if first == 1 else 'their'} own row. That is not certain: "
           "the own logit is the squared length, and a longer row in a similar direction can beat it.")

if picked.stage == "vector":
    chain = [sums.explain_product("x", "one_hot", one_hot[row], "w_embed", w_embed[:, column], row, column, x[row, column])]
    where = f"token {row} {text.quoted(tokens[row])}, feature {column}"
elif picked.stage == "logit":
    chain = [arithmetic_vectors.explain_dot(f"logits[{row}, {column}]", "x", x[row], row, "w_embed", w_embed[column], column,
                                            logits[row, column])]
    where = f"token {row} {text.quoted(tokens[row])}, word {column} {text.quoted(vocabulary[column])}"
else:
    chain = arithmetic_vectors.explain_cosine("w_embed", w_embed, row, column, alike[row, column])
    where = f"word {row} {text.quoted(vocabulary[row])}, word {column} {text.quoted(vocabulary[column])}"
lesson.arithmetic(where, chain)

lesson.weights(f"The vectors are {example.where_from}. Vectors from random numbers mean nothing; a near word is near by chance.")
lesson.check("one-hot rows times the table give the looked-up vectors", gap, 0)
lesson.check("every vector has cosine 1 with itself", abs(alike.diagonal() - 1).max(), 1e-12)
lesson.check("the shares of the variance are at most 1 together", max(projection.shares.sum() - 1, 0), 1e-12)
lesson.ran(embeddings.lookup, embeddings.one_hot, embeddings.cosine, embeddings.principal_components, embeddings.unembed)
lesson.script("Embeddings", (embeddings.lookup, embeddings.one_hot, embeddings.cosine, embeddings.principal_components, embeddings.unembed),
              {"w_embed": w_embed, "token_ids": token_ids}, """
    x = lookup(w_embed, token_ids)
    show("x", x)
    show("one_hot", one_hot(token_ids, len(w_embed)))
    show("cosine", cosine(w_embed))
    show("points", principal_components(w_embed).points)
    show("logits", unembed(x, w_embed))
    """, tokens)
lesson.source("Vaswani et al. 2017, section 3.4", "Press & Wolf 2017", "Jolliffe 2002, section 3.5")
