"""The known name that is most like a word somebody typed, and how messages end with it: ``; nearest: rotary``."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str], at_least: float = 0.6) -> str | None:
    """Return the known name most like the word, or None where none is ``at_least`` as like (1: it is the same)."""
    found = get_close_matches(word, known, n=1, cutoff=at_least)
    return found[0] if found else None


def hint(word: str, known: Iterable[str], shown: Mapping[str, str] | None = None) -> str:
    """Return the end of a message, ``; nearest: NAME``, or "" where nothing is near.

    ``shown``: what a known name is shown as, where that is not the name itself.
    """
    name = nearest(word, known)
    return f"; nearest: {shown[name] if shown else name}" if name is not None else ""
