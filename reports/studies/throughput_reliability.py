"""Can the ratios of conformance/timing be believed? Measures its goals on the CPU at hand and prints them as Markdown.

    python reports/studies/throughput_reliability.py            everything: about an hour on a quiet machine
    python reports/studies/throughput_reliability.py --quick    a few repeats, to see that it runs

Every repeat is a process of its own, as a user's is. The neighbours are processes that multiply matrices in bursts. Run
it on a machine that does nothing else: what else runs on it is a neighbour too. Not part of the installed package.
"""

import argparse
import json
import multiprocessing
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from tabulate import tabulate
from torch import Tensor

from attnconf.conformance.engine.boundary import build
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.run.implementations import load
from attnconf.conformance.timing import grid, machine
from attnconf.conformance.timing.anchors import anchors
from attnconf.conformance.timing.grid import TimedCase
from attnconf.conformance.timing.measuring import time_case

# 20 heads in all: one head more is 5 % more work
CASE = TimedCase("study", "attention", B=2, H=10, L=256, E=64)
NEIGHBOURS = 2


@dataclass(frozen=True)
class Size:
    """How often what is repeated."""

    ratios: int = 40  # processes, quiet and with neighbours
    same: int = 200  # comparisons of the anchor with itself
    slower: int = 100  # comparisons with what does 5 % more


QUICK = Size(ratios=2, same=4, slower=2)


# -- contenders


def like_the_anchor() -> Implementation:
    """Return the anchor under another name."""
    return replace(anchors("cpu", "attention")[0], name="the same")


def five_per_cent_slower() -> Implementation:
    """Return the anchor with one head of twenty computed twice."""
    (anchor,) = anchors("cpu", "attention")

    def attention(config: Any, weights: Any) -> Any:
        forward = build(anchor, "attention", config, weights)

        def slower(query: Tensor, key: Tensor, value: Tensor) -> Any:
            forward(query[:1, :1], key[:1, :1], value[:1, :1])
            return forward(query, key, value)

        return slower

    return Implementation("5 % more", {"attention": attention})


def shipped() -> list[Implementation]:
    """Return what everybody has."""
    return [i for name in ("reference", "torch_nn", "torch_sdpa") for i in load(name) if isinstance(i, Implementation)]


# -- neighbours


def disturb() -> None:
    """Multiply matrices in bursts, for ever."""
    torch.set_num_threads(1)
    x, chance = torch.randn(300, 300), random.Random()
    while True:
        until = time.perf_counter() + chance.expovariate(1 / 0.05)
        while time.perf_counter() < until:
            x @ x
        time.sleep(chance.expovariate(1 / 0.02))


@contextmanager
def neighbours(number: int) -> Iterator[None]:
    """Have so many busy processes beside this one."""
    processes = [multiprocessing.get_context("spawn").Process(target=disturb, daemon=True) for _ in range(number)]
    for process in processes:
        process.start()
    time.sleep(3.0 if processes else 0.0)  # until they have imported torch
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.join()


# -- measurements


def alone(what: str) -> dict[str, Any]:
    """Return what a process of its own measured."""
    done = subprocess.run([sys.executable, __file__, "--one", what], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def one(what: str) -> dict[str, Any]:
    """Return one measurement: a contender that works otherwise ("unlike"), the anchor itself, or 5 % more work."""
    if what == "unlike":
        (contender,) = (i for i in shipped() if i.name == "torch_sdpa:math")
    else:
        contender = like_the_anchor() if what == "same" else five_per_cent_slower()
    found = time_case(CASE, [contender])
    (entry,) = found["contenders"]
    kept = {key: entry[key] for key in ("ratio", "lo", "hi", "verdict")}
    return {**kept, "void": found["aa"]["void"], "anchor_s": found["anchor"]["median_s"]}


def spread(ratios: list[float]) -> float:
    """Return within what fraction of their median 95 % of the ratios lie."""
    middle = statistics.median(ratios)
    off = sorted(abs(ratio / middle - 1) for ratio in ratios)
    return off[max(0, -(-95 * len(off) // 100) - 1)]


WORDS = {"slower": "the anchor's own kernel, 5 % more", "unlike": "scores kept in memory"}


def reproducibility(what: str, number: int, busy: int) -> list[Any]:
    goal = 0.02 if busy else 0.01
    with neighbours(busy):
        found = [alone(what) for _ in range(number)]
    off = spread([entry["ratio"] for entry in found])
    anchor = [entry["anchor_s"] * 1e3 for entry in found]  # its own time says how quiet the machine was
    where = f"{busy} busy neighbours" if busy else "alone"
    name = f"ratio to the anchor ({WORDS[what]}), {where}, 95 % of {number} processes"
    return [name, f"±{goal:.0%}", f"±{off:.2%} (anchor {min(anchor):.2f} to {max(anchor):.2f} ms)", off <= goal]


def false_verdicts(number: int) -> list[Any]:
    found = [one("same") for _ in range(number)]
    wrong = sum(entry["verdict"] in ("FASTER", "SLOWER") for entry in found)
    void = sum(entry["void"] for entry in found)
    words = f"{wrong} of {number} ({void} void; ratio ±{spread([entry['ratio'] for entry in found]):.2%})"
    return ["the anchor against itself: false verdicts", "at most 1 in 200", words, wrong <= number / 200]


def found_slowdowns(number: int) -> list[Any]:
    right = sum(one("slower")["verdict"] == "SLOWER" for _ in range(number))
    return ["5 % more work: found SLOWER", "95 %", f"{right / number:.0%} of {number}", right >= 0.95 * number]


def smoke() -> list[Any]:
    start = time.perf_counter()
    contenders, peaks = shipped(), machine.peaks("cpu")
    for case in grid.cases("cpu", "smoke"):
        time_case(case, contenders, peaks=peaks)
    seconds = time.perf_counter() - start
    return [f"smoke, {len(contenders)} contenders", "60 s", f"{seconds:.0f} s", seconds < 60]


def study(size: Size) -> str:
    """Measure everything; return it as Markdown."""
    torch.set_num_threads(1)
    before = machine.facts("cpu")
    rows = [
        *(reproducibility(what, size.ratios, busy) for what in WORDS for busy in (0, NEIGHBOURS)),
        false_verdicts(size.same),
        found_slowdowns(size.slower),
        smoke(),
    ]
    after = machine.facts("cpu")
    met = [[*row[:-1], "yes" if row[-1] else "no"] for row in rows]
    table = tabulate(met, headers=["What", "Goal", "Measured", "Met"], tablefmt="github")
    return (
        f"# How far the times can be believed\n\n{table}\n\n"
        f"On {before['cpu']}, {before['cores']} cores, one thread, torch {before['torch']}, Python {before['python']}. "
        f"Load before and after: {before['load']}, {after['load']}; stolen meanwhile: "
        f"{(after['steal'] or 0) - (before['steal'] or 0)} ticks. The case: {CASE}.\n\n"
        "The anchor's own time is its median in each process. Where it differs although the machine does nothing else, "
        "something outside of it shares its cores or caches. What works otherwise than the anchor is slowed down by "
        "another factor than the anchor then, and its ratio is another one.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few repeats")
    parser.add_argument("--one", choices=("unlike", "same", "slower"), help="one measurement, as JSON")
    arguments = parser.parse_args()
    if arguments.one:
        torch.set_num_threads(1)
        print(json.dumps(one(arguments.one)))
    else:
        print(study(QUICK if arguments.quick else Size()))


if __name__ == "__main__":
    main()
