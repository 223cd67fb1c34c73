"""Rounds: every contender once in each, in random order, until the ratios are known well enough."""

import contextlib
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.timing.clock import Clock, Job, Run, Sample
from attnconf.conformance.timing.intervals import Interval, paired, verdict

CHECK_EVERY = 4  # rounds
FEWEST = 5  # rounds, however long they take


@dataclass(frozen=True)
class Rules:
    """When to stop measuring, and the margins of verdicts."""

    min_rounds: int = 20
    min_seconds: float = 0.3  # seconds of all samples together
    max_seconds: float = 10.0  # wall seconds of a case
    max_rounds: int = 2000
    width: float = 0.007  # of a ratio's interval, as a fraction of the ratio
    stall: int = 96  # rounds in which the width has to shrink …
    shrink: float = 0.05  # … by this fraction, or it is as narrow as it gets
    sample: float = 1e-3  # seconds that a sample takes at least
    warm_up: float = 0.1  # seconds of uncounted rounds before the first
    margin: float = 0.025  # a ratio this near to 1 is SAME: half of the slowdown of 5 % that must be found
    void: float = 0.02  # if the anchor against itself is certainly this far from 1, the case is void
    looked_at: float = 0.1  # fraction of the rounds after which results are compared with the wanted ones …
    looks: int = 6  # … at most
    too_fast: float = 0.1  # faster than the anchor by this fraction: looked at again
    slowest: float = 1.0  # seconds of one call; a slower contender is not timed


def rules_for(device: str, which: str) -> Rules:
    """Return rules with which "smoke" ends in a minute and, on CUDA, "grid" in eight."""
    if device == "cpu":
        return Rules()
    return Rules(warm_up=0.5) if which == "smoke" else Rules(min_seconds=0.1, max_seconds=2.5)


@dataclass
class Contender:
    """A contender in a case. ``run(i)`` computes on the i-th set of inputs.

    ``before(first, count, looked)`` changes the inputs of a sample; ``after(looked, returned)`` compares the result of
    the call ``looked`` with the wanted one, and adds a flag if it is wrong.
    """

    name: str
    run: Run
    inner: int = 1
    calls: int = 1
    before: Callable[[int, int, int], None] | None = None
    after: Callable[[int, Any], None] | None = None
    guard: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def total(self) -> int:
        """The number of calls in a sample."""
        return self.inner * self.calls

    def job(self, first: int = 0, look: bool = False) -> Job:
        """Return a sample to take, on sets from ``first`` on, of which the last call is looked at.

        Recorded calls have their own sets, from 0 on; ``first`` says which of them is looked at.
        """
        recorded = self.calls > 1
        looked = first % self.calls if recorded else first + self.total - 1
        before, after, start = self.before, self.after, 0 if recorded else first
        return Job(
            self.run, self.inner, self.calls, looked if recorded else first,
            before and (lambda: before(start, self.total, looked)),
            (lambda returned: after(looked, returned)) if after and look else None,
        )  # fmt: skip


@dataclass
class Rounds:
    """The samples: one a round for each contender, until it is withdrawn."""

    samples: dict[str, list[Sample]]
    stopped: str = ""
    looked_at: int = 0
    withdrawn: dict[str, str] = field(default_factory=dict)  # name -> its exception, in words

    @property
    def number(self) -> int:
        return max((len(s) for s in self.samples.values()), default=0)

    def seconds(self, name: str) -> list[float]:
        return [sample.seconds for sample in self.samples[name]]

    def against(self, name: str, anchor: str) -> Interval:
        """Return the ratio of a contender to the anchor."""
        return paired(self.seconds(name), self.seconds(anchor))


@dataclass
class Stop:
    """Decides when to stop; asked every few rounds with the widest interval, and whether all verdicts are decided."""

    rules: Rules
    widths: list[tuple[int, float]] = field(default_factory=list)  # (rounds, the widest)

    def why(self, rounds: int, measured: float, elapsed: float, widest: float, decided: bool = True) -> str:
        """Return why to stop: "narrow", "stalled", "seconds", "rounds"; or "" to go on.

        Intervals that no longer shrink stop the rounds only once all verdicts are decided.
        """
        rules = self.rules
        self.widths.append((rounds, widest))
        if elapsed >= rules.max_seconds:
            return "seconds"
        if rounds >= rules.max_rounds:
            return "rounds"
        if rounds < rules.min_rounds or measured < rules.min_seconds:
            return ""
        if widest <= rules.width:
            return "narrow"
        earlier = [w for n, w in self.widths if n <= rounds - rules.stall]
        return "stalled" if decided and earlier and widest > (1 - rules.shrink) * earlier[-1] else ""


def estimate(timed: Contender, clock: Clock, calls: int = 5, enough: float = 0.2) -> float:
    """Return about how many seconds one call takes: the median of a few calls, of fewer if they are slow."""
    found: list[float] = []
    with timed.guard():
        while len(found) < calls and sum(found) < enough:
            found.append(clock.sample(Job(timed.run, 1, timed.calls, len(found))).seconds)
    return statistics.median(found)


def warm_up(contenders: Sequence[Contender], clock: Clock, seconds: float) -> None:
    """Run all contenders in turn for ``seconds``, each at least once."""
    start = clock.now()
    while True:
        for timed in contenders:
            with timed.guard():
                timed.job()()
        if clock.now() - start >= seconds:
            return


def measure(
    contenders: Sequence[Contender], anchor: str, clock: Clock, rules: Rules, chance: random.Random,
    since: float | None = None,
) -> Rounds:  # fmt: skip
    """Return samples of all contenders. A contender that raises is withdrawn.

    ``since``: when the case began, by the clock; rules.max_seconds count from there.
    Raises Failure or Unsupported if the anchor does.
    """
    found = Rounds({timed.name: [] for timed in contenders})
    stop, measured = Stop(rules), 0.0
    start = clock.now() if since is None else since
    racing = list(contenders)
    while not found.stopped:
        look = chance.random() < rules.looked_at or found.number in (2, rules.min_rounds - 1)
        look = look and found.looked_at < rules.looks
        measured += _round(racing, anchor, clock, chance, look, found)
        racing = [timed for timed in racing if timed.name not in found.withdrawn]
        elapsed = clock.now() - start
        if found.number >= FEWEST and (found.number % CHECK_EVERY == 0 or elapsed >= rules.max_seconds):
            ratios = [found.against(timed.name, anchor) for timed in racing if timed.name != anchor]
            decided = all(verdict(ratio, rules.margin) != "AMBIGUOUS" for ratio in ratios)
            widest = max((ratio.width for ratio in ratios), default=0.0)
            found.stopped = stop.why(found.number, measured, elapsed, widest, decided)
    return found


def _round(
    racing: list[Contender], anchor: str, clock: Clock, chance: random.Random, look: bool, found: Rounds
) -> float:
    """Take a sample of each contender, in random order; return their seconds together."""
    chance.shuffle(racing)
    found.looked_at += look
    taken: dict[str, float] = {}
    for timed in racing:
        with _withdrawing(found, timed.name, anchor), timed.guard():
            sample = clock.sample(timed.job(chance.randrange(1 << 16), look))
            found.samples[timed.name].append(sample)
            taken[timed.name] = sample.seconds * timed.total
    return sum(taken.values())


@contextlib.contextmanager
def _withdrawing(found: Rounds, name: str, anchor: str) -> Iterator[None]:
    try:
        yield
    except (Failure, Unsupported) as error:
        if name == anchor:
            raise
        found.withdrawn[name] = str(error)
