"""Time the cases of a grid: all contenders of a case together, when the first of them is asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.timing import grid, machine
from attnconf.conformance.timing.clock import Clock
from attnconf.conformance.timing.grid import TimedCase
from attnconf.conformance.timing.measuring import time_case
from attnconf.conformance.timing.rounds import Rules, rules_for

Entry = dict[str, Any]


@dataclass(frozen=True)
class Entrant:
    """One contender in one case."""

    case: TimedCase
    contender: Implementation

    @property
    def id(self) -> str:
        return f"{self.case.name}-{self.contender.name}"


@dataclass(frozen=True)
class Standing:
    """The MUSTs that a component violates, judged before it is timed.

    violated  violations that are no known deviations
    known     known deviations
    left_out  whether a selection left out some MUSTs
    """

    violated: Sequence[str] = ()
    known: Sequence[str] = ()
    left_out: bool = False


@dataclass
class Races:
    """All timings of a run. ``standing`` is called when a case begins: by then its contenders are judged."""

    which: str
    device: str
    contenders: Sequence[Implementation]
    standing: Callable[[Implementation, str], Standing]
    rules: Rules | None = None
    clock: Clock | None = None
    plan: list[Entrant] = field(default_factory=list)
    cases: dict[str, Entry] = field(default_factory=dict)  # measurements by the case's name
    facts: dict[str, Any] = field(default_factory=dict)
    peaks: dict[str, float] = field(default_factory=dict)
    disturbed: str = ""  # why nothing can be decided on this machine

    def make_plan(self) -> None:
        """Plan every case for the contenders with its component. Raises ValueError if the device has no cases.

        Before anything runs on a GPU, other users of it are looked for.
        """
        self.disturbed = machine.busy() if self.device == "cuda" else ""
        for case in grid.cases(self.device, self.which):
            self.plan += [Entrant(case, c) for c in self.contenders if case.component in c.components]

    def run(self, name: str, contender: str) -> tuple[Entry, Entry]:
        """Return the entries of a case and of one contender in it; the case is timed at the first request."""
        if name not in self.cases:
            self._look_at_the_machine()
            those = [e for e in self.plan if e.case.name == name]
            self.cases[name] = self._measured(those[0].case, [e.contender for e in those])
        found = self.cases[name]
        not_run = {"name": contender, "status": found["status"], "reason": found["reason"], "flags": []}
        return found, next((e for e in found["contenders"] if e["name"] == contender), not_run)

    def _measured(self, case: TimedCase, contenders: Sequence[Implementation]) -> Entry:
        standings = {c.name: self.standing(c, case.component) for c in contenders}
        admitted = [c for c in contenders if not standings[c.name].violated]
        rules = self.rules or rules_for(self.device, self.which)
        found = time_case(case, admitted, rules, clock=self.clock, peaks=self.peaks, disturbed=self.disturbed)
        timed = {entry["name"]: entry for entry in found.get("contenders", [])}
        found["contenders"] = [
            _known(timed[name], standing) if name in timed else _refused(name, standing)
            for name, standing in standings.items()
            if name in timed or standing.violated
        ]
        return found

    def _look_at_the_machine(self) -> None:
        if not self.facts:
            torch.set_num_threads(1)
            self.clock = self.clock or machine.clock_of(self.device)
            self.facts, self.peaks = machine.facts(self.device), machine.peaks(self.device, self.clock)

    def record(self) -> dict[str, Any]:
        """Return all measurements so far, for the results file."""
        unlike = [c["case"] for c in self.cases.values() if self._as_published(c) is False]
        return {
            "cases_of": self.which, "device": self.device, "machine": self.facts, "peaks": self.peaks,
            "cuda": "not asked for" if torch.cuda.is_available() else "no CUDA device",
            "degraded": bool(unlike) or (bool(self.peaks) and machine.degraded(self.peaks)), "unlike_published": unlike,
            "planned": len({e.case.name for e in self.plan}), "cases": list(self.cases.values()),
        }  # fmt: skip

    def _as_published(self, case: Entry) -> bool | None:
        return machine.as_published(str(self.facts.get("gpu", "")), case)


def _refused(name: str, standing: Standing) -> Entry:
    reason = f"not timed: it violates {', '.join(standing.violated)}; --throughput times what follows every MUST"
    return {"name": name, "status": "not-timed", "reason": reason, "flags": []}


def _known(entry: Entry, standing: Standing) -> Entry:
    """Return the entry with flags for known deviations and for MUSTs that were not judged."""
    flags = list(entry["flags"])
    if standing.known:
        text = f"known not to follow {', '.join(standing.known)}"
        flags.append({"code": "known-deviation", "text": text, "suspect": False})
    if standing.left_out:
        text = "not all that it must follow was judged in this run (-k): it may be wrong where it is not timed"
        flags.append({"code": "not-judged", "text": text, "suspect": False})
    return {**entry, "flags": flags}
