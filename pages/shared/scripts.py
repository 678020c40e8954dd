"""A short script that computes a page's numbers again: the functions that ran, the values on the page, numpy alone."""

import ast
import importlib
import inspect
from functools import cache


@cache
def sources(*functions):
    """The source of these functions of `core` and of all that they use of it: imports first, then in an order in which it can run.

    What is used is found by name in the source: functions, classes, and the constants at the top of a module.
    """
    imported, ordered = {}, {}

    def visit(module, name):
        if (module, name) in ordered:
            return
        imports, made = _contents(module)
        if name in imports:
            origin, original = imports[name]
            if (origin or "").startswith("core."):
                visit(origin, original)
            else:
                imported[f"from {origin} import {original}" if original else f"import {origin}" + f" as {name}" * (name != origin)] = True
        elif name in made:
            text, node = made[name]
            if text in ordered.values():
                return
            ordered[module, name] = None  # being visited: it may use itself
            for each in ast.walk(node):
                if isinstance(each, ast.Name) and each.id != name:
                    visit(module, each.id)
            del ordered[module, name]
            ordered[module, name] = text

    for function in functions:
        visit(function.__module__, function.__name__)
    head = "\n".join(sorted(line for line in imported if not line.endswith("numpy as np")))
    return f"{head}\n\nimport numpy as np\n\n\n".lstrip() + "\n\n".join(dict.fromkeys(ordered.values()))


@cache
def _contents(module):
    """What a module imports, {name: (module, original name or None)}, and what it makes, {name: (source, node)}."""
    source = inspect.getsource(importlib.import_module(module))
    imports, made = {}, {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            imports |= {alias.asname or alias.name: (alias.name, None) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imports |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            made[node.name] = _text(source, node), node
        elif isinstance(node, ast.Assign):
            made |= {name.id: (_text(source, node), node) for target in node.targets for name in ast.walk(target)
                     if isinstance(name, ast.Name)}
    return imports, made


def _text(source, node):
    """The lines of a statement, decorators and comments behind it included."""
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return "\n".join(source.split("\n")[first - 1:node.end_lineno]) + "\n"


def build(title, functions, arrays, steps, tokens=()):
    """The script's text.

    title      the page's title
    functions  of core, whose source goes in
    arrays     {name: array}: the page's current values, at full precision
    steps      what is computed and printed, as code
    tokens     what the person typed; quoted as ASCII, so that nothing in it can end a line or the string
    """
    parts = [f'"""The numbers of the page "{title}" of Transformer Glassbox. It needs numpy alone."""',
             sources(*functions), "# The values on the page"]
    if tokens:
        parts.append(f"tokens = [{', '.join(ascii(str(token)) for token in tokens)}]")
    parts += [f"{name} = {_literal(array)}" for name, array in arrays.items()]
    return "\n\n".join(parts) + f"\n\n# What the page shows\n{PRINTER}\n{inspect.cleandoc(steps)}\n"


PRINTER = '''

def show(name, array):
    print(name)
    for row in np.atleast_2d(np.asarray(array)).tolist():
        print(row)


'''


def _literal(value):
    """A value as code; arrays may stand in dicts and lists."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_literal(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if hasattr(value, "dtype"):
        rows = str(value.tolist()).replace("], [", "],\n    [")
        return f"np.array({rows}, dtype=np.{value.dtype.name})" if value.dtype != bool else f"np.array({rows})"
    return repr(value)
