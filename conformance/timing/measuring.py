"""One case, timed: contenders, the anchor, and the anchor again, and what is to be said of them, as data."""

import contextlib
import gc
import math
import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch

from attnconf.conformance.door import Implementation, foreign
from attnconf.conformance.evidence import Failure, Unsupported
from attnconf.conformance.loading import load
from attnconf.conformance.timing import intervals, trust
from attnconf.conformance.timing.accuracy import Tier
from attnconf.conformance.timing.anchors import anchors
from attnconf.conformance.timing.clock import Clock, ProcessClock
from attnconf.conformance.timing.grid import Case
from attnconf.conformance.timing.problem import Problem
from attnconf.conformance.timing.rounds import Rounds, Rules, Timed, estimate, measure, warm_up
from attnconf.conformance.timing.trust import Watch
from attnconf.conformance.timing.work import roof

AGAIN = " (again)"  # the anchor under another name
SETS = 64  # of inputs, at most
BYTES = 64 * 2**20  # of all sets together, at most


def time_case(
    case: Case, contenders: Sequence[Implementation], rules: Rules | None = None, *, clock: Clock | None = None,
    peaks: Mapping[str, float] | None = None, seed: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return what was measured in one case, ready for JSON.

    ``peaks``: operations ("flops", "gemm") and bytes ("bytes", "copy") a second, of the datasheet and as measured.
    """
    rules = rules or Rules()
    seed = random.SystemRandom().randrange(2**31) if seed is None else seed
    if case.device == "cuda" and not torch.cuda.is_available():
        return {**told(case), "status": "not-run", "reason": "no CUDA device"}
    with _quiet():
        return Measuring(case, rules, clock or ProcessClock(), seed, peaks or {}).of(contenders)


def told(case: Case) -> dict[str, Any]:
    """Return what is known of a case before it is timed."""
    work = case.work
    return {
        "case": case.name, "text": str(case), "group": case.group, "component": case.component, "pass": case.passes,
        "dtype": case.dtype, "device": case.device, "work": asdict(work),
        "sizes": {name: getattr(case, name) for name in ("B", "H", "L", "E", "hidden", "causal", "padded")}
        | {"S": case.keys, "kv_heads": case.kv_heads or case.H},
    }  # fmt: skip


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """One thread, no garbage collection, and all settings as they were afterwards."""
    before, collecting = trust.settings(), gc.isenabled()
    torch.set_num_threads(1)
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        trust.restore(before)
        if collecting:
            gc.enable()


class Measuring:
    """The work of ``time_case``."""

    def __init__(self, case: Case, rules: Rules, clock: Clock, seed: int, peaks: Mapping[str, float]):
        self.case, self.rules, self.clock, self.seed, self.peaks = case, rules, clock, seed, peaks
        self.problem = Problem(case, seed)
        (self.reference,) = (i for i in load("reference") if isinstance(i, Implementation))
        self.watches: dict[str, Watch] = {}
        self.entries: dict[str, dict[str, Any]] = {}

    def of(self, contenders: Sequence[Implementation]) -> dict[str, Any]:
        start = self.clock.now()
        anchor = self._anchor()
        racing = [anchor, self._enter(self.anchor, anchor.name + AGAIN)]
        for implementation in contenders:
            timed = self._admit(implementation)
            racing += [timed] if timed else []
        self._size(racing)
        warm_up(racing, self.clock, self.rules.warm_up)
        found = measure(racing, anchor.name, self.clock, self.rules, random.Random(self.seed))
        return self._told(found, anchor.name, racing, self.clock.now() - start)

    # -- who is timed

    def _anchor(self) -> Timed:
        """Return the quickest anchor that can do this. Raises Failure or Unsupported if none can."""
        able, error = [], None
        for implementation in anchors(self.case.device):
            try:
                timed = self._enter(implementation)
                able.append((estimate(timed, self.clock), implementation, timed))
            except (Failure, Unsupported) as failure:
                error = failure
        if not able and error is not None:
            raise error
        _, self.anchor, timed = min(able, key=lambda found: found[0])
        return timed

    def _enter(self, implementation: Implementation, name: str = "") -> Timed:
        """Build a contender that is not judged."""
        run = self.problem.runner(implementation)
        return Timed(name or implementation.name, run, before=self.problem.touch, guard=lambda: foreign(implementation))

    def _admit(self, implementation: Implementation) -> Timed | None:
        """Return a contender that is right, or nothing: its entry then says why it is not timed."""
        entry: dict[str, Any] = {"name": implementation.name, "status": "timed", "reason": "", "flags": []}
        self.entries[implementation.name] = entry
        before = trust.settings()
        try:
            return self._judged(implementation, entry)
        except Unsupported as unsupported:
            entry.update(status="unsupported", reason=f"not supported: {unsupported}")
        except Failure as failure:
            entry.update(status="not-timed", reason=f"not timed: {failure.message}")
        finally:
            for name in trust.restore(before):
                self.watches[implementation.name].flag("changed-setting", f"it changed {name} for all", suspect=False)
        return None

    def _judged(self, implementation: Implementation, entry: dict[str, Any]) -> Timed:
        case = self.case
        if case.component not in implementation.components:
            raise Unsupported(f"it has no {case.component}")
        tier = Tier(self.problem, self.reference, implementation.declared(case.component))
        watch = self.watches[implementation.name] = Watch(implementation, self.problem, tier, self.clock)
        timed = self._enter(implementation)
        timed.before, timed.after = watch.before, watch.after
        given = self.problem.of(0).copy()
        with timed.guard():
            returned = timed.run(0)
            trust.plain(returned, self.problem.of(0))
        measure = tier.check(given, returned)
        entry["accuracy"] = {"error": measure.error, "bound": measure.bound}
        return timed

    def _size(self, racing: Sequence[Timed]) -> None:
        """Give every contender as many calls in a sample as it needs, and all enough sets of inputs."""
        for timed in racing:
            timed.inner = max(1, math.ceil(self.rules.sample / max(estimate(timed, self.clock), 1e-7)))
        size = sum(x.nbytes for x in (*self.problem.of(0).inputs.values(), self.problem.of(0).cotangent))
        sets = max(timed.inner for timed in racing)
        self.problem.grow(max(2, min(sets, SETS, BYTES // size)))

    # -- what is said

    def _told(self, found: Rounds, anchor: str, racing: Sequence[Timed], seconds: float) -> dict[str, Any]:
        aa = found.against(anchor + AGAIN, anchor)
        void = aa.lo > 1 + self.rules.void or aa.hi < 1 - self.rules.void
        for timed in racing:
            if timed.name in self.entries:
                self._fill(self.entries[timed.name], timed, found, anchor, void)
        own = found.samples[anchor]
        return {
            **told(self.case), "status": "timed", "reason": "",
            "contenders": list(self.entries.values()),
            "anchor": {"name": anchor, **self._times(anchor, found), "flags": []},
            "aa": {"ratio": aa.ratio, "lo": aa.lo, "hi": aa.hi, "void": void},
            "clock": self.clock.name, "rounds": len(own), "looked_at": found.looked_at, "stopped": found.stopped,
            "seconds": seconds, "seed": self.seed, "sets": len(self.problem.sets), "rules": asdict(self.rules),
        }  # fmt: skip

    def _fill(self, entry: dict[str, Any], timed: Timed, found: Rounds, anchor: str, void: bool) -> None:
        name = timed.name
        if name in found.withdrawn:
            entry.update(status="not-timed", reason=f"not timed: while it was, {found.withdrawn[name]}")
            return
        ratio = found.against(name, anchor)
        flags = [*self.watches[name].flags.values(), *trust.of_samples(found.samples[name], found.samples[anchor])]
        verdict = "AMBIGUOUS" if void else intervals.verdict(ratio, self.rules.margin)
        entry.update(self._times(name, found))
        entry.update(
            ratio=ratio.ratio, lo=ratio.lo, hi=ratio.hi, inner=timed.inner * timed.calls,
            verdict="SUSPECT" if any(flag.suspect for flag in flags) else verdict,
            flags=[asdict(flag) for flag in flags],
        )  # fmt: skip
        entry["fractions"]["anchor"] = 1 / ratio.ratio

    def _times(self, name: str, found: Rounds) -> dict[str, Any]:
        """Return a contender's samples and what follows from their median."""
        samples, work = found.samples[name], self.case.work
        seconds = [s.seconds for s in samples]
        median = statistics.median(seconds)
        walls = [s.wall for s in samples if not math.isnan(s.wall)]
        return {
            "samples_s": seconds, "median_s": median, "wall_s": statistics.median(walls) if walls else None,
            "outliers": intervals.outliers(seconds),
            "tflops": work.flops_published / median / 1e12 if work.flops else None,
            "gbs": work.bytes / median / 1e9, "tokens_s": work.tokens / median, "peak_bytes": None,
            "fractions": self._fractions(median),
        }  # fmt: skip

    def _fractions(self, median: float) -> dict[str, Any]:
        """Return how near the time is to the least that is possible: by the datasheet, and by peaks of this run."""
        found: dict[str, Any] = {}
        for name, flops, traffic in (("datasheet", "flops", "bytes"), ("measured", "gemm", "copy")):
            if flops in self.peaks and traffic in self.peaks:
                limit = roof(self.case.work, self.peaks[flops], self.peaks[traffic])
                found[name] = limit.seconds / median
                found["bound_by"] = limit.bound_by
        return found
