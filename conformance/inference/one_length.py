"""A size of the constructor that is exactly the length of the inputs, as its mask or table is never cut."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from attnconf.conformance.inference.building import Construction
from attnconf.conformance.inference.vocabulary import SIZES, meanings, snake

ROWS = r"256|config\.max_len"  # what a length gets that is the longest
FEW = 4  # constructions that are tried again
A_MAXIMUM = r"max|longest|limit|capacity|end"  # such names say that shorter inputs are taken


def lengths_of(made: Construction) -> tuple[str, ...]:
    """Return the arguments that may be the length of the inputs, and no maximum by their names."""
    names = re.findall(rf"\b(\w+)=(?:{ROWS})\b", made.text)
    return tuple(n for n in names if "max_len" in meanings(n, SIZES) and not re.search(A_MAXIMUM, snake(n)))


def for_each_length(made: Construction) -> Construction:
    """Return the construction such that the object is built anew for the length of each call."""
    text = made.text
    for name in lengths_of(made):
        text = re.sub(rf"\b{name}=(?:{ROWS})\b", f"{name}=length", text)
    return replace(made, text=f"for_each_length(lambda length: {text})")


def and_for_each_length(every: Iterable[Construction]) -> Iterator[Construction]:
    """Yield constructions, and behind them the first of those again that can be built anew for each length."""
    anew: list[Construction] = []
    for made in every:
        yield made
        anew += [for_each_length(made)] if lengths_of(made) else []
    yield from anew[:FEW]


def without_lengths(text: str) -> str:
    """Return what is built in the text of a construction that is built anew for each length."""
    found = re.fullmatch(r"for_each_length\(lambda length: (.*)\)", text)
    return found[1] if found else text
