"""Messages: what was written for measuring never comes in training, unknown words are one word, the kinds come alike."""

import re

import numpy as np
import pytest

from core import classifier
from core import tasks_router as task
from core.learners import sorter
from core.router_sentences import BLANKS, HELD_OUT, OUT_OF_SCOPE, TRAINING
from core.training import Settings, Trainer
from core.zoo.figures_router import EXAMPLE


def test_no_held_out_sentence_is_a_training_sentence():
    assert set(TRAINING) == set(HELD_OUT) == set(task.CLASSES)
    every = [text for texts in TRAINING.values() for text in texts]
    assert len(set(every)) == len(every)
    assert not set(every) & ({text for texts in HELD_OUT.values() for text in texts} | set(OUT_OF_SCOPE))
    assert " ".join(task.words(EXAMPLE)) not in every
    blanks = {name for texts in (*TRAINING.values(), *HELD_OUT.values()) for text in texts for name in re.findall(r"\{(\w+)\}", text)}
    assert blanks == set(BLANKS)


def test_messages_are_filled_and_their_kinds_come_alike():
    texts, kinds = task.messages(np.random.default_rng(0), 2000, TRAINING)
    assert not any("{" in text for text in texts) and len(set(texts)) > 1500
    assert (abs(np.bincount(kinds, minlength=5) / 2000 - 0.2) < 0.03).all()
    assert max(len(task.encode(text)) for text in texts) <= task.N_TOKENS
    assert all(task.UNKNOWN not in [task.VOCABULARY[i] for i in task.encode(text)] for text in texts)


def test_unknown_words_are_one_word_and_punctuation_is_left_out():
    unknown = task.VOCABULARY.index("<unk>")
    assert task.encode("Zebra, sijil?!").tolist() == [unknown, unknown]
    assert [task.VOCABULARY[i] for i in task.encode("MY certificate… wasn’t (sent).")] == ["my", "certificate", "wasn't", "sent"]
    for text, sentence in (("", "at least one word"), (" ?! … ", "at least one word"), ("a " * 49, "at most 48 words; this one has 49")):
        with pytest.raises(ValueError, match=sentence):
            task.encode(text)


def test_some_words_of_training_messages_are_unknown_and_filler_stays_filler():
    batch = task.draw(np.random.default_rng(1), 2000)
    real, other = batch.token_ids != 0, batch.targets == task.CLASSES.index("other")
    shares = ((batch.token_ids == 1).sum(axis=1) / real.sum(axis=1))
    assert 0.27 < shares[~other].mean() < 0.33 < shares[other].mean()
    assert real[:, 0].all() and (np.diff(real.astype(int), axis=1) <= 0).all()  # filler stands behind the words alone


def test_a_message_without_its_telling_words_holds_small_words_alone():
    small = {task.VOCABULARY[i] for i in task.SMALL}
    assert {"my", "the", "i", "hello", "please"} <= small and not small & {"certificate", "password", "refund", "lesson", "python", "joke"}


def test_a_short_run_learns_most_of_it():
    own = classifier.sizes(len(task.VOCABULARY), task.N_TOKENS, 16, 2, 5, d_ff=16)
    trainer = Trainer(sorter(own), task.draw, Settings(60, 32, 1e-2, 10))
    losses = [trainer.step().loss for _ in range(60)]
    assert abs(losses[0] - np.log(5)) < 0.1 and np.mean(losses[-10:]) < 1
    assert [name for name, _ in trainer.learner.on_the_way(trainer.params, trainer.next_batch())][-1] == "the logits"
