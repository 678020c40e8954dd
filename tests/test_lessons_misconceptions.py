"""Misconceptions: every ready-made text refutes its belief, computed; an own text may show nothing, and the page says so."""

import functools
import subprocess
import sys

import numpy as np
import pytest

from pages.shared import beliefs
from tests.page_tools import pictures, shown, visit, widget

LABELS = [f"{i + 1}. {belief.said}" for i, belief in enumerate(beliefs.BELIEFS)]
each_belief = pytest.mark.parametrize("number", range(len(LABELS)), ids=lambda number: beliefs.BELIEFS[number].said)


@functools.cache
def opened(number, text=""):
    return visit("misconceptions", misconceptions__belief=LABELS[number], text=text)


def verdicts(at):
    return [sentence.split("Verdict: **")[1].split("**")[0] for sentence in shown(at, "say") if "Verdict: **" in sentence]


def test_there_are_nine_beliefs_with_nine_tests():
    assert len(beliefs.BELIEFS) == 9 and len({belief.said for belief in beliefs.BELIEFS}) == 9
    assert len({beliefs.tried(number, belief.preset, 1)[0].function for number, belief in enumerate(beliefs.BELIEFS)}) == 9


@each_belief
def test_the_ready_made_text_refutes_the_belief(number):
    at = opened(number)
    assert not at.exception and verdicts(at)[0] == "refuted here" and pictures(at)
    (table,) = [sentence for sentence in shown(at, "say") if sentence.startswith("| belief")]
    assert table.count("refuted here") == 9


@each_belief
def test_one_word_shows_nothing_but_of_tokens_and_heads(number):
    at = opened(number, "zzzz")
    assert not at.exception and len(verdicts(at)) == 2
    assert (verdicts(at)[1] == "refuted here") == (number in (3, 8))


@each_belief
def test_an_own_sentence_is_tested_too(number):
    at = opened(number, "the <b>bank</b> refused $x$ the loan")
    assert not at.exception and verdicts(at)[1] in ("refuted here", "not shown here")
    assert verdicts(at)[1] == "refuted here" or number in (5, 6)
    assert len(pictures(at)) >= len(pictures(opened(number)))


@each_belief
@pytest.mark.parametrize("words", ["", "the", "the <b>bank</b> refused $x$ the loan"])
def test_the_sum_behind_a_verdict_comes_to_the_number_that_is_said(number, words):
    at = opened(number, words)
    ((title, chain),) = shown(at, "arithmetic")
    assert max(each.residual for each in chain) < 1e-12
    assert ("your own" in title) == (bool(words) or number == 8)


def test_the_same_terms_make_the_sum_in_both_orders():
    ((_, (one, other)),) = shown(opened(0), "arithmetic")
    assert sorted(term.value for term in one.terms) == pytest.approx(sorted(term.value for term in other.terms))
    assert [term.value for term in one.terms] == pytest.approx([term.value for term in reversed(other.terms)])


def test_equal_words_give_random_models_nothing_to_choose_from():
    at = opened(2, "the the the")
    assert verdicts(at)[1] == "not shown here" and "nothing to compare" in " ".join(shown(at, "say"))


def test_a_text_that_is_too_long_for_the_model_of_messages_gets_a_sentence():
    at = opened(6, " ".join(f"w{i}" for i in range(40)))
    (remark,) = shown(at, "remark")
    assert "Shorten it" in remark and not at.exception and verdicts(at) == ["refuted here"]


def test_the_printed_numbers_of_the_four_words_stand_in_the_picture():
    sums = pictures(opened(7))[2]
    np.testing.assert_allclose(sums.spec["data"][0]["y"], [0.892, 0.658, 0.851, 1], atol=5e-4)


def test_every_width_gives_the_same_count_for_all_its_heads():
    at = opened(8)
    for width in (8, 16, 192):
        widget(at, "misconceptions.d_model").set_value(width).run()
        assert set(pictures(at)[1].spec["data"][0]["y"]) == {4 * width**2 + 4 * width}


@pytest.mark.parametrize("number", [0, 2, 3, 6, 8])
def test_the_script_comes_to_the_same(number, tmp_path):
    at = opened(number)
    file = tmp_path / "script.py"
    (build,) = shown(at, "script")
    file.write_text(build(), encoding="utf-8")
    ran = subprocess.run([sys.executable, "-I", str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert ran.stdout.startswith("refuted\n[True]\n"), ran.stderr
