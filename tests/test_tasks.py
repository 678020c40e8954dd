"""The tasks: what a batch holds, and what is to be predicted."""

import numpy as np

from core import tasks


def test_the_tasks_say_what_comes_next():
    rng = np.random.default_rng(0)
    batch = tasks.reverse(4).draw(rng, 3)
    assert batch.token_ids.shape == batch.targets.shape == (3, 8)
    for ids, targets in zip(batch.token_ids, batch.targets, strict=True):
        assert ids[4] == 10 and (targets[:4] == -1).all()
        assert targets[4:].tolist() == ids[:4][::-1].tolist() and ids[5:].tolist() == targets[4:-1].tolist()
    batch = tasks.sort(4).draw(rng, 3)
    assert (np.sort(batch.token_ids[:, :4], axis=1) == batch.targets[:, 4:]).all()
    batch = tasks.induction(8, 20).draw(rng, 5)
    assert batch.token_ids.shape == (5, 7) and (batch.targets[:, :3] == -1).all()
    assert (batch.token_ids[:, :3] == batch.token_ids[:, 4:]).all() and (batch.targets[:, 3:6] == batch.token_ids[:, :3]).all()
    for task in (tasks.reverse(4), tasks.sort(4), tasks.induction(8, 20)):
        batch = task.draw(rng, 50)
        assert batch.token_ids.max() < len(task.vocabulary) and batch.token_ids.shape[1] == task.n_tokens
