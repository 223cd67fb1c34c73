"""How a process ends: together with the one that started it, or as one that it has started."""

import contextlib
import os
import signal
from typing import Any, NoReturn

from attnconf.conformance.worker import kernel

_DIE = 1  # prctl: the signal at the parent's end


def end_with_parent(number: int = signal.SIGKILL) -> bool:
    """Let this process get a signal when the one that started it ends; return whether the system can (Linux)."""
    return control(_DIE, number) == 0


def control(option: int, value: int = 0, further: Any = 0) -> int:
    """Return what Linux's prctl gives; -1 where there is none, or it refuses."""
    return kernel.call("prctl", option, value, further, 0, 0)


def end_as(code: int) -> NoReturn:
    """End this process with an exit code; if it is negative, by that signal, and without a dump of memory."""
    if code < 0:
        import resource

        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 1)
