"""Ctrl-C in a run: it ends the check that is judged, or the explanation of what failed, and nothing around these.

Anywhere else pytest would end, too, and write of its own options behind the last line.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

AT_ONCE = 0.5  # seconds in which interrupts are one: a terminal and the command that waits may both send it


class Interrupts:
    """Whether somebody asked for the end of a run, and whether what is under way ends then."""

    def __init__(self) -> None:
        self.asked = False
        self._heeded = False
        self._last = -AT_ONCE
        self._before: Any = None  # the handler that was there; None: ours is not

    def listen(self) -> None:
        """Take interrupts in, unless this process ignores them, has its own way with them, or is no main thread."""
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._note)

    def forget(self) -> None:
        """Leave interrupts to whoever had them before."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def end_if_asked(self) -> None:
        """Raise KeyboardInterrupt if somebody asked, and nothing ended: the code that is judged caught it, say."""
        if self.asked:
            raise KeyboardInterrupt

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Raise KeyboardInterrupt within, where it is safe, as soon as somebody asks for the end."""
        self._heeded = True
        try:
            yield
        finally:
            self._heeded = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        now, self.asked = time.monotonic(), True
        if self._heeded and now - self._last > AT_ONCE:
            self._last = now
            raise KeyboardInterrupt
