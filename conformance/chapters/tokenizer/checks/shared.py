"""Checks of the chapter spec/tokenizer.md: what several sections use."""

from collections.abc import Callable, Iterator
from typing import Any

from attnconf.conformance.engine.evidence import Failure, Measure

Evidence = Iterator[Measure]


def refuses(what: str, put: Callable[..., Any], *question: Any) -> Measure:
    """Return a measure if a question is answered by an exception."""
    try:
        got = put(*question)
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
        raise
    raise Failure("property", f"{what}: no error was raised, but {got!r} returned")


SPECIALS = ("<eos>", "[sep]")
