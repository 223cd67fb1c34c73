"""A progress bar for work that takes seconds; none without a terminal set by the front end."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

terminal: TextIO | None = None  # set by the front end


def watched(steps: range, title: str) -> Iterable[int]:
    """Return the steps, shown as a bar while they are taken."""
    if terminal is None:
        return steps
    from tqdm import tqdm

    bar: Iterable[int] = tqdm(steps, desc=title, unit="step", leave=False, file=terminal)
    return bar


@contextmanager
def counted(total: int, title: str) -> Iterator[Callable[[], object]]:
    """Give a function that counts one step; the bar appears after a second."""
    if terminal is None:
        yield lambda: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=title, leave=False, delay=1, file=terminal) as bar:
        yield bar.update


def find_terminal() -> TextIO | None:
    """Return the terminal that this process was started from, whatever its output is redirected to, or None."""
    try:
        return open("/dev/tty", "w", encoding="utf-8")
    except OSError:
        return None
