"""Questions about the block: norms, bends, the residual stream, the order of its steps, and formulas of which one is broken."""

import numpy as np

from core.activations import ACTIVATIONS
from core.arithmetic_layers import bend_expression, explain_feed_forward, explain_layer_norm, explain_rms_norm
from core.attention import multi_head_attention
from core.block import block
from core.feed_forward import feed_forward
from core.normalization import layer_norm, rms_norm
from core.positions import rotary, sinusoidal
from core.questions.asking import PAPER, Question, Shown, Slip, in_words, kind, mixed, numbered, on_paper
from core.softmax import softmax, softmax_jacobian
from core.sums import explain_steps, explain_sum, number

SPREADS = ((1, 1, 1), (2, 2, 2), (4, 4, 4), (1, 7, 5), (2, 14, 10))  # |deviations| of two pairs, and their standard deviation
EVEN_SQUARES = ((1, 1, 3, 5), (2, 4, 4, 8), (1, 3, 3, 9), (1, 5, 5, 7), (1, 1, 7, 7), (2, 2, 2, 2), (2, 2, 6, 10))
NAMES = {"ReLU": "relu", "GELU": "gelu", "SiLU": "silu", "no bend: x itself": None}
PRE = ("normalise the stream for attention", "attention reads", "add what attention wrote to the stream",
       "normalise the stream for the feed-forward layer", "the feed-forward layer reads", "add what the feed-forward layer wrote")
POST = ("attention reads the stream", "add what attention wrote to the stream", "normalise the stream",
        "the feed-forward layer reads the stream", "add what the feed-forward layer wrote to the stream",
        "normalise the stream again")


@kind("block", "normalisation", "LayerNorm")
def layer_norm_entry(rng):
    """One number of a LayerNorm whose standard deviation is a whole number."""
    one, other, std = SPREADS[rng.integers(len(SPREADS))]
    x = (np.array([one, -one, other, -other], float) + int(rng.integers(-3, 6)))[rng.permutation(4)]
    i = int(rng.integers(4))
    out = layer_norm(x, eps=0.0)
    right = round(float(out[i]), 9)
    if not x.mean():
        return None
    return Question(f"What does LayerNorm make of **feature {i}** of x = {in_words(x)}? Leave ε, gain and offset out.", "number", right,
                    tolerance=1e-3, hint="It can be done on paper: mean and standard deviation are whole numbers.",
                    slips=(Slip(float(x[i]) - float(x.mean()), "the mean is taken away; now divide by the standard deviation."),
                           Slip(float(x[i]) / std, "the mean has to be taken away before dividing."),
                           Slip((float(x[i]) - float(x.mean())) / std**2, "this divides by the variance; it has to be its root.")),
                    working=(explain_layer_norm(x[None], out[None], 0, i, eps=0.0),))


@kind("block", "normalisation", "RMSNorm")
def rms_norm_entry(rng):
    """One number of an RMSNorm whose root mean square is a whole number."""
    x = np.array(EVEN_SQUARES[rng.integers(len(EVEN_SQUARES))], float)[rng.permutation(4)] * rng.choice([-1, 1], 4)
    i = int(rng.integers(4))
    out = rms_norm(x, eps=0.0)
    right, centred = float(out[i]), float(layer_norm(x, eps=0.0)[i])
    return Question(f"What does RMSNorm make of **feature {i}** of x = {in_words(x)}? Leave ε and gain out.", "number", right,
                    tolerance=0.005,
                    hint="It can be done on paper: the root mean square is a whole number. A fraction is welcome.",
                    slips=(Slip(centred, "this is LayerNorm; RMSNorm takes no mean away."),
                           Slip(float(x[i] / (x * x).mean()), "this divides by the mean square; it has to be its root.")),
                    working=(explain_rms_norm(x[None], out[None], 0, i, eps=0.0),))


@kind("block", "feed-forward", "Widen and bend")
def hidden_unit(rng):
    """One hidden number of a feed-forward layer with ReLU."""
    x, w_in = rng.integers(-2, 4, (1, 3)).astype(float), rng.integers(-2, 3, (3, 4)).astype(float)
    f = int(rng.integers(4))
    params = {"w_in": w_in, "w_out": np.zeros((4, 3))}
    trace = feed_forward(x, params, "relu")
    before, right = float(trace.hidden_pre[0, f]), float(trace.hidden_post[0, f])
    if not before or (abs(x[0] * w_in[:, f]) > 0).sum() < 2:
        return None
    return Question(f"A feed-forward layer reads x = {in_words(x[0])}, multiplies by w_in and bends with **ReLU**. What is **hidden "
                    f"feature {f}** after the bend?", "whole", right, hint=PAPER,
                    given=(Shown("w_in", w_in, numbered(3), numbered(4), "feature of x", "hidden feature"),),
                    slips=(Slip(before, "this is the number before the bend; ReLU makes 0 of what is below 0."),),
                    working=tuple(explain_feed_forward(x, params, trace, "relu", "hidden_post", 0, f)))


@kind("block", "feed-forward", "Which bend it was")
def which_bend(rng):
    """Which activation made this number of x."""
    x = float(rng.choice([-3.0, -2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0]))
    made = {name: float(ACTIVATIONS[bend][0](np.float64(x))) if bend else x for name, bend in NAMES.items()}
    right = list(NAMES)[rng.integers(4)]
    if any(abs(made[right] - value) < 0.02 for name, value in made.items() if name != right):
        return None
    options, place = mixed(rng, list(NAMES), list(NAMES).index(right))
    return Question(f"Which bend turns {on_paper(x)} into {on_paper(made[right], 4)}?", "choice", place, options,
                    hint="A calculator helps: SiLU(x) = x / (1 + e^(−x)). What neither ReLU nor SiLU nor x itself makes is GELU's.",
                    working=(explain_steps(list(NAMES)[-1], [(name, bend_expression(bend, x) if bend else number(x), made[name])
                                                             for name, bend in NAMES.items()], x),))


@kind("block", "block", "The residual stream")
def residual_sum(rng):
    """What stands in the stream after a pre-norm block wrote to it twice."""
    before, attention, fed = (float(value) for value in rng.integers(-12, 13, 3) / 2)
    right = before + attention + fed
    if not (before and attention and fed) or right in (fed, attention + fed):
        return None
    return Question(f"One feature of a token stands at {on_paper(before)} in the residual stream. In a **pre-norm** block attention writes "
                    f"{on_paper(attention)} and the feed-forward layer writes {on_paper(fed)}. What stands in the stream after the block?",
                    "number", right, hint=PAPER,
                    slips=(Slip(fed, "this is the last write alone; the block adds to the stream and replaces nothing."),
                           Slip(attention + fed, "this is what the block wrote; what came in is still there."),
                           Slip(before + fed, "what attention wrote is missing."),
                           Slip(before + attention, "what the feed-forward layer wrote is missing.")),
                    working=(explain_sum("resid_post", {"resid_pre": before, "attn_out": attention, "ff_out": fed}, right),))


@kind("block", "block", "The steps of a block")
def order_block(rng):
    """The six steps of a pre-norm or a post-norm block, to be put in order."""
    pre = bool(rng.integers(2))
    steps, shown = PRE if pre else POST, rng.permutation(6).tolist()
    if shown == sorted(shown):
        return None
    return Question(f"Put the steps of a **{'pre' if pre else 'post'}-norm** block in order.", "order",
                    tuple(shown.index(i) for i in range(6)), tuple(steps[i] for i in shown),
                    working=tuple(f"{i}. {step}" for i, step in enumerate(steps, 1)))


def _identities(rng):
    """Formulas that hold, and formulas that look alike and do not: {text: how far the two sides are apart on random arrays}."""
    x, s, c = rng.normal(size=(3, 4)), rng.normal(size=(3, 5)), float(rng.integers(1, 5))
    q, k, v = rng.normal(size=(3, 3, 4))
    layer = {"w_qkv": rng.normal(size=(4, 12)), "w_o": rng.normal(size=(4, 4))}
    heads = multi_head_attention(x, layer, 2)
    params = {"attention": layer, "feed_forward": {"w_in": rng.normal(size=(4, 6)), "w_out": rng.normal(size=(6, 4))}}
    pre, post = (block(x, params, 2, norm_position=where) for where in ("pre", "post"))
    pe, root = sinusoidal(8, 4), np.sqrt(4)
    turned = [rotary(q, at + np.arange(3)) @ rotary(k, at + np.arange(3)).T for at in (0, 5)]
    order, relu = np.array([1, 2, 0]), ACTIVATIONS["relu"][0]

    def attended(rows):
        return softmax(rows @ rows.T) @ rows
    sound = {
        f"softmax(s + {c:.0f}) = softmax(s)": softmax(s + c) - softmax(s),
        "out = mixed₀ W₀ + mixed₁ W₁ (two heads, W₀ and W₁ the rows of w_o that belong to them)": heads.head_out.sum(axis=0) - heads.out,
        f"LayerNorm({c + 1:.0f} x) = LayerNorm(x) (ε = 0, x not constant)": layer_norm((c + 1) * x, eps=0.0) - layer_norm(x, eps=0.0),
        f"LayerNorm(x + {c:.0f}) = LayerNorm(x)": layer_norm(x + c) - layer_norm(x),
        "stream out = stream in + attention wrote + feed-forward wrote (pre-norm)":
            pre.resid_pre + pre.attn_out + pre.ff_out - pre.resid_post,
        "rotary: the scores stay when all positions move on by 5": turned[1] - turned[0],
        "each column of the slopes of a softmax sums to 0": softmax_jacobian(softmax(s[0])).sum(axis=0),
        "attention(shuffled x) = shuffled attention(x) (no mask, no positions)": attended(x[order]) - attended(x)[order],
        "softmax(2 s) with temperature 2 = softmax(s)": softmax(2 * s, temperature=2.0) - softmax(s),
    }
    broken = {
        "softmax(2 s) = softmax(s)": softmax(2 * s) - softmax(s),
        "softmax(q kᵀ / √d) = softmax(q kᵀ) / √d": softmax(q @ k.T / root) - softmax(q @ k.T) / root,
        "softmax(q kᵀ) v = softmax(k qᵀ) v": (softmax(q @ k.T) - softmax(k @ q.T)) @ v,
        f"RMSNorm(x + {c:.0f}) = RMSNorm(x)": rms_norm(x + c) - rms_norm(x),
        "LayerNorm(x) = x / √(mean of x²) (ε = 0)": layer_norm(x, eps=0.0) - rms_norm(x, eps=0.0),
        "stream out = stream in + attention wrote + feed-forward wrote (post-norm)":
            post.resid_pre + post.attn_out + post.ff_out - post.resid_post,
        "pe[2] + pe[3] = pe[5] (sinusoidal)": pe[2] + pe[3] - pe[5],
        "out = (mixed₀ + mixed₁) w_o[its first rows] (two heads)": (heads.mixed.sum(axis=0)) @ layer["w_o"][:2] - heads.out,
        "ReLU(a + b) = ReLU(a) + ReLU(b)": relu(x + q) - relu(x) - relu(q),
    }
    return ({text: float(abs(gap).max()) for text, gap in part.items()} for part in (sound, broken))


@kind("block", "block", "The broken formula")
def broken_formula(rng):
    """Four formulas, one of which does not hold; all are run on random arrays."""
    sound, broken = _identities(rng)
    wrong = list(broken)[rng.integers(len(broken))]
    texts = [wrong, *(list(sound)[i] for i in rng.permutation(len(sound))[:3])]
    gaps = {**sound, **broken}
    if broken[wrong] < 0.05 or max(gaps[text] for text in texts[1:]) > 1e-4:
        return None
    options, place = mixed(rng, texts)
    return options and Question("Three of these formulas hold for all numbers, under the conditions in their brackets. Which one is "
                                "**broken**?", "choice", place, options,
                                working=("Both sides of each, run on random arrays, are apart by at most:",
                                         *(f"{text}: {gaps[text]:.2g}" for text in options)))


KINDS = (layer_norm_entry, rms_norm_entry, hidden_unit, which_bend, residual_sum, order_block, broken_formula)
