"""A word to the user on what takes long: code that never ends is seen by nothing else."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 10  # seconds


@contextmanager
def patiently(what: str) -> Iterator[None]:
    """Say after a while that something is still being tried, and, where the user has had enough, what it was."""

    def say(words: str) -> None:
        print(f"attnconf: {words}", file=sys.__stderr__, flush=True)

    timer = threading.Timer(PATIENCE, say, (f"still trying {what}; it may never end, Ctrl-C ends it",))
    timer.daemon = True
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        say(f"interrupted while trying {what}")
        raise
    finally:
        timer.cancel()
