"""Attacks, and what comes of them: each is judged beside an honest file, in a process of its own."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HONEST = HERE / "honest.py"
# What whoever computes nothing fails, and what the wrong formula of the attacks fails.
TELLING = ("ATT-SCALE-1", "MHA-DEAD-1", "MHA-ORACLE-1")
WRONG = ("ATT-SCALE-1", "MHA-ORACLE-1")
PORT = 47291  # where an attack sends what it was given
MARK = "attnconf-attack"  # and the attack's name: in the command line, or the name, of whatever it leaves
# ``attnconf``, with less time than usual to import a file (seconds), and to find out how it is called.
COMMAND = (
    "import attnconf.conformance.engine.child as child, attnconf.conformance.loading.isolated as isolated\n"
    "child.LOADING, isolated.BINDING = 25.0, 60.0\n"
    "from attnconf.cli import main\n"
    "raise SystemExit(main())"
)


@dataclass(frozen=True)
class Attack:
    """A line of attacks.toml."""

    file: str
    id: str
    component: str
    outcome: str  # "nothing", "wrong" or "right"
    forged: str  # what must not be printed or sent
    seconds: float
    open: str = ""  # why it succeeds today

    @property
    def name(self) -> str:
        return self.file.partition("/")[0].removesuffix(".py")


@dataclass(frozen=True)
class Judged:
    """What came of a submission."""

    verdict: str  # "" where there is none
    reason: str
    passed: frozenset[str]  # requirements


@dataclass(frozen=True)
class Came:
    """What came of an attack and of the honest file behind it."""

    attack: Judged
    honest: Judged
    code: int | None  # of the command; None: it did not end
    printed: str
    sent: bytes  # to the loopback
    left: tuple[str, ...]  # files and processes
    seconds: float


NONE = Judged("", "no verdict", frozenset())


def listed() -> list[Attack]:
    return [Attack(**one) for one in tomllib.loads((HERE / "attacks.toml").read_text(encoding="utf-8"))["attack"]]


def came_of(attack: Attack, folder: Path) -> Came:
    """Return what comes of an attack that is judged in an empty folder."""
    batch = folder / "batch"
    shutil.copytree(HERE / "files" / attack.name, batch) if "/" in attack.file else batch.mkdir()
    file = batch / Path(attack.file).name
    if "/" not in attack.file:
        shutil.copy(HERE / "files" / attack.file, file)
    shutil.copy(HONEST, batch)
    before, start = _there(batch), time.monotonic()
    with _listening(attack.forged == "loopback") as server:
        code, printed = _run([file, batch / HONEST.name], folder, attack.seconds)
        sent = _received(server) if server else b""
    seconds = time.monotonic() - start
    found = _read(folder / "results" / "results.json")
    left = (
        *sorted(_there(batch) - before),
        *sorted(set(os.listdir(folder / "results")) - {"results.json"}),
        *_ended(attack.name),
    )
    judged, honest = found.get(str(file), NONE), found.get(str(batch / HONEST.name), NONE)
    return Came(judged, honest, code, printed, sent, left, seconds)


def _run(files: list[Path], folder: Path, seconds: float) -> tuple[int | None, str]:
    """Judge files with the suite, each in a process of its own; return exit code and what was printed.

    The only place that says by which command.
    """
    results = folder / "results"
    results.mkdir()
    options = [f"--impl={file}" for file in files]
    command = ["run", "--isolate", *options, "--results", str(results / "results.json"), "--call-seconds", "5",
               "-k", " or ".join(TELLING)]  # fmt: skip
    with (folder / "printed").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *command], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return code, (folder / "printed").read_text(encoding="utf-8", errors="replace")


def _read(results: Path) -> dict[str, Judged]:
    """Return what a file of results says, by the source of each submission."""
    if not results.is_file():
        return {}
    try:
        record = json.loads(results.read_text(encoding="utf-8"))
        sources = {one["name"]: one["source"] for one in record["implementations"]}
        return {source: _judged(record, name) for name, source in sources.items()}
    except (ValueError, KeyError, TypeError, OSError):
        return {}


def _judged(record: dict[str, Any], name: str) -> Judged:
    verdicts = [verdict for verdict in record["verdicts"] if verdict["implementation"] == name]
    results = [result for result in record["results"] if result["implementation"] == name]
    passed = frozenset(result["requirement"] for result in results if result["outcome"] == "pass")
    return Judged(*(" ".join(v[key] or "" for v in verdicts) for key in ("verdict", "reason")), passed)


def _there(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts}


def _listening(needed: bool) -> contextlib.AbstractContextManager[socket.socket | None]:
    return socket.create_server(("127.0.0.1", PORT)) if needed else contextlib.nullcontext()


def _received(server: socket.socket) -> bytes:
    server.settimeout(0)
    try:
        connection, _ = server.accept()
    except OSError:
        return b""
    with connection:
        connection.settimeout(1)
        return connection.recv(1000) or b"connected"


def _ended(name: str) -> list[str]:
    """Return what an attack has left running, or in the folder for temporary files; it is ended and removed."""
    time.sleep(0.5)
    found, mark = [], f"{MARK} {name}"
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark in command.read_text(errors="replace"):
                os.kill(int(command.parent.name), signal.SIGKILL)
                found.append(f"process {command.parent.name}")
    for path in Path(tempfile.gettempdir()).glob(f"{mark}*"):
        path.unlink()
        found.append(str(path))
    return found
