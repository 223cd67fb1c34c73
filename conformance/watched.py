"""A run in a process of its own: the command waits for it, and ends with 0 only where the run says that it is done.

Code that is judged may end the process it runs in at any place, and ``os._exit(0)`` would read as "all is well". So the
last act of a run, when its verdicts are written, is to send its exit code through a pipe. That stops accidents and a
plain ``os._exit``. It is no lock: code in the same process that looks for the pipe can write to it, as it can change
any verdict there.
"""

import contextlib
import os
import signal
import sys
import threading
import warnings
from dataclasses import dataclass

NOT_DONE = 3  # where a run ended with 0 and did not say that it was done; pytest's code for internal errors, too
PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_marks: list["Mark"] = []  # of this process, if it is the one of a run


@dataclass(frozen=True)
class Mark:
    """The end of a pipe in which a run says that it is done; a copy of its process that goes on says nothing."""

    end: int
    process: int


def apart(whatever: str) -> int | None:
    """Go on in a child process and return None there; return its exit code here, once it has ended.

    Returns None at once where this is such a child already, or no child can be had: without fork and sigwaitinfo, or
    with torch or threads in this process. ``whatever``: the words to begin with if it ends too early.
    """
    can = hasattr(os, "fork") and hasattr(signal, "sigwaitinfo") and threading.active_count() == 1
    if _marks or not can or "torch" in sys.modules:
        return None
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # an inherited SIG_IGN would keep its end from us
    heeded = {signal.SIGCHLD, *(getattr(signal, name) for name in PASSED_ON)}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, heeded)
    ours, theirs = os.pipe()
    child = _fork()
    if child == 0:
        os.close(ours)
        _marks.append(Mark(theirs, os.getpid()))
        _end_with(os.getppid())
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return None
    os.close(theirs)
    status, passed_on = _awaited(child, heeded)
    said = _said(ours)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return _code(status, said, whatever, passed_on)


def is_apart() -> bool:
    """Return whether this process was begun for a run, and ends with it."""
    return bool(_marks) and _marks[0].process == os.getpid()


def finish(code: int) -> None:
    """Say that all is written, and that the process ends with this code; nothing happens where nobody waits."""
    if not is_apart():
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # its reader is gone, or it was closed: the interpreter tells
            stream.flush()
    with contextlib.suppress(OSError):  # code that was judged has closed it
        os.write(_marks[0].end, bytes([code]))


def _fork() -> int:
    with warnings.catch_warnings():  # of threads that libraries may have: none holds a lock of ours
        warnings.simplefilter("ignore")
        return os.fork()


def _end_with(parent: int) -> None:
    """Let this process be killed when its parent is, where the system can."""
    from attnconf.conformance.worker import ends

    ends.end_with_parent()
    if os.getppid() != parent:  # it has ended before that was arranged
        os._exit(NOT_DONE)


def _awaited(child: int, heeded: set[signal.Signals]) -> tuple[int, set[int]]:
    """Return the status of a child once it has ended, and the signals that were passed on to it.

    What a terminal sends, as at Ctrl-C, comes from the kernel, and reaches the child by itself.
    """
    passed_on = set()
    while True:
        got = signal.sigwaitinfo(heeded)
        if got.si_signo != signal.SIGCHLD:
            passed_on.add(got.si_signo)
            if got.si_code <= 0:
                os.kill(child, got.si_signo)
            continue
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status, passed_on


def _said(pipe: int) -> int | None:
    """Return the exit code that the run announced, or None."""
    os.set_blocking(pipe, False)  # what the run has started may keep its end open
    with contextlib.suppress(BlockingIOError):
        if got := os.read(pipe, 1):
            return got[0]
    return None


def _code(status: int, said: int | None, whatever: str, passed_on: set[int]) -> int:
    """Return the exit code to end with, and tell of an early end; end by the signal that has ended the run."""
    code = os.waitstatus_to_exitcode(status)
    if said is None and -code not in passed_on:
        how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        print(f"ERROR: {whatever} ({how}), as code that is judged can do by os._exit or a crash", file=sys.stderr)
    if code < 0:
        from attnconf.conformance.worker import ends

        sys.stderr.flush()
        ends.end_as(code)
    return code or (NOT_DONE if said is None else said)
