"""The process between the one that judges and the one that runs foreign code: it ends whatever that code has started.

On Linux a process whose parent has ended becomes a child of the keeper, daemons included; the keeper kills its children
until there are none. Code that finds the keeper and kills it, as its rights allow, ends with it; its daemons do not.
"""

import contextlib
import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import NoReturn

from attnconf.conformance.worker import ends

_ADOPT = 36  # prctl: whose parent has ended becomes a child of this process


def keep(connection: int) -> tuple[str, bool]:
    """Go on in a child process, and return there its working folder, and whether what it starts ends with it.

    In the process that called, nothing returns: it waits for the child, or for SIGTERM, and then clears up and ends as
    the child did.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
    ends.end_with_parent(signal.SIGTERM)
    adopts = ends.control(_ADOPT, 1) == 0 and Path("/proc/self/stat").exists()
    folder = tempfile.mkdtemp(prefix="attnconf-")
    keeper, child = os.getpid(), os.fork()
    if child:
        os.close(connection)
        _attend(child, folder)
    tempfile.tempdir = None  # found out anew: in the folder that it works in
    os.setsid()  # a signal to its group is not one to the keeper
    dies = ends.end_with_parent() and os.getppid() == keeper
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return folder, adopts and dies


def _attend(child: int, folder: str) -> NoReturn:
    """Wait for a child, end what it has started, remove its folder, and end as it did."""
    status = _awaited(child)
    _kill_all(child)
    shutil.rmtree(folder, ignore_errors=True)
    ends.end_as(-signal.SIGTERM if status is None else os.waitstatus_to_exitcode(status))


def _awaited(child: int) -> int | None:
    """Return the status of the child once it has ended; None where the keeper is told to end."""
    while True:
        if signal.sigwait({signal.SIGCHLD, signal.SIGTERM}) == signal.SIGTERM:
            return None
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == child:
                    return ended[1]


def _kill_all(child: int) -> None:
    """Kill the child's session, and the keeper's children until there are none: each end may bring others."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            for process in _children():
                os.kill(process, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> list[int]:
    """Return the children of this process; [] where the system does not list them."""
    found, me = [], str(os.getpid())
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if stat.read_text(errors="replace").rpartition(")")[2].split()[1] == me:
                found.append(int(stat.parent.name))
    return found
