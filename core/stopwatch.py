"""Times measured on the machine that runs this, in slices: attention and recurrence over the length, and the machine's own two rates."""

import math
import statistics
import time
from typing import NamedTuple

import numpy as np

from core.attention import attend
from core.recurrent import recurrent

LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
WIDTH, REPEATS = 64, 9
MOST_SECONDS = 4.0  # of measuring, altogether
MATRIX, STREAM = 768, 4096  # rows of the matrices that are multiplied; rows of the one that is read (64 MiB of float32)


class Fit(NamedTuple):
    """seconds ≈ factor · n**exponent, by least squares on the logarithms."""

    exponent: float
    error: float     # standard error of the exponent
    used: tuple      # the lengths it rests on: the larger half


class Stopwatch:
    """Measurements done a few at a time: each call of `go` does some and returns, so that others are served in between.

    Before every timed run the same job runs once untimed: after another job, or after a pause, the first run finds its arrays far from
    the processor and would take longer.

    jobs     {name: function without arguments}, run in turn, `repeats` timed runs each
    clock    function that tells the time in seconds
    most     seconds of measuring after which it is over, however much is left to do

    >>> watch = Stopwatch({"nothing": lambda: None}, repeats=2)
    >>> watch.go(1.0)
    >>> watch.over, len(watch.seconds["nothing"])
    (True, 2)
    """

    def __init__(self, jobs, repeats=REPEATS, clock=time.perf_counter, most=MOST_SECONDS):
        self.jobs, self.clock, self.most = jobs, clock, most
        self.seconds = {name: [] for name in jobs}
        self.todo = [name for _ in range(repeats) for name in jobs]
        self.done, self.spent = 0, 0.0

    @property
    def over(self):
        """Is there nothing left to do, or no time left?"""
        return self.done == len(self.todo) or self.spent >= self.most

    @property
    def share(self):
        """How much of it is done, 0 to 1."""
        return self.done / len(self.todo)

    def go(self, budget):
        """Measure until `budget` seconds have gone by, at least once."""
        begin = self.clock()
        while not self.over:
            name = self.todo[self.done]
            warming = self.clock()
            self.jobs[name]()
            start = self.clock()
            self.jobs[name]()
            end = self.clock()
            self.seconds[name].append(end - start)
            self.done, self.spent = self.done + 1, self.spent + end - warming
            if end - begin >= budget:
                return

    def medians(self):
        """The middle time of each job that has been measured.

        returns  {name: seconds}
        """
        return {name: statistics.median(times) for name, times in self.seconds.items() if times}


def length_jobs(rng, lengths=LENGTHS, d=WIDTH):
    """One head of attention and one recurrent layer, both d wide, in float32, for each length.

    returns  {("attention" or "recurrence", n): function}

    >>> list(length_jobs(np.random.default_rng(0), (2,), 4))
    [('attention', 2), ('recurrence', 2)]
    """
    def attention(n):
        q, k, v = (rng.standard_normal((n, d)).astype(np.float32) for _ in range(3))
        return lambda: attend(q, k, v)

    def recurrence(n):
        x = rng.standard_normal((n, d)).astype(np.float32)
        params = {name: (rng.standard_normal((d, d)) / math.sqrt(d)).astype(np.float32) for name in ("w_x", "w_h")}
        return lambda: recurrent(x, params)

    return {(name, n): make(n) for n in lengths for name, make in (("attention", attention), ("recurrence", recurrence))}


def machine_jobs(rng):
    """A product of two matrices, and one of a matrix too large for the caches with a single vector, as in decoding; both in float32.

    returns  {"multiply": function, "read": function}
    """
    left, right = (rng.standard_normal((MATRIX, MATRIX)).astype(np.float32) for _ in range(2))
    large, vector = np.ones((STREAM, STREAM), dtype=np.float32), np.ones(STREAM, dtype=np.float32)
    return {"multiply": lambda: left @ right, "read": lambda: large @ vector}


def machine_rates(medians):
    """What `machine_jobs` came to: operations a second, and bytes read a second.

    peak = 2 · MATRIX³ / seconds;   bandwidth = 4 · STREAM² / seconds

    returns  (peak, bandwidth)

    >>> machine_rates({"multiply": 1.0, "read": 1.0}) == (2 * MATRIX**3, 4 * STREAM**2)
    True
    """
    return 2 * MATRIX**3 / medians["multiply"], 4 * STREAM**2 / medians["read"]


def fit(times):
    """The power of n that the larger half of the times follows.

    ln seconds ≈ a + exponent · ln n;   error = √(Σ residual² / (points - 2) / Σ (ln n - mean)²)

    times    {n: seconds}
    returns  Fit; error is infinite with fewer than 3 points; None with fewer than 2

    >>> fit({1: 9.0, 2: 1.0, 4: 4.0, 8: 16.0}).exponent
    2.0
    """
    if len(times) < 2:
        return None
    used = sorted(times)[-max(math.ceil(len(times) / 2), min(3, len(times))):]
    x, y = np.log(used), np.log([times[n] for n in used])
    spread = float(((x - x.mean()) ** 2).sum())
    exponent = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    left = y - y.mean() - exponent * (x - x.mean())
    error = math.sqrt(float((left**2).sum()) / (len(used) - 2) / spread) if len(used) > 2 else math.inf
    return Fit(round(exponent, 12), error, tuple(used))


def through(times, power):
    """The line seconds ∝ n**power that goes through the largest measured length.

    returns  {n: seconds}

    >>> through({1: 5.0, 2: 8.0}, 2)
    {1: 2.0, 2: 8.0}
    """
    largest = max(times)
    return {n: times[largest] * (n / largest) ** power for n in times}


class Growth(NamedTuple):
    """How a time grew over the two smallest lengths, where the start of a call weighs most."""

    first: int
    second: int
    times: float


def first_growth(times):
    """How many times as long the second length takes as the first.

    times    {n: seconds}
    returns  Growth; None with fewer than 2 points

    >>> first_growth({16: 2.0, 32: 3.0, 64: 9.0})
    Growth(first=16, second=32, times=1.5)
    """
    if len(times) < 2:
        return None
    first, second = sorted(times)[:2]
    return Growth(first, second, times[second] / times[first])
