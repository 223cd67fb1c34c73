"""A pytest plugin for runs within tests: small cases, and time that passes only where it says so.

The contender takes ``SLOWER`` times as long as the anchor, from the environment; the anchor a millisecond.
"""

import contextlib
import os
from dataclasses import replace
from unittest import mock

from fake_time import FixedClock

from attnconf.conformance.timing import grid, machine, run
from attnconf.conformance.timing.clock import Sample
from attnconf.conformance.timing.grid import TimedCase
from attnconf.conformance.timing.rounds import Rules

CASES = (
    TimedCase("small", "attention", B=2, H=3, L=8, E=4),
    TimedCase("longer", "attention", B=2, H=3, L=16, E=4),
    TimedCase("layer", "encoder_layer", B=2, H=3, L=8, E=4, hidden=20),
)
RULES = Rules(min_rounds=8, min_seconds=0.0, warm_up=0.0, sample=2e-3)


class Told(FixedClock):
    """The anchor, and the anchor again, take ``ANCHOR``; who comes third takes ``SLOWER`` times that."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def sample(self, job):
        if job.run not in self.seen:
            self.seen.append(job.run)
        cost = float(os.environ.get("ANCHOR", "1e-3"))  # seconds
        cost *= 1 if self.seen.index(job.run) < 2 else float(os.environ.get("SLOWER", "1"))
        super().sample(job)
        self.time.spend(cost * job.total)
        return Sample(cost, cost)


def cases(device, which):
    found = [replace(case, name=f"{case.name}-forward", group=f"{case.component} forward") for case in CASES]
    if device != "cpu":
        raise ValueError(f"no cases for {device!r}")
    return tuple(found[:1] if which == "smoke" else found)


def told_anew(self, case, contenders):
    self.clock, self.rules = Told(), RULES
    return measured(self, case, contenders)


measured = run.Races._measured


def pytest_configure(config):
    """Time nothing but what is told, while this run of pytest lasts."""
    told = contextlib.ExitStack()
    told.enter_context(mock.patch.object(run.Races, "_measured", told_anew))
    told.enter_context(mock.patch.object(grid, "cases", cases))
    told.enter_context(mock.patch.object(machine, "peaks", return_value={"gemm": 1e12, "copy": 1e11}))
    config.add_cleanup(told.close)
