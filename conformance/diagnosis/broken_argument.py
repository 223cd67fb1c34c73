"""A failure whose cause is one argument of the user's that does not do what its name promises: how to mend it."""

import re
from collections.abc import Mapping

from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.source import source_text

IDLE = "has no effect"  # what is said of an argument
# What mends it, by what is wrong.
HINTS = (
    ("raises", "mend this line, or leave the argument out: nobody is asked for what is not there"),
    (IDLE, "use it, or leave it out: nobody is asked for what is not there"),
    ("exchanges", "the queries come from the first sequence, the keys and values from this one"),
    (
        "does not say where the first token is",
        "the first token stands at this position, each other one a step behind the last",
    ),
)
PLACE = r" \(([^()]*(?::|line )\d+)\)$"  # what words end with that know a line


def broken_argument(judged: Judged) -> str:
    """Return what an argument does, where this is why a check fails, in words; "" where it is not."""
    details: Mapping[str, float | str] = judged.failure.details if judged.failure else {}
    return str(details.get("argument", ""))


def without_line(words: str) -> str:
    """Return words without the place that they end with."""
    return re.sub(PLACE, "", words)


def mended(words: str) -> str | None:
    """Return what mends an argument that does not do what its name promises; None where that is not known."""
    return next((hint for wrong, hint in HINTS if wrong in words), None)


def line_in(words: str, source: str) -> str | None:
    """Return the line that words end with, as "homework.py:12  x = mask.unsqueez(1)"; None where they end with none."""
    named, text = re.search(PLACE, words), source_text.text_of(source)
    if named is None:
        return None
    lines = text.text.splitlines() if text else []
    at = (n for n in range(1, len(lines) + 1) if text and text.place(n) == named[1])
    return next((f"{named[1]}  {lines[n - 1].strip()}" for n in at), named[1])
