"""Public implementations, judged as they lie in clones of their repositories; none of their code is kept.

``python tests/collection/public_files.py CLONES LIST OUT [--attnconf PATH] [--workers N]``

CLONES is a folder of clones, named ``owner+name`` or ``owner/name`` (with or without a work tree). LIST is a table
with the columns ``name``, ``source`` (``owner/name@commit:path``), ``class`` and ``verdict`` (what is known of it:
right, wrong or variant). Each file is judged once, by ``attnconf run`` in the tree of its commit; a file in OUT that is
there already is not judged again. At the end it prints how many came out how, and the files that came out otherwise.
"""

import argparse
import csv
import io
import json
import os
import re
import subprocess
import tarfile
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

SECONDS = 600  # for one file
ORDER = ("nonconformant", "unrecognised", "not-gradable", "incomplete", "conformant")  # the worst of several counts
WANTED = {"right": ("conformant",), "wrong": ("nonconformant", "unrecognised"), "variant": ORDER}


@dataclass(frozen=True)
class Public:
    """A line of the list."""

    name: str
    repository: str
    commit: str
    path: str
    thing: str
    known: str

    @property
    def label(self) -> str:
        return f"{self.path}:{self.thing}"

    @property
    def kept(self) -> str:
        """The name of the file that keeps what came out."""
        return re.sub(r"\W+", "_", self.name) + ".json"


def listed(path: Path) -> list[Public]:
    """Return the lines of a list; raises ValueError where a source is not ``owner/name@commit:path``."""
    found = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            source = re.fullmatch(r"([^@]+)@(\w+):(.+)", row["source"])
            if source is None:
                raise ValueError(f"no source: {row['source']}")
            found.append(Public(row["name"], *source.groups(), row["class"], row["verdict"]))
    return found


def tree(clones: Path, one: Public, target: Path) -> None:
    """Write the Python files of a commit, and the file itself, below ``target``; raises FileNotFoundError."""
    places = [clones / one.repository.replace("/", "+"), clones / one.repository]
    folders = [place / below for place in places for below in ("repo/.git", "repo", ".git", ".")]
    folder = next((f for f in folders if (f / "HEAD").is_file()), None)
    if folder is None:
        raise FileNotFoundError(f"no clone of {one.repository} in {clones}")
    git = ["git", "--literal-pathspecs", "--git-dir", str(folder)]
    every = subprocess.run([*git, "ls-tree", "-rz", "--name-only", one.commit], capture_output=True, check=True).stdout
    chosen = [name for name in every.decode().split("\0") if name.endswith(".py") or name == one.path]
    packed = subprocess.run([*git, "archive", one.commit, "--", *chosen], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(target, filter="data")


def judge(one: Public, clones: Path, out: Path, attnconf: str) -> None:
    """Judge one file and write what came out to a folder, unless it is there."""
    kept = out / one.kept
    if kept.exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        tree(clones, one, Path(folder))
        results = Path(folder, "results.json")
        command = [attnconf, "run", f"--impl={one.label}", "--results", str(results)]
        start = time.monotonic()
        try:
            ran = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=SECONDS,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )  # fmt: skip
            said = ran.stdout + ran.stderr
        except subprocess.TimeoutExpired:
            said = f"not done in {SECONDS} s"
        seconds = round(time.monotonic() - start, 1)
        record = json.loads(results.read_text(encoding="utf-8")) if results.is_file() else None
    kept.write_text(json.dumps({**outcome(record), "seconds": seconds, "said": said}, indent=1), encoding="utf-8")


def outcome(record: dict[str, Any] | None) -> dict[str, Any]:
    """Return the verdict of a results file, its reasons, what it is judged as, and the mistakes named."""
    if record is None:
        return {"verdict": "no results", "reason": "", "components": [], "named": []}
    verdicts = [v["verdict"] for v in record["verdicts"]]
    roots = [r for r in record["results"] if r["outcome"] == "fail" and r["counts"] and not r["follows_from"]]
    return {
        "verdict": next((word for word in ORDER if word in verdicts), "no verdict"),
        "reason": "; ".join(v["reason"] for v in record["verdicts"] if v["reason"]),
        "components": sorted({v["component"] for v in record["verdicts"] if v["component"]}),
        "named": sorted({m for r in roots for d in r["diagnosis"] for m in d["mutants"]}),
    }


def told(public: list[Public], out: Path) -> str:
    """Return the table of what came out, and a line for each file that came out otherwise than what is known."""
    judged = {p: json.loads((out / p.kept).read_text(encoding="utf-8")) for p in public}
    counted = Counter((p.known, one["verdict"]) for p, one in judged.items())
    lines = [f"{known:8} {verdict:14} {n}" for (known, verdict), n in sorted(counted.items())]
    slow = sorted((one["seconds"], p.name) for p, one in judged.items())
    lines += [f"seconds: median {slow[len(slow) // 2][0]}, most {slow[-1][0]} ({slow[-1][1]})", ""]
    lines += [
        f"{p.known} | {one['verdict']} | {p.name} {p.label} | {', '.join(one['components'])} | {one['reason'][:200]}"
        f" | {', '.join(one['named'][:3])}"
        for p, one in judged.items()
        if one["verdict"] not in WANTED[p.known]
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("list", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--attnconf", default="attnconf")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    public = listed(given.list)
    with ThreadPoolExecutor(given.workers) as pool:
        list(pool.map(partial(judge, clones=given.clones, out=given.out, attnconf=given.attnconf), public))
    print(told(public, given.out))


if __name__ == "__main__":
    main()
