"""Bind a class or function as a trainer of byte-pair encoding."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

from attnconf.adapters.contract import BpeTrainerConfig
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.finding.by_doing import given as how_many
from attnconf.conformance.inference.finding.by_doing import is_count, own_methods
from attnconf.conformance.inference.tokens.encoders import with_encoding
from attnconf.conformance.inference.tokens.learnt import READINGS, found_in
from attnconf.conformance.inference.trials.binding import Attempts, Bound, Place, Refusal
from attnconf.conformance.inference.trials.filling import calls_of
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.trials.proving import Prover, Reading, prove
from attnconf.conformance.inference.trials.slots import Hypothesis, Slots
from attnconf.conformance.inference.trials.trial import Certificate
from attnconf.conformance.inference.words.records import own_record
from attnconf.conformance.inference.words.vocabulary import fitting

WORDS = {
    "list": "list(words)",
    "text": '" ".join(words)',
    "counts": "tallied(words)",
    "counts of symbols": "{tuple(spelt(w, ATTACHED)): n for w, n in tallied(words).items()}",
    "counts of symbols with spaces": '{" ".join(spelt(w, ATTACHED)): n for w, n in tallied(words).items()}',
    "lists of symbols": "[spelt(w, ATTACHED) for w in words if w]",
}
SIZE = "SIZE"  # of the vocabulary with so many merges: what symbols there are, and the merges
ROLES = {
    "size": r"(target_?|max_?|final_?)?(vocab(ulary)?|dict(ionary)?)_?(size|len|length)|(n|num)_?(vocab|tokens)|size",
    "number": r"(num|n|number_?of|max)?_?(merges|iterations|iters|steps|ops|operations|rules|merge_?ops)|"
    r"(nb|nombre)_?(de_?)?(fusions|paires)|k|n|num|symbols|count",
    "words": r"words|corpus|text|data|vocab(ulary)?|word_?(freqs?|counts?|list)|tokens|counts|freqs|texts|sentences|"
    r"splits|dictionary|lines|documents",
    "least": r"(min(imum|imal)?|least)_?(pair_?)?(freq(uency)?|count|occurrences?)",
}
TRAIN = (
    r"(train|fit|learn|build|fit_on|learn_from|entrainer|apprendre)"
    r"(_(bpe|merges|from_words|from_text|tokenizer|vocab|words|text))?"
)
CORPORA = (
    ["far"] * 2 + ["newest"] + ["her"] * 8 + ["power"] * 7 + ["wear"] * 2 + ["low"] * 3,
    ["abab"] * 4 + ["abc"] * 3 + ["cab"] * 2 + ["bca"],
)
SYMBOLS = {
    "attached": "len({s for w in words for s in spelt(w, True)})",
    "separate": "len({s for w in words for s in spelt(w, False)})",
    "none": 'len(set("".join(words)))',
    "bytes": "256",
}
TEXTS = [*["qab", "rab"] * 3, "cdx", "cdy", "cdz", "cdu", "b"]  # ab more often, cd in more different ones; a mark most
LEAST = "1"  # times that a pair must occur, where that is an option
FEW = 3  # a number of which that is the default is one of times, not of merges
LEARNT = (2, 1)  # so many merges are no matter of a tie, wherever the mark stands, nor if each word is counted once


@dataclass(frozen=True)
class TrainerText(Hypothesis):
    """One way to have merges learnt."""

    given: str  # what the words are given as
    before: tuple[str, ...]
    merges: str = ""  # an expression
    mark: str = ""  # of the end of a word, where it is another than ours
    reading: str = ""  # what symbols may be, of READINGS

    def read(self, reading: str) -> "TrainerText":
        """Return the text as it is written for words, or for what there is instead of them."""
        size = f"config.num_merges + {SYMBOLS[reading]}"
        lines = [line.replace(SIZE, size).replace("ATTACHED", str(reading == "attached")) for line in self.before]
        return self.but(before=tuple(lines), reading=reading)

    def conventions(self) -> Mapping[str, str]:
        return READINGS[self.reading]

    def slots(self) -> tuple[Slots, ...]:
        pairs = "byte_pairs" if self.reading == "bytes" else "pairs"
        mark = f", {self.mark!r}" if self.mark else ""
        return (Slots("bpe_trainer", "words", masks=self.before, call=f"{pairs}({self.merges}{mark})"),)


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function as a trainer, or what stands against it."""
    prover, certificates = Prover[TrainerText](place), dict[tuple[str, bool], Certificate]()

    def reading(text: TrainerText) -> Reading[TrainerText]:
        key = text.reading, text.given == "list"
        return Reading(text, certificates.setdefault(key, Certificate("bpe_trainer", list(requests(*key)))))

    proof = prove(prover, ([reading(text)] for text in _that_learn(place, prover.failures)))
    if proof is None:
        return prover.refusal("there is no way to have it learn merges")
    return _bound(place, proof.hypothesis, proof.certified)


def requests(reading: str, several: bool = False) -> Iterator[Request]:
    """Yield what to learn from: words, or one text where there are none, and ``several`` where it may be more."""
    if several and reading in ("none", "bytes"):
        yield Request("bpe_trainer", BpeTrainerConfig(1), {}, {"words": TEXTS}, ())
    for n, words in zip(LEARNT, CORPORA, strict=True):
        given = words if reading in ("attached", "separate") else [" ".join(words)]
        yield Request("bpe_trainer", BpeTrainerConfig(n), {}, {"words": given}, ())


def _that_learn(place: Place, failures: Attempts) -> Iterator[TrainerText]:
    """Yield each way, in each reading, in which something learns, and gives or keeps what looks like merges."""
    tried: set[tuple[str, ...]] = set()
    for text in texts(place):
        for reading in READINGS if text.given in ("list", "text") else ("attached", "separate"):
            one = text.read(reading)
            request = next(requests(reading))
            if (key := (*one.before, *request.inputs["words"])) in tried:
                continue  # as for another reading: what is learnt is the same, and read below
            tried.add(key)
            try:
                there = found_in(place.module, one.before, request)
            except Failed as failed:
                failures.say(str(failed))
                continue
            for out, of_bytes, mark in there:
                for other in _alike(reading):
                    if of_bytes == (other == "bytes") and text.read(other).before == one.before:
                        yield one.but(merges=out, mark=mark, reading=other)


def _alike(reading: str) -> tuple[str, ...]:
    """Return the readings that are given the same corpus."""
    return ("attached", "separate") if reading in ("attached", "separate") else ("none", "bytes")


def texts(place: Place) -> Iterator[TrainerText]:
    """Yield the ways to have merges learnt, the likeliest first."""
    for given in WORDS:
        if isinstance(place.thing, FunctionType):
            yield from _functions(place, given)
        elif isinstance(place.thing, type):
            yield from _methods(place, given)


def _functions(place: Place, given: str) -> Iterator[TrainerText]:
    for arguments in calls_of(place.thing, lambda p, at: _values(p, given)):
        if WORDS[given] in arguments and _asks_for_merges(arguments):
            yield TrainerText(given, (f"result = {place.name_in_text}({arguments})",))


def _asks_for_merges(arguments: str) -> bool:
    return arguments.count("config.num_merges") + arguments.count(SIZE) == 1


def _values(p: inspect.Parameter, given: str) -> list[str]:
    meant = {"number": "config.num_merges", "words": WORDS[given], "least": LEAST, "size": SIZE}
    found = [meant[role] for role in fitting(p.name, ROLES)]
    if p.default is not p.empty:
        counts = [t for t in found if t in ("config.num_merges", LEAST, SIZE)]
        return [*(counts or (_counted(p) if not found else [])), ""]
    return [*found, *(t for t in (WORDS[given], "config.num_merges", SIZE) if t not in found)]


def _counted(p: inspect.Parameter) -> list[str]:
    """Return what a parameter may get whose name says nothing, by the number that is its default."""
    if not is_count(p):
        return []
    return [LEAST, "config.num_merges"] if p.default <= FEW else ["config.num_merges", SIZE]


def _methods(place: Place, given: str) -> Iterator[TrainerText]:
    """Yield objects that learn by a method, and give the merges or keep them."""
    for method in _that_may_learn(place.thing):
        function = getattr(place.thing, method, None)
        if isinstance(function, MethodType):  # of the class, which makes the object
            yield from _made_by(place, function, given)
        if not isinstance(function, FunctionType) or function.__module__.partition(".")[0] == "torch":
            continue
        for built in calls_of(place.thing, lambda p, at: _built_with(p, place)):
            for arguments in _without_self(function, given):
                if _asks_for_merges(f"{built}, {arguments}") and WORDS[given] in arguments:
                    before = (f"made = {place.name_in_text}({built})", f"result = made.{method}({arguments})")
                    yield TrainerText(given, before)


def _that_may_learn(thing: type) -> list[str]:
    """Return the methods of a class that are called so, else all that are given a text, or a text and a number."""
    named = [name for name in dir(thing) if re.fullmatch(TRAIN, name)]
    return named or [name for name, function in own_methods(thing).items() if how_many(function) in (1, 2)]


def _made_by(place: Place, method: MethodType, given: str) -> Iterator[TrainerText]:
    """Yield objects that a method of their class makes of words."""
    for arguments in calls_of(method, lambda p, at: _values(p, given)):
        if _asks_for_merges(arguments) and WORDS[given] in arguments:
            made = f"made = {place.name_in_text}.{method.__name__}({arguments})"
            yield TrainerText(given, (made, "result = made"))


def _built_with(p: inspect.Parameter, place: Place) -> list[str]:
    if own := own_record(p.annotation, place.module):
        return [f"theirs.{own.__name__}({words})" for words in _entries(own)]
    roles = fitting(p.name, ROLES)
    if "least" in roles:
        return [LEAST]
    number = [*(["config.num_merges"] if "number" in roles else ()), *([SIZE] if "size" in roles else ())]
    if p.default is not p.empty:
        return [*(number or (_counted(p) if not roles else [])), ""]
    return [*number, *(t for t in ("config.num_merges",) if not number)]


def _entries(kind: type) -> Iterator[str]:
    """Yield the arguments for a class of configurations: one of its numbers is that of merges."""
    for words in calls_of(kind, lambda p, at: _built_entries(p)):
        if _asks_for_merges(words):
            yield words


def _built_entries(p: inspect.Parameter) -> list[str]:
    values = [] if p.default is p.empty else [""]
    meant = {"number": "config.num_merges", "least": LEAST, "size": SIZE}
    found = [meant[role] for role in fitting(p.name, ROLES) if role in meant]
    return [*(found or (["config.num_merges", SIZE] if p.default is p.empty else _counted(p))), *values]


def _without_self(function: Any, given: str) -> Iterator[str]:
    def method(*args: Any, **kwargs: Any) -> None: ...

    signature = inspect.signature(function)
    method.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
    yield from calls_of(method, lambda p, at: _values(p, given))


def _bound(place: Place, text: TrainerText, certified: str | None) -> Bound:
    shown = [line.replace("theirs.", "").replace("config.", "") for line in text.before]
    conventions = ", ".join(map(" ".join, text.conventions().items()))
    lines = (
        *(f"calls        {line}" for line in shown),
        f"merges       {text.merges}; the words as {text.given}; {conventions}",
    )
    bound = Bound(place, text.draft(), None, certified, lines)
    return with_encoding(bound, text.before, next(requests(text.reading)), text.mark)
