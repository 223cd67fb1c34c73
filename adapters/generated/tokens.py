"""Words, symbols and merges."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
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


def pairs(merges: Any, mark: str = END) -> list[tuple[str, str]]:
    """Return merges as pairs of strings, from a list or dict of pairs or strings "a b"; ``mark``: of a word's end."""
    found = [tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in merges]
    if all(len(pair) == 2 and isinstance(pair[0], tuple | list) for pair in found):  # each with its count or rank
        found = [tuple(pair[0]) for pair in found]
    return [(str(first).replace(mark, END), str(second).replace(mark, END)) for first, second in found]


def marked_by(mark: str, config: Any) -> Any:
    """Return a configuration in whose vocabulary and merges another mark is at the end of words than ours."""
    vocabulary = tuple(token.replace(END, mark) for token in config.vocabulary)
    merges = tuple((one.replace(END, mark), other.replace(END, mark)) for one, other in config.merges)
    return replace(config, vocabulary=vocabulary, merges=merges)


def numbered(pieces: Any, config: Any) -> list[int]:
    """Return the ids of a text: as they are, or of its pieces, -1 for a piece that is not in the vocabulary."""
    found = list(pieces)
    places = {token: i for i, token in enumerate(config.vocabulary)}
    return [places.get(piece, -1) if isinstance(piece, str) else piece for piece in found]


def unglued(text: str | Iterable[str]) -> list[str]:
    """Return the pieces of a text that has them as subword-nmt does: ``@@`` behind each that does not end its word."""
    pieces = text.split() if isinstance(text, str) else text
    return [piece[:-2] if piece.endswith("@@") else piece + END for piece in pieces]


def glued(tokens: Iterable[str]) -> list[str]:
    """Return pieces as subword-nmt has them."""
    return [token.removesuffix(END) if token.endswith(END) else f"{token}@@" for token in tokens]


# -- a vocabulary that something makes of an alphabet and merges


def letters_of(config: Any) -> list[str]:
    """Return the characters of a vocabulary of byte pairs."""
    return [token for token in config.vocabulary if len(token) == 1]


def symbols_of(config: Any) -> list[str]:
    """Return the symbols of a vocabulary of byte pairs: its characters, and those with the mark of a word's end."""
    return [token for token in config.vocabulary if len(token.removesuffix(END)) == 1]


def own_tokens(table: Any) -> dict[int, str]:
    """Return the token of each id in a list of tokens, or in a dict of either direction."""
    pairs: Any = table.items() if isinstance(table, dict) else enumerate(table)
    return {i: token for one, other in pairs for i, token in [(one, other) if isinstance(other, str) else (other, one)]}


def to_ours(ids: Iterable[int], table: Any, config: Any) -> list[int]:
    """Return our ids for those of somebody's own vocabulary; -1 for a token that ours has not."""
    places, tokens = {token: i for i, token in enumerate(config.vocabulary)}, own_tokens(table)
    return [places.get(tokens.get(int(i), ""), -1) for i in ids]


def to_own(ids: Iterable[int], table: Any, config: Any) -> list[int]:
    """Return the ids of somebody's own vocabulary for ours; one that no token has, as one that no token has there."""
    tokens, n = own_tokens(table), len(config.vocabulary)
    numbers = {token: i for i, token in tokens.items()}
    if any(0 <= i < n and config.vocabulary[i] not in numbers for i in ids):
        raise NotImplementedError("a token that its own vocabulary has not")
    return [numbers[config.vocabulary[i]] if 0 <= i < n else i + (len(tokens) if i >= n else 0) for i in ids]


# -- texts without words, of characters or of bytes


def strange_in(text: str, config: Any, as_bytes: bool = False) -> bool:
    """Return whether a text without words has a symbol outside the vocabulary."""
    symbols = text.encode().decode("latin-1") if as_bytes else text
    return any(symbol not in config.vocabulary for symbol in symbols)


def byte_numbers(config: Any) -> dict[str, int]:
    """Return the number of each piece where bytes are 0 to 255, and merges have the numbers behind, in their order."""
    found = {chr(i): i for i in range(256)}
    for one, other in config.merges:
        if one + other in found:
            raise NotImplementedError("two merges that make the same piece")
        found[one + other] = len(found)
    return found


def byte_merges(config: Any) -> dict[tuple[int, int], int]:
    """Return the merges as pairs of numbers, each with the number of what it makes."""
    numbers = byte_numbers(config)
    return {(numbers[one], numbers[other]): numbers[one + other] for one, other in config.merges}


def merges_of_bytes(config: Any) -> list[tuple[bytes, bytes]]:
    """Return the merges as pairs of bytes."""
    return [(one.encode("latin-1"), other.encode("latin-1")) for one, other in config.merges]


def byte_tokens(config: Any) -> dict[int, bytes]:
    """Return the bytes that each number stands for."""
    return {i: piece.encode("latin-1") for piece, i in byte_numbers(config).items()}


def byte_pairs(merges: Any) -> list[tuple[str, str]]:
    """Return merges of pairs of numbers, in the order of learning, as pairs of strings, a character for each byte."""
    pieces = {i: chr(i) for i in range(256)}
    found = []
    for rank, pair in enumerate(merges):
        made = merges[pair] if isinstance(merges, dict) else 256 + rank
        first, second = pair if isinstance(pair[0], int) else pair[0]
        found.append((pieces[first], pieces[second]))
        pieces[made if made >= 256 else 256 + rank] = "".join(found[-1])
    return found


def of_bytes(numbers: Iterable[int], config: Any) -> list[int]:
    """Return the ids of pieces that are given as numbers of bytes and merges, or as bytes; -1 for one without id."""
    tokens = byte_tokens(config)
    pieces = [(x if isinstance(x, bytes) else tokens.get(x, b"")).decode("latin-1") for x in numbers]
    return numbered(pieces, config)


def in_bytes(ids: Iterable[int], config: Any) -> list[int]:
    """Return ids as numbers of bytes and merges; one that no token has, as one that no piece has."""
    numbers, n = byte_numbers(config), len(config.vocabulary)
    if any(0 <= i < n and config.vocabulary[i] not in numbers for i in ids):
        raise NotImplementedError("a token that is not made of bytes")
    return [numbers[config.vocabulary[i]] if 0 <= i < n else i + (len(numbers) if i >= n else 0) for i in ids]
