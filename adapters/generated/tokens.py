"""Words, symbols and merges."""

from collections import Counter
from typing import Any

END = "</w>"


def unknown_in(text: str, config: Any) -> bool:
    """Return whether a text has a word, character or symbol outside the vocabulary."""
    parts = list(text) if config.kind == "character" else text.split()
    if config.kind == "byte-pair":
        parts = [symbol for word in parts for symbol in spelt(word, attached=True)]
    return any(part not in config.vocabulary for part in parts)


def tallied(words: list[str]) -> dict[str, int]:
    """Return how often each word occurs."""
    return dict(Counter(word for word in words if word))


def spelt(word: str, attached: bool) -> list[str]:
    """Return the symbols of a word; the mark of its end is part of the last symbol, or a symbol of its own."""
    return [*word[:-1], word[-1] + END] if attached else [*word, END]


def pairs(merges: Any) -> list[tuple[str, str]]:
    """Return merges as pairs of strings, from a list or dict of pairs or of strings "a b"."""
    found = [tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in merges]
    if all(len(pair) == 2 and isinstance(pair[0], tuple | list) for pair in found):  # each with its count or rank
        found = [tuple(pair[0]) for pair in found]
    return [(str(first), str(second)) for first, second in found]


def numbered(pieces: Any, config: Any) -> list[int]:
    """Return the ids of a text: as they are, or of its pieces, -1 for a piece that is not in the vocabulary."""
    found = list(pieces)
    places = {token: i for i, token in enumerate(config.vocabulary)}
    return [places.get(piece, -1) if isinstance(piece, str) else piece for piece in found]
