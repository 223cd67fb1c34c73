"""What a class that learns merges does with them: methods that make pieces, or their ids, of a text, and a text of ids.

Other merges are put in the place of those that it has learnt. What its method gives then is what a tokenizer of byte
pairs gives. So for a function beside what learns merges, which is given a text and merges.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from attnconf.conformance.engine import text_codec
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.finding.by_doing import numbers_of, that_cut, that_join
from attnconf.conformance.inference.tokens.learnt import learnt, of_merges, reading_of
from attnconf.conformance.inference.tokens.token_requests import read_as, requests
from attnconf.conformance.inference.tokens.token_text import (
    DECODE,
    ENCODE,
    LIST,
    NUMBERS,
    ROLES,
    TOKENIZE,
    TOKENS,
    VALUES,
)
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.trials.slots import Slots, refuse
from attnconf.conformance.inference.trials.trial import Certificate, reply, same
from attnconf.conformance.inference.words.vocabulary import fitting
from attnconf.conformance.source.signatures import parameters_of

METHODS = tuple(dict.fromkeys((*ENCODE, *TOKENIZE, "segment", "segment_word", "apply", "apply_bpe", "bpe")))
END = "</w>"
LIST_OF, RANKS, _, JOINED = VALUES["merges"]
# What holds numbers of bytes and of merges, by what it is made of.
IN_BYTES = {
    ("pair", "int"): "byte_merges(config)",
    ("int", "pair"): "{i: pair for pair, i in byte_merges(config).items()}",
    ("int", "bytes"): "byte_tokens(config)",
    ("bytes", "int"): "{token: i for i, token in byte_tokens(config).items()}",
}
IN_STRINGS = {("pair", "int"): RANKS, ("pair", "str"): JOINED, ("str", "int"): NUMBERS, ("int", "str"): TOKENS}


def with_encoding(bound: Bound, before: Sequence[str], request: Request, mark: str = "") -> Bound:
    """Return the binding of a trainer with the tokenizer that it is, too.

    ``before``: how it is made and trained; ``mark``: at the end of words, where it is not ours. Where what encodes is
    not understood, this is said, and lowers the verdict; without words, what decodes, too.
    """
    if not bound.established:
        return bound
    taught = _taught(bound, before, request)
    made = _holding(bound, taught, before, request, mark) if taught is not None else ""
    text = request.inputs["words"][0]
    there = _methods(bound.place.thing, METHODS) or ([] if made else _functions(bound)) or that_cut(taught, text)
    if not there:
        return bound
    small = _learns_small(bound, request)
    if small:
        bound = replace(bound, told=(*bound.told, "letters      made small in learning: no others are asked for"))
    found = _with(bound, "tokenizer", "encodes", _encodings(bound, made, there, small, mark))
    if found is None:
        words = f"what {_called(there[0])} does with the merges is not understood"
        tried = ", ".join(one.partition("(")[0] for one in there)
        return replace(bound, open_ends=(*bound.open_ends, words), told=(*bound.told, f"not tried    {tried}"))
    ids = next((ids for name in there if taught is not None and (ids := numbers_of(taught, name, text))), [])
    decoding = _methods(bound.place.thing, DECODE) or (that_join(taught, ids) if ids else [])
    if not decoding:
        return found
    whole = _with(found, "detokenizer", "decodes", _decodings(found, made, decoding))
    if whole is None and bound.draft.declares["word-end"] == "none":
        words = f"what its method {decoding[0]} makes of ids is not understood"
        return replace(found, open_ends=(*found.open_ends, words))
    return whole or found


def _taught(bound: Bound, before: Sequence[str], request: Request) -> Any:
    """Return the object that has learnt; None for a function."""
    if not isinstance(bound.place.thing, type):
        return None
    try:
        return learnt(bound.place.module, before, request).get("made")
    except Failed:
        return None


def _with(bound: Bound, component: str, does: str, bodies: Iterator[tuple[str, str]]) -> Bound | None:
    """Return the binding with a further component, the first that is understood."""
    reading = reading_of(bound.draft.declares)
    certificate = Certificate(component, [read_as(r, reading) for r in requests(component, "byte-pair")])
    declares = {**bound.draft.declares, "token-kind": "byte-pair"}
    for shown, body in bodies:
        text = f"{bound.draft.body}\n\n{body}"
        draft = replace(bound.draft, body=text, declares=declares, also=(*bound.draft.also, component))
        given = certificate.replies(replace(draft, component=component, also=()).implementation(bound.place.module))
        if _understood(certificate, given, declares):
            return replace(bound, draft=draft, told=(*bound.told, f"{does:<13}{shown}"))
    return None


def _learns_small(bound: Bound, request: Request) -> bool:
    """Return whether no merge has a capital letter where all words are in capital letters."""
    words = [word.upper() for word in request.inputs["words"]]
    got = reply(bound.draft.implementation(bound.place.module), replace(request, inputs={"words": words}))
    pieces = [] if isinstance(got, Failure) else [part for pair in text_codec.merges(got.out) for part in pair]
    return bool(pieces) and all(piece == piece.lower() for piece in pieces)


def _called(what: str) -> str:
    return what.partition("(")[0] if "(" in what else f"its method {what}"


def _understood(certificate: Certificate, given: Sequence[Any], declares: Mapping[str, str]) -> bool:
    """Return whether a draft gives the textbook's reply to the first call, or those of a known mistake."""
    if not given or isinstance(given[-1], Failure):
        return False
    alike = same(given[0], certificate.wanted(declares)[0])
    return alike or certificate.mistake(given, declares) is not None


def _methods(thing: Any, named: Sequence[str]) -> list[str]:
    """Return those of these methods that a class has, and that are given one thing."""
    if not isinstance(thing, type):
        return []
    return [name for name in named if isinstance(f := getattr(thing, name, None), FunctionType) and _given(f) == 2]


def _given(function: FunctionType) -> int:
    return sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters_of(function))


def _functions(bound: Bound) -> list[str]:
    """Return calls of the functions of the file that are given a text, or a word, and merges."""
    found = []
    for name, thing in vars(bound.place.module).items():
        own = isinstance(thing, FunctionType) and thing.__module__ == bound.place.module.__name__
        if not own or name == bound.place.name or _given(thing) != 2 or fitting(name, {"part": PART}):
            continue
        given = [p.name for p in inspect.signature(thing).parameters.values()][:2]
        roles = ["merges" if fitting(one, {"merges": ROLES["merges"]}) else "text" for one in given]
        if sorted(roles) == ["merges", "text"]:
            found.append(f"{name}({', '.join('MERGES' if role == 'merges' else 'GIVEN' for role in roles)})")
    return found


PART = r".*(decode|undo|save|write|load|print|show|count|most|best|join|merge_|vocab).*"


# -- the text of what encodes and decodes


def _encodings(bound: Bound, made: str, there: Sequence[str], small: bool, mark: str) -> Iterator[tuple[str, str]]:
    """Yield what may encode, with its text: methods of what holds the merges, or functions that are given them."""
    reading = reading_of(bound.draft.declares)
    in_bytes, in_words = reading == "bytes", reading in ("attached", "separate")
    given = "of_bytes({}, config)" if in_bytes else _marked("numbered({}, config)", mark)
    strange = {"none": "strange_in(text, config)", "bytes": "strange_in(text, config, as_bytes=True)"}
    unknown = [f"if {strange.get(reading, 'unknown_in(text, config)')}:",
               '    raise NotImplementedError("an unknown token")']  # fmt: skip
    if small:
        unknown += ["if text != text.lower():", '    raise NotImplementedError("capital letters")']
    for one in there:
        ways = list(_pieces(one, reading)) if "(" in one else [f"made.{one}(text)"] if made else []
        for pieces in (*ways, *(f"unglued({way})" for way in ways if in_words and way[0] != "[")):
            yield _shown(pieces), _component("tokenizer", "text", made, unknown, given.format(pieces))


def _pieces(call: str, reading: str) -> Iterator[str]:
    """Yield a function's call in the ways to give it merges, and a text or each of its words."""
    kinds = ("byte_merges(config)", "list(byte_merges(config))") if reading == "bytes" else VALUES["merges"]
    for merges in kinds:
        one = f"theirs.{call}".replace("MERGES", merges)
        if reading in ("attached", "separate"):
            yield f"[piece for word in text.split() for piece in {one.replace('GIVEN', 'word')}]"
        yield one.replace("GIVEN", "text")


def _shown(text: str) -> str:
    return text.replace("theirs.", "").replace("config.", "")


def _decodings(bound: Bound, made: str, there: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the methods that may decode, with their text: of ids, or of pieces."""
    if reading_of(bound.draft.declares) == "bytes":
        given: tuple[str, ...] = ("in_bytes(ids, config)",)
    else:
        given = ("ids", "[config.vocabulary[i] for i in ids]")
    for name in there:
        for ids in given:
            yield f"made.{name}({_shown(ids)})", _component("detokenizer", "ids", made, [], f"made.{name}({ids})")


def _component(name: str, given: str, made: str, first: Sequence[str], out: str) -> str:
    refusals = [
        *refuse('config.kind != "byte-pair"', "tokens of another kind"),
        *refuse("config.specials", "special tokens"),
    ]
    return Slots(name, given, refusals, [f"made = {made}"] if made else [], masks=first, call=out).source()


# -- what an object holds


def _holding(bound: Bound, made: Any, before: Sequence[str], request: Request, mark: str) -> str:
    """Return an expression of an object with other merges than it has learnt; nothing where it keeps none."""
    reading = reading_of(bound.draft.declares)
    kept = {name: entry for name, x in vars(made).items() if (entry := _entry(x, reading))}
    if not any("merges" in entry for entry in kept.values()):
        return ""
    for name, x in vars(made).items():
        if name not in kept and reading != "bytes" and _lists_pieces(x, made):
            kept[name] = LIST
        elif kept.get(name) == NUMBERS and (own := _own_tokens(x, mark or END, "".join(request.inputs["words"]))):
            kept[name] = f"{{**dict.fromkeys({own}, -1), **{NUMBERS}}}"  # no unknown token is asked for
    built = before[0].partition(" = ")[2].replace("config.num_merges", "len(config.merges)")
    built = re.sub(r"\bwords\b", "list(config.vocabulary)", built)
    entries = [f'"{name}": {_marked(entry, mark)}' for name, entry in kept.items()]
    return f"holding({built}, {{{', '.join(entries)}}})"


def _marked(text: str, mark: str) -> str:
    """Return an expression of a configuration with another mark in it than ours."""
    return re.sub(r"\bconfig\b", f"marked_by({mark!r}, config)", text) if mark else text


def _own_tokens(numbers: Mapping[str, int], mark: str, letters: str) -> list[str]:
    """Return the tokens that are made of neither what was learnt from, nor the mark: of unknown words, and others."""
    return [token for token in numbers if set(token.replace(mark, "")) - set(letters)]


def _entry(x: Any, reading: str) -> str:
    """Return the expression for what holds merges or tokens; nothing for anything else."""
    wanted = "numbers" if reading == "bytes" else "strings"
    if isinstance(x, list | tuple) and x and all(_is_pair(each) for each in x) and of_merges(x) == wanted:
        return "list(byte_merges(config))" if reading == "bytes" else LIST_OF
    if isinstance(x, list | tuple) and x and all(isinstance(each, bytes) for each in x) and wanted == "numbers":
        return "list(byte_tokens(config).values())"
    if not isinstance(x, dict) or not x:
        return ""
    kinds = {(_kind(key), _kind(value)) for key, value in x.items()}
    known = IN_BYTES if reading == "bytes" else IN_STRINGS
    return known.get(kinds.pop(), "") if len(kinds) == 1 else ""


def _lists_pieces(x: Any, made: Any) -> bool:
    """Return whether a list has all pieces that the merges of an object make."""
    if not isinstance(x, list | tuple) or not x or not all(isinstance(each, str) for each in x):
        return False
    merges = [pair for m in vars(made).values() if isinstance(m, list | tuple | dict) for pair in m if _is_pair(pair)]
    return bool(merges) and all(isinstance(one, str) and one + other in x for one, other in merges)


def _kind(x: Any) -> str:
    return "pair" if _is_pair(x) else type(x).__name__


def _is_pair(x: Any) -> bool:
    return isinstance(x, list | tuple) and len(x) == 2 and all(isinstance(part, str | int) for part in x)
