"""Find a binding of a chapter whose components are small: write it in every likely way, run it, and compare."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.contents import all_mutants, with_variants
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.mutant import Mutant, reaches
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.translate import others_than
from attnconf.conformance.inference.binding import Bound, Place, Refusal, refused
from attnconf.conformance.inference.drafts import Chapter, Choice, Text, say, texts
from attnconf.conformance.inference.filling import arguments_of
from attnconf.conformance.inference.left_out import with_broken
from attnconf.conformance.inference.probing import search
from attnconf.conformance.inference.trial import ROUNDING, Certificate, gap, why

FLOAT32 = 1e-3  # of what is largest: what angles of thousands of radians are off by in float32
LOOKED_AT = 2  # of those that run and differ, how many are compared with mistakes


class Trials(Certificate):
    """Calls on which what has a meaning in the replies is compared."""

    def __init__(self, chapter: Chapter, requests: Sequence[Request]):
        super().__init__(chapter.component, requests)
        self.chapter, self.view = chapter, chapter.view
        self._wanted: dict[tuple[str, frozenset[tuple[str, str]]], list[Reply | Failure]] = {}

    def wanted(self, declares: Choice, mutant: str = "") -> list[Reply | Failure]:
        key = (mutant, frozenset(declares.items()))
        if key not in self._wanted:
            with search.free():
                self._wanted[key] = self._seen(super().wanted(declares, mutant))
        return self._wanted[key]

    def first_gap(self, given: Sequence[Reply | Failure], declares: Choice, mutant: str) -> float:
        """Return how far the first reply is from a mutant's: enough to exclude most."""
        key = (f"{mutant} first", frozenset(declares.items()))
        if key not in self._wanted:
            self._wanted[key] = Trials(self.chapter, self.requests[:1]).wanted(declares, mutant)
        return gap(given[0], self._wanted[key][0])

    def replies(self, draft: Any) -> list[Reply | Failure]:
        return self._seen(super().replies(draft))

    def _seen(self, replies: Sequence[Reply | Failure]) -> list[Reply | Failure]:
        pairs = zip(replies, self.requests, strict=False)
        return [r if isinstance(r, Failure) else self.view(r, request) for r, request in pairs]


@dataclass(frozen=True)
class Ran:
    """A text that gave something, and what it gave."""

    text: Text
    trials: Trials
    given: list[Reply | Failure]


def seek(place: Place, *chapters: Chapter) -> Bound | Refusal:
    """Return the binding that is the textbook in some conventions, else a known mistake, else the first that runs.

    Several chapters are one component with fewer and fewer options: the textbook with few is likelier than a mistake.
    """
    said: list[str] = []
    ran: list[tuple[Chapter, list[Ran]]] = []
    for chapter in chapters:
        if any("" in chapter.unless or chapter.unless & each.text.given for _, runs in ran for each in runs):
            continue
        for way in chapter.ways:
            before = len(said)
            outcome = _runs(place, chapter, way, said)
            if isinstance(outcome, Bound):
                return outcome
            if any(_is_told_nothing(place, each) for each in outcome):
                return Refusal("it gives its input back, unless it gets more than one")
            if outcome:
                ran.append((chapter, outcome))
            if outcome and len(said) == before:  # all that is likely ran
                break
    for chapter in chapters:
        for each in _worth_comparing([runs for known, runs in ran if known is chapter]):
            found = mistake(each, chapter) or mistake(each, chapter, FLOAT32)
            if found is not None:
                return _bound(place, chapter, each.text, found[0], found[1].id, each.trials.requests[0])
    for chapter, runs in ran[:1]:
        return _bound(place, chapter, runs[0].text, nearest(runs[0], chapter), None, runs[0].trials.requests[0])
    return refused(said, f"it cannot be called as {place.component}")


def _runs(place: Place, chapter: Chapter, way: str, said: list[str]) -> Bound | list[Ran]:
    """Return the first binding that is the textbook in some conventions, else what ran at all."""
    ran: list[Ran] = []
    for text in texts(place, chapter, way, said):
        trials = _trials(chapter, text.declares, way)
        given = trials.replies(text.implementation(place))
        if given and isinstance(given[-1], Failure):
            say(said, why(given[-1]))
            continue
        for choice in choices(chapter.component, text.declares):
            if trials.distance(given, {**choice, **text.declares}) <= ROUNDING:
                return _bound(place, chapter, text, choice, "reference", trials.requests[0])
        ran.append(Ran(text, trials, given))
    return ran


def _worth_comparing(ways: list[list[Ran]]) -> list[Ran]:
    """Return what is compared with mistakes: the first that differ of each way, those of the first way first.

    What ran in one way of asking is no news in another; nor is, where something else ran, what gives its input back: a
    rotation does so that is asked for one position alone.
    """
    seen: set[str] = set()
    found: list[Ran] = []
    for runs in ways:
        fresh = [each for each in runs if each.text.draft().body not in seen and not (found and _idle(each))]
        seen |= {each.text.draft().body for each in runs}
        found += _different(fresh)[:LOOKED_AT]
    return found


def _idle(ran: Ran) -> bool:
    """Return whether all replies are an input as it was."""
    pairs = zip(ran.given, ran.trials.requests, strict=False)
    return all(
        isinstance(reply, Failure)
        or any(isinstance(x, Tensor) and torch.equal(x, reply.out) for x in request.inputs.values())
        for reply, request in pairs
    )


def _is_told_nothing(place: Place, ran: Ran) -> bool:
    """Return whether a function gives its input back while an argument is None that it may do more with."""
    if isinstance(place.thing, type) or not _idle(ran):
        return False
    left = [p for p in arguments_of(place.thing) if p.default is None]
    return any(not re.search(rf"\b{p.name}=", ran.text.call) for p in left)


def _different(ran: list[Ran]) -> list[Ran]:
    """Return those that give other replies than the ones before them."""
    found: list[Ran] = []
    for each in ran:
        if not any(all(gap(a, b) <= ROUNDING for a, b in zip(each.given, o.given, strict=True)) for o in found):
            found.append(each)
    return found


def choices(component: str, fixed: Choice) -> list[dict[str, str]]:
    """Return the sets of conventions that are not fixed, the most common first."""
    free = [{k: v for k, v in other.items() if k not in fixed} for other in others_than(component, {})]
    return [dict(pairs) for pairs in dict.fromkeys(tuple(d.items()) for d in [{}, *free])]


def mistake(ran: Ran, chapter: Chapter, rounding: float = ROUNDING) -> tuple[dict[str, str], Mutant] | None:
    """Return the conventions, and the mistake of ours that gives all replies in them and that shows there."""
    for choice in chapter.plausible(ran.given, choices(chapter.component, ran.text.declares)):
        declares = {**choice, **ran.text.declares}
        for mutant in _mutants(chapter.component):
            if ran.trials.first_gap(ran.given, declares, mutant.id) > rounding:
                continue
            if ran.trials.distance(ran.given, declares, mutant.id) <= rounding:
                wanted = zip(ran.trials.wanted(declares, mutant.id), ran.trials.wanted(declares), strict=True)
                if any(gap(a, b) > 10 * rounding for a, b in wanted):
                    return choice, mutant
    return None


@cache
def _mutants(component: str) -> list[Mutant]:
    reached = [m.id for m in all_mutants().values() if reaches(component, m)]
    return [variant for name in reached for variant in with_variants(name)]


def nearest(ran: Ran, chapter: Chapter) -> dict[str, str]:
    """Return the conventions in which the textbook is least far away; rare ones have to be much nearer."""
    found = chapter.plausible(ran.given, choices(chapter.component, ran.text.declares))
    return min(found, key=lambda c: ran.trials.distance(ran.given, {**c, **ran.text.declares}) * (1 + len(c)))


_made: dict[tuple[str, frozenset[tuple[str, str]], str], Trials] = {}


def _trials(chapter: Chapter, fixed: Choice, way: str) -> Trials:
    """Return the calls of a trial; what the textbook gives in them is kept for the next file."""
    key = (chapter.component, frozenset(fixed.items()), way)
    if key not in _made:
        _made[key] = Trials(chapter, chapter.requests(fixed, way))
    return _made[key]


def _bound(place: Place, chapter: Chapter, text: Text, choice: Choice, certified: str | None, asked: Request) -> Bound:
    text = chapter.after(place, text, {**choice, **text.declares})
    declares = {**choice, **text.declares}
    conventions = ", ".join(f"{k} {v}" for k, v in declares.items()) or "those of the spec"
    plain = re.sub(r"\btheirs\.|\bconfig\.", "", text.shown)
    kind = "constructor" if isinstance(place.thing, type) else "function   "
    told = (f"{kind}  {plain}", f"forward      {text.call} -> {text.reader}", f"conventions  {conventions}")
    return with_broken(Bound(place, text.draft(declares), None, certified, told), asked)
