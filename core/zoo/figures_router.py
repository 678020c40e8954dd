"""What is measured on the model that sorts messages, always on sentences that training never uses."""

import numpy as np

from core import classifier, tasks_router, training
from core.router_sentences import HELD_OUT, OUT_OF_SCOPE

FRESH = 1000  # messages
EXAMPLE = "I completed the Python module, but my certificate was not generated. What should I do?"


def measured(params, recipe):
    """Accuracy on held-out sentences; the table of right and guessed kinds; the share of out-of-scope messages that are called "other";
    how probable "certificate" is for the EXAMPLE.

    returns  {figure: number or table}; the table: a row a right kind, a column a guessed one
    """
    learner, classes = recipe.learner, recipe.task.classes
    texts, kinds = tasks_router.messages(np.random.default_rng([4096, 2]), FRESH, HELD_OUT)
    held_out = tasks_router.batch(texts, kinds)
    foreign = tasks_router.batch(OUT_OF_SCOPE, [classes.index("other")] * len(OUT_OF_SCOPE))
    table = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(table, (kinds, learner.logits(params, held_out).argmax(axis=-1)), 1)
    example = classifier.forward(params, tasks_router.encode(EXAMPLE), recipe.config)
    return {"accuracy": training.accuracy(learner, params, held_out), "table": table.tolist(),
            "out of scope": training.accuracy(learner, params, foreign),
            "P(certificate)": float(example.probs[classes.index("certificate")])}
