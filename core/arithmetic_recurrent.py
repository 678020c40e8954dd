"""The sum behind any feature of a recurrent network's state."""

import math

from core.sums import Explanation, Term, explain_steps, number, products


def explain_state(x, params, trace, step, feature, bend=True):
    """Take one feature of the state after a step apart: what the word brings, what the state before it brings, then the tanh.

    x        (n_steps, d_in), as it was run; params, bend: as for `recurrent`
    trace    what `recurrent` returned
    step     0 for the first word; it makes states[step + 1]
    returns  list of Explanation, in the order of the computation
    raises   ValueError for a step or a feature that is not there

    >>> import numpy as np
    >>> from core.recurrent import recurrent
    >>> x, params = [[2.0]], {"w_x": np.array([[3.0]]), "w_h": np.array([[0.5]])}
    >>> explain_state(x, params, recurrent(x, params, bend=False), 0, 0, bend=False)[-1].result
    6.0
    """
    n_steps, d_state = trace.pre.shape
    if not (0 <= step < n_steps and 0 <= feature < d_state):
        raise ValueError(f"There are {n_steps} steps and {d_state} features; there is no step {step} with feature {feature}.")
    terms = [*products("x", x[step], "w_x", params["w_x"][:, feature], step, feature),
             *products("states", trace.states[step], "w_h", params["w_h"][:, feature], step, feature)]
    if "b" in params:
        terms.append(Term(f"b[{feature}]", float(params["b"][feature]), "1", 1.0, float(params["b"][feature])))
    total, value, name = sum(term.value for term in terms), float(trace.pre[step, feature]), f"states[{step + 1}, {feature}]"
    pre = Explanation(f"pre[{step}, {feature}]" if bend else name, "product", tuple(terms), total, None, total, value)
    if not bend:
        return [pre]
    after = float(trace.states[step + 1, feature])
    return [pre, explain_steps(name, [(name, f"tanh({number(value)})", math.tanh(value))], after)]
