"""Bind a class or function as a trainer of byte-pair encoding."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from attnconf.adapters.contract import CONVENTIONS, BpeTrainerConfig
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.binding import Bound, Place, Refusal, refused
from attnconf.conformance.inference.encoders import with_encoding
from attnconf.conformance.inference.plain import arguments_of, matches
from attnconf.conformance.inference.trial import ROUNDING, Certificate, Draft, why

WORDS = {
    "list": "list(words)",
    "text": '" ".join(words)',
    "counts": "tallied(words)",
    "counts of symbols": "{tuple(spelt(w, ATTACHED)): n for w, n in tallied(words).items()}",
    "counts of symbols with spaces": '{" ".join(spelt(w, ATTACHED)): n for w, n in tallied(words).items()}',
    "lists of symbols": "[spelt(w, ATTACHED) for w in words if w]",
}
ROLES = {
    "number": r"(num|n|number_?of|max)?_?(merges|iterations|iters|steps|ops|operations|rules|merge_?ops)|"
    r"k|n|num|symbols|count",
    "words": r"words|corpus|text|data|vocab(ulary)?|word_?(freqs?|counts?|list)|tokens|counts|freqs|texts|sentences|"
    r"splits|dictionary|lines|documents",
    "least": r"(min(imum|imal)?|least)_?(pair_?)?(freq(uency)?|count|occurrences?)",
}
TRAIN = ("train", "fit", "learn", "train_bpe", "learn_bpe", "train_from_words", "build", "learn_merges")
KEPT = ("merges", "rules", "bpe_merges", "merge_rules", "pairs", "codes", "bpe_codes", "merges_", "ranks")
CORPORA = (
    ["low"] * 5 + ["lowest"] * 3 + ["newer"] * 7 + ["wider"] * 4,
    ["abab"] * 4 + ["abc"] * 3 + ["cab"] * 2 + ["bca"],
)
LEAST = "1"  # times that a pair must occur, where that is an option
LEARNT = (2, 1)  # so many merges are no matter of a tie


@dataclass(frozen=True)
class TrainerText:
    """One way to have merges learnt."""

    given: str  # what the words are given as
    before: tuple[str, ...]
    merges: str  # an expression

    def draft(self, end: str) -> Draft:
        lines = ["def bpe_trainer(config, weights):", "    def forward(words):"]
        lines += [f"        {line}" for line in (*self.before, f"return pairs({self.merges})")]
        body = "\n".join([*lines, "", "    return forward", ""]).replace("ATTACHED", str(end == "attached"))
        return Draft("bpe_trainer", body, {"word-end": end})


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function as a trainer, or what stands against it."""
    said: list[str] = []
    ran: list[tuple[TrainerText, str, str]] = []
    asked = zip(LEARNT, CORPORA, strict=True)
    requests = [Request("bpe_trainer", BpeTrainerConfig(n), {}, {"words": words}, ()) for n, words in asked]
    certificate = Certificate("bpe_trainer", requests)
    for text in texts(place):
        once: dict[str, list[Any]] = {}
        for end in CONVENTIONS["word-end"]:
            draft = text.draft(end)
            if draft.body not in once:
                once[draft.body] = certificate.replies(draft.implementation(place.module))
            given = once[draft.body]
            if len(given) < len(certificate.requests) or isinstance(given[-1], Failure):
                said += [why(given[-1])] if given and isinstance(given[-1], Failure) else []
                continue
            if certificate.distance(given, draft.declares) <= ROUNDING:
                return _bound(place, text, end, "reference")
            mistake = certificate.mistake(given, draft.declares)
            ran.append((text, end, mistake.id if mistake else ""))
    ran.sort(key=lambda r: not r[2])
    if ran:
        text, end, known = ran[0]
        return _bound(place, text, end, known or None)
    return refused(said, "there is no way to have it learn merges")


def texts(place: Place) -> Iterator[TrainerText]:
    """Yield the ways to have merges learnt, the likeliest first."""
    for given in WORDS:
        if isinstance(place.thing, FunctionType):
            yield from _functions(place, given)
        elif isinstance(place.thing, type):
            yield from _methods(place, given)


def _functions(place: Place, given: str) -> Iterator[TrainerText]:
    for arguments in arguments_of(place.thing, lambda p, at: _values(p, given)):
        if WORDS[given] in arguments and "config.num_merges" in arguments:
            for out in ("result", "result[0]", "result[1]"):
                yield TrainerText(given, (f"result = {place.name_in_text}({arguments})",), out)


def _values(p: inspect.Parameter, given: str) -> list[str]:
    meant = {"number": "config.num_merges", "words": WORDS[given], "least": LEAST}
    found = [meant[role] for role in matches(p.name, ROLES)]
    if p.default is not p.empty:
        return [*(t for t in found if t in ("config.num_merges", LEAST)), ""]
    return [*found, *(t for t in (WORDS[given], "config.num_merges") if t not in found)]


def _methods(place: Place, given: str) -> Iterator[TrainerText]:
    """Yield objects that learn by a method, and give the merges or keep them."""
    for method in TRAIN:
        function = getattr(place.thing, method, None)
        if not isinstance(function, FunctionType):
            continue
        for built in arguments_of(place.thing, lambda p, at: _built_with(p)):
            for arguments in _without_self(function, given):
                if (built + arguments).count("config.num_merges") != 1 or WORDS[given] not in arguments:
                    continue
                before = (f"made = {place.name_in_text}({built})", f"result = made.{method}({arguments})")
                for out in ("result", "result[0]", *(f"made.{name}" for name in KEPT)):
                    yield TrainerText(given, before, out)


def _built_with(p: inspect.Parameter) -> list[str]:
    if "least" in matches(p.name, ROLES):
        return [LEAST]
    number = ["config.num_merges"] if "number" in matches(p.name, ROLES) else []
    return [*number, ""] if p.default is not p.empty else [*number, *(t for t in ("config.num_merges",) if not number)]


def _without_self(function: Any, given: str) -> Iterator[str]:
    def method(*args: Any, **kwargs: Any) -> None: ...

    signature = inspect.signature(function)
    method.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
    yield from arguments_of(method, lambda p, at: _values(p, given))


def _bound(place: Place, text: TrainerText, end: str, certified: str | None) -> Bound:
    shown = [line.replace("theirs.", "").replace("config.", "") for line in text.before]
    lines = (
        *(f"calls        {line}" for line in shown),
        f"merges       {text.merges}; the words as {text.given}; word-end {end}",
    )
    return with_encoding(Bound(place, text.draft(end), None, certified, lines), text.before)
