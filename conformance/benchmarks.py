"""The pytest plugin of ``--throughput``: an item for each contender in each case, stored by pytest-benchmark.

pytest-benchmark stores, groups and compares; it does not measure: its timer replays samples that were taken before. The
times of an earlier run are scaled by the ratio of both runs' anchors, so that ratios are compared and no milliseconds.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from attnconf.conformance.plugin import FRONT

EARLIER: pytest.StashKey["Earlier"] = pytest.StashKey()
SECONDS = ("min", "max", "mean", "stddev", "median", "iqr", "q1", "q3", "ld15iqr", "hd15iqr", "total")
KEPT_APART = ("samples_s", "name", "status", "reason")  # pytest-benchmark stores them in its own way


class Replay:
    """A timer that replays samples: between two calls, the time of one sample passes."""

    def __init__(self) -> None:
        self.samples: Iterator[float] = iter(())
        self.running = False

    def __call__(self) -> float:
        self.running = not self.running
        return 0.0 if self.running else next(self.samples)


class Earlier:
    """The earlier runs to compare with, scaled to this run's anchor case by case."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []
        self.session: Any = None  # pytest-benchmark's

    def bring_to(self, case: dict[str, Any]) -> None:
        """Scale the earlier times of a case by the anchor's time now, divided by its time then.

        Earlier times with another anchor cannot be compared, and are removed.
        """
        for bench in (b for run in self.runs for b in run["benchmarks"]):
            extra, stats = bench["extra_info"], bench["stats"]
            if extra.get("case") != case["case"] or "scaled" in extra:
                continue
            extra["scaled"] = factor = case["anchor"]["median_s"] / extra["anchor"]["median_s"]
            if extra["anchor"]["name"] == case["anchor"]["name"]:
                stats.update({key: stats[key] * factor for key in SECONDS}, ops=stats["ops"] / factor)
            else:
                for known in self.session.compared_mapping.values():
                    known.pop(bench["fullname"], None)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "contender" not in metafunc.fixturenames:
        return
    front = metafunc.config.stash.get(FRONT, None)
    plan = front.run.entrants if front else []
    metafunc.parametrize(("case", "contender"), [
        pytest.param(e.case.name, e.contender.name, id=e.id,
                     marks=pytest.mark.benchmark(group=e.case.name, timer=Replay()))
        for e in plan
    ])  # fmt: skip


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_compare_machine_info(
    config: pytest.Config, benchmarksession: Any, compared_benchmark: dict[str, Any]
) -> None:
    earlier = config.stash.setdefault(EARLIER, Earlier())
    earlier.session = benchmarksession
    earlier.runs.append(compared_benchmark)


@pytest.fixture
def race(request: pytest.FixtureRequest, benchmark: Any) -> Callable[[str, str], None]:
    """Return the function that times one contender in one case; it skips with the reason if there is no time."""
    front = request.config.stash[FRONT]
    races: Any = front.run.races

    def race_one(name: str, contender: str) -> None:
        try:
            front.interrupts.end_if_asked()
            with front.interrupts.heeded():
                case, entry = races.run(name, contender)
        except KeyboardInterrupt:  # pytest would write out every tensor on its way, for half a minute
            benchmark.has_error = benchmark.skipped = True  # else it is stored, or warns that it was not used
            raise KeyboardInterrupt from None
        front.save_now_and_then()
        suspect = entry.get("verdict") == "SUSPECT"
        if entry["status"] == "timed" and not suspect:
            keep(case, entry)
        if request.config.getoption("--strict-perf") and decides_against(entry):
            words = entry["reason"] or f"{entry['verdict']}, {entry['ratio']:.3g} times {case['anchor']['name']}"
            front.too_slow.append(f"--strict-perf: {contender} in {name}: {words}")
            pytest.fail(words, pytrace=False)
        if entry["status"] != "timed" or suspect:  # a suspect time must win no comparison
            pytest.skip(entry["reason"] or f"SUSPECT: {', '.join(flag['code'] for flag in entry['flags'])}")

    def keep(case: dict[str, Any], entry: dict[str, Any]) -> None:
        request.config.stash.get(EARLIER, Earlier()).bring_to(case)
        benchmark.extra_info.update(_extra(case, entry, races))
        timer = request.node.get_closest_marker("benchmark").kwargs["timer"]
        timer.samples = iter(entry["samples_s"])
        benchmark.pedantic(_nothing, rounds=len(entry["samples_s"]))

    return race_one


def decides_against(entry: dict[str, Any]) -> bool:
    """Return whether an entry fails under --strict-perf: it is slower than the anchor, or wrong and so not timed."""
    if entry["status"] == "timed":
        return entry["verdict"] not in ("FASTER", "SAME")
    return entry["status"] == "not-timed"


def _nothing() -> None:
    """Do nothing; pytest-benchmark calls this function and reads the replayed times."""


def _extra(case: dict[str, Any], entry: dict[str, Any], races: Any) -> dict[str, Any]:
    """Return our statistics with the anchor and the machine, for pytest-benchmark's file."""
    own = {key: value for key, value in entry.items() if key not in KEPT_APART}
    run = {key: case[key] for key in ("case", "text", "aa", "clock", "rounds", "stopped", "seed")}
    anchor = {"name": case["anchor"]["name"], "median_s": case["anchor"]["median_s"]}
    return {"contender": entry["name"], **run, **own, "anchor": anchor, "machine": races.facts, "peaks": races.peaks}
