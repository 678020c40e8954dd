"""The shipped models: what their cards say is measured again, promises are kept, and the cheap ones are made again from nothing."""

import json

import numpy as np
import pytest

from core import lens, transformer, zoo
from core.optimizer import walk
from core.zoo import figures, recipes, retrain
from pages.shared import examples

CARDS = json.loads((zoo.FOLDER / "cards.json").read_text(encoding="utf-8"))
each_model = pytest.mark.parametrize("name", zoo.names())


def test_all_files_together_are_small_and_there_is_none_too_many():
    files = sorted(zoo.FOLDER.glob("*.npz"))
    assert [file.stem for file in files] == sorted(zoo.names()) == sorted(CARDS)
    assert sum(file.stat().st_size for file in files) <= 3_000_000


@each_model
def test_a_model_is_what_its_card_says(name):
    made = zoo.load(name)
    assert made.card["n_params"] == sum(array.size for _, array in walk(made.params))
    assert all(np.isfinite(array).all() and not array.flags.writeable for _, array in walk(made.params))
    measured = made.recipe.measure(made.params, made.recipe)
    for figure, value in measured.items():
        said = made.card[figure]
        assert said == pytest.approx(value, abs=2e-3) if isinstance(value, float) else said == value, figure


@each_model
def test_every_seed_on_the_card_keeps_the_promise(name):
    recipe, card = zoo.recipe(name), CARDS[name]
    assert recipe.promise and card["settings"]["n_steps"] == recipe.settings.n_steps and card["curve"][-1][0] == recipe.settings.n_steps
    for number, _ in enumerate(retrain.SEEDS):
        assert retrain.kept({figure: values[number] for figure, values in card["over seeds"].items()}, recipe.promise) == []


@pytest.mark.parametrize("name", ["reverse", "agreement"])
def test_made_again_from_nothing_a_model_keeps_its_promise(name):
    recipe = zoo.recipe(name)
    params, losses, _ = retrain.make(name, recipe.settings.seed)
    assert retrain.kept(recipe.measure(params, recipe), recipe.promise) == []
    assert losses[0] > 10 * losses[-1]


def test_the_command_trains_measures_and_counts_broken_promises(capsys):
    assert retrain.main(["coreference"]) == 0
    said = capsys.readouterr().out
    assert said.count("as promised") == 3 and said.endswith("0 promises broken\n")


def test_the_untrained_model_of_characters_is_the_one_that_the_course_shows():
    start, example = recipes.nasi_start(), examples.nasi()
    for name in ("w_embed", "w_pos"):
        assert (start[name] == example.params[name]).all()
    for part in ("attention", "feed_forward"):
        for name, array in example.params[part].items():
            assert (start["blocks"][0][part][name] == array).all()
    trace = transformer.forward(start, zoo.recipe("nasi").task.encode("nasi "), zoo.recipe("nasi").config)
    assert round(float(trace.probs[5]), 3) == 0.151 and zoo.load("nasi").card["P(l | nasi␣)"] > 0.9


def test_the_model_that_looks_everywhere_alike_has_no_scores_at_all():
    made = zoo.load("coreference_uniform")
    trace = transformer.forward(made.params, made.recipe.task.encode(["the", "dog", "saw", "the", "king", ".", "it"]),
                                made.recipe.config)
    assert (trace.blocks[0].attention.scores == 0).all()
    np.testing.assert_allclose(trace.blocks[0].attention.pattern[0], np.tri(7) / np.arange(1, 8)[:, None], atol=1e-7)
    assert made.recipe.task.vocabulary[trace.probs.argmax()] == "dog"


def test_the_weight_on_the_answer_is_that_of_a_loop():
    made = zoo.load("pronoun")
    batch = figures.fresh(made.recipe.task, 20)
    sums = np.zeros((2, 3))
    for ids, target in zip(batch.token_ids, batch.targets[:, -1], strict=True):
        trace = transformer.forward(made.params, ids, made.recipe.config)
        for block in range(2):
            for head in range(3):
                sums[block, head] += trace.blocks[block].attention.pattern[head][-1, list(ids).index(target)]
    np.testing.assert_allclose(figures.head_looks(made.params, made.recipe, batch), sums / 20, atol=1e-5)


def test_two_blocks_make_an_induction_head_one_block_does_not_and_the_other_model_has_none():
    best = {}
    for name in ("induction", "induction_one_block", "induction_other"):
        scores = []
        for row in figures.fresh(zoo.recipe(name).task, 10).token_ids:
            trace = transformer.forward(zoo.load(name).params, row, zoo.recipe(name).config)
            scores.append([lens.induction_score(block.attention.pattern, row) for block in trace.blocks])
        best[name] = np.mean(scores, axis=0).max()
    assert best["induction"] > 0.95 and max(best["induction_one_block"], best["induction_other"]) < 0.3
    assert CARDS["induction"]["accuracy"] > 0.98 < CARDS["induction_other"]["accuracy"] and CARDS["induction_one_block"]["accuracy"] < 0.35


def test_a_file_that_does_not_fit_its_recipe_is_refused():
    layout = {"w": np.zeros((2, 2))}
    with pytest.raises(ValueError, match="different arrays: \\['b'\\]"):
        zoo.nested(layout, {"w": np.zeros((2, 2)), "b": np.zeros(1)})
    with pytest.raises(ValueError, match=r"shape \(3,\) in the file and \(2, 2\) in the recipe"):
        zoo.nested(layout, {"w": np.zeros(3)})
    with pytest.raises(ValueError, match="no model 'nothing'"):
        zoo.load("nothing")
