"""The process between the one that judges and the one that runs foreign code: it ends whatever that code has started.

On Linux that code has a namespace of processes, where it can be had: all in it end with its first process, a child of
the keeper. Elsewhere a process whose parent has ended becomes a child of the keeper, daemons included; the keeper kills
its children until there are none. Code that finds it there and kills it ends with it; its daemons do not.
"""

import contextlib
import os
import select
import shutil
import signal
import struct
import tempfile
from pathlib import Path
from typing import NoReturn

from attnconf.conformance.worker import ends, namespaces

DESCENDANTS = "descendants"
_ADOPT = 36  # prctl: whose parent has ended becomes a child of this process


def keep(connection: int) -> tuple[str, list[str]]:
    """Go on in a child process, and return there its working folder, and the layers of isolation that it has so far.

    In the process that called, nothing returns: it waits for the child, or for SIGTERM, and then clears up and ends as
    the child did.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
    adopts = ends.control(_ADOPT, 1) == 0 and Path("/proc/self/stat").exists()
    folder = tempfile.mkdtemp(prefix="attnconf-")
    layers = namespaces.enter_users_and_processes()
    ends.end_with_parent(signal.SIGTERM)
    told, tell = os.pipe()
    child = os.fork()
    if child:
        os.close(connection)
        os.close(tell)
        _attend(child, folder, told)
    os.close(told)
    os.setsid()  # a signal to its group is not one to the keeper
    dies = ends.end_with_parent() and not _is_orphan(tell)
    layers += namespaces.enter_others(folder)
    if namespaces.PROCESSES in layers:
        _begin_processes(connection, tell)
    os.close(tell)
    namespaces.drop_rights()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    ended = namespaces.PROCESSES in layers or (adopts and dies)
    return folder, [*([DESCENDANTS] if ended else []), *layers]


def _is_orphan(pipe: int) -> bool:
    """Return whether nobody reads what is written here: the keeper has ended, before it was known to be the parent."""
    poll = select.poll()
    poll.register(pipe, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _begin_processes(connection: int, tell: int) -> None:
    """Go on in a child of the first process of a namespace; that process ends when the child does, and all with it."""
    child = os.fork()
    if not child:
        os.setsid()
        return
    os.close(connection)
    while (ended := os.wait())[0] != child:
        pass
    os.write(tell, struct.pack("i", ended[1]))  # it cannot end itself by a signal
    os._exit(0)


def _attend(child: int, folder: str, told: int) -> NoReturn:
    """Wait for a child, end what it has started, remove its folder, and end as it did."""
    status = _awaited(child)
    if status is not None and (words := os.read(told, 4)):
        (status,) = struct.unpack("i", words)
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
