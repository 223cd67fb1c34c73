"""Rounds: every contender once in each, in random order, until the ratios are known well enough."""

import contextlib
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from attnconf.conformance.evidence import Failure, Unsupported
from attnconf.conformance.timing.clock import Clock, Job, Run, Sample
from attnconf.conformance.timing.intervals import Interval, paired, verdict

CHECK_EVERY = 4  # rounds


@dataclass(frozen=True)
class Rules:
    """When enough is known, and what is made of it."""

    min_rounds: int = 20
    min_seconds: float = 0.3  # of all samples together
    max_seconds: float = 10.0  # for a case, by the wall
    max_rounds: int = 2000
    width: float = 0.01  # of the interval of a ratio, as a fraction of it
    stall: int = 16  # rounds in which the width has to shrink …
    shrink: float = 0.05  # … by this fraction, or it is as narrow as it gets
    sample: float = 1e-3  # seconds that a sample takes at least
    warm_up: float = 0.1  # seconds of the real mix, before anything counts
    margin: float = 0.025  # a ratio this near to 1 is SAME: half of the slowdown of 5 % that must be found
    void: float = 0.02  # the anchor against itself must not be this far off for certain
    looked_at: float = 0.1  # fraction of the rounds after which the results are compared with what they must be
    too_fast: float = 0.1  # faster than the anchor by this fraction: looked at again


@dataclass
class Timed:
    """A contender in a case. ``run(i)`` computes on the i-th set of inputs.

    ``before(first, count)`` makes the inputs of a sample new; ``after(last, returned)`` compares what the last call
    returned with what it must be, and says in the contender's flags what is wrong.
    """

    name: str
    run: Run
    inner: int = 1
    calls: int = 1
    before: Callable[[int, int], None] | None = None
    after: Callable[[int, Any], None] | None = None
    guard: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def total(self) -> int:
        """Return how many calls are in a sample."""
        return self.inner * self.calls

    def job(self, first: int = 0, look: bool = False) -> Job:
        """Return a sample to take, on sets from ``first`` on; what was recorded at once has its own sets, from 0 on."""
        first = first if self.calls == 1 else 0
        before, after, last = self.before, self.after, first + self.total - 1
        return Job(
            self.run, self.inner, self.calls, first,
            before and (lambda: before(first, self.total)),
            (lambda returned: after(last, returned)) if after and look else None,
        )  # fmt: skip


@dataclass
class Rounds:
    """What was measured: one sample a round for each contender that was not withdrawn."""

    samples: dict[str, list[Sample]]
    stopped: str = ""
    looked_at: int = 0
    withdrawn: dict[str, str] = field(default_factory=dict)  # what it raised, in words

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
    """Says when to stop: asked every few rounds with the width of the widest interval, and whether all are decided."""

    rules: Rules
    widths: list[tuple[int, float]] = field(default_factory=list)  # (rounds, the widest)

    def why(self, rounds: int, measured: float, elapsed: float, widest: float, decided: bool = True) -> str:
        """Return why to stop: "narrow", "stalled", "seconds", "rounds", or nothing.

        What stalls goes on while a verdict is open: more rounds still tell, if slowly.
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


def estimate(timed: Timed, clock: Clock, calls: int = 5) -> float:
    """Return about how many seconds one call takes: the median of a few."""
    with timed.guard():
        return statistics.median(clock.sample(Job(timed.run, 1, timed.calls, i)).seconds for i in range(calls))


def warm_up(contenders: Sequence[Timed], clock: Clock, seconds: float) -> None:
    """Run all contenders in turn, at least three times each, for so long."""
    start, turns = clock.now(), 0
    while turns < 3 or clock.now() - start < seconds:
        for timed in contenders:
            with timed.guard():
                timed.job()()
        turns += 1


def measure(contenders: Sequence[Timed], anchor: str, clock: Clock, rules: Rules, chance: random.Random) -> Rounds:
    """Return samples of all contenders. What one raises withdraws it; if the anchor raises, nothing can be measured.

    Raises Failure or Unsupported of the anchor.
    """
    found = Rounds({timed.name: [] for timed in contenders})
    stop, start, measured = Stop(rules), clock.now(), 0.0
    racing = list(contenders)
    while not found.stopped:
        chance.shuffle(racing)
        look = chance.random() < rules.looked_at or found.number in (2, rules.min_rounds - 1)
        found.looked_at += look
        taken: dict[str, Sample] = {}
        for timed in racing:
            with _withdrawing(found, timed.name, anchor):
                with timed.guard():
                    taken[timed.name] = clock.sample(timed.job(chance.randrange(1 << 16), look))
                measured += taken[timed.name].seconds * timed.total
        racing = [timed for timed in racing if timed.name not in found.withdrawn]
        for name, sample in taken.items():
            found.samples[name].append(sample)
        if found.number % CHECK_EVERY == 0 or clock.now() - start >= rules.max_seconds:
            ratios = [found.against(t.name, anchor) for t in racing if t.name != anchor]
            widest = max((ratio.width for ratio in ratios), default=0.0)
            decided = all(verdict(ratio, rules.margin) != "AMBIGUOUS" for ratio in ratios)
            found.stopped = stop.why(found.number, measured, clock.now() - start, widest, decided)
    return found


@contextlib.contextmanager
def _withdrawing(found: Rounds, name: str, anchor: str) -> Iterator[None]:
    try:
        yield
    except (Failure, Unsupported) as error:
        if name == anchor:
            raise
        found.withdrawn[name] = str(error)
