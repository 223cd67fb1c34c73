"""The interval of the median ratio of two contenders' samples, and the verdict on it.

Two contenders are compared by their times in the same rounds, so that a disturbance slows both. The interval is the
bootstrap's (Efron 1979) for the median, in the limit of infinitely many resamples. Its distribution is then known in
closed form, takes no random numbers, and comparing B with A gives the mirror image of comparing A with B.
"""

import math
import statistics
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

CONFIDENCE = 0.95
VERDICTS = ("FASTER", "SAME", "SLOWER", "AMBIGUOUS", "SUSPECT")


@dataclass(frozen=True)
class Interval:
    """A ratio of times with its 95 % confidence interval."""

    ratio: float
    lo: float
    hi: float

    @property
    def width(self) -> float:
        """Return how wide the interval is, as a fraction of the ratio."""
        return math.log(self.hi / self.lo)


def paired(times: Sequence[float], baseline: Sequence[float]) -> Interval:
    """Return the interval of the median of ``times[i] / baseline[i]``. Raises ValueError without samples."""
    logs = sorted(math.log(t / b) for t, b in zip(times, baseline, strict=True))
    if not logs:
        raise ValueError("no samples to compare")
    low, high = ranks(len(logs))
    return Interval(math.exp(statistics.median(logs)), math.exp(logs[low]), math.exp(logs[high]))


@cache
def ranks(n: int) -> tuple[int, int]:
    """Return which of ``n`` sorted numbers, counted from 0, bound the bootstrap's interval of their median.

    The lower median of n numbers drawn from n with replacement is at most the k-th (from 1) if at least ⌈n/2⌉ of the
    drawn are: with probability P(Binomial(n, k/n) >= ⌈n/2⌉).
    """
    wanted = (n + 1) // 2
    low = bisect_left(range(1, n + 1), (1 - CONFIDENCE) / 2, key=lambda k: _at_least(wanted, n, k / n))
    return low, n - 1 - low  # the upper median's limit is the mirror image


def _at_least(wanted: int, n: int, p: float) -> float:
    """Return P(Binomial(n, p) >= wanted)."""
    if p >= 1.0:
        return 1.0
    logs = math.lgamma(n + 1)
    terms = (
        math.exp(logs - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p) + (n - i) * math.log1p(-p))
        for i in range(wanted, n + 1)
    )
    return math.fsum(terms)


def verdict(interval: Interval, margin: float) -> str:
    """Return FASTER, SAME or SLOWER if the whole interval lies there, else AMBIGUOUS."""
    if interval.hi < 1 - margin:
        return "FASTER"
    if interval.lo > 1 + margin:
        return "SLOWER"
    if interval.lo >= 1 - margin and interval.hi <= 1 + margin:
        return "SAME"
    return "AMBIGUOUS"


def outliers(times: Sequence[float]) -> dict[str, int]:
    """Return how many samples lie beyond 1.5 ("mild") and 3 ("severe") interquartile ranges; none is left out."""
    if len(times) < 4:
        return {"mild": 0, "severe": 0}
    first, _, third = statistics.quantiles(times, n=4, method="inclusive")
    beyond = [max(first - t, t - third) / (third - first) if third > first else 0.0 for t in times]
    return {"mild": sum(1.5 < b <= 3 for b in beyond), "severe": sum(b > 3 for b in beyond)}
