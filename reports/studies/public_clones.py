"""Public repositories, read and judged as they lie in clones; none of their code is kept.

A folder of clones has one folder for each repository, named ``owner+name`` or ``owner/name``, with or without a work
tree. Not part of the installed package.
"""

import contextlib
import io
import json
import os
import resource
import signal
import subprocess
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ORDER = ("nonconformant", "unrecognised", "not-gradable", "incomplete", "conformant")  # the worst of several counts


@dataclass(frozen=True)
class Place:
    """A class or function in a file of a commit."""

    repository: str
    commit: str
    path: str
    thing: str

    @property
    def label(self) -> str:
        return f"{self.path}:{self.thing}"


@dataclass(frozen=True)
class Limits:
    """What one run may take."""

    seconds: float = 600
    memory: int = 12 * 2**30  # bytes, of one process


@dataclass(frozen=True)
class Clone:
    """A repository that lies in a folder of clones."""

    folder: Path

    def git(self, *words: str, given: bytes = b"") -> bytes:
        """Return what a command of git prints. Raises CalledProcessError."""
        command = ["git", "--literal-pathspecs", "--git-dir", str(self.folder), *words]
        return subprocess.run(command, input=given, capture_output=True, check=True).stdout

    def head(self) -> str:
        """Return the newest commit."""
        return self.git("rev-parse", "HEAD").decode().strip()

    def size(self) -> int:
        """Return how many bytes the clone takes on the disk."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())

    def files(self, commit: str) -> dict[str, str]:
        """Return the files of a commit: what git calls their content, by path."""
        lines = self.git("ls-tree", "-rz", commit).decode(errors="replace").split("\0")
        parts = [(line.partition("\t")[0].split(), line.partition("\t")[2]) for line in lines if line]
        return {path: blob for (_, kind, blob), path in parts if kind == "blob"}

    def contents(self, blobs: list[str]) -> dict[str, bytes]:
        """Return the contents that the clone has, by what git calls them."""
        printed = io.BytesIO(self.git("cat-file", "--batch", given="".join(f"{b}\n" for b in blobs).encode()))
        found = {}
        for head in iter(printed.readline, b""):
            words = head.decode().split()
            if len(words) == 3:  # and not "missing"
                found[words[0]] = printed.read(int(words[2]))
                printed.read(1)
        return found


def clone(clones: Path, repository: str) -> Clone:
    """Return the clone of ``owner/name``. Raises FileNotFoundError."""
    places = [clones / repository.replace("/", "+"), clones / repository]
    folders = [place / below for place in places for below in ("repo/.git", "repo", ".git", ".")]
    folder = next((f for f in folders if (f / "HEAD").is_file()), None)
    if folder is None:
        raise FileNotFoundError(f"no clone of {repository} in {clones}")
    return Clone(folder)


def write_tree(clones: Path, place: Place, target: Path) -> None:
    """Write the Python files of a commit, and the file itself, below ``target``. Raises FileNotFoundError."""
    here = clone(clones, place.repository)
    chosen = [path for path in here.files(place.commit) if path.endswith(".py") or path == place.path]
    with tarfile.open(fileobj=io.BytesIO(here.git("archive", place.commit, "--", *chosen))) as archive:
        archive.extractall(target, filter="data")


def judged(clones: Path, place: Place, attnconf: str, limits: Limits, *options: str) -> dict[str, Any]:
    """Judge one place in the tree of its commit; return what came out, the seconds, and what was printed."""
    with tempfile.TemporaryDirectory() as folder:
        write_tree(clones, place, Path(folder))
        results = Path(folder, "results.json")
        command = [attnconf, "run", f"--impl={place.label}", "--results", str(results), *options]
        start = time.monotonic()
        said = run(command, folder, limits)
        seconds = round(time.monotonic() - start, 1)
        record = json.loads(results.read_text(encoding="utf-8")) if results.is_file() else None
    return {**outcome(record), "seconds": seconds, "said": said}


def run(command: list[str], folder: str, limits: Limits) -> str:
    """Return what a command prints. All that it has started ends with it, and after ``limits.seconds``."""
    with tempfile.TemporaryFile() as printed:
        running = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT,
            start_new_session=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        resource.prlimit(running.pid, resource.RLIMIT_DATA, (limits.memory, limits.memory))  # its children inherit it
        try:
            running.wait(limits.seconds)
            late = ""
        except subprocess.TimeoutExpired:
            late = f"\nnot done in {limits.seconds} s"
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        printed.seek(0)
        return printed.read().decode(errors="replace") + late


def outcome(record: dict[str, Any] | None) -> dict[str, Any]:
    """Return the verdicts of a results file, the worst one, its reasons, the mistakes named and the choices made."""
    if record is None:
        return {"verdict": "no results", "reason": "", "components": [], "named": [], "verdicts": {}, "choices": {}}
    verdicts = [v["verdict"] for v in record["verdicts"]]
    roots = [r for r in record["results"] if r["outcome"] == "fail" and r["counts"] and not r["follows_from"]]
    return {
        "verdict": next((word for word in ORDER if word in verdicts), "no verdict"),
        "reason": "; ".join(v["reason"] for v in record["verdicts"] if v["reason"]),
        "components": sorted({v["component"] for v in record["verdicts"] if v["component"]}),
        "named": sorted({m for r in roots for d in r["diagnosis"] for m in d["mutants"]}),
        "verdicts": {v["component"] or "": v["verdict"] for v in record["verdicts"]},
        "choices": {name: choice for v in record["verdicts"] for name, choice in sorted(v["choices"].items())},
    }
