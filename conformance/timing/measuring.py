"""Time one case: the contenders, the anchor, and the anchor a second time; return the measurements as data."""

import contextlib
import gc
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch

from attnconf.conformance.engine.boundary import foreign
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.timing import integrity, intervals, machine, memory, record
from attnconf.conformance.timing.accuracy import Tier
from attnconf.conformance.timing.anchors import anchors
from attnconf.conformance.timing.clock import Clock
from attnconf.conformance.timing.graphs import ENOUGH, TOO_SHORT, recorded
from attnconf.conformance.timing.grid import TimedCase
from attnconf.conformance.timing.integrity import Inspector
from attnconf.conformance.timing.problem import Problem
from attnconf.conformance.timing.rounds import Contender, Rounds, Rules, estimate, measure, warm_up

AGAIN = " (again)"  # the anchor under another name
SETS, GRAPHS = 256, 8  # sets of inputs at most, and where backward keeps a graph for each
BYTES = {"cpu": 2**26, "cuda": 2**30}  # bytes of all sets together, at most; there is at least one set
LOOKS = 5  # further calls of a contender that is too fast


def time_case(
    case: TimedCase, contenders: Sequence[Implementation], rules: Rules | None = None, *, clock: Clock | None = None,
    peaks: Mapping[str, float] | None = None, seed: int | None = None, disturbed: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Return the measurements of one case, ready for JSON.

    peaks      of ``machine.peaks``; without them the entries have no fractions of peaks
    disturbed  words of ``machine.busy``; if not empty, all verdicts are AMBIGUOUS
    """
    if case.device == "cuda" and not torch.cuda.is_available():
        return {**record.of_case(case), "status": "not-run", "reason": "no CUDA device"}
    seed = random.SystemRandom().randrange(2**31) if seed is None else seed
    with _quiet(case.device):
        try:
            return Measuring(
                case, rules or Rules(), clock or machine.clock_of(case.device), seed, peaks or {}, disturbed
            ).of(contenders)
        except (Failure, Unsupported) as error:
            return {**record.of_case(case), "status": "not-run", "reason": f"no anchor: {error}"}
        except torch.OutOfMemoryError:
            return {**record.of_case(case), "status": "not-run", "reason": "the device's memory is not enough"}


@contextlib.contextmanager
def _quiet(device: str) -> Iterator[None]:
    """Use one thread without garbage collection; restore all settings afterwards."""
    before, collecting = integrity.settings(), gc.isenabled()
    torch.set_num_threads(1)
    gc.disable()
    try:
        yield
    finally:
        integrity.restore(before)
        if collecting:
            gc.enable()
        _free(device)  # the next case has other sizes


def _free(device: str) -> None:
    """Give the memory of a device back that nobody uses; exceptions keep frames, and with them tensors, in cycles."""
    if device == "cuda":
        gc.collect()
        torch.cuda.empty_cache()


class Measuring:
    """The work of ``time_case``."""

    def __init__(
        self, case: TimedCase, rules: Rules, clock: Clock, seed: int, peaks: Mapping[str, float], disturbed: str = ""
    ):
        self.case, self.rules, self.clock, self.seed, self.peaks = case, rules, clock, seed, peaks
        self.disturbed = disturbed
        self.problem = Problem(case, seed)
        self.reference = apply([])
        self.tier = Tier(self.problem, self.reference)
        self.problem.touch(0, 1)
        self.inspectors: dict[str, Inspector] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self.bytes: dict[str, int | None] = {}  # peak memory of the anchors

    def of(self, contenders: Sequence[Implementation]) -> dict[str, Any]:
        """Return the measurements. Raises Failure or Unsupported if no anchor can compute the case."""
        start = self.clock.now()
        memory.forget_compiled()
        anchor, implementation = self._anchor()
        racing = [anchor, self._enter(implementation, anchor.name + AGAIN)]
        self.inspectors = {c.name: self._inspector(c) for c in contenders}
        racing += self._able(self._admit, list(contenders))
        admitted = self.clock.now()  # compiling is in nobody's time
        racing = self._able(self._sized, racing)
        self._fill_sets(racing)
        racing = self._able(self._prepared, racing)
        warm_up(racing, self.clock, self.rules.warm_up)
        found = measure(racing, anchor.name, self.clock, self.rules, random.Random(self.seed), admitted)
        self._say_who_replaced_timers(contenders)
        return self._told(found, anchor.name, racing, self.clock.now() - start)

    # -- admission

    def _able(self, tried: Callable[[Any], Contender | None], those: list[Any]) -> list[Contender]:
        """Return what comes of each; ``those`` is emptied. Who fails, for want of memory perhaps, keeps none of it."""
        found = []
        while those:
            contender = tried(those.pop(0))
            found += [contender] if contender else []
            if contender is None:
                _free(self.case.device)
        return found

    def _anchor(self) -> tuple[Contender, Implementation]:
        """Return the quickest anchor that can compute the case. Raises Failure or Unsupported if none can."""
        able: list[tuple[float, Contender, Implementation]] = []
        error: Exception = Unsupported("there is none")
        for implementation in anchors(self.case.device, self.case.component):
            try:
                timed = self._enter(implementation)
                with timed.guard(), memory.allocated(self.case.device) as peak:
                    timed.run(0)
                self.bytes[timed.name] = peak.get("bytes") or memory.counted(implementation, self.problem)
                able.append((estimate(timed, self.clock), timed, implementation))
            except (Failure, Unsupported) as failure:
                error = failure
        if not able:
            raise error
        _, timed, implementation = min(able, key=lambda found: found[0])
        return timed, implementation

    def _inspector(self, implementation: Implementation) -> Inspector:
        """Return the inspector of a contender; contenders with the reference's conventions share one tier."""
        component = self.case.component
        reference = in_conventions(self.reference, implementation.declared(component))
        same = reference.components[component] is self.reference.components[component]
        tier = self.tier if same else Tier(self.problem, reference)
        return Inspector(implementation.name, self.problem, tier, self.clock)

    def _enter(self, implementation: Implementation, name: str = "") -> Contender:
        """Build a contender that is not judged."""
        run = self.problem.runner(implementation)
        name = name or implementation.name

        def before(first: int, count: int, looked: int) -> None:
            self.problem.touch(first, count)

        return Contender(name, run, before=before, guard=lambda: foreign(implementation))

    def _admit(self, implementation: Implementation) -> Contender | None:
        """Return the contender if it is right, else None; its entry then says why it is not timed."""
        entry: dict[str, Any] = {"name": implementation.name, "status": "timed", "reason": "", "flags": []}
        self.entries[implementation.name] = entry
        inspector, before = self.inspectors[implementation.name], integrity.settings()
        try:
            return self._judged(implementation, inspector, entry)
        except Unsupported as unsupported:
            entry.update(status="unsupported", reason=f"not supported: {unsupported}")
        except Failure as failure:
            entry.update(status="not-timed", reason=f"not timed: {failure.message}")
        finally:
            for name in integrity.restore(before):
                inspector.flag("changed-setting", f"it changed {name} for all", suspect=False)
            entry["flags"] = [asdict(flag) for flag in inspector.flags.values()]
        return None

    def _judged(self, implementation: Implementation, inspector: Inspector, entry: dict[str, Any]) -> Contender:
        if self.case.component not in implementation.components:
            raise Unsupported(f"it has no {self.case.component}")
        if self.case.kv_heads not in (0, self.case.H):
            raise Unsupported("fewer heads of keys than of queries: the contract has none")
        timed = self._enter(implementation)
        timed.before, timed.after = inspector.before, inspector.after
        inspector.remember(0)
        seen = memory.noticing_compilers(implementation)
        with timed.guard(), seen, memory.allocated(self.case.device) as peak:
            returned = timed.run(0)
        entry["accuracy"] = asdict(inspector.demand(0, returned, first=True))
        entry["peak_bytes"] = peak.get("bytes") or memory.counted(implementation, self.problem)
        return timed

    def _sized(self, timed: Contender) -> Contender | None:
        """Set the number of calls in a contender's sample; return it, or None if it can no longer be timed."""
        try:
            seconds = max(estimate(timed, self.clock), 1e-7)
        except (Failure, Unsupported) as error:
            if timed.name not in self.entries:
                raise
            self.entries[timed.name].update(status="not-timed", reason=f"not timed: called again, it {error}")
            return None
        if seconds > self.rules.slowest and timed.name in self.entries:
            reason = f"not timed: one call takes about {seconds:.2g} s"
            self.entries[timed.name].update(status="not-timed", reason=reason)
            return None
        enough = self.rules.sample if self.case.device == "cpu" else ENOUGH
        timed.inner = max(1, math.ceil(enough / seconds)) if self.case.device == "cpu" or seconds < TOO_SHORT else 1
        return timed

    def _fill_sets(self, racing: Sequence[Contender]) -> None:
        """Draw sets of inputs; a sample has no more calls than there are sets, so that it uses none twice."""
        one, case = self.problem.of(0), self.case
        size = sum(x.nbytes for x in (*one.inputs.values(), one.cotangent))
        most = min(GRAPHS if case.passes == "backward" else SETS, max(1, BYTES[case.device] // size))
        beyond_cache = 1 + math.ceil(5 * machine.cache_bytes() / size) if case.device == "cuda" else 2
        self.problem.grow(min(most, max(beyond_cache, *(timed.inner for timed in racing))))
        for timed in racing:
            timed.inner = min(timed.inner, len(self.problem.sets))

    def _prepared(self, timed: Contender) -> Contender | None:
        """Make backward's graphs, or record short calls on CUDA; return the contender, or None if that failed."""
        try:
            if self.case.passes == "backward":
                with timed.guard():
                    for i in range(len(self.problem.sets)):
                        timed.run(i)
        except (Failure, Unsupported) as error:
            if timed.name not in self.entries:
                raise
            self.entries[timed.name].update(status="not-timed", reason=f"not timed: on more inputs, it {error}")
            return None
        if self.case.device == "cuda" and timed.inner > 1:
            self._record(timed)
        return timed

    def _record(self, timed: Contender) -> None:
        replay = recorded(timed.run, timed.inner) if self.case.passes == "forward" else None
        if replay is not None:
            timed.run, timed.calls, timed.inner = replay, timed.inner, 1
        elif timed.name in self.inspectors:
            words = "calls this short are not recorded in a CUDA graph: launching them is in the time"
            self.inspectors[timed.name].flag("launch-bound", words, suspect=False)

    def _say_who_replaced_timers(self, contenders: Sequence[Implementation]) -> None:
        """Flag the contenders whose file replaced a timer, or all contenders if the file is unknown."""
        for name, file in integrity.replaced_timers().items():
            for contender in [c for c in contenders if file and c.source == file] or contenders:
                self.inspectors[contender.name].flag("replaced-timer", f"{name} was replaced, by {file or 'somebody'}")

    # -- entries

    def _told(self, found: Rounds, anchor: str, racing: Sequence[Contender], seconds: float) -> dict[str, Any]:
        aa = found.against(anchor + AGAIN, anchor)
        void = aa.lo > 1 + self.rules.void or aa.hi < 1 - self.rules.void
        for timed in racing:
            if timed.name in found.withdrawn:
                reason = f"not timed: while it was, it {found.withdrawn[timed.name]}"
                self.entries[timed.name].update(status="not-timed", reason=reason)
            elif timed.name in self.entries:
                self.entries[timed.name].update(self._of(timed, found, anchor, void))
        own = {"name": anchor, "peak_bytes": self.bytes[anchor]}
        own |= record.of_samples(self.case, found.samples[anchor], self.peaks)
        return {
            **record.of_case(self.case), "status": "timed", "reason": "",
            "contenders": list(self.entries.values()), "anchor": own,
            "aa": {"ratio": aa.ratio, "lo": aa.lo, "hi": aa.hi, "void": void},
            "clock": self.clock.name, "rounds": len(found.samples[anchor]), "looked_at": found.looked_at,
            "stopped": found.stopped, "seconds": seconds, "seed": self.seed, "sets": len(self.problem.sets),
            "disturbed": self.disturbed, "rules": asdict(self.rules),
        }  # fmt: skip

    def _of(self, timed: Contender, found: Rounds, anchor: str, void: bool) -> dict[str, Any]:
        """Return the entry of a contender that was timed."""
        samples, inspector = found.samples[timed.name], self.inspectors[timed.name]
        ratio = found.against(timed.name, anchor)
        entry = record.of_samples(self.case, samples, self.peaks)
        if ratio.hi < 1 - self.rules.too_fast:
            self._look_again(timed, inspector)
        flags = [
            *inspector.flags.values(),
            *integrity.of_samples(samples, found.samples[anchor]),
            *record.impossible(self.case, entry["median_s"], self.peaks),
            *record.throttled(samples),
        ]
        verdict = "AMBIGUOUS" if void or self.disturbed else intervals.verdict(ratio, self.rules.margin)
        entry["fractions"]["anchor"] = 1 / ratio.ratio
        return {**entry, **record.of_ratio(ratio, verdict, flags), "inner": timed.total}

    def _look_again(self, timed: Contender, inspector: Inspector) -> None:
        """Have a suspiciously fast contender compute several fresh inputs, with its results compared each time."""
        try:
            with timed.guard():
                for i in range(LOOKS):
                    self.clock.sample(timed.job(i, look=True))
        except (Failure, Unsupported) as error:
            inspector.flag("wrong-when-timed", f"looked at again, it {error}")
        came = "wrong" if "wrong-when-timed" in inspector.flags else "right"
        words = (
            f"faster than the anchor by more than {self.rules.too_fast:.0%}: its results, looked at again, were {came}"
        )
        inspector.flag("looked-at-again", words, suspect=False)
