"""A short script that computes a page's numbers again: the functions that ran, the values on the page, numpy alone."""

import inspect
from functools import cache


@cache
def sources(*functions):
    """The source of these functions of `core` and of all that they use of it, in an order in which it can run."""
    ordered = {}

    def visit(thing):
        if thing in ordered:
            return
        for name in _names(thing):
            used = vars(inspect.getmodule(thing)).get(name)
            ours = (getattr(used, "__module__", None) or "").startswith("core.")
            if ours and used is not thing and (inspect.isfunction(used) or inspect.isclass(used)):
                visit(used)
        ordered[thing] = inspect.getsource(thing)

    for function in functions:
        visit(function)
    return "\n\n".join(ordered.values())


def _names(thing):
    """Global names that a function, or a class's methods, may use."""
    if inspect.isclass(thing):
        return [name for method in vars(thing).values() if inspect.isfunction(method) for name in method.__code__.co_names]
    code, names = [thing.__code__], []
    while code:
        block = code.pop()
        names += block.co_names
        code += [constant for constant in block.co_consts if inspect.iscode(constant)]
    return names


def build(title, functions, arrays, steps, tokens=()):
    """The script's text.

    title      the page's title
    functions  of core, whose source goes in
    arrays     {name: array}: the page's current values, at full precision
    steps      what is computed and printed, as code
    tokens     what the person typed; quoted as ASCII, so that nothing in it can end a line or the string
    """
    parts = [f'"""The numbers of the page "{title}" of Transformer Glassbox. It needs numpy alone."""',
             "import hashlib\nimport math\nfrom typing import NamedTuple\n\nimport numpy as np\n", sources(*functions),
             "# The values on the page"]
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
    if hasattr(value, "dtype"):
        rows = str(value.tolist()).replace("], [", "],\n    [")
        return f"np.array({rows}, dtype=np.{value.dtype.name})" if value.dtype != bool else f"np.array({rows})"
    return repr(value)
