"""Tokenizers of byte pairs that number their tokens themselves: what they are given is merges, and perhaps an alphabet.

Their ids are those of a vocabulary of their own, which lies in one of their tables; or, where symbols are bytes, the
numbers of bytes and of merges behind them.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any

from attnconf.adapters import generated
from attnconf.adapters.generated.tokens import own_tokens
from attnconf.conformance.inference.tokens.taught import FILLING, attributes_of, held, taught
from attnconf.conformance.inference.tokens.token_requests import read_as, requests
from attnconf.conformance.inference.tokens.token_text import LIST, NUMBERS, ROLES, TOKENS, VALUES, TokenText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.filling import calls_of
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.words.vocabulary import fitting

ALPHABETS = ("letters_of(config)", "symbols_of(config)")
OF_CHARACTERS: Mapping[str, Sequence[str]] = {"merges": VALUES["merges"], "unknown": ("config.unknown",)}
OF_BYTES: Mapping[str, Sequence[str]] = {
    "merges": ("merges_of_bytes(config)", "list(byte_merges(config))", "byte_merges(config)")
}
BYTES = ("byte_tokens(config)", "{token: i for i, token in byte_tokens(config).items()}")  # a vocabulary of bytes


@dataclass(frozen=True)
class OwnNumbers:
    """What numbers its tokens itself, and how its ids become ours, and ours its own."""

    made: str  # an expression of the object
    ours: str  # an expression of our ids, {} of its own
    own: str  # an expression of its own ids, of ``ids``
    reading: str = "attached"
    unknown: str = ""  # its unknown token, where it has one that it is not told

    def encoding(self, encodes: Sequence[str]) -> list[str]:
        """Return ways to encode that give our ids."""
        return [self.ours.format(encode) for encode in encodes]

    def decoding(self, decodes: Sequence[str]) -> list[str]:
        """Return ways to decode that are given our ids."""
        return [_given(decode, self.own) for decode in decodes]


def of_their_own(place: Place) -> Iterator[OwnNumbers]:
    """Yield the ways to make an object that numbers its tokens itself."""
    yield from _of_characters(place, "attached")
    yield from _of_pieces(place)
    for arguments in calls_of(place.thing, lambda p, at: _values(p, OF_BYTES, BYTES)):
        if "merges" in arguments:
            made = f"{place.name_in_text}({arguments})"
            yield OwnNumbers(made, "of_bytes({}, config)", "in_bytes(ids, config)", "bytes")
    yield from _of_characters(place, "none")


def _of_pieces(place: Place) -> Iterator[OwnNumbers]:
    """Yield objects that are told merges and nothing of a vocabulary: what they make of texts is pieces, as strings."""
    for arguments in calls_of(place.thing, lambda p, at: _values(p, OF_CHARACTERS, ALPHABETS)):
        if "merges" in arguments:
            made = f"{place.name_in_text}({arguments})"
            tokens = "[config.vocabulary[i] for i in ids]"
            yield OwnNumbers(made, "numbered({}, config)", tokens)
            yield OwnNumbers(made, "numbered(unglued({}), config)", f"glued({tokens})")


def _of_characters(place: Place, reading: str) -> Iterator[OwnNumbers]:
    """Yield objects that keep a table of all pieces that an alphabet and merges make, with their ids."""
    config: Any = read_as(next(requests("tokenizer", "byte-pair")), reading).config
    space = {**vars(generated), "theirs": place.module, "config": config}
    for arguments in calls_of(place.thing, lambda p, at: _values(p, OF_CHARACTERS, ALPHABETS)):
        if "merges" not in arguments:
            continue
        made = f"{place.name_in_text}({arguments})"
        try:
            thing = attempt(lambda made=made: eval(made, dict(space)))  # type: ignore[misc]
        except Failed:
            continue
        tables = [(name, table) for name, table in attributes_of(thing) if _covers(name, table, config.merges)]
        for name, table in tables[:1]:
            untold = "config.unknown" not in arguments and config.unknown in own_tokens(table).values()
            ours, own = f"to_ours({{}}, made.{name}, config)", f"to_own(ids, made.{name}, config)"
            yield OwnNumbers(made, ours, own, reading, config.unknown if untold else "")


def behind_its_own(place: Place, text: TokenText) -> TokenText | None:
    """Return the text with our vocabulary behind the tokens that a vocabulary begins with unlearnt; None without any.

    What decodes may leave these out, or end at one of them, by their numbers.
    """
    if not text.own[0] or ".index(" in text.made:
        return None
    tables = attributes_of(taught(place, *text.own))
    with_ids = ((name, x) for name, x in tables if any(kind in held(name, x) for kind in (LIST, NUMBERS)))
    name, table = next(with_ids, ("", {}))
    own = _unlearnt(own_tokens(table))
    if not own:
        return None
    made = text.made.replace("config.vocabulary", f"(*{own!r}, *config.vocabulary)")
    encode = f"to_ours({text.encode}, made.{name}, config)"
    return text.but(made=made, encode=encode, decode=_given(text.decode, f"to_own(ids, made.{name}, config)"))


def _unlearnt(tokens: Mapping[int, str]) -> list[str]:
    """Return the tokens with the first numbers that are none of a text that was learnt."""
    return [tokens[i] for i in takewhile(lambda i: i in tokens and set(tokens[i]) - set(FILLING), count())]


def _given(decode: str, ids: str) -> str:
    return re.sub(r"\bids(?=[,)])", ids, decode)


def _covers(name: str, table: Any, merges: Sequence[tuple[str, str]]) -> bool:
    """Return whether a table has ids of all pieces that merges make."""
    entry = held(name, table)
    there = any(kind in entry for kind in (LIST, NUMBERS, TOKENS))
    return there and {one + other for one, other in merges} <= set(own_tokens(table).values())


def _values(p: inspect.Parameter, known: Mapping[str, Sequence[str]], others: Sequence[str]) -> list[str]:
    """Return what a parameter may get: what its name says, its default, or one of ``others``."""
    roles = fitting(p.name, ROLES)
    found = [text for role in known if role in roles for text in known[role]]
    if p.default is p.empty or "list" in roles:
        found = found or [*others]
    return found or [""]
