"""The known name nearest to a word that a user typed, as the end of a message: ``; nearest: rotary``."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

ALIKE = 0.7  # NO-SUCH-1 and TOK-CHAR-1 are 0.63 alike by their form alone; ATT-SCLAE-1 and ATT-SCALE-1, 0.9


def nearest(word: str, known: Iterable[str], at_least: float = ALIKE) -> str | None:
    """Return the known name nearest to the word, or None if no likeness (1: the same) reaches ``at_least``."""
    found = get_close_matches(word, known, n=1, cutoff=at_least)
    return found[0] if found else None


def hint(word: str, known: Iterable[str], shown: Mapping[str, str] | None = None) -> str:
    """Return the end of a message, ``; nearest: NAME``, or "" where nothing is near.

    ``shown``: known name -> the text to show in its place.
    """
    name = nearest(word, known)
    return f"; nearest: {shown[name] if shown else name}" if name is not None else ""
