"""The sum behind any cell of any stage of attention, as terms a person can check."""

import math

import numpy as np

from core.softmax import softmax_jacobian
from core.sums import Explanation, Term, lines, number, products, summary

__all__ = ["Explanation", "Term", "explain", "explain_slope", "lines", "number", "summary"]

STAGES = ("q", "k", "v", "raw_scores", "scores", "exponential", "pattern", "mixed", "head_out", "out")


def explain(trace, stage, row, column, *, head=None, x=None, params=None, q=None, k=None, v=None, scale=None, bias=None, visible=None):
    """Take one cell of a trace apart.

    trace    AttentionTrace, SelfAttentionTrace or MultiHeadTrace of one sentence (no batch axis)
    stage    one of STAGES; "exponential" is exp(score - row maximum), the step between scores and pattern
    row      the query (for k and v: the token); column: the key, or the feature
    head     which head, where the trace has several
    x        (n_tokens, d_model), for the stages q, k and v, where the trace does not hold it
    q, k, v  what was attended with, where the trace does not hold it (an AttentionTrace)
    params   {"w_q", "w_k", "w_v"} or {"w_qkv", "w_o"} (with biases), for q, k, v, head_out and out
    scale    the factor that was used on q·k; 1/√d_head unless given
    bias     (n_queries, n_keys), what was added to the scaled scores of this head
    visible  bool (n_queries, n_keys), the mask that was used
    returns  Explanation
    raises   ValueError for a stage, or a cell outside the array, that is not there

    >>> from core.attention import attend
    >>> q, k = np.array([[2.0, 1.0]]), np.array([[3.0, 4.0]])
    >>> [term.value for term in explain(attend(q, k, [[5.0]]), "raw_scores", 0, 0, q=q, k=k).terms]
    [6.0, 4.0]
    """
    if stage not in STAGES:
        raise ValueError(f"There is no stage {stage!r}; there are {', '.join(STAGES)}.")
    pick = _Picker(trace, head, {"x": x, "q": q, "k": k, "v": v}, params)
    cells = trace.out if stage == "out" and hasattr(trace, "out") else pick.array("scores" if stage == "exponential" else stage)
    if not (0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]):
        raise ValueError(f"{stage} has {cells.shape[0]} rows and {cells.shape[1]} columns; there is no cell [{row}, {column}].")
    value = float(cells[row, column])

    if stage in ("q", "k", "v"):
        w, bias = pick.projection(stage, cells.shape[1])
        terms = products("x", pick.array("x")[row], f"w_{stage}", w[:, column], row, column)
        if bias is not None:
            terms.append(Term(f"b_{stage}[{column}]", float(bias[column]), "1", 1.0, float(bias[column])))
    elif stage == "raw_scores":
        terms = products("q", pick.array("q")[row], "k", pick.array("k")[column], row, None, right_row=column)
    elif stage == "scores":
        raw = float(pick.array("raw_scores")[row, column])
        factor = 1 / math.sqrt(pick.array("q").shape[1]) if scale is None else float(scale)
        terms = [Term(f"raw_scores[{row}, {column}]", raw, "scale", factor, raw * factor)]
        if bias is not None:
            terms.append(Term(f"bias[{row}, {column}]", float(bias[row, column]), "1", 1.0, float(bias[row, column])))
    elif stage in ("exponential", "pattern"):
        return _softmax_cell(pick.array("scores"), stage, row, column, visible, value)
    elif stage == "mixed":
        terms = products("pattern", pick.array("pattern")[row], "v", pick.array("v")[:, column], row, column)
    elif stage == "head_out":
        w_o = pick.head_rows_of_w_o()
        terms = products("mixed", pick.array("mixed")[row], "w_o", w_o[:, column], row, column, offset=head * w_o.shape[0])
    else:  # out: what every head adds
        terms = [Term(f"head_out[{h}][{row}, {column}]", float(part[row, column]), "1", 1.0, float(part[row, column]))
                 for h, part in enumerate(trace.head_out)]
        if params is not None and "b_o" in params:
            terms.append(Term(f"b_o[{column}]", float(params["b_o"][column]), "1", 1.0, float(params["b_o"][column])))
    total = sum(term.value for term in terms)
    return Explanation(f"{stage}[{row}, {column}]", "sum" if stage == "out" else "product", tuple(terms), total, None, total, value)


def explain_slope(weights, row, column):
    """Take one cell of the softmax's Jacobian apart: how weight `row` moves when score `column` moves.

    d p_i / d s_j = p_i · ([i = j] - p_j)

    weights  (n,) from a softmax
    returns  Explanation

    >>> explain_slope(np.array([0.5, 0.5]), 0, 1).result
    -0.25
    """
    if not (0 <= row < len(weights) and 0 <= column < len(weights)):
        raise ValueError(f"The slopes of {len(weights)} weights have no cell [{row}, {column}].")
    p_i, p_j = float(weights[row]), float(weights[column])
    inner = float(row == column) - p_j
    term = Term(f"p[{row}]", p_i, f"({int(row == column)} - p[{column}])", inner, p_i * inner)
    value = float(softmax_jacobian(weights)[row, column])
    return Explanation(f"slope[{row}, {column}]", "product", (term,), term.value, None, term.value, value)


def _softmax_cell(scores, stage, row, column, visible, value):
    """The exponentials of a row, their sum and this key's share."""
    allowed = np.ones(scores.shape[1], bool) if visible is None else np.broadcast_to(visible, scores.shape)[row]
    keys = np.flatnonzero(allowed)
    top = float(scores[row, keys].max()) if keys.size else 0.0
    terms = tuple(Term(f"scores[{row}, {j}]", float(scores[row, j]), "max", top, math.exp(float(scores[row, j]) - top)) for j in keys)
    total = sum(term.value for term in terms)
    numerator = math.exp(float(scores[row, column]) - top) if allowed[column] else 0.0
    if stage == "exponential":
        return Explanation(f"exponential[{row}, {column}]", "exponential", terms, total, numerator, numerator, numerator)
    return Explanation(f"pattern[{row}, {column}]", "exponential", terms, total, numerator, numerator / total if total else 0.0, value)


class _Picker:
    """Finds the two-dimensional array of one head in a trace or beside it, and the parameters behind it."""

    def __init__(self, trace, head, beside, params):
        self.trace, self.head, self.beside, self.params = trace, head, beside, params

    def array(self, name):
        whole = getattr(self.trace, name, self.beside.get(name))
        if whole is None:
            raise ValueError(f"This trace does not hold {name}: give it.")
        if whole.ndim == 2:
            return whole
        if self.head is None:
            raise ValueError(f"{name} has shape {whole.shape}: say which head.")
        if not 0 <= self.head < self.trace.pattern.shape[0]:
            raise ValueError(f"There is no head {self.head}; there are heads 0 to {self.trace.pattern.shape[0] - 1}.")
        return whole[self.head * whole.shape[0] // self.trace.pattern.shape[0]]  # key/value heads may be shared

    def projection(self, stage, width):
        """The columns of the projection that made this head's q, k or v, and their bias."""
        if self.params is None:
            raise ValueError(f"To take {stage} apart, give params.")
        if f"w_{stage}" in self.params:
            return self.params[f"w_{stage}"], self.params.get(f"b_{stage}")
        n_heads, n_kv_heads = self.trace.q.shape[0], self.trace.k.shape[0]
        head = self.head if stage == "q" else self.head * n_kv_heads // n_heads
        start = {"q": 0, "k": n_heads, "v": n_heads + n_kv_heads}[stage]
        columns = slice((start + head) * width, (start + head + 1) * width)
        bias = self.params.get("b_qkv")
        return self.params["w_qkv"][:, columns], None if bias is None else bias[columns]

    def head_rows_of_w_o(self):
        if self.params is None or "w_o" not in self.params:
            raise ValueError("To take head_out apart, give params with w_o.")
        d_head = self.trace.mixed.shape[-1]
        return self.params["w_o"][self.head * d_head:(self.head + 1) * d_head]
