"""The training loop: it learns, it can be stopped and rewound, and it says what broke."""

import numpy as np

from core import tasks, training
from core.config import ModelConfig
from core.learners import decoder_only
from core.optimizer import walk

TASK = tasks.reverse(5)
CONFIG = ModelConfig(11, TASK.n_tokens, 32, 1, 2, d_ff=0, tied=False, bias=False)
LEARNER = decoder_only(CONFIG)
SETTINGS = training.Settings(n_steps=80, batch_size=32, warm_up=10)


def test_a_model_learns_to_reverse_and_its_records_say_how():
    records = list(training.train(CONFIG, TASK.draw, SETTINGS))
    assert [record.step for record in records] == list(range(1, 81)) and not any(record.bad for record in records)
    assert records[0].loss > 2 > 0.3 > records[-1].loss
    assert max(record.learning_rate for record in records) == SETTINGS.learning_rate and records[0].learning_rate == 0.001


def test_what_was_learned_holds_on_rows_it_never_saw_and_the_attention_runs_against_the_text():
    from core.transformer import forward

    trainer = training.Trainer(LEARNER, TASK.draw, SETTINGS)
    fresh = TASK.draw(np.random.default_rng(99), 200)
    before = training.accuracy(LEARNER, trainer.params, fresh)
    for _ in range(80):
        trainer.step()
    assert before < 0.3 and training.accuracy(LEARNER, trainer.params, fresh) > 0.98
    pattern = forward(trainer.params, fresh.token_ids[:20], CONFIG).blocks[0].attention.pattern.mean(axis=0)
    looked = np.array([[head[5 + i, 4 - i] for i in range(5)] for head in pattern])  # after the sign: the last digit first
    assert looked.mean(axis=1).max() > 0.5


def test_rewound_the_run_is_the_same_again():
    trainer = training.Trainer(LEARNER, TASK.draw, SETTINGS)
    first = [trainer.step() for _ in range(5)]
    trainer.rewind()
    assert [trainer.step() for _ in range(5)] == first


def test_from_a_snapshot_the_run_goes_on_as_it_went():
    trainer = training.Trainer(LEARNER, TASK.draw, SETTINGS)
    for _ in range(3):
        trainer.step()
    kept = trainer.snapshot()
    once = [trainer.step() for _ in range(4)]
    trainer.restore(kept)
    assert [trainer.step() for _ in range(4)] == once


def test_another_seed_is_another_run():
    losses = [next(training.train(CONFIG, TASK.draw, SETTINGS._replace(seed=seed))).loss for seed in (0, 1)]
    assert losses[0] != losses[1]


def test_a_run_that_diverges_names_the_first_array_and_changes_nothing_any_more():
    trainer = training.Trainer(LEARNER, TASK.draw, SETTINGS._replace(learning_rate=1e30, warm_up=0, clip=None))
    records = [trainer.step() for _ in range(6)]
    bad = [record.bad for record in records]
    first = next(i for i, name in enumerate(bad) if name)
    assert bad[first].startswith(("the parameter", "scores", "attn_out", "resid", "the logits", "the loss", "the gradient"))
    assert set(bad[first:]) == {bad[first]}
    held = {path: array.copy() for path, array in walk(trainer.params)}
    trainer.step()
    assert all(np.array_equal(array, held[path], equal_nan=True) for path, array in walk(trainer.params))
