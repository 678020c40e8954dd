"""The model zoo: small models that this project's own loop trained, each with a card that says what it does and how that was measured.

`recipes` says how each is made, `retrain` makes them all again from nothing and compares, `load` reads one.
"""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.optimizer import at, walk
from core.zoo.recipes import RECIPES, Recipe

FOLDER = Path(__file__).parent


class Trained(NamedTuple):
    """One trained model, as it is shipped."""

    recipe: Recipe
    params: dict   # read-only arrays
    untrained: dict  # what it began with, read-only
    card: dict     # what was measured when it was made: see `core.zoo.retrain`


def names():
    """The names of the shipped models.

    >>> "reverse" in names()
    True
    """
    return tuple(RECIPES)


@cache
def recipe(name):
    """How a model is made.

    returns  Recipe
    raises   ValueError for a name that is not in the zoo
    """
    if name not in RECIPES:
        raise ValueError(f"There is no model {name!r}; there are {', '.join(RECIPES)}.")
    return RECIPES[name]()


@cache
def load(name):
    """A trained model, the same read-only arrays for everyone.

    returns  Trained
    raises   ValueError for a name that is not in the zoo

    >>> load("reverse").card["accuracy"] > 0.99
    True
    """
    made = recipe(name)
    untrained = made.begin()
    with np.load(FOLDER / f"{name}.npz") as file:
        params = nested(untrained, dict(file))
    for _, array in (*walk(params), *walk(untrained)):
        array.flags.writeable = False
    return Trained(made, params, untrained, json.loads((FOLDER / "cards.json").read_text(encoding="utf-8"))[name])


def flat(params):
    """The arrays of a layout, each by its path as one word.

    >>> list(flat({"blocks": [{"w": np.zeros(1)}]}))
    ['blocks.0.w']
    """
    return {".".join(map(str, path)): array for path, array in walk(params)}


def nested(layout, arrays):
    """Arrays by their paths, nested like `layout`.

    raises   ValueError where an array is missing, left over, or of another shape
    returns  a layout of new arrays
    """
    if set(arrays) != set(flat(layout)):
        raise ValueError(f"The file and the recipe hold different arrays: {sorted(set(arrays) ^ set(flat(layout)))}.")

    def build(tree, path=()):
        if isinstance(tree, dict):
            return {name: build(part, (*path, name)) for name, part in tree.items()}
        if isinstance(tree, list):
            return [build(part, (*path, number)) for number, part in enumerate(tree)]
        array = arrays[".".join(map(str, path))]
        if array.shape != at(layout, path).shape:
            raise ValueError(f"{'.'.join(map(str, path))} has the shape {array.shape} in the file and {tree.shape} in the recipe.")
        return array

    return build(layout)
