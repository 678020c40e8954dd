"""Questions about the whole model: choosing the next token, loss, and the shapes on the way."""

import math

import numpy as np

from core.config import ModelConfig
from core.loss import cross_entropy
from core.questions.asking import CALCULATOR, PAPER, TWO_DECIMALS, Question, Slip, in_words, kind, mixed, on_paper
from core.sampling import choose, logits_of, next_token_probs
from core.sums import explain_steps, explain_sum, number
from core.transformer import forward, init_params

SHARES = ((0.4, 0.3, 0.15, 0.1, 0.05), (0.5, 0.25, 0.15, 0.08, 0.02), (0.35, 0.3, 0.2, 0.1, 0.05), (0.6, 0.2, 0.1, 0.07, 0.03))
TOKENS = ("tea", "rain", "bread", "music", "snow")
STAGES = {
    "the logits": lambda trace: trace.logits,
    "the attention weights of one block": lambda trace: trace.blocks[0].attention.pattern,
    "the queries of one block, split into heads": lambda trace: trace.blocks[0].attention.q,
    "the hidden features of a feed-forward layer": lambda trace: trace.blocks[0].feed_forward.hidden_post,
    "the residual stream after a block": lambda trace: trace.blocks[0].resid_post,
}


def _shares(rng):
    """Five tokens with distinct probabilities, in a random order."""
    probs = np.array(SHARES[rng.integers(len(SHARES))])[rng.permutation(5)]
    return probs, tuple(f"{token} {on_paper(p)}" for token, p in zip(TOKENS, probs, strict=True))


@kind("model", "generation", "What top-p keeps")
def top_p_kept(rng):
    """Which tokens top-p leaves to choose from."""
    probs, options = _shares(rng)
    p = float(rng.choice([0.45, 0.55, 0.68, 0.78, 0.87, 0.94]))
    steps = choose(logits_of(probs), top_p=p)
    order = [int(i) for i in steps.order]
    sums = np.cumsum(probs[order])
    if abs(sums - p).min() < 0.015 or steps.n_kept == 5:
        return None
    so_far = ", ".join(f"{TOKENS[i]} {on_paper(total, 4)}" for i, total in zip(order, sums, strict=True))
    return Question(f"The next token has the probabilities below. Tick the tokens that **top-p** with p = {number(p)} keeps.", "set",
                    frozenset(order[:steps.n_kept]), options, hint=PAPER,
                    working=("From the most probable on, added up: " + so_far + ".",
                             f"The fewest tokens whose sum reaches {number(p)} are the first {steps.n_kept}."))


@kind("model", "generation", "What top-k leaves")
def top_k_share(rng):
    """With what probability a token is drawn after top-k."""
    probs, options = _shares(rng)
    k = int(rng.integers(2, 4))
    steps = choose(logits_of(probs), top_k=k)
    token = int(steps.order[rng.integers(k)])
    right, kept = float(steps.probs[token]), steps.order[:k]
    own, total = (round(float(share), 9) for share in (probs[token], probs[kept].sum()))
    return Question(f"The next token has the probabilities {', '.join(options)}. With **top-k**, k = {k}: with what probability is "
                    f"“{TOKENS[token]}” drawn?", "number", right, tolerance=TWO_DECIMALS,
                    hint="You may write a fraction. For two decimals a calculator helps.",
                    slips=(Slip(float(probs[token]), "what is kept has still to be divided by its sum."),),
                    working=(explain_sum("kept", {TOKENS[i]: round(float(probs[i]), 9) for i in kept}, total),
                             explain_steps("drawn", [("drawn", f"{number(own)} / {number(total)}", right)], right)))


@kind("model", "generation", "Temperature")
def temperature(rng):
    """What another temperature does to the share of the most, or of the least probable token."""
    probs, options = _shares(rng)
    to, largest = float(rng.choice([0.0, 0.5, 2.0, 4.0])), bool(rng.integers(2))
    token = int(probs.argmax() if largest else probs.argmin())
    after = next_token_probs(logits_of(probs), to)
    before, now = float(probs[token]), float(after[token])
    if abs(now - before) < 0.015:
        return None
    return Question(f"At temperature 1 the next token has the probabilities {', '.join(options)}. The temperature goes to "
                    f"**{number(to)}**. What becomes of the probability of “{TOKENS[token]}”?", "choice", 0 if now > before else 1,
                    ("it grows", "it shrinks", "it stays the same"),
                    working=((f"All logits are divided by the temperature{' (at 0 the largest takes all)' if not to else ''}: a low one "
                              "gives more to what is probable, a high one makes all more alike."),
                             f"“{TOKENS[token]}”: {on_paper(before)} at 1, {on_paper(now, 4)} at {number(to)}."))


@kind("model", "training", "Cross-entropy")
def loss_of(rng):
    """The cross-entropy of one prediction."""
    probs, options = _shares(rng)
    target = int(rng.integers(5))
    right, p = cross_entropy(logits_of(probs)[None], [target]), float(probs[target])
    return Question(f"A model gives the next token the probabilities {', '.join(options)}. The text goes on with “{TOKENS[target]}”. "
                    "What is the **loss** (cross-entropy, in nats) of this "
                    "prediction?", "number", right, tolerance=TWO_DECIMALS, hint=CALCULATOR,
                    slips=(Slip(-math.log2(p), "this counts in bits; nats take the natural logarithm."),
                           Slip(-math.log10(p), "this is the logarithm to base 10; nats take the natural one, ln."),
                           Slip(math.log(p), "the loss is minus the logarithm, so it is never below 0."),
                           Slip(1 - p, "this is the share given to the other tokens; the loss is −ln of the right one's share.")),
                    working=(explain_steps("loss", [("loss", f"-ln({number(p)})", right)], right),
                             "Only the share of the token that came counts."))


@kind("model", "training", "Knowing nothing")
def loss_of_guessing(rng):
    """The loss of a model that gives every token the same share."""
    vocab_size = int(rng.choice([2, 4, 10, 20, 50, 100, 1000]))
    right = cross_entropy(np.zeros((1, vocab_size)), [0])
    return Question(f"A model knows nothing yet: it gives each of the {vocab_size} tokens of its vocabulary the same probability. What "
                    "is its **loss**, in nats?", "number", right, tolerance=TWO_DECIMALS, hint=CALCULATOR,
                    slips=(Slip(math.log2(vocab_size), "this counts in bits; nats take the natural logarithm."),
                           Slip(math.log10(vocab_size), "this is the logarithm to base 10; nats take the natural one, ln.")),
                    working=(explain_steps("loss", [("share", f"1 / {vocab_size}", 1 / vocab_size),
                                                    ("loss", f"-ln(1 / {vocab_size})", right)], right),))


@kind("model", "forward-pass", "A shape on the way")
def forward_shape(rng):
    """The shape of one array of a forward pass, read from a pass that has run."""
    n_heads, d_head = int(rng.choice([2, 3])), int(rng.choice([4, 5]))
    n_tokens, vocab_size, d_model = int(rng.choice([6, 7])), int(rng.choice([9, 11])), n_heads * d_head
    config = ModelConfig(vocab_size, 8, d_model, 1, n_heads)
    trace = forward(init_params(config, rng), rng.integers(0, vocab_size, n_tokens), config, heads_apart=False)
    name = list(STAGES)[rng.integers(len(STAGES))]
    right = STAGES[name](trace).shape
    shapes = {right, *(read(trace).shape for read in STAGES.values()), (d_model, n_tokens), (n_tokens, n_tokens)}
    others = sorted(shapes - {right})
    options, place = mixed(rng, [" × ".join(map(str, each)) for each in (right, *(others[i] for i in rng.permutation(len(others))[:3]))])
    return options and Question(
        f"A decoder reads {n_tokens} tokens: vocabulary {vocab_size}, d_model {d_model}, {n_heads} heads, d_ff {config.d_ff}. What is "
        f"the shape of **{name}**?", "choice", place, options,
        working=((f"n_tokens = {n_tokens}, n_heads = {n_heads}, d_head = {d_model} / {n_heads} = {d_head}, d_model = {d_model}, "
                  f"d_ff = {config.d_ff}, vocab_size = {vocab_size}."),
                 f"In a pass that has run, {name}: {' × '.join(map(str, right))}."))


@kind("model", "generation", "The greedy choice")
def greedy(rng):
    """The token that temperature 0 chooses from logits."""
    logits = rng.integers(-8, 9, 4) / 2
    right = int(next_token_probs(logits, 0).argmax())
    if (logits == logits.max()).sum() > 1 or abs(logits).max() == logits.max():
        return None
    return Question(f"The logits of {', '.join(TOKENS[:4])} are {in_words(logits)}. Which token does **temperature 0** choose?", "choice",
                    right, TOKENS[:4], working=((f"The largest logit wins, whatever its size: {on_paper(logits[right])}. A logit far "
                                                 f"below 0 "
                                          "makes a token improbable."),))


KINDS = (top_p_kept, top_k_share, temperature, loss_of, loss_of_guessing, forward_shape, greedy)
