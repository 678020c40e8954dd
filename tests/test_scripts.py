"""The script of a page: it runs alone, with numpy alone, and prints the numbers that the page draws."""

import ast
import subprocess
import sys

import numpy as np
import pytest

from core import attention, experiments, softmax
from pages.shared import examples, scripts
from tests.page_tools import LESSONS, SCRIPTLESS, attention_by_hand, drawn, picture, shown, softmax_rows, visit

NASTY = '" \' """ \'\'\' \\ \\n \\""" # {x} %s </script> 👩‍👩‍👧 سلام e\u0301 ${y} \u200b'


def run(text, folder):
    """What a script prints, run by itself in an empty folder."""
    (folder / "page.py").write_text(text, encoding="utf-8")
    ran = subprocess.run([sys.executable, "-I", "page.py"], cwd=folder, capture_output=True, check=False, timeout=60, encoding="utf-8")
    assert ran.returncode == 0, ran.stderr
    assert [path.name for path in folder.iterdir()] == ["page.py"]
    return ran.stdout


def script(at):
    """The text that the page's download button hands out."""
    (build,) = shown(at, "script")
    return build()


def printed(at, folder):
    """What the page's script prints, as {name: array}; a name that comes several times holds all its rows."""
    found, name = {}, None
    for line in run(script(at), folder).splitlines():
        if line.startswith("["):
            found[name].append(ast.literal_eval(line))
        else:
            name = line
            found.setdefault(name, [])
    return {name: np.array(rows) for name, rows in found.items()}


def agree(found, expected):
    for name, numbers in expected.items():
        np.testing.assert_allclose(found[name], np.atleast_2d(numbers), rtol=1e-12, atol=1e-12, err_msg=name)


SENTENCES = [{}, {"text": "the bank refused the loan"}, {"text": NASTY}, {"text": "the"}]
each_sentence = pytest.mark.parametrize("asked", SENTENCES, ids=["preset", "own", "nasty", "one word"])


def preset(name):
    example = examples.EXAMPLES[name]()
    return example.x, *(example.params[matrix] for matrix in ("w_q", "w_k", "w_v"))


@each_sentence
def test_the_script_of_queries_keys_values_prints_the_page(asked, tmp_path):
    at = visit("queries-keys-values", queries_keys_values__stage="value", **asked)
    found = printed(at, tmp_path)
    agree(found, {"v": drawn(at, "v ="), "raw_scores": drawn(at, "q·k")})
    if not asked:
        agree(found, {name: attention_by_hand(*preset("by_hand"))[name] for name in ("q", "k", "v", "raw_scores")})


@each_sentence
def test_the_script_of_attention_prints_the_page(asked, tmp_path):
    at = visit("attention", **asked)
    found = printed(at, tmp_path)
    agree(found, {"raw_scores": drawn(at, "1"), "scores": drawn(at, "2"), "pattern": drawn(at, "3"), "mixed": drawn(at, "4")})
    if not asked:
        agree(found, {name: attention_by_hand(*preset("by_hand"))[name] for name in ("raw_scores", "scores", "pattern", "mixed")})


def test_the_script_of_scaling_prints_the_page(tmp_path, worked):
    at = visit("scaling", scaling__scores="3 1 -2.5", scaling__temperature="0.5")
    found = printed(at, tmp_path)
    bars = picture(at, "Weights").spec["data"][0]["y"]
    agree(found, {"weights": bars, "slopes": drawn(at, "Slopes")})
    p = softmax_rows([[6, 2, -5]])[0]
    agree(found, {"weights": p, "slopes": np.diag(p) - np.outer(p, p)})
    agree(found, {"d, std, largest weight as it is, divided by the root of d":
                  [[row[name] for name in ("d", "std", "top_unscaled", "top_scaled")] for row in worked["scaling"]["rows"]]})


@pytest.mark.parametrize("mask", ["causal", "none", "padding", "causal + padding", "blind row"])
def test_the_script_of_the_causal_mask_prints_the_page(mask, tmp_path):
    at = visit("causal-mask", causal_mask__mask=mask, causal_mask__boost="2")
    found = printed(at, tmp_path)
    visible = {"causal": np.tri(4) > 0, "none": np.ones((4, 4), bool), "padding": np.arange(4) < [[3]] * 4,
               "causal + padding": (np.tri(4) > 0) & (np.arange(4) < 3), "blind row": np.array([[0] * 4, *[[1] * 4] * 3], bool)}[mask]
    by_hand = attention_by_hand(*preset("four_tokens"))
    scores = by_hand["scores"] + 2 * np.triu(np.ones((4, 4)), 1)
    seen = visible.any(axis=1)
    pattern = np.zeros((4, 4))
    pattern[seen] = softmax_rows(np.where(visible, scores, -np.inf)[seen])
    zeroed = np.where(visible, softmax_rows(scores), 0)
    agree(found, {"scores": scores, "pattern": pattern, "mixed": pattern @ by_hand["v"]})
    agree(found, {"zeroed": zeroed, "zeroed_sums": zeroed.sum(axis=1)})
    agree(found, {"pattern": drawn(at, "Masked"), "zeroed": drawn(at, "Zeroed after it:")})
    agree({"scores": np.where(visible, found["scores"], np.nan)}, {"scores": drawn(at, "Scores")})


@each_sentence
def test_the_script_of_the_causal_mask_takes_every_sentence(asked, tmp_path):
    at = visit("causal-mask", **asked)
    agree(printed(at, tmp_path), {"pattern": drawn(at, "Masked"), "zeroed": drawn(at, "Zeroed after it:")})


@each_sentence
def test_the_script_of_many_heads_prints_the_page(asked, tmp_path):
    at = visit("many-heads", many_heads__head="head 1", **asked)
    found = printed(at, tmp_path)
    agree(found, {f"pattern of head {head}": drawn(at, f"Pattern of head {head}") for head in (0, 1)})
    agree(found, {"head_out of head 1": drawn(at, "What head 1 adds"), "out": drawn(at, "The output")})
    if not asked:
        example = examples.two_heads()
        q, k, v = np.split(example.x @ example.params["w_qkv"], 3, axis=1)
        for head, columns in enumerate((slice(0, 4), slice(4, 8))):
            pattern = softmax_rows(q[:, columns] @ k[:, columns].T / 2)
            agree(found, {f"pattern of head {head}": pattern,
                          f"head_out of head {head}": pattern @ v[:, columns] @ example.params["w_o"][columns]})


def test_the_script_follows_what_was_edited(tmp_path):
    at = visit("attention", attention__edit="true", attention__x="1 2 3 4; -1 0.5 0 0; 1e-3 0 0 1")
    x = np.array([[1, 2, 3, 4], [-1, 0.5, 0, 0], [1e-3, 0, 0, 1]])
    agree(printed(at, tmp_path), {"mixed": attention_by_hand(x, *preset("by_hand")[1:])["mixed"]})


def test_the_script_follows_the_settings(tmp_path):
    at = visit("queries-keys-values", text="a b c", seed="7", queries_keys_values__tied="true", queries_keys_values__positions="false")
    found = printed(at, tmp_path)
    agree(found, {"q": found["k"], "raw_scores": drawn(at, "q·k")})
    agree(found, {"raw_scores": found["raw_scores"].T})


@pytest.mark.parametrize("url", [url for url in LESSONS if url not in SCRIPTLESS])
def test_a_script_imports_numpy_and_the_standard_library_alone(url):
    tree = ast.parse(script(visit(url, text=NASTY)))
    imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    imported += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in imported} - sys.stdlib_module_names == {"numpy"}
    assert ast.get_docstring(tree).startswith("The numbers of the page")


@pytest.mark.parametrize("url", [url for url in LESSONS if url not in SCRIPTLESS])
def test_every_lesson_hands_out_one_script_under_its_own_name(url):
    at = visit(url)
    assert len(shown(at, "script")) == 1
    (button,) = at.get("download_button")
    assert button.label == "Download this page as a script"


TOKENS = ['"', "'", '"""', "'''", "\\", "\\\\", "\n", "\r\n", "a\nimport os", '"]\nraise SystemExit(3)\n#', "\x00", "\u2028", "\ud800",
          "👩‍👩‍👧", "{x}", "%s", "\\N{DASH}", "\\x41", "x" * 5000, ""]


def test_no_token_can_leave_its_quotation_marks(tmp_path):
    text = scripts.build("t", (softmax.softmax,), {}, "print(ascii(tokens))", TOKENS)
    assert ast.literal_eval(run(text, tmp_path).strip()) == TOKENS


def test_values_are_written_at_full_precision(tmp_path):
    numbers = np.array([[0.1, 1 / 3, 1e-300], [np.pi, -0.0, 2.0**60]])
    arrays = {"a": numbers, "b": numbers.astype(np.float32), "c": np.array([True, False]), "n": 3, "s": [0.1, 2.5]}
    steps = "print([a.tolist(), a.dtype.name, b.tolist(), b.dtype.name, c.tolist(), c.dtype.name, n, s])"
    with np.errstate(under="ignore"):
        found = ast.literal_eval(run(scripts.build("t", (softmax.softmax,), arrays, steps), tmp_path))
    assert found == [numbers.tolist(), "float64", arrays["b"].tolist(), "float32", [True, False], "bool", 3, [0.1, 2.5]]


@pytest.mark.parametrize("function", [attention.attend, attention.multi_head_attention, attention.self_attention,
                                      experiments.mask_three_ways, experiments.scaling_stream, softmax.softmax_jacobian])
def test_sources_come_in_an_order_in_which_they_run(function):
    space = {}
    exec("import hashlib, math\nfrom typing import NamedTuple\nimport numpy as np\n" + scripts.sources(function), space)
    assert callable(space[function.__name__])
    assert scripts.sources(function).count(f"def {function.__name__}(") == 1


def test_a_script_begins_from_the_values_on_the_page_not_from_a_seed():
    assert "default_rng" not in script(visit("attention", text="a b c"))
