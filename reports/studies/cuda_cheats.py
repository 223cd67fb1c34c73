"""Is any cheat given a time that counts on CUDA? Times each file of tests/cheats there and prints a table as Markdown.

    python reports/studies/cuda_cheats.py        a minute on a GPU; exit code 1 if a cheat gets away with it

Each runs in a process of its own, as one of them replaces clocks. Run it in a checkout. Not part of the installed
package.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from tabulate import tabulate

from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.run.implementations import load
from attnconf.conformance.timing.grid import TimedCase
from attnconf.conformance.timing.measuring import time_case
from attnconf.conformance.timing.rounds import Rules

CHEATS = Path(__file__).parents[2] / "tests/cheats"
SIZES: dict[str, Any] = {"B": 2, "H": 16, "L": 2048, "E": 128, "dtype": "bfloat16", "device": "cuda"}
# what each is tried in beyond these sizes
TRIED: dict[str, dict[str, Any]] = {
    "by_pointer": {}, "echo": {}, "in_place": {}, "inverted_mask": {"causal": True}, "lazy": {},
    "less_precise": {"dtype": "float32"}, "no_gradient": {"passes": "backward"}, "side_stream": {}, "slow_clock": {},
    "stale_buffer": {}, "thread_behind": {}, "zeros": {},
}  # fmt: skip
RULES = Rules(max_seconds=3.0, warm_up=0.1)


def of_one(name: str) -> list[str]:
    """Return (cheat, verdict, why) of one cheat."""
    case = TimedCase(name, "attention", **{**SIZES, **TRIED[name]})
    (contender,) = load(str(CHEATS / f"{name}.py"))
    assert isinstance(contender, Implementation)
    record = time_case(case, [contender], RULES, seed=0)
    if record["status"] != "timed":
        return [name, record["status"], record["reason"]]
    (entry,) = record["contenders"]
    flags = ", ".join(flag["code"] for flag in entry["flags"])
    reason = entry["reason"].removeprefix("not timed: ")
    return [name, entry.get("verdict", entry["status"]), "; ".join(x for x in (reason, flags) if x)]


def main() -> int:
    if not torch.cuda.is_available():
        print("there is no CUDA device", file=sys.stderr)
        return 2
    rows = []
    for name in TRIED:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=False)
        failed = [name, "-", done.stderr[-200:]]
        rows.append(failed if done.returncode else json.loads(done.stdout.splitlines()[-1]))
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}\n")
    print(tabulate(rows, ("cheat", "verdict", "why"), "github"))
    return int(any(verdict not in ("SUSPECT", "not-timed") for _, verdict, _ in rows))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(of_one(sys.argv[1])))
    else:
        sys.exit(main())
