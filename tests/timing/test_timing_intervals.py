"""Intervals and verdicts: against scipy's bootstrap, which draws, and on times whose ratio is known."""

import math
import random
import statistics

import numpy as np
import pytest
from scipy import stats

from attnconf.conformance.timing.intervals import Interval, outliers, paired, ranks, verdict


@pytest.mark.parametrize("n", [5, 21, 40, 151])
def test_the_interval_is_the_bootstraps(n):
    numbers = np.random.default_rng(0)
    logs = np.sort(numbers.normal(0.1, 0.05, n))
    drawn = stats.bootstrap((logs,), np.median, n_resamples=20_000, method="percentile", rng=numbers)
    found = paired(np.exp(logs).tolist(), [1.0] * n)
    spacing = 2 * float(np.diff(logs).max())
    assert math.log(found.lo) == pytest.approx(drawn.confidence_interval.low, abs=spacing)
    assert math.log(found.hi) == pytest.approx(drawn.confidence_interval.high, abs=spacing)
    assert math.log(found.ratio) == pytest.approx(float(np.median(logs)))


@pytest.mark.parametrize("n", [*range(1, 200), 400, 2000])
def test_ranks_are_those_of_the_binomial_distribution(n):
    low, _ = ranks(n)
    reached = [float(stats.binom.sf((n + 1) // 2 - 1, n, k / n)) for k in (low, low + 1)]  # by the k-th from 1
    assert reached[0] < 0.025 <= reached[1]


@pytest.mark.parametrize("n", [1, 2, 3, 20, 99, 400, 2000])
def test_ranks_are_symmetric_and_inside(n):
    low, high = ranks(n)
    assert 0 <= low <= (n - 1) / 2 <= high < n
    assert low + high == n - 1


def test_ranks_close_in_on_the_median():
    widths = [(high - low) / n for n in (20, 80, 320, 1280) for low, high in [ranks(n)]]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(1280), rel=0.05)  # the normal limit


def test_one_against_the_other_is_the_mirror_image():
    chance = random.Random(1)
    a, b = ([chance.lognormvariate(0, 0.1) for _ in range(30)] for _ in "ab")
    there, back = paired(a, b), paired(b, a)
    assert there.ratio == pytest.approx(1 / back.ratio)
    assert (there.lo, there.hi) == pytest.approx((1 / back.hi, 1 / back.lo))


def test_what_slows_a_whole_round_changes_nothing():
    a, b = [2.0, 2.1, 1.9, 2.05], [1.0, 1.0, 1.0, 1.0]
    slow = [1.0, 7.0, 1.0, 3.0]
    assert paired([x * s for x, s in zip(a, slow, strict=True)], slow).lo == pytest.approx(paired(a, b).lo)


def test_no_samples_are_refused():
    with pytest.raises(ValueError, match="no samples"):
        paired([], [])


@pytest.mark.parametrize(
    ("lo", "hi", "want"),
    [
        (0.90, 0.94, "FASTER"),
        (0.90, 0.96, "AMBIGUOUS"),
        (0.96, 1.04, "SAME"),
        (0.94, 1.06, "AMBIGUOUS"),
        (1.04, 1.07, "AMBIGUOUS"),
        (1.06, 1.08, "SLOWER"),
    ],
)
def test_a_verdict_needs_the_whole_interval(lo, hi, want):
    assert verdict(Interval(math.sqrt(lo * hi), lo, hi), 0.05) == want


def test_outliers_are_counted():
    times = [1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.12, 1.5]
    assert outliers(times) == {"mild": 0, "severe": 1}
    assert statistics.median(times) == 1.04
