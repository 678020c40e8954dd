"""The tasks: what a batch holds, read word by word, and what is to be predicted."""

import numpy as np
import pytest

from core import tasks

EVERY = (tasks.reverse(), tasks.sort(), tasks.induction(), tasks.agreement(), tasks.pronoun(), tasks.cricket(), tasks.coreference(),
         tasks.characters())
each_task = pytest.mark.parametrize("task", EVERY, ids=lambda task: task.name)


def rows(task, n=200, seed=0):
    """(words, {place: wanted word}, {place: set of places that hold the answer}) of some sequences."""
    batch = task.draw(np.random.default_rng(seed), n)
    places = task.looks_at(batch)
    assert places.shape == (*batch.token_ids.shape, task.n_tokens) and places.dtype == bool
    for ids, targets, where in zip(batch.token_ids, batch.targets, places, strict=True):
        yield (task.words(ids), {i: task.vocabulary[target] for i, target in enumerate(targets) if target >= 0},
               {i: set(np.flatnonzero(row)) for i, row in enumerate(where) if row.any()})


@each_task
def test_a_batch_has_the_tasks_shape_and_no_query_looks_ahead_for_the_answer(task):
    for words, wanted, places in rows(task):
        assert len(words) == task.n_tokens and wanted
        assert all(place <= query for query, found in places.items() for place in found)


@each_task
def test_the_same_seed_draws_the_same_batch(task):
    one, two, other = (task.draw(np.random.default_rng(seed), 20) for seed in (1, 1, 2))
    assert (one.token_ids == two.token_ids).all() and (one.token_ids != other.token_ids).any()


def test_digits_backwards_and_in_order():
    for name, answer in (("reverse", lambda digits: digits[::-1]), ("sort", sorted)):
        task = getattr(tasks, name)(4)
        for words, wanted, places in rows(task):
            digits = words[:4]
            assert words[4] == ">" and list(wanted) == [4, 5, 6, 7] and list(wanted.values()) == answer(digits)
            assert words[5:] == answer(digits)[:3]
            for query, found in places.items():
                assert {words[place] for place in found} == {wanted[query]} and max(found) < 4
            assert name == "sort" or places == {4: {3}, 5: {2}, 6: {1}, 7: {0}}


def test_a_repeated_row_has_many_lengths_and_its_answer_follows_the_same_token():
    lengths = set()
    for words, wanted, places in rows(tasks.induction(16, 20)):
        period = min(wanted)
        lengths.add(period)
        for query, word in wanted.items():
            assert words[query] in words[:query]  # this token came before
            earlier = {i for i in range(query) if words[i] == words[query]}
            assert {words[i + 1] for i in earlier} == {word} and places[query] == {i + 1 for i in earlier}
    assert lengths == {4, 5, 6, 7, 8}  # no fixed distance leads to the answer


def test_the_verb_agrees_with_the_first_noun():
    lengths = set()
    for words, wanted, places in rows(tasks.agreement()):
        sentence = [word for word in words if word != "."]
        lengths.add(len(sentence))
        ((place, verb),) = wanted.items()
        nouns = [i for i, word in enumerate(sentence) if word in (*tasks.SINGULAR, *tasks.PLURAL)]
        assert place == len(sentence) - 1 and sentence[-1] == "often" and places == {place: {nouns[0]}}
        assert verb == ("run" if sentence[nouns[0]].endswith("s") else "runs")
    assert lengths == {3, 4, 6, 7, 9, 10}  # with and without an adjective, and 0, 1 or 2 nouns in between
    batch = tasks.agreement().draw(np.random.default_rng(0), 100)
    for ids, where in zip(batch.token_ids, tasks.attractors(batch), strict=True):
        words = tasks.agreement().words(ids)
        nouns = [i for i, word in enumerate(words) if word in (*tasks.SINGULAR, *tasks.PLURAL)]
        assert set(np.argwhere(where)[:, 1]) == set(nouns[1:])


@pytest.mark.parametrize("task, means", [
    (tasks.pronoun(), {"he": "king", "she": "queen", "they": "twins"}),
    (tasks.cricket(), {"signalled": "umpire", "overstepped": "bowler", "struck": "batter"})], ids=["pronoun", "cricket"])
def test_the_answer_is_the_colour_of_the_person_who_is_meant(task, means):
    for words, wanted, places in rows(task):
        worn = {words[5 * i + 1]: words[5 * i + 3] for i in range(3)}
        assert len(set(worn.values())) == 3 and wanted == {15: worn[means[words[-1]]]}
        assert places == {15: {words.index(wanted[15])}}


def test_the_answer_is_the_noun_that_fits_the_pronoun():
    fits = {"he": {"king", "boy", "uncle"}, "she": {"queen", "girl", "aunt"}, "it": {"dog", "cat", "bird"}}
    for words, wanted, places in rows(tasks.coreference()):
        (noun,) = [word for word in (words[1], words[4]) if word in fits[words[-1]]]
        assert wanted == {6: noun} and places == {6: {words.index(noun)}}


def test_the_phrases_use_nine_characters_and_an_l_follows_nasi():
    task = tasks.characters()
    assert "".join(task.vocabulary) == " aeiklmns"
    phrases = [f"{phrase} " for phrase in tasks.PHRASES]
    uses = [phrase[i + 5] for phrase in phrases for i in range(len(phrase)) if phrase[i:i + 5] == "nasi "]
    assert len(uses) > 5 and uses.count("l") / len(uses) >= 0.95
    text = {one + two for one in phrases for two in phrases}
    for words, wanted, places in rows(task, 60):
        window = "".join([*words, wanted[4]])
        assert [wanted[i] for i in range(5)] == list(window[1:]) and not places
        assert any(window in each for each in text)


def test_a_word_that_the_model_does_not_know_is_named():
    task = tasks.pronoun()
    assert task.words(task.encode(["the", "king", "."])) == ["the", "king", "."]
    with pytest.raises(ValueError, match="knows 15 tokens, and 'goat' is not one of them"):
        task.encode(["the", "goat"])
