"""The sum behind every cell: its operands are the numbers their names say, and it comes to what the trace holds."""

import math
import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic import STAGES, explain, explain_slope, lines, number, summary
from core.attention import attend, multi_head_attention, self_attention

pytestmark = pytest.mark.filterwarnings("error")

ATTEND_STAGES = ("raw_scores", "scores", "exponential", "pattern", "mixed")
SELF_STAGES = ("q", "k", "v", *ATTEND_STAGES)


class Example:
    """A trace, what explain needs beside it, and the arrays that the names in its terms stand for."""

    def __init__(self, trace, heads=(None,), n_kv_heads=1, mask=None, **beside):
        self.trace, self.heads, self.mask = trace, heads, mask
        self.group = len(heads) // n_kv_heads
        self.beside = beside if mask is None else {**beside, "visible": mask}

    def array(self, name, head):
        """The array of one head that a name stands for."""
        params = self.beside.get("params", {})
        if name in ("w_o", "b_o", "w_q", "w_k", "w_v") and name in params:
            return params[name]
        if re.fullmatch("[wb]_[qkv]", name):  # the block of the fused projection that makes this head's q, k or v
            n_heads, n_kv_heads = len(self.heads), len(self.heads) // self.group
            block = {"q": head, "k": n_heads + head // self.group, "v": n_heads + n_kv_heads + head // self.group}[name[2]]
            d_head = self.trace.q.shape[-1]
            return params[f"{name[0]}_qkv"][..., block * d_head:(block + 1) * d_head]
        whole = getattr(self.trace, name, self.beside.get(name))
        if head is None or name in ("x", "out"):
            return whole
        return whole[head // self.group] if name in ("k", "v") else whole[head]

    def operand(self, name, head, top):
        """The number that a name like "q[0, 1]", "head_out[2][0, 1]", "b_q[1]", "max" or "1" stands for."""
        base, *indices = re.findall(r"\w+", name)
        if base in ("1", "max", "scale"):
            assert not indices
            return {"1": 1.0, "max": top, "scale": self.beside.get("scale", 1 / math.sqrt(self.array("q", head).shape[-1]))}[base]
        array = self.array(base, None if base == "head_out" else head)
        assert array.ndim == len(indices)
        return float(array[tuple(int(i) for i in indices)])

    def cells(self, stage):
        """head, row and column of every cell; `out` has no head."""
        for head in (None,) if stage == "out" else self.heads:
            shape = self.array("scores" if stage == "exponential" else stage, head).shape
            yield from ((head, row, column) for row in range(shape[0]) for column in range(shape[1]))

    def allowed(self, row, n_keys):
        return [j for j in range(n_keys) if self.mask is None or np.broadcast_to(self.mask, (self.mask.shape[0], n_keys))[row, j]]

    def explain(self, stage, head, row, column):
        return explain(self.trace, stage, row, column, head=head, **self.beside)


def one_head(mask=None, **options):
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 2)), rng.normal(size=(4, 2)), rng.normal(size=(4, 3))
    return Example(attend(q, k, v, mask, **options), mask=mask, q=q, k=k, v=v, **options)


def self_attending(mask=None):
    rng = np.random.default_rng(1)
    x, *w = rng.normal(size=(3, 5)), *(rng.normal(size=(5, 2)) for _ in range(3))
    return Example(self_attention(x, *w, mask), mask=mask, params=dict(zip(("w_q", "w_k", "w_v"), w)))


def several_heads(n_heads, n_kv_heads=None, biases=False, mask=None, dtype=np.float64):
    rng = np.random.default_rng(2)
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    n_columns = (n_heads + 2 * n_kv_heads) * 2
    params = {"w_qkv": rng.normal(size=(4, n_columns)).astype(dtype) / 2, "w_o": rng.normal(size=(n_heads * 2, 4)).astype(dtype)}
    if biases:
        params |= {"b_qkv": rng.normal(size=n_columns).astype(dtype), "b_o": rng.normal(size=4).astype(dtype)}
    x = rng.normal(size=(3, 4)).astype(dtype)
    trace = multi_head_attention(x, params, n_heads, mask, n_kv_heads=n_kv_heads)
    return Example(trace, range(n_heads), n_kv_heads, mask, x=x, params=params)


CAUSAL = np.tri(3, dtype=bool)
BLIND = CAUSAL & (np.arange(3) != 1)[:, None]  # the second query sees nothing

EXAMPLES = {  # built when a test asks
    "one head": one_head,
    "one head, causal": lambda: one_head(np.tri(3, 4, 1, dtype=bool)),
    "one head, some keys hidden": lambda: one_head(np.array([[True, False, True, True]] * 3)),
    "one head, nothing visible": lambda: one_head(np.zeros((3, 4), bool)),
    "one head, own scale": lambda: one_head(scale=0.25),
    "self": self_attending,
    "self, causal": lambda: self_attending(CAUSAL),
    "self, a row sees nothing": lambda: self_attending(BLIND),
    "1 head": lambda: several_heads(1),
    "1 head, biases, causal": lambda: several_heads(1, biases=True, mask=CAUSAL),
    "2 heads": lambda: several_heads(2),
    "2 heads, causal": lambda: several_heads(2, mask=CAUSAL),
    "2 heads, biases": lambda: several_heads(2, biases=True),
    "2 heads, biases, a row sees nothing": lambda: several_heads(2, biases=True, mask=BLIND),
    "4 heads": lambda: several_heads(4),
    "4 heads, biases, causal": lambda: several_heads(4, biases=True, mask=CAUSAL),
    "4 heads share 2 keys and values": lambda: several_heads(4, 2, mask=CAUSAL),
    "4 heads share 2 keys and values, biases": lambda: several_heads(4, 2, biases=True),
    "4 heads share 1 key and value, biases": lambda: several_heads(4, 1, biases=True, mask=CAUSAL),
}


@cache
def built(name):
    return EXAMPLES[name]()


def stages_of(name):
    return ATTEND_STAGES if name.startswith("one head") else SELF_STAGES if name.startswith("self") else STAGES


CASES = pytest.mark.parametrize(("name", "stage"), [(name, stage) for name in EXAMPLES for stage in stages_of(name)])


def close(a, b, terms):
    """Equal but for the rounding of a sum of these terms."""
    return abs(a - b) <= 1e-12 * math.fsum(abs(term) for term in terms) + 1e-300


# --- every cell of every stage --------------------------------------------------------------------------------------

@CASES
def test_every_operand_is_the_number_its_name_says(name, stage):
    example = built(name)
    for head, row, column in example.cells(stage):
        seen = example.allowed(row, example.array("scores", head).shape[1]) if stage in ("exponential", "pattern") else []
        top = max((float(example.array("scores", head)[row, j]) for j in seen), default=0.0)
        for term in example.explain(stage, head, row, column).terms:
            assert term.left == example.operand(term.left_name, head, top), term
            assert term.right == example.operand(term.right_name, head, top), term
            assert term.value == (math.exp(term.left - term.right) if stage in ("exponential", "pattern") else term.left * term.right)


@CASES
def test_the_terms_come_to_the_number_in_the_trace(name, stage):
    example = built(name)
    for head, row, column in example.cells(stage):
        found = example.explain(stage, head, row, column)
        values = [term.value for term in found.terms]
        assert found.name == f"{stage}[{row}, {column}]"
        assert close(found.total, math.fsum(values), values)
        assert found.residual == abs(found.result - found.value)
        if stage == "exponential":
            expected = next((term.value for term in found.terms if term.left_name == f"scores[{row}, {column}]"), 0.0)
            assert found.value == found.result == found.numerator == expected
            continue
        assert found.value == float(example.array(stage, head)[row, column])
        if stage == "pattern":
            own = [term.value for term in found.terms if term.left_name == f"scores[{row}, {column}]"]
            assert found.numerator == math.fsum(own)
            assert close(found.value, math.fsum(own) / math.fsum(values) if values else 0.0, [found.value])
            assert close(found.value, found.result, [found.value])
        else:
            assert found.numerator is None
            assert found.result == found.total
            assert close(found.value, math.fsum(values), values)


@CASES
def test_the_terms_are_those_of_the_formula_each_once(name, stage):
    """q·k runs over the features, a weight over the visible keys, a mixture over the keys, an output over the heads."""
    example = built(name)
    for head, row, column in example.cells(stage):
        found = example.explain(stage, head, row, column)
        names = [(term.left_name, term.right_name) for term in found.terms]
        d_head, n_keys = example.array("q", example.heads[0]).shape[1], example.trace.scores.shape[-1]
        params = example.beside.get("params", {})
        if stage in ("q", "k", "v"):
            expected = [(f"x[{row}, {i}]", f"w_{stage}[{i}, {column}]") for i in range(example.array("x", head).shape[1])]
            expected += [(f"b_{stage}[{column}]", "1")] * ("b_qkv" in params)
        elif stage == "raw_scores":
            expected = [(f"q[{row}, {i}]", f"k[{column}, {i}]") for i in range(d_head)]
        elif stage == "scores":
            expected = [(f"raw_scores[{row}, {column}]", "scale")]
        elif stage in ("exponential", "pattern"):
            expected = [(f"scores[{row}, {j}]", "max") for j in example.allowed(row, n_keys)]
        elif stage == "mixed":
            expected = [(f"pattern[{row}, {j}]", f"v[{j}, {column}]") for j in range(n_keys)]
        elif stage == "head_out":
            expected = [(f"mixed[{row}, {i}]", f"w_o[{head * d_head + i}, {column}]") for i in range(d_head)]
        else:
            expected = [(f"head_out[{h}][{row}, {column}]", "1") for h in example.heads] + [(f"b_o[{column}]", "1")] * ("b_o" in params)
        assert names == expected
        assert found.kind == {"exponential": "exponential", "pattern": "exponential", "out": "sum"}.get(stage, "product")


@CASES
def test_the_lines_print_numbers_that_read_back_as_the_very_same(name, stage):
    example = built(name)
    for head, row, column in example.cells(stage):
        found = example.explain(stage, head, row, column)
        *before, last = lines(found)
        if found.kind == "exponential":
            *before, total = before
            assert total.split(" = ")[0] == "sum of the row"
            assert float(total.split(" = ")[1]) == found.total
        single = len(found.terms) == 1 and found.kind != "exponential"
        for line, term in zip(before, found.terms, strict=True):
            left, right = re.escape(term.left_name), re.escape(term.right_name)
            wanted = {"product": rf"{left} × {right} = (\S+) × (\S+) = (\S+)", "sum": rf"{left} = (\S+)",
                      "exponential": rf"exp\({left} - {right}\) = exp\((\S+) - (\S+)\) = (\S+)"}[found.kind]
            printed = [float(n) for n in re.fullmatch(wanted, line).groups()]
            assert printed == ([term.value] if found.kind == "sum" else [term.left, term.right, term.value])
        shown, *_, result = last.split(" = ")
        assert shown == found.name
        assert float(result) == found.result
        assert ("sum of the above" in last) == (found.kind != "exponential" and not single)
        if stage == "pattern" and found.terms:
            assert [float(n) for n in last.split(" = ")[1].split(" / ")] == [found.numerator, found.total]


def test_no_line_divides_by_0_where_a_query_sees_nothing():
    """The weights are 0 by convention; 0 / 0 = 0 would be false."""
    example = built("one head, nothing visible")
    assert not [line for line in lines(example.explain("pattern", None, 0, 0)) if re.search(r"/ 0\b(?!\.)", line)]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_in_lower_precision_the_operands_are_exact_and_the_sum_is_near(dtype, stage):
    example = several_heads(2, biases=True, mask=CAUSAL, dtype=dtype)
    for head, row, column in example.cells(stage):
        found = example.explain(stage, head, row, column)
        scale = max([1.0, *(abs(term.value) for term in found.terms)])
        assert found.residual <= 16 * np.finfo(dtype).eps * scale
        for term in found.terms:
            assert "max" in term.right_name or term.left == example.operand(term.left_name, head, None)


# --- by hand --------------------------------------------------------------------------------------------------------

def test_by_hand(worked):
    """The first cell of every stage of a worked example, as one would write it down."""
    example = worked["by_hand"]
    params = {f"w_{name}": np.array(example[f"W_{name}"]) for name in "qkv"}
    trace = self_attention(example["X"], *params.values())
    assert lines(explain(trace, "q", 0, 0, params=params)) == [
        "x[0, 0] × w_q[0, 0] = 1 × 1 = 1", "x[0, 1] × w_q[1, 0] = 0 × 0 = 0", "x[0, 2] × w_q[2, 0] = 1 × 1 = 1",
        "x[0, 3] × w_q[3, 0] = 0 × 0 = 0", "q[0, 0] = sum of the above = 2"]
    assert lines(explain(trace, "raw_scores", 0, 1)) == [
        "q[0, 0] × k[1, 0] = 2 × 2 = 4", "q[0, 1] × k[1, 1] = 0 × 1 = 0", "q[0, 2] × k[1, 2] = 1 × 1 = 1",
        "raw_scores[0, 1] = sum of the above = 5"]
    assert explain(trace, "scores", 0, 1).result == pytest.approx(5 / math.sqrt(3), rel=1e-15)
    assert [term.value for term in explain(trace, "pattern", 1, 2).terms] == [1, 1, 1]
    assert lines(explain(trace, "pattern", 1, 2))[-2:] == ["sum of the row = 3", f"pattern[1, 2] = 1 / 3 = {1 / 3!r}"]
    assert explain(trace, "mixed", 0, 1).result == pytest.approx(example["output"][0][1], abs=1e-8)


@given(st.floats(allow_nan=False))
def test_a_number_reads_back_as_the_very_same(value):
    assert float(number(value)) == value


@pytest.mark.parametrize(("value", "text"), [
    (0, "0"), (3.0, "3"), (-2, "-2"), (0.1, "0.1"), (np.float32(0.5), "0.5"), (123456789.0, "123456789"),
    (1e300, "1e+300"), (-1e-7, "-1e-07"),
])
def test_whole_numbers_have_no_decimal_point(value, text):
    assert number(value) == text


# --- the slope of a weight, and the chain in one line ------------------------------------------------------------------

@pytest.mark.parametrize("scores", [[0.0], [1.0, 2.0], [0.5, -1.0, 3.0, 0.5], [0.0, 800.0]])
def test_the_slope_of_every_weight_is_taken_apart(scores):
    """d p_i / d s_j = p_i ([i = j] - p_j), against central differences of a softmax in plain Python."""
    def softmax(row):
        raised = [math.exp(s - max(row)) for s in row]
        return [r / math.fsum(raised) for r in raised]

    p = np.array(softmax(scores))
    for i in range(len(p)):
        for j in range(len(p)):
            found = explain_slope(p, i, j)
            term, = found.terms
            assert (found.name, term.left_name, term.right_name) == (f"slope[{i}, {j}]", f"p[{i}]", f"({int(i == j)} - p[{j}])")
            assert (term.left, term.right) == (p[i], (i == j) - p[j])
            assert found.total == found.result == term.value == term.left * term.right
            assert found.residual <= 1e-15
            up, down = (softmax([s + step * (at == j) for at, s in enumerate(scores)])[i] for step in (1e-5, -1e-5))
            assert found.value == pytest.approx((up - down) / 2e-5, abs=1e-9)
            assert [float(n) for n in re.findall(r"= (\S+) × (\S+) = (\S+)", lines(found)[0])[0]] == [term.left, term.right, term.value]


def test_the_chain_of_a_cell_in_one_rounded_line(worked):
    """e^(0.5774 - 2.887) is this key's share of 1 + e^-1.155 + e^-2.309 = 1.414."""
    example = worked["by_hand"]
    params = {f"w_{name}": np.array(example[f"W_{name}"]) for name in "qkv"}
    trace = self_attention(example["X"], *params.values())
    chain = [explain(trace, stage, 0, 0) for stage in ("raw_scores", "scores", "pattern")]
    assert summary(chain) == "2×0 + 0×1 + 1×1 = 1 → 1×0.5774 = 0.5774 → e^(-2.309) / 1.414 = 0.07022"
    assert summary([explain(trace, "exponential", 0, 0)]) == "e^(-2.309) = 0.09932"
    assert summary([]) == ""


def test_a_long_sum_in_one_line_shows_its_beginning_and_counts_the_rest():
    trace = attend([[1.0] * 6], [[2.0] * 6], [[5.0]])
    explained = explain(trace, "raw_scores", 0, 0, q=np.ones((1, 6)), k=np.full((1, 6), 2.0))
    assert summary([explained]) == "1×2 + 1×2 + 1×2 + 1×2 + … (2 more) = 12"


def test_in_one_line_a_visible_key_far_below_the_maximum_keeps_its_own_exponent():
    """Its exponential rounds to 0, but its score is -1000, not -∞."""
    q, k = np.array([[1.0]]), np.array([[0.0], [1000.0]])
    assert summary([explain(attend(q, k, k), "pattern", 0, 0, q=q, k=k, v=k)]) == "e^(-1000) / 1 = 0"


def test_in_one_line_a_hidden_key_has_the_exponential_of_minus_infinity_and_heads_are_added():
    hidden = built("self, causal")
    share = hidden.explain("pattern", None, 0, 2)
    assert summary([share]) == f"e^(-∞) / {share.total:.4g} = 0"
    assert "/" not in summary([built("one head, nothing visible").explain("pattern", None, 0, 0)])
    heads = built("2 heads")
    first, second = (f"{heads.trace.head_out[h, 1, 2]:.4g}" for h in range(2))
    assert summary([heads.explain("out", None, 1, 2)]) == f"{first} + {second} = {heads.trace.out[1, 2]:.4g}"


# --- wrong use ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("stage", ["weights", "", "Q", "head_outs", None])
def test_a_stage_that_is_not_there_is_refused_with_those_that_are(stage):
    with pytest.raises(ValueError, match=f"{stage!r}.*{', '.join(STAGES)}"):
        explain(built("self").trace, stage, 0, 0)


@pytest.mark.parametrize(("name", "stage"), [
    *(("one head", stage) for stage in ("q", "k", "v", "head_out", "out")), ("self", "head_out"), ("self", "out"),
])
def test_a_stage_that_this_trace_does_not_hold_is_refused(name, stage):
    with pytest.raises(ValueError, match=stage):
        built(name).explain(stage, None, 0, 0)


@pytest.mark.parametrize("stage", STAGES)
def test_a_cell_outside_the_array_is_refused_with_its_size(stage):
    example = built("2 heads")
    head, n_rows, n_columns = max(example.cells(stage), key=lambda cell: cell[1:])
    n_rows, n_columns = n_rows + 1, n_columns + 1
    for row, column in ((n_rows, 0), (0, n_columns), (-1, 0), (0, -1), (99, 99)):
        message = f"{stage} has {n_rows} rows and {n_columns} columns; there is no cell \\[{row}, {column}\\]"
        with pytest.raises(ValueError, match=message):
            example.explain(stage, head, row, column)


@pytest.mark.parametrize(("row", "column"), [(-1, 1), (1, -1), (2, 0), (0, 2)])
def test_a_slope_outside_the_jacobian_is_refused(row, column):
    with pytest.raises(ValueError, match="no cell|outside|0 to 1"):
        explain_slope(np.array([0.5, 0.5]), row, column)


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage != "out"])
def test_a_missing_head_is_asked_for(stage):
    with pytest.raises(ValueError, match="say which head"):
        built("2 heads").explain(stage, None, 0, 0)


@pytest.mark.parametrize("head", [2, -1])
@pytest.mark.parametrize("stage", ["q", "k", "pattern", "head_out"])
def test_a_head_that_is_not_there_is_refused(stage, head):
    with pytest.raises(ValueError, match="head"):
        built("2 heads").explain(stage, head, 0, 0)


@pytest.mark.parametrize(("stage", "missing"), [("raw_scores", "q"), ("raw_scores", "k"), ("scores", "q"), ("mixed", "v")])
def test_an_array_that_the_trace_does_not_hold_is_asked_for(stage, missing):
    example = built("one head")
    with pytest.raises(ValueError, match=f"does not hold {missing}: give it"):
        explain(example.trace, stage, 0, 0, **{name: array for name, array in example.beside.items() if name != missing})


def test_missing_token_vectors_and_parameters_are_asked_for():
    example = built("2 heads")
    x, params = example.beside["x"], example.beside["params"]
    for stage in ("q", "k", "v"):
        with pytest.raises(ValueError, match="does not hold x: give it"):
            explain(example.trace, stage, 0, 0, head=0, params=params)
        with pytest.raises(ValueError, match=f"To take {stage} apart, give params"):
            explain(example.trace, stage, 0, 0, head=0, x=x)
        with pytest.raises(ValueError, match=f"To take {stage} apart, give params"):
            explain(built("self").trace, stage, 0, 0)
    for given_params in ({}, {"params": {"w_qkv": params["w_qkv"]}}):
        with pytest.raises(ValueError, match="head_out.*give params with w_o"):
            explain(example.trace, "head_out", 0, 0, head=0, **given_params)
