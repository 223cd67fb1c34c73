"""Processes forked from a warm one, where many are needed: torch is imported once for all of them."""

import array
import json
import os
import select
import signal
import socket
import subprocess
import sys

from attnconf.conformance.worker import confinement
from attnconf.conformance.worker.zygote import ENDED, ROOM
from attnconf.spec import courses

WORKER, BINDER = "attnconf.conformance.worker.holding", "attnconf.conformance.binder"  # what a process runs
ANSWER = 20.0  # seconds for a warm process to fork
_warm: dict[str, "Zygote"] = {}  # by what its forks run


def environment(runs: str) -> dict[str, str]:
    """Return the variables of a process that runs a module: the binder is told of a course, whose mistakes it knows."""
    course = courses.used()
    told = {courses.VARIABLE: str(course.folder)} if course and runs == BINDER else {}
    return confinement.environment() | told


class Zygote:
    """A warm process, seen from the one that asks it to fork."""

    def __init__(self, runs: str) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-P", "-m", "attnconf.conformance.worker.zygote", str(theirs.fileno()), runs]
        nowhere = subprocess.DEVNULL
        with theirs:
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=nowhere, stdout=nowhere, stderr=nowhere,
                start_new_session=True, env=environment(runs),
            )  # fmt: skip
        self._socket = ours

    def fork(self, connection: socket.socket, grant: str) -> "Forked":
        """Return a new process that serves a connection. Raises OSError where the warm process has ended."""
        number, handle = self._ask(grant, connection.fileno())
        return Forked(self, number, handle)

    def ended(self, number: int) -> int:
        """Return the exit code of a process that has ended; negative: the signal."""
        try:
            return self._ask(f"{ENDED}{number}")[0]
        except (OSError, ValueError):
            return -signal.SIGKILL

    def _ask(self, what: str, passed: int | None = None) -> tuple[int, int]:
        self._socket.settimeout(ANSWER)
        extra = [] if passed is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [passed]))]
        self._socket.sendmsg([what.encode()], extra)
        return self._answered()

    def await_start(self) -> None:
        """Wait until it is warm. Raises OSError if it ends before."""
        self._socket.settimeout(None)
        if self._socket.recv(16) != b"{}":
            raise ConnectionError("it has ended")

    def _answered(self) -> tuple[int, int]:
        answer, extra, _, _ = self._socket.recvmsg(64, ROOM)
        if not answer:
            raise ConnectionError("it has ended")
        handles = array.array("i")
        for _, _, data in extra:
            handles.frombytes(data[: handles.itemsize])
        return int(json.loads(answer)), handles[0] if handles else -1

    def end(self) -> None:
        self._socket.close()
        self._process.kill()
        self._process.wait()


class Forked:
    """A process that a warm one has forked; used as subprocess.Popen is."""

    def __init__(self, zygote: Zygote, number: int, handle: int) -> None:
        self._zygote, self.pid, self._handle = zygote, number, handle
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        return self._looked(0)

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code once it has ended. Raises subprocess.TimeoutExpired."""
        code = self._looked(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("a process that was forked", timeout or 0)
        return code

    def _looked(self, timeout: float | None) -> int | None:
        if self._code is None and select.select([self._handle], [], [], timeout)[0]:
            os.close(self._handle)
            self._code = self._zygote.ended(self.pid)
        return self._code

    def terminate(self) -> None:
        if self._code is None:
            signal.pidfd_send_signal(self._handle, signal.SIGTERM)


def keep_warm(*modules: str) -> bool:
    """Let processes that run one of these modules be forked from a warm one from now on; return whether they can be."""
    if not hasattr(os, "pidfd_open") or sys.platform != "linux":
        return False
    new = {runs: Zygote(runs) for runs in modules if runs not in _warm}
    for zygote in new.values():
        zygote.await_start()
    _warm.update(new)
    return True


def forked(runs: str, connection: socket.socket, grant: str) -> Forked | None:
    """Return a new process that serves a connection and runs a module; None where no warm one is kept for it.

    ``grant``: what it may read, as reach.Grant has it.
    """
    zygote = _warm.get(runs)
    if zygote is None:
        return None
    try:
        return zygote.fork(connection, grant)
    except (OSError, ValueError):  # it was killed: another one takes over
        zygote.end()
        zygote = _warm[runs] = Zygote(runs)
        zygote.await_start()
        return zygote.fork(connection, grant)


def let_cool() -> None:
    """End the warm processes, and with them what they forked."""
    while _warm:
        _warm.popitem()[1].end()
