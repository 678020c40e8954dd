"""Random arrays that are the same on every machine: each has its own child seed, named after what it is.

A token's vector depends on (seed, token) alone. So editing one word of a sentence changes that word's vector and no
other, and equal words have equal vectors.
"""

import hashlib

import numpy as np

from core.embeddings import lookup


def child_rng(seed, *names):
    """A random generator of its own for (seed, names).

    seed     whole number of 0 or more
    names    strings, e.g. "token", "bank"
    returns  numpy Generator (PCG64), seeded by SHA-256 of the seed and the names

    >>> bool(child_rng(1, "w_q").random() == child_rng(1, "w_q").random())
    True
    """
    text = "\x1f".join((str(int(seed)), *names))
    return np.random.default_rng(np.frombuffer(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), dtype=np.uint32))


def projection(seed, name, n_rows, n_columns):
    """A random matrix with entries of variance 1/n_rows, so that x·w keeps the size of x's entries.

    returns  (n_rows, n_columns) float64, read-only
    source   the scale of LeCun et al. 1998, "Efficient BackProp", section 4.6

    >>> projection(0, "w_q", 4, 3).shape
    (4, 3)
    """
    w = child_rng(seed, "projection", name, str(n_rows), str(n_columns)).standard_normal((n_rows, n_columns)) / np.sqrt(n_rows)
    w.flags.writeable = False
    return w


def token_vectors(tokens, seed, d_model):
    """A vector of standard normal draws for each distinct token, looked up for each token of the sentence.

    tokens   list of str
    returns  (n_tokens, d_model) float64; equal tokens have equal rows

    >>> a, b = token_vectors(["to", "be", "to"], 0, 2), token_vectors(["to", "see", "to"], 0, 2)
    >>> bool((a[0] == b[0]).all() and (a[0] == a[2]).all() and (a[1] != b[1]).all())
    True
    """
    vocabulary = {token: row for row, token in enumerate(dict.fromkeys(tokens))}
    w_embed = np.empty((len(vocabulary), d_model))
    for token, row in vocabulary.items():
        w_embed[row] = child_rng(seed, "token", token).standard_normal(d_model)
    return lookup(w_embed, [vocabulary[token] for token in tokens])


def block_params(seed, layer, d_model, d_ff, *, gated=False):
    """Random parameters of one block, each matrix from its own child seed.

    layer    which block of a stack, part of the child seed
    gated    with the third matrix of a SwiGLU layer
    returns  {"attention": {"w_qkv", "w_o"}, "feed_forward": {"w_in", "w_out"}}, and "w_gate" where gated

    >>> block_params(0, 0, 4, 8)["feed_forward"]["w_in"].shape
    (4, 8)
    """
    def draw(name, n_rows, n_columns):
        return projection(seed, f"layer {layer} {name}", n_rows, n_columns)

    feed_forward = {"w_in": draw("w_in", d_model, d_ff), "w_out": draw("w_out", d_ff, d_model)}
    if gated:
        feed_forward["w_gate"] = draw("w_gate", d_model, d_ff)
    return {"attention": {"w_qkv": draw("w_qkv", d_model, 3 * d_model), "w_o": draw("w_o", d_model, d_model)}, "feed_forward": feed_forward}


def embedding_table(vocabulary, seed, d_model):
    """One row for each token of a vocabulary, of length about 1: multiplied by √d_model, as the 2017 Transformer does, entries have size 1.

    vocabulary  list of distinct str
    returns     (vocab_size, d_model) float64
    source      Vaswani et al. 2017, section 3.4 (the factor)

    >>> embedding_table(["a", "b"], 0, 4).shape
    (2, 4)
    """
    return token_vectors(vocabulary, seed, d_model) / np.sqrt(d_model)


def encoder_decoder_params(seed, vocabulary, d_model, d_ff, n_layers):
    """Random parameters of an encoder-decoder, each matrix from its own child seed.

    returns  {"w_embed", "encoder": [layer, …], "decoder": [layer, …]}, as `core.encoder_decoder.forward` takes them

    >>> len(encoder_decoder_params(0, ["a"], 2, 4, 1)["decoder"])
    1
    """
    encoder = [block_params(seed, f"encoder {layer}", d_model, d_ff) for layer in range(n_layers)]
    decoder = []
    for layer in range(n_layers):
        own, cross = (block_params(seed, f"decoder {layer} {part}", d_model, d_ff) for part in ("self", "cross"))
        decoder.append({"self_attention": own["attention"], "cross_attention": cross["attention"], "feed_forward": own["feed_forward"]})
    return {"w_embed": embedding_table(vocabulary, seed, d_model), "encoder": encoder, "decoder": decoder}
