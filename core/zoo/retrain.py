"""Makes the models of the zoo again from nothing, with three seeds each, and compares with what their recipes promise.
The one that is written is that of the recipe's own seed.

    python -m core.zoo.retrain                     all of them; nothing is written
    python -m core.zoo.retrain reverse --write     one, and its file and card are written
"""

import argparse
import json
import sys
import time

import numpy as np

from core import zoo
from core.optimizer import walk

SEEDS = (0, 1, 2)
CURVE = 40  # points of a loss curve that a card keeps


def make(name, seed):
    """Train one model from nothing.

    returns  (params, losses of all steps, seconds)
    """
    trainer, start = zoo.recipe(name).trainer(seed), time.perf_counter()
    losses = [trainer.step().loss for _ in range(trainer.settings.n_steps)]
    return trainer.params, losses, time.perf_counter() - start


def kept(figures, promise):
    """Which figures break the promise: sentences, empty where all is kept.

    >>> kept({"accuracy": 0.5}, {"accuracy": (0.9, 1)})
    ['accuracy is 0.5, promised from 0.9 to 1']
    """
    return [f"{name} is {figures[name]:.4g}, promised from {low:g} to {high:g}" for name, (low, high) in promise.items()
            if not low <= figures[name] <= high]


def card(name, params, losses, figures_of):
    """What is written beside a model: sizes, seed, steps, loss curve, figures over the seeds.

    returns  dict that json can write
    """
    recipe = zoo.recipe(name)
    own = figures_of[recipe.settings.seed]
    stops = np.unique(np.linspace(0, len(losses) - 1, CURVE).round().astype(int))
    return {"title": recipe.title, "n_params": sum(array.size for _, array in walk(params)), "seed": recipe.settings.seed, **own,
            "settings": recipe.settings._asdict(), "curve": [[int(stop) + 1, round(float(losses[stop]), 4)] for stop in stops],
            "over seeds": {figure: [figures_of[seed].get(figure) for seed in SEEDS] for figure in own}}


def main(asked=None):
    """Train, measure, print, compare; returns the number of promises that were broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=zoo.names())
    parser.add_argument("--write", action="store_true", help="write the files and cards")
    args = parser.parse_args(asked)
    path, broken = zoo.FOLDER / "cards.json", 0
    for name in args.names:
        recipe, figures_of, made = zoo.recipe(name), {}, {}
        for seed in SEEDS:
            params, losses, seconds = made[seed] = make(name, seed)
            figures_of[seed] = {figure: round(value, 4) if isinstance(value, float) else value
                                for figure, value in recipe.measure(params, recipe).items()}
            faults = kept(figures_of[seed], recipe.promise)
            broken += len(faults)
            sys.stdout.write(f"{name} seed {seed}: {seconds:.1f} s, loss {losses[-1]:.4f}, {figures_of[seed]} "
                             f"{'; '.join(faults) or 'as promised'}\n")
            sys.stdout.flush()
        if args.write:
            params, losses, _ = made[recipe.settings.seed]
            np.savez_compressed(zoo.FOLDER / f"{name}.npz", **{path: array.astype(np.float32) for path, array in zoo.flat(params).items()})
            cards = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            cards[name] = card(name, params, losses, figures_of)
            ordered = {each: cards[each] for each in zoo.names() if each in cards}
            path.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{broken} promises broken\n")
    return broken


if __name__ == "__main__":
    sys.exit(min(main(), 1))
