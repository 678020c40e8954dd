"""The stopwatch with a clock that is set by hand; the fit against powers that are known."""

import math

import numpy as np
import pytest

from core import stopwatch


class Clock:
    """A clock that goes on only when a job says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def job(self, *seconds):
        """A job that takes these times, one after the other."""
        left = list(seconds)

        def run():
            self.now += left.pop(0)
        return run


def test_a_slice_ends_with_its_budget_and_every_timed_run_comes_right_after_one_that_warms_up():
    clock = Clock()
    watch = stopwatch.Stopwatch({"a": clock.job(9, 3, 9, 1, 9, 2), "b": clock.job(8, 5, 8, 5, 8, 5)}, repeats=3, clock=clock, most=100)
    watch.go(13)  # 9 + 3, then 8 + 5
    assert (watch.done, watch.share, watch.medians(), clock.now) == (2, 1 / 3, {"a": 3, "b": 5}, 25)
    watch.go(0)  # at least one
    assert watch.done == 3 and watch.seconds == {"a": [3, 1], "b": [5]}
    watch.go(1000)
    assert watch.over and watch.medians() == {"a": 2, "b": 5} and watch.share == 1 and watch.spent == clock.now  # warm-ups count there


def test_a_cold_start_is_in_no_time():
    """After another job the first run of this one is slow, as with arrays that have left the processor's caches."""
    clock, latest = Clock(), []

    def job(name):
        def run():
            clock.now += 1 if latest[-1:] == [name] else 50
            latest.append(name)
        return run

    watch = stopwatch.Stopwatch({name: job(name) for name in "abc"}, repeats=2, clock=clock, most=1000)
    watch.go(1e9)
    assert watch.seconds == {name: [1, 1] for name in "abc"}


def test_all_slices_together_have_an_end():
    clock = Clock()
    watch = stopwatch.Stopwatch({"slow": clock.job(*[0.5, 1.0] * 10)}, repeats=9, clock=clock, most=4.0)
    while not watch.over:
        watch.go(0.1)
    assert watch.spent == 4.5 and watch.done == 3 and watch.medians() == {"slow": 1.0}


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_fit_finds_a_power_from_the_larger_half_and_says_how_sure_it_is(power):
    times = {n: 3e-6 * n**power for n in (16, 32, 64, 128, 256, 512, 1024)} | {16: 1.0, 32: 1.0}
    found = stopwatch.fit(times)
    assert found.exponent == pytest.approx(power) and found.error < 1e-9 and found.used == (128, 256, 512, 1024)
    noisy = stopwatch.fit({n: seconds * (1.2 if n == 256 else 1) for n, seconds in times.items()})
    assert 0.01 < noisy.error < 0.5


def test_the_error_is_that_of_a_straight_line_by_hand():
    found = stopwatch.fit({1: 1.0, math.e: math.e**2, math.e**2: math.e})  # ln: (0, 0), (1, 2), (2, 1): slope 1/2, residuals -½, 1, -½
    assert found.exponent == pytest.approx(0.5) and found.error == pytest.approx(math.sqrt(1.5 / 1 / 2))
    assert stopwatch.fit({1: 1.0}) is None and stopwatch.fit({1: 1.0, 2: 4.0}).error == math.inf


def test_the_jobs_run_what_they_say():
    jobs = stopwatch.length_jobs(np.random.default_rng(0), (3, 5), 4)
    assert jobs["attention", 5]().mixed.shape == (5, 4) and jobs["recurrence", 3]().states.shape == (4, 4)
    assert jobs["attention", 5]().pattern.dtype == jobs["recurrence", 3]().states.dtype == np.float32
