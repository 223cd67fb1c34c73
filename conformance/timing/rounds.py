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
    """When enough is known, and what is made of it."""

    min_rounds: int = 20
    min_seconds: float = 0.3  # of all samples together
    max_seconds: float = 10.0  # for a case, by the wall
    max_rounds: int = 2000
    width: float = 0.007  # of the interval of a ratio, as a fraction of it
    stall: int = 96  # rounds in which the width has to shrink …
    shrink: float = 0.05  # … by this fraction, or it is as narrow as it gets
    sample: float = 1e-3  # seconds that a sample takes at least
    warm_up: float = 0.1  # seconds of the real mix, before anything counts
    margin: float = 0.025  # a ratio this near to 1 is SAME: half of the slowdown of 5 % that must be found
    void: float = 0.02  # the anchor against itself must not be this far off for certain
    looked_at: float = 0.1  # fraction of the rounds after which results are compared with what they must be …
    looks: int = 6  # … at most
    too_fast: float = 0.1  # faster than the anchor by this fraction: looked at again
    slowest: float = 1.0  # seconds: what takes longer for one call is not timed


def rules_for(device: str, which: str) -> Rules:
    """Return the rules by which "smoke" and "grid" end in time: a minute and, on CUDA, eight for the grid."""
    if device == "cpu":
        return Rules()
    return Rules(warm_up=0.5) if which == "smoke" else Rules(min_seconds=0.1, max_seconds=2.5)


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


def estimate(timed: Timed, clock: Clock, calls: int = 5, enough: float = 0.2) -> float:
    """Return about how many seconds one call takes: the median of a few, of fewer where these take long."""
    found: list[float] = []
    with timed.guard():
        while len(found) < calls and sum(found) < enough:
            found.append(clock.sample(Job(timed.run, 1, timed.calls, len(found))).seconds)
    return statistics.median(found)


def warm_up(contenders: Sequence[Timed], clock: Clock, seconds: float) -> None:
    """Run all contenders in turn for so long, once at least."""
    start = clock.now()
    while True:
        for timed in contenders:
            with timed.guard():
                timed.job()()
        if clock.now() - start >= seconds:
            return


def measure(
    contenders: Sequence[Timed], anchor: str, clock: Clock, rules: Rules, chance: random.Random,
    since: float | None = None,
) -> Rounds:  # fmt: skip
    """Return samples of all contenders. What one raises withdraws it; if the anchor raises, nothing can be measured.

    ``since``: when the case began, by the clock; all of it must not take longer than the rules say.
    Raises Failure or Unsupported of the anchor.
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


def _round(racing: list[Timed], anchor: str, clock: Clock, chance: random.Random, look: bool, found: Rounds) -> float:
    """Take a sample of each contender, in random order; return how many seconds were measured."""
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
