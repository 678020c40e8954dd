"""A run in a real browser: started, watched, paused, stepped, stopped, rewound, left; taken apart, and done again by its script."""

import contextlib
import re
import time

import pytest

from tests.browser.reading import far, linked, worked
from tests.browser.test_download import ran


def press(visitor, label):
    visitor.page.get_by_role("button", name=label, exact=True).click()


def step(visitor):
    """The step that the page says it stands at."""
    return int(re.search(r"Step (\d+) of", visitor.text())[1])


def drawn(visitor, picture):
    """The traces of a picture that may just be drawn anew."""
    for _ in range(50):
        with contextlib.suppress(Exception):  # between two pictures there is none
            return visitor.drawn(f"training.{picture}")
        time.sleep(0.05)
    raise AssertionError(f"there is no picture {picture}")


def heads(visitor, picture):
    """The patterns of all heads, one list of numbers each."""
    return [trace["values"] for trace in drawn(visitor, picture) if trace["name"] == "cells"]


def wait_for(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.2)


@pytest.mark.parametrize(("task", "title", "places"), [
    ("Digits backwards", "digits", [(8 + i, 7 - i) for i in range(8)]), ("Subject and verb", "verb", None)])
def test_from_pressing_start_the_attention_becomes_readable_while_one_watches(visitor, task, title, places):
    visitor.open(linked("training", task=task, speed=20))
    n, words = (16, None) if places else (10, visitor.labels("training.before", "y"))
    if places is None:  # from "often", the verb's place, to the subject, the first noun
        sentence = visitor.page.get_by_label("Watch the attention on").input_value().split(": ")[1].split()
        places = [(sentence.index("often"), 2 if sentence[1] == "old" else 1)]

    def looks(picture):
        return max(sum(values[row * n + column] for row, column in places) / len(places) for values in heads(visitor, picture))

    before = looks("before")
    press(visitor, "Start")
    started = time.monotonic()
    wait_for(lambda: step(visitor) > 0, 15, "nothing moves")
    wait_for(lambda: looks("now") > 0.8, 60, f"after a minute the attention on the {title} is {looks('now')}")
    assert before < 0.5, time.monotonic() - started
    wait_for(lambda: "done, in" in visitor.text(), 60, "the run does not end")
    visitor.settle()
    assert visitor.page.get_by_role("button", name="Go on").is_disabled() and looks("before") == before
    assert visitor.exceptions() == visitor.errors == []


def test_a_run_is_paused_stepped_stopped_rewound_and_ended_by_leaving(visitor):
    visitor.open(linked("training", task="Digits backwards", speed=1))
    press(visitor, "Start")
    wait_for(lambda: step(visitor) >= 2, 20, "nothing moves")
    press(visitor, "Pause")
    visitor.settle()
    paused = step(visitor)
    visitor.page.wait_for_timeout(1200)
    assert step(visitor) == paused
    press(visitor, "One step")
    visitor.settle()
    assert step(visitor) == paused + 1
    first = drawn(visitor, "loss")[0]["y"][:2]
    press(visitor, "Stop for good")
    visitor.settle()
    assert "stopped; Rewind begins the same run again" in visitor.text()
    press(visitor, "Rewind")
    visitor.settle()
    assert step(visitor) == 0 and heads(visitor, "now") == heads(visitor, "before")
    press(visitor, "Start")
    wait_for(lambda: step(visitor) >= 2, 20, "nothing moves")
    assert drawn(visitor, "loss")[0]["y"][:2] == first
    visitor.menu("Scaling and saturation")
    visitor.menu("Training")
    left = step(visitor)
    visitor.page.wait_for_timeout(1200)
    assert step(visitor) == left and visitor.page.get_by_role("button", name="Go on").is_enabled()
    assert visitor.exceptions() == visitor.errors == []


def test_a_parameter_that_is_clicked_is_taken_apart_at_a_shared_address_too_and_the_script_does_the_run_again(visitor, elsewhere, tmp_path):
    visitor.open(linked("training", array="blocks.0.feed_forward.w_in"))
    visitor.click_cell("training.values", 3, 7)
    name = "blocks.0.feed_forward.w_in[3, 7]"
    panel = visitor.arithmetic()
    value, results = worked(panel)
    assert all(f"\n{made}_{name} = " in panel for made in ("numeric_gradient", "m", "v", "m̂", "v̂", "new"))
    assert visitor.picked() == (3, 7)
    assert abs(results[f"numeric_gradient_{name}"] - visitor.behind("training.slopes")[3][7]) < 1e-7
    elsewhere.open(visitor.page.url)
    assert elsewhere.arithmetic() == panel
    press(visitor, "One step")
    visitor.settle()
    assert abs(visitor.behind("training.values")[3][7] - value) < 1e-9
    numbers = dict(ran(visitor, tmp_path))
    assert far(numbers["losses"], [visitor.drawn("training.loss")[0]["y"]]) <= 1e-9
    for number, values in enumerate(heads(visitor, "now")):
        assert far([sum(numbers[f"block 0 head {number}"], [])], [values]) <= 1e-6
    assert visitor.errors == elsewhere.errors == []
