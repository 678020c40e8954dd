"""The arithmetic behind one step of training: a gradient as a difference of two losses, and Adam's way from a gradient to a new value."""

import math

from core.sums import explain_steps, number


def explain_gradient(name, losses, step, value):
    """A gradient as the slope between two losses: the parameter a little larger, and a little smaller.

    numeric = (loss(w + step) - loss(w - step)) / (2 step)

    name     of the parameter, e.g. "w_embed[0, 1]"
    losses   (loss with w + step, loss with w - step)
    value    the numeric gradient that this must equal
    returns  Explanation

    >>> explain_gradient("w[0]", (1.5, 1.0), 0.25, 1.0).result
    1.0
    """
    above, below = losses
    return explain_steps(f"numeric_gradient_{name}", [
        (f"numeric_gradient_{name}", f"({number(above)} - {number(below)}) / (2 × {number(step)})", (above - below) / (2 * step))], value)


def explain_rate(step, peak, n_steps, warm_up, value, floor=0.1):
    """The learning rate of a step: a straight line up, then half a cosine down to floor · peak.

    step     from 0; the step's own number is one more
    value    the rate that this must equal, as core.optimizer.learning_rate_at gives it
    returns  Explanation
    source   Loshchilov & Hutter 2017, "SGDR", equation 5

    >>> explain_rate(1, 1.0, 12, 4, 0.5).terms[0].right_name
    '1 × (1 + 1) / 4'
    """
    name = f"rate[{step + 1}]"
    if step < warm_up:
        return explain_steps(name, [(name, f"{number(peak)} × ({step} + 1) / {warm_up}", peak * (step + 1) / warm_up)], value)
    last = max(n_steps - warm_up, 1)
    share = min((step - warm_up) / last, 1.0)
    gone = f"({step} - {warm_up}) / {last}" if share < 1 else "1"
    result = peak * (floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * share)))
    return explain_steps(name, [(f"share[{step + 1}]", gone, share),
                                (name, f"{number(peak)} × ({floor} + {number(1 - floor)} × 0.5 × (1 + cos(π × {number(share)})))", result)],
                         value)


def explain_adam(name, w, gradient, m, v, t, value, *, learning_rate, length=None, clip=None, beta1=0.9, beta2=0.98, eps=1e-8, decay=0.0):
    """One parameter's way through a step of AdamW.

    g = gradient · min(1, clip / length);  m = β1 m + (1 - β1) g;  v = β2 v + (1 - β2) g²
    w = w (1 - learning_rate · decay) - learning_rate · (m / (1 - β1^t)) / (√(v / (1 - β2^t)) + eps)

    name      of the parameter, e.g. "w_embed[0, 1]"
    w, m, v   its value and moments before the step
    t         the number of this step, from 1
    length    of all gradients together; clip: what it is shortened to where it is longer (None: never)
    value     the parameter after the step, which this must equal
    returns   Explanation
    source    Kingma & Ba 2015, algorithm 1; Loshchilov & Hutter 2019, algorithm 2

    >>> explain_adam("w[0]", 1.0, 2.0, 0.0, 0.0, 1, 0.5, learning_rate=0.5, eps=0.0).result
    0.5
    """
    g, steps = gradient, []
    if clip is not None and length > clip:
        g = gradient * clip / length
        steps.append((f"clipped_{name}", f"{number(gradient)} × {number(clip)} / {number(length)}", g))
    new_m, new_v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
    flat_m, flat_v = new_m / (1 - beta1**t), new_v / (1 - beta2**t)
    kept = w * (1 - learning_rate * decay)
    new = kept - learning_rate * flat_m / (flat_v**0.5 + eps)
    steps += [
        (f"m_{name}", f"{number(beta1)} × {number(m)} + (1 - {number(beta1)}) × {number(g)}", new_m),
        (f"v_{name}", f"{number(beta2)} × {number(v)} + (1 - {number(beta2)}) × ({number(g)})²", new_v),
        (f"m̂_{name}", f"{number(new_m)} / (1 - {number(beta1)}^{t})", flat_m),
        (f"v̂_{name}", f"{number(new_v)} / (1 - {number(beta2)}^{t})", flat_v),
    ]
    if decay:
        steps.append((f"kept_{name}", f"{number(w)} × (1 - {number(learning_rate)} × {number(decay)})", kept))
    moved = f"{number(learning_rate)} × {number(flat_m)} / (√({number(flat_v)}) + {number(eps)})"
    steps.append((f"new_{name}", f"{number(kept)} - {moved}", new))
    return explain_steps(f"new_{name}", steps, value)
