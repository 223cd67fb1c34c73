"""Changes per requirement: what got worse, vanished, appeared, or got better.

A requirement is the same on both sides if its component is, through whichever lens it was judged: the lens follows from
how a class is called, which may change without its numbers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from attnconf.reports.comparison.matrix import OF_LETTER, letter_of
from attnconf.reports.comparison.runs import warnings
from attnconf.reports.merging import Judged, Named, judged

Result = dict[str, Any]

KINDS = ("worse", "vanished", "unjudged", "appeared", "better")
SAME = "same"  # of what is counted, and not shown
BEST_FIRST = "pnurkwdofe"  # letters of matrix.KINDS
_AS_ONE = str.maketrans("do", "ff")  # a failure is one, whichever other it follows from
VERDICTS = ("conformant", "incomplete", "not-gradable", "unrecognised", "nonconformant")  # the best first


@dataclass(frozen=True)
class Change:
    """One requirement, or one verdict, of one implementation that is not as it was."""

    kind: str  # one of KINDS
    implementation: str
    component: str
    what: str  # the requirement; "verdict"; how many requirements; or "" of a whole component or implementation
    before: str  # in a word; empty where it was not judged
    after: str
    why: str = ""
    result: Result | None = None  # after the change


@dataclass(frozen=True)
class Side:
    """One component of an implementation before, or after."""

    verdict: Result | None  # None where the component is not there
    results: Mapping[str, Result]  # by requirement
    complete: bool  # the run was not cut short
    selected: bool  # -k left something out, perhaps cases of a requirement

    @property
    def part(self) -> str:
        """Why only a part was judged; "" where all was."""
        return "cut short" if not self.complete else "a selection" if self.selected else ""


@dataclass(frozen=True)
class Difference:
    """All changes between two records."""

    names: tuple[str, str]  # of the files
    notes: list[str]  # what makes the comparison less than it seems
    changes: list[Change]
    same: int  # results that are as they were
    after: Mapping[str, Judged]
    like: bool  # the same edition of the suite and the same profile: then nothing may vanish

    def of(self, kind: str) -> list[Change]:
        """Return the changes of a kind."""
        return [change for change in self.changes if change.kind == kind]

    @cached_property
    def regressions(self) -> list[Change]:
        """What got worse, and what is no longer judged though the suite still has it."""
        gone = [c for c in self.of("vanished") if self.like or not c.what]
        return [*self.of("worse"), *gone]


def difference(records: Named) -> Difference:
    """Return what changed from the first of two records to the second."""
    (one, a), (other, b) = records
    before, after = ({i.entry["name"]: i for i in judged([named])} for named in records)
    if len(before) == len(after) == 1:  # one file against another: mine_1.py and mine_2.py
        before = dict(zip(after, before.values(), strict=True))
    found = list[Change]()
    for name in dict.fromkeys([*before, *after]):
        if name in before and name in after:
            found += _of_one(name, before[name], after[name])
        else:
            i = (before | after)[name]
            found.append(_whole(name, "", ", ".join(i.said(v)["verdict"] for v in i.verdicts), name in before))
    changes = [change for change in found if change.kind != SAME]
    like = all(a["suite"][key] == b["suite"][key] for key in ("version", "profile"))
    return Difference((one, other), warnings(records), changes, len(found) - len(changes), after, like)


def _of_one(name: str, before: Judged, after: Judged) -> Iterator[Change]:
    """Yield the changes of one implementation, component by component."""
    of_both = [{v["component"]: v for v in i.verdicts} for i in (before, after)]
    for component in dict.fromkeys([*of_both[0], *of_both[1]]):
        yield from _of_component(name, component or "", *(_side(i, component) for i in (before, after)))


def _side(i: Judged, component: str | None) -> Side:
    verdict = next((i.said(v) for v in i.verdicts if v["component"] == component), None)
    results: dict[str, Result] = {}
    for r in i.results:
        if r["component"] == component:
            results[r["requirement"]] = max(results.get(r["requirement"], r), r, key=_place)
    return Side(verdict, results, i.record["complete"], i.record["suite"]["selected"])


def _of_component(name: str, component: str, before: Side, after: Side) -> Iterator[Change]:
    """Yield the changes of a component: its verdict, its requirements, and how many of these have nothing beside them.

    What a selection or an interruption left out on one side has not vanished.
    """
    there, lacking = (before, after) if before.verdict else (after, before)
    if there.verdict and not lacking.verdict and not lacking.part:
        mended = there is before and not component  # it could not be loaded
        whole = _whole(name, component, there.verdict["verdict"], there is before)
        yield replace(whole, kind="better") if mended else whole
        return
    yield from _of_verdict(name, component, before, after)
    left_out = list[Side]()
    for requirement in dict.fromkeys([*before.results, *after.results]):
        old, new = (side.results.get(requirement) for side in (before, after))
        if side := _not_judged(old, new, before, after):
            left_out.append(side)
        else:
            why = _why(new) if new and letter_of(new) != "p" else ""
            yield Change(_kind(old, new), name, component, requirement, _word(old), _word(new), why, new)
    for side in (before, after):
        if n := sum(one is side for one in left_out):
            was, now = (f"not judged ({side.part})" if one is side else "judged" for one in (before, after))
            yield Change("unjudged", name, component, f"{n} requirement{'s' * (n > 1)}", was, now)


def _not_judged(old: Result | None, new: Result | None, before: Side, after: Side) -> Side | None:
    """Return the side that left a requirement out, or those of its cases that would tell whether it has changed."""
    if not old or not new:
        lacking = after if old else before
        return lacking if lacking.part else None
    was, now = ({case["name"]: case["outcome"] for case in r["cases"]} for r in (old, new))
    if was.keys() == now.keys() or not (before.selected or after.selected):
        return None
    unlike = any(was[name] != now[name] for name in was.keys() & now.keys())
    return None if unlike else before if now.keys() - was.keys() else after


def _of_verdict(name: str, component: str, before: Side, after: Side) -> Iterator[Change]:
    """Yield the change of a verdict, where both are of whole runs, or of one selection."""
    old, new = before.verdict, after.verdict
    if not old or not new or not (before.complete and after.complete) or old["verdict"] == new["verdict"]:
        return
    if (before.selected or after.selected) and before.results.keys() != after.results.keys():
        return
    worse = VERDICTS.index(new["verdict"]) > VERDICTS.index(old["verdict"])
    states = old["verdict"], new["verdict"], new["reason"]
    yield Change("worse" if worse else "better", name, component, "verdict", *states)


def _whole(name: str, component: str, verdict: str, vanished: bool) -> Change:
    """Return that a component, or an implementation, is there on one side alone."""
    kind, before, after = ("vanished", verdict, "") if vanished else ("appeared", "", verdict)
    return Change(kind, name, component, "", before, after)


def _place(r: Result) -> int:
    """Return the place of a result among all that there may be, the best first."""
    return BEST_FIRST.index(letter_of(r).translate(_AS_ONE))


def _kind(old: Result | None, new: Result | None) -> str:
    """Return the kind of a change from one result to another."""
    if not old or not new:
        return "appeared" if new else "vanished"
    before, after = _place(old), _place(new)
    return SAME if before == after else "worse" if after > before else "better"


def _word(r: Result | None) -> str:
    return OF_LETTER[letter_of(r)].word if r else ""


def _why(r: Result) -> str:
    """Return the known mistake, or else what was found."""
    stories = "; and ".join(mistake["story"] for mistake in r["diagnosis"])
    return stories or r["message"] or ""
