"""Flags that say whether attention is causal: which they are, and in which position it is, found by experiment.

Attention is bound with its flags as they are by default. Then each is turned: what is now causal, and was not, or the
other way round, is asked for both.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.building.construction import for_each_length, lengths_of
from attnconf.conformance.inference.masks.returned import Requests
from attnconf.conformance.inference.texts.attention_requests import called_alike
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.budgets import FLAGS
from attnconf.conformance.inference.trials.calling import (
    ABOUT_CAUSALITY,
    Form,
    either,
    parameters,
    says_nothing,
    telling,
)
from attnconf.conformance.inference.trials.trial import Certificate, all_same, kept_certificate, same
from attnconf.conformance.inference.words.records import entries_of, records_made
from attnconf.conformance.inference.words.vocabulary import SIZES, meanings
from attnconf.conformance.source.signatures import parameters_of

ON, OFF = "config.causal", "not config.causal"


@dataclass(frozen=True)
class Flag:
    """An argument, of a call or of the constructor, that is true or false."""

    name: str
    default: bool
    shown: str  # as it is by default
    within: str = ""  # the call in the construction's text that takes it; "" for an argument of the call itself
    named: bool = False  # its name says that attention is causal where it is on
    telling: bool = True  # it is true or false, and nothing else: a word is due if it is not asked for

    def given(self, text: AttentionText, expression: str) -> AttentionText:
        """Return the text with this flag given."""
        if not self.within:
            return text.but(form=text.form.giving(self.name, "causal"), flags={**text.flags, self.name: expression})
        made = text.made.text
        if self.within in ("=", ": "):  # an entry that is written out
            one = rf'(\b{self.name}"?{self.within})(True|False)\b'
            changed = re.sub(one, lambda m: m[1] + expression, made, count=1)
        elif made.startswith(self.within):
            comma = "" if made == f"{self.within})" else ", "
            changed = f"{made[:-1]}{comma}{self.name}={expression})"
        else:
            changed = made.replace(self.within, f"{self.within}{self.name}={expression}, ", 1)
        return text.but(made=replace(text.made, text=changed, given=text.made.given | {"causal"}))


def flags_of(place: Place, text: AttentionText) -> list[Flag]:
    """Return the flags that a text leaves as they are, those first whose names say what they are."""
    found = [*_of_call(place, text), *_of_constructor(place, text)]
    return sorted(found, key=lambda flag: not flag.named)[:FLAGS]


def _of_call(place: Place, text: AttentionText) -> Iterator[Flag]:
    roles = {slot.name: slot.role for slot in text.form.slots}
    for p in parameters(place.thing):
        if p.name in text.flags or p.name in text.masks or (p.name not in roles and p.kind is p.POSITIONAL_ONLY):
            continue
        default = False if p.default is p.empty else bool(p.default)
        flag = Flag(p.name, default, f"{p.name}={p.default}", telling=isinstance(p.default, bool))
        if roles.get(p.name) == "causal":
            yield replace(flag, named=not either(p.name))
        elif (says_nothing(p.name) or _is_a_letter(p)) and (
            roles.get(p.name) == "mask" or isinstance(p.default, bool | None)
        ):
            yield flag


def _is_a_letter(p: inspect.Parameter) -> bool:
    """Return whether a parameter is true or false by its default: its letter is no size then."""
    return len(p.name) == 1 and isinstance(p.default, bool)


def _of_constructor(place: Place, text: AttentionText) -> Iterator[Flag]:
    made = text.made.text
    own = f"{place.name_in_text}("
    if isinstance(place.thing, type) and made.startswith(own):
        yield from _of_entries(defaults_of(place.thing), made, own)
    for kind in records_made(place.module, made[len(own) :]):
        entries = {entry.name: entry.default for entry in entries_of(kind)}
        yield from _of_entries(entries, made, f"theirs.{kind.__name__}(")
    for sign in ("=", ": "):
        written = re.findall(rf'\b(\w+)"?{sign}(True|False)\b', made)
        yield from _of_entries({name: value == "True" for name, value in written}, "", sign)


def defaults_of(kind: Any) -> dict[str, Any]:
    """Return the defaults of the parameters with which something is called, by their names."""
    return {p.name: p.default for p in parameters_of(kind)}


def _of_entries(entries: dict[str, Any], made: str, within: str) -> Iterator[Flag]:
    """Yield the flags among arguments, with their defaults, that a construction does not give."""
    for name, default in entries.items():
        known = set(meanings(name, SIZES)) - ABOUT_CAUSALITY
        if isinstance(default, bool) and not known and not telling(name) and not re.search(rf"\b{name}=", made):
            named = "causal" in meanings(name, SIZES) and not either(name)
            yield Flag(name, default, f"{name}={default}", within, named)


@dataclass(frozen=True)
class Turned:
    """A flag in its other position: the text in which it is asked for, and what came of that."""

    text: AttentionText
    outcome: str  # right, mistake, other, nothing (changes), fails
    hides: bool = False  # where it stands decides whether what is later counts


@dataclass(frozen=True)
class Trials:
    """What is needed to turn the flags of a class or a function, and to compare what comes of it."""

    place: Place
    sizes: Any
    request: Requests
    mistake: str = ""  # the mutant that it is known to be

    def turned(self, text: AttentionText, flag: Flag) -> Turned:
        """Return what comes of a flag in its other position, where attention is causal if it was not by default."""
        if decided(text) and not flag.named:
            return self._turned_alone(text, flag)
        if flag.named and flag.default != text.causal_always:
            return self._turned_against_its_name(text, flag)
        expression = ON if flag.default == text.causal_always else OFF
        other = flag.given(text.but(causal_always=False), expression)
        certificate = self._calls(other, causal=not text.causal_always)
        given = self._replies(other, certificate)
        if isinstance(given[-1], Failure):
            return Turned(other, "fails")
        before = self._replies(text, self._calls(text, causal=text.causal_always))
        if all_same(given, before):
            return Turned(other, "nothing")
        declares = other.conventions()
        if certificate.agrees(given, declares, self.mistake):
            return Turned(other, "right")
        if self._mistaken(other, certificate, given, flag, causal=not text.causal_always):
            return Turned(other, "mistake")
        hides = self._looks_back(text, text.causal_always) != self._looks_back(other, not text.causal_always)
        return Turned(other, "other", hides)

    def _turned_against_its_name(self, text: AttentionText, flag: Flag) -> Turned:
        """Return what comes of a flag that is off where attention is causal, or on where it is not."""
        found = self._turned_alone(text, flag)
        if found.outcome != "other":
            return found
        return Turned(flag.given(text.but(causal_always=False), ON), "other")

    def _turned_alone(self, text: AttentionText, flag: Flag) -> Turned:
        """Return what comes of a flag in its other position, where another one decides about causality."""
        other = flag.given(text, str(not flag.default))
        calls = self._calls(text, text.causal_always)
        given, before = self._replies(other, calls), self._replies(text, calls)
        if isinstance(given[-1], Failure):
            return Turned(other, "fails")
        same = all_same(given, before)
        return Turned(other, "nothing" if same else "other")

    def _calls(self, text: AttentionText, causal: bool) -> Certificate:
        """Return calls without masks, as many queries as keys."""
        wide, back = getattr(text, "value_width", True), causal or text.causal_always
        calls = zip(self.sizes, (2, 3), (6, 5), strict=True)
        return kept_certificate(
            text.component,
            ("flags", self.sizes, *called_alike(text), wide, back),
            lambda: [self.request(text, size, B, L, L, {}, causal=causal) for size, B, L in calls],
        )

    def _replies(self, text: AttentionText, certificate: Certificate) -> list[Reply | Failure]:
        return certificate.replies(text.implementation(self.place))

    def _mistaken(
        self, text: AttentionText, certificate: Certificate, given: list[Reply | Failure], flag: Flag, causal: bool
    ) -> bool:
        """Return whether it is a known mistake; of a flag whose name says nothing, one in what causality does."""
        if self.mistake:
            return False
        declares = text.conventions()
        without = self._calls(text, causal=not causal)
        for mutant in certificate.mistakes(given, declares):
            pairs = zip(certificate.wanted(declares, mutant.id), without.wanted(declares, mutant.id), strict=True)
            if flag.named or any(not same(a, b) for a, b in pairs):
                return True
        return False

    def _looks_back(self, text: AttentionText, causal: bool) -> bool:
        """Return whether nothing depends on what is later."""
        one: Request = self._calls(text, causal).requests[0]
        inputs = {name: x.clone() for name, x in one.inputs.items()}
        for x in inputs.values():
            x[..., -1, :] += 1
        first, second = self._replies(text, Certificate(text.component, [one, replace(one, inputs=inputs)]))[:2]
        if isinstance(first, Failure) or isinstance(second, Failure):
            return False
        early = [
            replace(r, out=r.out[..., :-1, :].nan_to_num()) for r in (first, second)
        ]  # what sees nothing may be NaN
        return same(*early)


def decided(text: AttentionText) -> bool:
    """Return whether there is a flag already that decides whether attention is causal."""
    return "causal" in text.made.given or bool(text.flags)


def with_flags(
    place: Place, text: AttentionText, sizes: Any, request: Requests, certified: str | None
) -> AttentionText:
    """Return the text with the flags that decide whether attention is causal, and a word on those that are not asked.

    A flag whose name says that it is for causality is asked for though what it does is neither right nor a known
    mistake; but not if it does nothing alone and a mask can be given, too, which it may be a word on.
    """
    if certified is None:
        return text.but(flags={**{slot.name: ON for slot in text.form.of("causal")}, **text.flags})
    trials = Trials(place, sizes, request, "" if certified == "reference" else certified)
    masked = bool(text.form.of("mask"))
    for flag in flags_of(place, text):
        text, found = _turned(trials, text, flag)
        idle = not masked and not text.causal_always and not flag.within  # it is its mistake that it does nothing
        broken = found.outcome == "fails" and not masked and not flag.within  # it may want a mask beside it
        as_named = flag.named and (found.outcome == "other" or idle or broken)
        if found.outcome in ("right", "mistake") or as_named:
            text = found.text
        elif flag.telling and (found.outcome != "nothing" or flag.named):
            text = _told(text, flag, found)
    slots = (s for s in text.form.slots if s.role != "causal" or s.required or s.name in text.flags)
    return text.but(form=Form(tuple(slots)))


def _turned(trials: Trials, text: AttentionText, flag: Flag) -> tuple[AttentionText, Turned]:
    """Return what comes of a flag in its other position, and the text: built for each length, if only so it runs."""
    found = trials.turned(text, flag)
    names = lengths_of(text.made)
    if found.outcome != "fails" or flag.within or not names or text.component != "multi_head_attention":
        return text, found
    anew = text.but(made=for_each_length(text.made), one_length=names)
    other = trials.turned(anew, flag)
    return (text, found) if other.outcome == "fails" else (anew, other)


def _told(text: AttentionText, flag: Flag, found: Turned) -> AttentionText:
    """Return the text with a word on a flag that is left as it is, and a doubt where both positions should be asked."""
    if found.hides:
        words = f"{flag.name}={not flag.default} changes which tokens count, and is neither right nor a known mistake"
        return text.but(doubt=text.doubt or words)
    words = "nothing depends on it" if found.outcome == "nothing" else "what it does otherwise is not judged"
    words = f"{flag.shown}: {words}"
    return text.but(left_alone=(*text.left_alone, words))
