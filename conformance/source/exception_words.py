"""Words for an exception of foreign code, in one line; safe where the exception's own ``__str__`` raises."""

import traceback
from pathlib import Path

LONGEST = 300  # characters of a text


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's text, cut at 300 characters, or "" where it has none."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        return ""
    line = lines[0] if lines else ""
    return line if len(line) <= LONGEST else (line[:LONGEST].rpartition(" ")[0] or line[:LONGEST]) + " …"


def named(error: BaseException) -> str:
    """Return an exception's class and the first line of its text: ``ValueError: heads must divide width``."""
    words = first_line(error)
    return type(error).__name__ + (f": {words}" if words else "")


def _place_of(error: BaseException) -> str:
    """Return the file and line in which an exception was raised: "probing.py:97"; "" where it was never raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


def fault_of_ours(fault: BaseException) -> str:
    """Return words on an exception of the suite itself."""
    return f"a fault of the suite, not of the file: {named(fault)} ({_place_of(fault)})"


def deed(error: BaseException) -> str:
    """Return a verb phrase for an exception: ``raised ValueError: …``, or ``called exit(1)`` for SystemExit."""
    return f"called exit({error.code!r})" if isinstance(error, SystemExit) else f"raised {named(error)}"
