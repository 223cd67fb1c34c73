"""Attacks, handed in beside honest files as a class would hand them in, and what each of them earns."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
HONEST = HERE / "honest.py"
PORT = 47291  # where an attack sends what it was given
MARK = "attnconf-attack"  # and the attack's name: in the command line, or the name, of whatever it leaves
SEED = 5
POINTS = {"ATT-SCALE-1": 4, "MHA-ORACLE-1": 3, "MHA-DEAD-1": 2, "CALL-SHAPE-1": 1}
WRONG = ("ATT-SCALE-1", "MHA-ORACLE-1")  # what the wrong formula of the attacks fails
RUBRIC = 'title = "Attacked"\ncomponents = ["multi_head_attention"]\nseconds = 40\n' + "".join(
    f'[[item]]\nname = "{name}"\npoints = {points}\nrequirements = ["{name}"]\n' for name, points in POINTS.items()
)


@dataclass(frozen=True)
class Attack:
    """A line of attacks.toml."""

    file: str
    id: str
    component: str
    outcome: str  # "nothing", "wrong" or "right"
    forged: str  # what must not be printed or sent

    @property
    def name(self) -> str:
        return self.file.partition("/")[0].removesuffix(".py")


@dataclass(frozen=True)
class Came:
    """What came of a batch."""

    code: int | None  # of the command; None: it did not end
    printed: str
    records: dict[str, bytes]  # by submission
    earned: dict[str, dict[str, float]]  # by submission and item
    sent: bytes  # to the loopback
    left: tuple[str, ...]  # files and processes


def listed() -> list[Attack]:
    return [Attack(**one) for one in tomllib.loads((HERE / "attacks.toml").read_text(encoding="utf-8"))["attack"]]


def came_of(attacks: Sequence[Attack], honest: int, folder: Path, seconds: float) -> Came:
    """Return what comes of attacks and so many honest submissions that are graded together in an empty folder."""
    handed_in, out = folder / "submissions", folder / "out"
    handed_in.mkdir()
    for attack in attacks:
        here = HERE / "files" / attack.file.partition("/")[0]
        (shutil.copytree if here.is_dir() else shutil.copy)(here, handed_in / here.name)
    for n in range(honest):
        shutil.copy(HONEST, handed_in / f"honest_{n:02}.py")
    (folder / "rubric.toml").write_text(RUBRIC)
    before = _there(handed_in)
    with socket.create_server(("127.0.0.1", PORT)) as server:
        code, printed = _run(folder, handed_in, out, seconds)
        sent = _received(server)
    records = {path.stem: path.read_bytes() for path in (out / "records").glob("*.json")}
    earned = {path.stem: _items(path) for path in (out / "gradescope").glob("*.json")}
    left = (*sorted(_there(handed_in) - before), *(one for attack in attacks for one in _ended(attack.name)))
    return Came(code, printed, records, earned, sent, left)


def _run(folder: Path, handed_in: Path, out: Path, seconds: float) -> tuple[int | None, str]:
    """Grade; return exit code and what was printed."""
    words = ["grade", str(handed_in), "--rubric", str(folder / "rubric.toml"), "--out", str(out), "--seed", str(SEED)]
    with (folder / "printed").open("wb") as printed:
        process = subprocess.Popen(
            [sys.executable, "-m", "attnconf", *words, "--file", "homework.py"], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=printed, stderr=printed, start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return code, (folder / "printed").read_text(encoding="utf-8", errors="replace")


def _items(path: Path) -> dict[str, float]:
    return {test["name"]: test["score"] for test in json.loads(path.read_text(encoding="utf-8"))["tests"]}


def _there(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


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
