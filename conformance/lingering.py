"""What judged files leave running or set up: warnings made exceptions, and threads that never end.

Neither may end a run, nor keep the process from its end once the verdict is written.
"""

import os
import sys
import threading
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_ours = set(threading.enumerate())
_code: list[int] = []  # the exit code of the last run
sessions: list["pytest.Config"] = []  # of pytest, under way: a test of the suite may begin another


def silence_warnings(config: "pytest.Config") -> None:
    """Let no option and no setting of pytest make an exception of a warning: it may be that of a judged file."""
    warnings.simplefilter("ignore")
    given = config.known_args_namespace  # its filters are applied to each item anew, the last one first
    given.pythonwarnings = [*(given.pythonwarnings or []), "ignore"]


def end_with(code: int, within: int = 0) -> None:
    """End the process with this code as soon as the main thread has come to its end, whatever other threads do.

    Without threads of judged files the process ends as ever. Where more sessions of pytest than ``within`` are under
    way, this is a test of the suite, whose process goes on: nothing is arranged.
    """
    if len(sessions) > within:
        return
    if not _code:
        threading._register_atexit(_leave)  # type: ignore[attr-defined]  # atexit waits for all threads first
    _code[:] = [code]


def code(otherwise: int) -> int:
    """Return the exit code of the last run; ``otherwise`` where none has begun."""
    return _code[0] if _code else otherwise


def _leave() -> None:
    others = [thread for thread in threading.enumerate() if thread not in _ours]
    for thread in others:
        thread.join(0.1)
    if not any(thread.is_alive() for thread in others):
        return
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(_code[0])
