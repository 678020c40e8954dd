"""What heads look at and are needed for, against counts by hand."""

import copy

import numpy as np
import pytest

from core import lens, looking, zoo
from core.transformer import forward
from core.zoo import figures

NAMES = ("pronoun", "induction", "coreference_uniform", "sort")
each_model = pytest.mark.parametrize("name", NAMES)


def scores_by_hand(pattern, ids, where):
    """Five means over one text, one weight at a time; None where there is no such place."""
    n = len(ids)
    before = [pattern[q][q - 1] for q in range(1, n)]
    first = [pattern[q][0] for q in range(1, n)]
    same, followed, answer = [], [], []
    for q in range(n):
        earlier = [k for k in range(q) if ids[k] == ids[q]]
        if earlier:
            same.append(sum(pattern[q][k] for k in earlier))
        after = [k + 1 for k in range(q) if ids[k] == ids[q]]
        if after:
            followed.append(sum(pattern[q][k] for k in after))
        if where[q].any():
            answer.append(sum(pattern[q][k] for k in range(n) if where[q][k]))
    return [before, first, same, followed, answer]


@each_model
def test_the_scores_of_heads_are_those_counted_weight_by_weight(name):
    model = zoo.load(name)
    recipe, batch = model.recipe, figures.fresh(model.recipe.task, 12)
    where = recipe.task.looks_at(batch)
    scores = looking.head_scores(model.params, recipe, batch)
    for block in range(recipe.config.n_layers):
        for head in range(recipe.config.n_heads):
            texts = [scores_by_hand(forward(model.params, ids, recipe.config).blocks[block].attention.pattern[head], ids, places)
                     for ids, places in zip(batch.token_ids, where, strict=True)]
            for which, found in enumerate(scores[:4]):
                means = [np.mean(text[which]) for text in texts if text[which]]
                assert found[block, head] == pytest.approx(np.mean(means), abs=1e-6)
            assert scores.answer[block, head] == pytest.approx(np.mean([weight for text in texts for weight in text[4]]), abs=1e-6)


def test_the_head_without_scores_is_the_even_one():
    model = zoo.load("coreference_uniform")
    batch = figures.fresh(model.recipe.task, 40)
    even = looking.even_scores(model.recipe, batch)
    for own, alike in zip(looking.head_scores(model.params, model.recipe, batch), even, strict=True):
        assert own.ravel() == pytest.approx([alike], abs=1e-6)
    assert even.answer == pytest.approx(1 / 7, abs=1e-12)  # 7 tokens, one holds the answer


def test_a_text_without_a_token_twice_has_no_score_for_such_places():
    pattern = looking.even_pattern(3)[None, None]
    scores = looking.pattern_scores(pattern, [[1, 2, 3]], np.zeros((1, 3, 3), bool))[:, 0]
    assert scores[:2].tolist() == pytest.approx([(1 / 2 + 1 / 3) / 2] * 2) and np.isnan(scores[2:]).all()


@each_model
def test_accuracy_without_heads_is_that_of_zeroed_rows_of_w_o(name):
    model = zoo.load(name)
    recipe, batch = model.recipe, figures.fresh(model.recipe.task, 40)
    d_head, heads = recipe.config.d_model // recipe.config.n_heads, [(recipe.config.n_layers - 1, 0)]
    for off in ([], heads):
        params = copy.deepcopy(model.params)
        for block, head in off:
            params["blocks"][block]["attention"]["w_o"] = np.array(
                [row * (not head * d_head <= i < (head + 1) * d_head) for i, row in enumerate(params["blocks"][block]["attention"]["w_o"])])
        right = [logits[place].argmax() == target for ids, targets in zip(*batch, strict=True)
                 for logits in [forward(params, ids, recipe.config).logits] for place, target in enumerate(targets) if target >= 0]
        assert looking.accuracy_without(model.params, recipe, off, batch) == pytest.approx(np.mean(right), abs=1e-12)
    before = zoo.load(name).params["blocks"][-1]["attention"]["w_o"]
    assert before[:d_head].any()  # the shipped model is as it was


def test_a_head_is_called_after_a_clear_score_alone():
    even = looking.HeadScores(*[0.2] * 5)

    def role(*own):
        return looking.role(looking.HeadScores(*np.array(own)[:, None, None]), even, 0, 0)

    assert role(0.1, 0.9, 0.5, 0.0, 0.0) == "first"
    assert role(0.1, 0.39, 0.2, 0.0, 0.1) == ""            # not twice the even score
    assert role(0.1, 0.0, 0.0, 0.994, 0.9941) == "followed"  # equal to two digits: the first
    assert role(np.nan, 0.0, 0.0, np.nan, 0.7) == "answer"
    assert looking.role(looking.HeadScores(*np.full((5, 1, 1), 0.29)), looking.HeadScores(*[0.1] * 5), 0, 0) == ""


def test_the_heads_that_look_at_the_answer_share_a_block():
    scores = looking.HeadScores(*[np.array([[0.5, 0.0, 0.5], [0.9, 0.45, 0.44]])] * 5)
    assert looking.answer_heads(scores) == [(1, 0), (1, 1)]


@each_model
def test_the_lens_after_some_blocks_is_a_model_that_ends_there(name):
    model = zoo.load(name)
    config, params, ids = model.recipe.config, looking.double(model.params), figures.fresh(model.recipe.task, 1).token_ids[0]
    wanted = np.arange(len(ids)) % config.vocab_size
    reading = lens.read_lens(forward(params, ids, config), params, config, wanted)
    for stop in range(config.n_layers + 1):
        probs = forward(lens.cut_after(params, stop), ids, config, all_probs=True).probs
        assert abs(reading.probs[stop] - probs).max() <= 1e-12
        for i, token in enumerate(wanted):
            assert reading.wanted[stop, i] == pytest.approx(probs[i, token])
            assert reading.rank[stop, i] == sorted(probs[i].tolist(), reverse=True).index(probs[i, token]) + 1


def test_double_changes_the_precision_and_nothing_else():
    model = zoo.load("induction_other")
    doubled = looking.double(model.params)
    assert {path: (array.dtype.name, array.shape) for path, array in zoo.flat(doubled).items()} == {
        path: ("float64", array.shape) for path, array in zoo.flat(model.params).items()}
    assert all((doubled_array == array).all() for doubled_array, array in zip(zoo.flat(doubled).values(), zoo.flat(model.params).values(),
                                                                              strict=True))
