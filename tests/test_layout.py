"""The shape of the project: what may import what, what every file has, and the names that others call."""

import ast
import dataclasses
import importlib
import inspect
import re
import subprocess
import sys

import numpy as np
import pytest

from pages.shared import syllabus
from tests.page_tools import ROOT

CORE = sorted((ROOT / "core").rglob("*.py"))
SHARED = sorted((ROOT / "pages" / "shared").glob("*.py"))
PAGES = sorted((ROOT / "pages").glob("[0-9]*.py"))
FRAME, DOOR = ROOT / "pages" / "frame.py", ROOT / "app.py"
STDLIB = sys.stdlib_module_names


def each(files):
    return pytest.mark.parametrize("path", files, ids=lambda path: path.stem)


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path):
    """The modules that a file imports anywhere in it, by their full names."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            folder = ROOT.joinpath(*node.module.split("."))
            found |= {f"{node.module}.{alias.name}" if folder.is_dir() else node.module for alias in node.names}
    return found


def tops(path):
    return {name.split(".")[0] for name in imports(path)}


def public(path):
    """The public functions and classes of a file."""
    return [node for node in tree(path).body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_")]


# ------------------------------------------------------------------------------------------------------ the stairs


@each(CORE)
def test_core_needs_numpy_and_the_standard_library_alone(path):
    assert tops(path) <= STDLIB | {"numpy", "core"}


def module(path):
    """A file's name for import: core/zoo/__init__.py is core.zoo."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_core_has_no_circle_of_imports():
    below = {module(path): {name for name in imports(path) if name.startswith("core.")} for path in CORE}
    settled = set()
    while len(settled) < len(below):
        ready = {name for name, needs in below.items() if name not in settled and needs & set(below) <= settled}
        assert ready, f"a circle among {sorted(set(below) - settled)}"
        settled |= ready


MAY_IMPORT = {
    "__init__": set(),
    "theme": {"numpy", "plotly"},
    "text": set(),
    "figures": {"numpy", "plotly", "pages.shared.theme"},
    "charts": {"numpy", "plotly", "pages.shared.text", "pages.shared.theme", "pages.shared.figures"},
    "plots": {"numpy", "plotly", "pages.shared.text", "pages.shared.theme", "pages.shared.figures"},
    "chips": {"pages.shared.text", "pages.shared.theme", "pages.shared.figures"},
    "texts": set(),
    "diagrams": {"numpy", "plotly", "pages.shared.text", "pages.shared.theme", "pages.shared.figures"},
    "architecture": {"pages.shared.diagrams"},
    "syllabus": set(),
    "glossary": set(),
    "checklist": set(),
    "saving": {"streamlit"},
    "beliefs": {"core", "pages.shared.belief_pictures", "pages.shared.controls", "pages.shared.examples", "pages.shared.router",
                "pages.shared.slow", "pages.shared.text"},
    "belief_pictures": {"streamlit", "core", "pages.shared.charts", "pages.shared.controls", "pages.shared.lesson", "pages.shared.plots"},
    "router": {"streamlit", "core", "numpy", "pages.shared.charts", "pages.shared.checklist", "pages.shared.controls",
               "pages.shared.lesson",
               "pages.shared.plots", "pages.shared.saving", "pages.shared.slow", "pages.shared.text"},
    "cited": set(),
    "sources": {"pages.shared.cited"},
    "examples": {"numpy"},
    "scripts": set(),
    "slow": {"streamlit", "core", "numpy", "pages.shared.texts"},
    "controls": {"streamlit", "core", "numpy", "pages.shared.syllabus", "pages.shared.examples", "pages.shared.text"},
    "blocks": {"streamlit", "core", "numpy", "pages.shared.controls", "pages.shared.examples", "pages.shared.lesson"},
    "waves": {"streamlit", "core", "numpy", "pages.shared.charts", "pages.shared.plots", "pages.shared.controls", "pages.shared.lesson",
              "pages.shared.text"},
    "schemes": {"streamlit", "core", "numpy", "pages.shared.plots", "pages.shared.controls", "pages.shared.lesson", "pages.shared.waves"},
    "trained": {"streamlit", "core", "pages.shared.controls", "pages.shared.examples", "pages.shared.lesson", "pages.shared.slow"},
    "inside": {"streamlit", "core", "numpy", "pages.shared.charts", "pages.shared.controls", "pages.shared.lesson", "pages.shared.slow",
               "pages.shared.text"},
    "inside_parts": {"core", "numpy", "pages.shared.charts", "pages.shared.controls", "pages.shared.inside", "pages.shared.lesson",
                     "pages.shared.plots", "pages.shared.slow", "pages.shared.text", "streamlit"},
    "choices": {"streamlit", "core", "pages.shared.controls"},
    "runs": {"streamlit", "core", "numpy", "pages.shared.choices", "pages.shared.lesson"},
    "models": {"streamlit", "core", "numpy", "pages.shared.controls", "pages.shared.lesson", "pages.shared.slow", "pages.shared.text"},
    "passes": {"streamlit", "core", "numpy", "pages.shared.charts", "pages.shared.plots", "pages.shared.architecture",
               "pages.shared.controls", "pages.shared.lesson", "pages.shared.slow", "pages.shared.text"},
    "caching": {"streamlit", "core", "numpy", "pages.shared.chips", "pages.shared.plots", "pages.shared.controls", "pages.shared.lesson",
                "pages.shared.models", "pages.shared.slow", "pages.shared.text"},
    "pairs": {"streamlit", "core", "numpy", "pages.shared.controls", "pages.shared.lesson", "pages.shared.slow", "pages.shared.text"},
    "families": {"streamlit", "core", "numpy", "pages.shared.charts", "pages.shared.plots", "pages.shared.controls",
                 "pages.shared.lesson", "pages.shared.text", "pages.shared.pairs"},
    "horizontal": {"numpy", "pages.shared.theme", "pages.shared.figures"},
    "pasting": {"streamlit", "core", "pages.shared.controls", "pages.shared.lesson", "pages.shared.text"},
    "counting": {"streamlit", "core", "pages.shared.controls", "pages.shared.horizontal", "pages.shared.lesson", "pages.shared.pasting",
                 "pages.shared.slow"},
    "ledgers": {"streamlit", "core", "pages.shared.controls", "pages.shared.counting", "pages.shared.horizontal", "pages.shared.lesson"},
    "quantities": {"numpy", "plotly", "pages.shared.text", "pages.shared.theme", "pages.shared.figures"},
    "slow_costs": {"streamlit", "core"},
    "measuring": {"streamlit", "core", "pages.shared.lesson", "pages.shared.slow_costs"},
    "costing": {"streamlit", "core", "pages.shared.controls", "pages.shared.lesson", "pages.shared.quantities", "pages.shared.slow_costs"},
    "costing_work": {"streamlit", "core", "pages.shared.controls", "pages.shared.costing", "pages.shared.lesson", "pages.shared.measuring",
                     "pages.shared.quantities"},
    "costing_time": {"streamlit", "core", "numpy", "pages.shared.controls", "pages.shared.costing", "pages.shared.lesson",
                     "pages.shared.measuring", "pages.shared.plots", "pages.shared.quantities", "pages.shared.slow_costs"},
    "quiz": {"streamlit", "core", "pages.shared.charts", "pages.shared.controls", "pages.shared.examples", "pages.shared.lesson",
             "pages.shared.syllabus"},
    "reflection": {"streamlit", "core", "pages.shared.controls", "pages.shared.lesson", "pages.shared.quiz", "pages.shared.syllabus",
                   "pages.shared.text", "pages.shared.saving"},
    "editor": {"streamlit", "core", "pandas", "pages.shared.controls", "pages.shared.examples", "pages.shared.text"},
    "lesson": {"streamlit", "core", "pandas", "pages.shared.syllabus", "pages.shared.controls", "pages.shared.glossary",
               "pages.shared.scripts", "pages.shared.text"},
}


@each(SHARED)
def test_a_shared_room_imports_only_what_is_below_it(path):
    found = {name if name.startswith("pages.") else name.split(".")[0] for name in imports(path)}
    assert found - STDLIB <= MAY_IMPORT[path.stem]


@each(PAGES)
def test_a_page_imports_streamlit_numpy_core_and_the_shared_rooms_alone(path):
    assert tops(path) <= STDLIB | {"streamlit", "numpy", "core", "pages"}
    assert all(name.startswith("pages.shared") for name in imports(path) if name.startswith("pages"))


def test_the_frame_knows_neither_core_nor_plotly():
    assert tops(FRAME) <= STDLIB | {"streamlit", "pages"}
    assert all(name.startswith("pages.shared") for name in imports(FRAME) if name.startswith("pages"))


def test_the_door_holds_no_page():
    assert tops(DOOR) <= STDLIB | {"streamlit", "starlette", "numpy", "plotly", "threadpoolctl", "core", "pages"}
    called = {node.attr for node in ast.walk(tree(DOOR))
              if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "st"}
    assert called == {"App"}
    at_the_top = {alias.name for node in tree(DOOR).body if isinstance(node, ast.Import) for alias in node.names}
    at_the_top |= {node.module for node in tree(DOOR).body if isinstance(node, ast.ImportFrom)}
    assert not any(name.split(".")[0] in ("core", "pages", "numpy", "plotly") for name in at_the_top)


@each([*SHARED, *PAGES, FRAME])
def test_pandas_is_imported_only_inside_a_function(path):
    for node in tree(path).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", "") or ""]
        assert not any(name.split(".")[0] == "pandas" for name in names)


@pytest.mark.parametrize("rooms, unwanted", [
    ("figures charts plots chips diagrams architecture theme text texts examples scripts syllabus",
     "streamlit pandas plotly.express plotly.graph_objects core"),
    ("controls lesson editor slow", "pandas plotly.express"),  # Streamlit itself imports plotly.graph_objects
])
def test_the_shared_rooms_start_without_what_is_slow_to_import(rooms, unwanted):
    code = (f"import sys, {', '.join('pages.shared.' + room for room in rooms.split())}\n"
            f"sys.stdout.write(' '.join(name for name in {unwanted.split()} if name in sys.modules))")
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == ""


# --------------------------------------------------------------------------------------------- what every file has


@each([*CORE, *SHARED, *PAGES, FRAME, DOOR])
def test_every_module_class_and_public_function_says_what_it_is(path):
    silent = [node.name for node in public(path) if not ast.get_docstring(node)]
    assert ast.get_docstring(tree(path)) and not silent


@each(CORE)
def test_a_described_core_function_says_what_it_returns(path):
    for node in public(path):
        doc = ast.get_docstring(node) or ""
        if isinstance(node, ast.FunctionDef) and re.search(r"^(source|raises|returns)\s\s+|^\w+\s\s+(bool )?\(", doc, re.MULTILINE):
            assert re.search(r"^returns\s\s+\S", doc, re.MULTILINE), node.name


@each([*SHARED, *PAGES, FRAME, DOOR])
def test_no_html_is_written_by_hand(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            assert not any(keyword.arg == "unsafe_allow_html" for keyword in node.keywords)
            assert not (isinstance(node.func, ast.Attribute) and node.func.attr == "html" and getattr(node.func.value, "id", "") == "st")


@each([*CORE, *SHARED, *PAGES, FRAME, DOOR])
def test_randomness_is_never_global(path):
    assert "random" not in imports(path)
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random"):
            assert node.attr in ("default_rng", "RandomState", "Generator"), f"np.random.{node.attr}"


def lines(path):
    return len(path.read_text(encoding="utf-8").splitlines())


@each(PAGES)
def test_a_page_is_short(path):
    assert lines(path) <= 150


@each([*CORE, *SHARED])
def test_a_file_holds_one_concept(path):
    assert lines(path) <= 300


# ------------------------------------------------------------------------------------------------------ the syllabus


def test_every_lesson_has_its_file_and_every_file_its_lesson_in_the_order_of_the_numbers():
    assert [lesson.file for lesson in syllabus.LESSONS] == [path.name for path in PAGES]


# --------------------------------------------------------------------------------------------------- public names


@pytest.mark.parametrize("name, signature", [
    ("softmax.softmax", "(x, axis=-1, temperature=1.0)"),
    ("softmax.log_softmax", "(x, axis=-1)"),
    ("attention.causal_mask", "(n_queries, n_keys=None)"),
    ("attention.attend", "(q, k, v, visible=None, *, scale=None, bias=None)"),
    ("attention.multi_head_attention", ("(x, params, n_heads, visible=None, context=None, *, n_kv_heads=None, rotate=None, bias=None, "
                                        "past=None, scale=None, heads_apart=True)")),
    ("positions.sinusoidal", "(n_positions, d_model)"),
])
def test_a_public_function_keeps_its_signature(name, signature):
    module, function = name.split(".")
    assert str(inspect.signature(getattr(importlib.import_module(f"core.{module}"), function))) == signature


def test_explain_takes_a_trace_a_stage_and_a_cell():
    from core.arithmetic import explain

    parameters = list(inspect.signature(explain).parameters.values())
    assert [parameter.name for parameter in parameters[:4]] == ["trace", "stage", "row", "column"]
    assert all(parameter.default is None for parameter in parameters[4:])  # whatever more it takes may be left out


def test_a_model_config_keeps_its_fields_and_defaults():
    from core.config import ModelConfig

    fields = {field.name: field.default for field in dataclasses.fields(ModelConfig)}
    assert list(fields)[:14] == ["vocab_size", "n_ctx", "d_model", "n_layers", "n_heads", "d_ff", "n_kv_heads", "d_head", "activation",
                                 "norm", "norm_position", "positions", "tied", "bias"]
    assert [fields[name] for name in ("d_ff", "n_kv_heads", "d_head")] == [None] * 3
    assert (fields["activation"], fields["norm"], fields["norm_position"]) == ("gelu", "layer", "pre")
    assert (fields["positions"], fields["tied"], fields["bias"]) == ("learned", True, True)


def test_a_trace_keeps_its_fields():
    from core.attention import AttentionTrace, MultiHeadTrace

    assert AttentionTrace._fields == ("raw_scores", "scores", "pattern", "mixed")
    assert MultiHeadTrace._fields == ("q", "k", "v", "raw_scores", "scores", "pattern", "mixed", "head_out", "out")


def test_a_causal_mask_is_true_where_one_may_look_and_the_last_query_sees_the_last_key():
    from core.attention import causal_mask

    assert causal_mask(2, 4).tolist() == [[True, True, True, False], [True, True, True, True]]
    assert causal_mask(3).dtype == np.bool_
