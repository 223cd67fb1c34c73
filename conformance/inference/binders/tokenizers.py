"""Bind classes and functions as tokenizer and detokenizer: those that can be given a vocabulary."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from types import FunctionType
from typing import Any

from attnconf.conformance.engine.request import Reply
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.finding.by_doing import of_one
from attnconf.conformance.inference.tokens import seldom_words
from attnconf.conformance.inference.tokens.taught import (
    FILLING,
    attributes_of,
    held,
    learnt_steps,
    left_out,
    taught,
    that_may_learn,
    with_own_unknown,
    with_steps,
)
from attnconf.conformance.inference.tokens.token_requests import read_as, requests
from attnconf.conformance.inference.tokens.token_text import (
    DECODE,
    ENCODE,
    LIST,
    NUMBERS,
    OWN,
    REFUSALS,
    ROLES,
    TO_IDS,
    TOKENIZE,
    TOKENS,
    UNKNOWN_ID,
    VALUES,
    TokenText,
)
from attnconf.conformance.inference.tokens.token_vocabularies import behind_its_own, of_their_own
from attnconf.conformance.inference.trials.binding import Attempts, Bound, Place, Refusal
from attnconf.conformance.inference.trials.filling import calls_of
from attnconf.conformance.inference.trials.proving import Prover, Reading, prove
from attnconf.conformance.inference.trials.trial import Certificate
from attnconf.conformance.inference.words.records import own_record
from attnconf.conformance.inference.words.vocabulary import fitting
from attnconf.conformance.source import source_text
from attnconf.conformance.source.signatures import parameters_of

FORGOTTEN = "TOK-mark-forgotten"
MARK = r"(?i)</w>|<w>|end[-_ ]of[-_ ](the |a )?word|word[-_ ]?end|\beow\b|sennrich|[Ġ▁]"


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function as tokenizer or detokenizer, or what stands against it."""
    prover, certificates = Prover[TokenText](place), dict[tuple[str, str, str], Certificate]()

    def readings(text: TokenText) -> Iterator[Reading[TokenText]]:
        """Yield a text as it is; of byte pairs with words, with the mark as a symbol of its own, too."""
        marked = text.kind == "byte-pair" and text.reading == "attached"
        for symbols in ("attached", "separate") if marked else (text.reading,):
            key = text.draft().component, text.kind, symbols
            certificate = certificates.get(key) or certificates.setdefault(key, _certificate(*key))
            yield Reading(text.but(reading=symbols), certificate, symbols)

    proof = prove(prover, (readings(text) for text in texts(place, prover.failures)))
    if proof is not None:
        return _bound(place, proof.hypothesis, proof.certified)
    if isinstance(place.thing, type) and _wants_corpus(place.thing):
        return Refusal("it makes its vocabulary from a text, and there is no way to give it one")
    return prover.refusal("there is no way to give it a vocabulary")


def _certificate(component: str, kind: str, reading: str) -> Certificate:
    return Certificate(component, [read_as(request, reading) for request in requests(component, kind)])


# -- what it may be


def texts(place: Place, failures: Attempts) -> Iterator[TokenText]:
    """Yield what a class or function may be, the likeliest first."""
    if isinstance(place.thing, FunctionType):
        yield from _functions(place)
        return
    if not isinstance(place.thing, type):
        return
    methods = {name: function for kind in reversed(place.thing.__mro__[:-1]) for name, function in vars(kind).items()
               if isinstance(function, FunctionType | staticmethod | classmethod)}  # fmt: skip
    others = of_one(place.thing)
    encodes = list(_encodings(methods)) or [call for n in others for call in _plainly(n, "text", methods[n])]
    named = [name for name in DECODE if name in methods]
    decodes = [call for name in named or others for call in _plainly(name, "ids", methods[name])]
    if not encodes and not decodes:
        failures.say("it has no method that encodes or decodes")
        return
    merges = any("merges" in fitting(p.name, ROLES) for p in parameters_of(place.thing))
    for made in _constructions(place):
        for kind in _kinds(made) if not merges or "config.merges" in made else ():  # left out, they are not judged
            base = TokenText(kind, made=made, needs_unknown=_needs_unknown(place.thing))
            yield from _called_so(base, encodes, decodes)
    for own in of_their_own(place):
        base = TokenText("byte-pair", made=own.made, reading=own.reading, own_unknown=own.unknown)
        base = base.but(needs_unknown=_needs_unknown(place.thing))
        yield from _called_so(base, own.encoding(encodes), own.decoding(decodes))
    yield from () if merges else _refilled(place, encodes, decodes)


def _called_so(base: TokenText, encodes: Sequence[str], decodes: Sequence[str]) -> Iterator[TokenText]:
    """Yield each way to encode, with all ways to decode; where there is none, each way to decode."""
    for encode in encodes:
        yield base.but(encode=encode, decode=decodes[0] if decodes else "", decodes=tuple(decodes))
    for decode in () if encodes else decodes:
        yield base.but(decode=decode)


def _encodings(methods: Mapping[str, Any]) -> Iterator[str]:
    """Yield the expressions that may make ids of a text."""
    for name in ENCODE:
        if name in methods:
            yield from _plainly(name, "text", methods[name])
    for first in TOKENIZE:
        for second in TO_IDS:
            if first in methods and second in methods and first != second:
                yield _called(second, _called(first, "text"))


def _plainly(method: str, given: str, function: Any) -> Iterator[str]:
    """Yield the calls of a method: as it is, and without what it adds to a text or leaves out of one by default.

    Some always put a token in front of a text, and one behind it.
    """
    yield _called(method, given)
    options = inspect.signature(getattr(function, "__func__", function)).parameters.values()
    if added := [f"{p.name}=False" for p in options if p.default is True]:
        yield _called(method, ", ".join([given, *added]))
    if given == "text":
        yield f"{_called(method, given)}[1:-1]"


def _called(method: str, given: str) -> str:
    return f"made({given})" if method == "__call__" else f"made.{method}({given})"


def _kinds(whole: str) -> Sequence[str]:
    """Return the kinds that something may be of: with merges it is byte-pair."""
    return ("byte-pair",) if "config.merges" in whole else ("word", "character")


def _constructions(place: Place) -> Iterator[str]:
    """Yield calls of a constructor with a vocabulary; then with its own tokens behind that, which it may insist on."""
    own = [p.default for p in parameters_of(place.thing) if isinstance(p.default, str) and re.fullmatch(OWN, p.name)]
    found = [
        f"{place.name_in_text}({arguments})"
        for arguments in calls_of(place.thing, lambda p, at: _values(p, ("text", "ids")))
        if "config.vocabulary" in arguments.replace(UNKNOWN_ID, "")
    ]
    yield from found
    for made in found if own else ():
        yield re.sub(r"\bconfig\.vocabulary(?!\.)(?=\)(?! if))", f"(*config.vocabulary, *{own!r})", made)


def _values(p: inspect.Parameter, without: Sequence[str] = ()) -> list[str]:
    """Return what a parameter may get, by its name; "" leaves it at its default."""
    roles = [role for role in fitting(p.name, ROLES) if role not in without]
    found = list(dict.fromkeys(text for role in roles for text in VALUES.get(role, ())))
    if p.default is not p.empty:
        keep = {"merges", "unknown", "unknown_id", "specials", "numbers", "tokens", "list"} & set(roles)
        return [*(found if keep and not isinstance(p.default, bool) else []), ""]
    return [*found, *(text for text in (LIST, NUMBERS, TOKENS) if text not in found)]


def _needs_unknown(thing: Any) -> bool:
    """Return whether the parameter for an unknown token says that there always is one: its default is a token."""
    for p in parameters_of(thing):
        optional = "None" in str(p.annotation) or "Optional" in str(p.annotation)
        if "unknown" in fitting(p.name, ROLES) and isinstance(p.default, str) and not optional:
            return True
    return False


def _wants_corpus(thing: type) -> bool:
    return any("corpus" in fitting(p.name, ROLES) for p in parameters_of(thing))


# -- a vocabulary that is put in afterwards


def _refilled(place: Place, encodes: Sequence[str], decodes: Sequence[str]) -> Iterator[TokenText]:
    """Yield objects that make their vocabulary of a text, or learn it by a method, with another one in its place."""
    for arguments in calls_of(place.thing, lambda p, at: _filling(p, place)):
        built = f"{place.name_in_text}({arguments})"
        methods = ("", *that_may_learn(place.thing))
        found: dict[tuple[str, ...], tuple[Any, str]] = {}
        for made, learn in ((taught(place, built, learn), learn) for learn in methods):
            entries = tuple(entry for name, x in attributes_of(made) if (entry := held(name, x)))
            if any(words in entry for entry in entries for words in (LIST, NUMBERS, TOKENS)):
                found.setdefault(entries, (made, learn))
        steps = learnt_steps(place, built, methods, FILLING) if found else ()
        for (entries, (made, learn)), encode in product(found.items(), encodes or [""]):
            holding = f"holding({built}, {{{', '.join(entries)}}})"
            one = TokenText("", made=holding, learnt=steps, own=(built, learn))
            one = with_own_unknown(place, one, made, encode)
            for kind in ("character", "word"):
                yield from _called_so(one.but(kind=kind), [encode] if encode else [], decodes)


def _filling(p: inspect.Parameter, place: Place) -> list[str]:
    roles = fitting(p.name, ROLES)
    if p.default is not p.empty:
        return [*(VALUES["unknown"] if "unknown" in roles else ()), ""]
    own = own_record(p.annotation, place.module)
    return [f"theirs.{own.__name__}()"] if own else [repr(FILLING), repr(FILLING.split()), LIST]


# -- functions


def _functions(place: Place) -> Iterator[TokenText]:
    """Yield the ways to call a function of a text, or of ids, and a vocabulary, an argument or a global."""
    read = names_read(place.thing)
    kept = [(n, held(n, v)) for n, v in vars(place.module).items() if n in read]
    before = tuple(f"theirs.{n} = {entry.partition(': ')[2]}" for n, entry in kept if entry)
    role, given = ("text", "encode") if place.component == "tokenizer" else ("ids", "decode")

    def choices(p: inspect.Parameter, at: int) -> list[str]:
        values = _values(p, ("text", "ids"))
        return [role, *values] if at == 0 or role in fitting(p.name, ROLES) else [*values, role]

    for arguments in calls_of(place.thing, choices):
        if role in arguments.split(", ") and ("config.vocabulary" in arguments or before):
            for kind in _kinds(arguments):
                call = f"{place.name_in_text}({arguments})"
                yield TokenText(kind, before).but(**{given: call})


def _bound(place: Place, text: TokenText, certified: str | None) -> Bound:
    text = with_steps(place, _with_decoding(place, text), lambda one: one.implementation(place))
    shown = (text.made or text.encode or text.decode).replace("theirs.", "").replace("config.", "")
    called = " and ".join(t for t in (text.encode, text.decode) if t).replace("theirs.", "").replace("config.", "")
    left = re.findall(r"\b(\w+)=False", called)
    lines = (
        f"constructor  {shown}" if text.made else f"function     {shown}",
        f"forward      {called}",
        f"tokens       {text.kind}" + (f"; symbols {text.reading}" if text.reading != "attached" else ""),
        *(f"left alone   {REFUSALS[step][1]}" for step in text.steps),
        *(f"left alone   {name}: what it does where it is on is not judged" for name in dict.fromkeys(left)),
        *(["left alone   the tokens that it puts around each text"] if text.encode.endswith("[1:-1]") else []),
    )
    broken = (*left_out(place, text), *seldom_words.left_out(place, text, FILLING))
    return Bound(place, text.draft(), None, certified, lines, doubt=_unmarked(place, certified), broken=broken)


def _unmarked(place: Place, certified: str | None) -> str:
    """Return a doubt about what marks no end of a word, where nothing in the file speaks of such a mark."""
    whole = source_text.text_of_module(place.module)
    if certified != FORGOTTEN or (whole is not None and re.search(MARK, whole.text)):
        return ""
    return "no end of a word is marked, and nothing says that it is: there is no choice of words without marks"


def _with_decoding(place: Place, text: TokenText) -> TokenText:
    """Return the text with the way to decode that is certified, else one that runs, else none.

    What does nothing but decode has been chosen already.
    """
    if not (text.encode and text.decode):
        return text
    certificate = _certificate("detokenizer", text.kind, text.reading)
    runs = []
    for one in [text.but(decode=decode) for decode in text.decodes or (text.decode,)]:
        given = certificate.replies(one.implementation(place))
        if all(isinstance(g, Reply) for g in given):
            runs.append((not certificate.agrees(given, one.conventions()), one))
    if runs and all(wrong for wrong, _ in runs):
        behind = behind_its_own(place, runs[0][1])
        if behind is not None and _agrees(place, "tokenizer", behind) and _agrees(place, "detokenizer", behind):
            return behind
    return min(runs, key=lambda r: r[0])[1] if runs else text.but(decode="")


def _agrees(place: Place, component: str, text: TokenText) -> bool:
    """Return whether a text is right in one direction."""
    certificate = _certificate(component, text.kind, text.reading)
    return certificate.agrees(certificate.replies(text.implementation(place)), text.conventions())
