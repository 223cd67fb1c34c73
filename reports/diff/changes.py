"""Changes per requirement: what got worse, vanished, appeared, or got better."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from attnconf.reports.comparison.matrix import OF_LETTER, letter_of
from attnconf.reports.comparison.runs import warnings
from attnconf.reports.merging import Judged, Named, judged

Result = dict[str, Any]
Key = tuple[str, str, str]  # component, lens, requirement

KINDS = ("worse", "vanished", "appeared", "better")
BEST_FIRST = "pnurkwdofe"  # letters of matrix.KINDS
_SAME = str.maketrans("do", "ff")  # a failure is one, whichever other it follows from
VERDICTS = ("conformant", "incomplete", "not-gradable", "unrecognised", "nonconformant")  # the best first


@dataclass(frozen=True)
class Change:
    """One requirement, or one verdict, of one implementation that is not as it was."""

    kind: str  # one of KINDS
    implementation: str
    component: str
    what: str  # the requirement; "verdict"; or "" of a whole component or implementation
    before: str  # in a word; empty where it was not judged
    after: str
    why: str = ""
    result: Result | None = None  # after the change


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
    changes, same = list[Change](), 0
    for name in dict.fromkeys([*before, *after]):
        if name in before and name in after:
            found = list(_of_one(name, before[name], after[name]))
            changes += found
            same += len(_results(before[name]).keys() & _results(after[name]).keys())
            same -= sum(c.kind in ("worse", "better") and c.what != "verdict" for c in found)
        else:
            i = (before | after)[name]
            changes.append(_whole(name, "", ", ".join(i.said(v)["verdict"] for v in i.verdicts), name in before))
    like = all(a["suite"][key] == b["suite"][key] for key in ("version", "profile"))
    return Difference((one, other), warnings(records), changes, same, after, like)


def _of_one(name: str, before: Judged, after: Judged) -> Iterator[Change]:
    """Yield the changes of one implementation: its verdicts, then its requirements."""
    yield from _verdicts(name, before, after)
    olds, news = _results(before), _results(after)
    in_both = {component for component, *_ in olds} & {component for component, *_ in news}
    for key in dict.fromkeys([*olds, *news]):
        if key[0] not in in_both:
            continue
        old, new = olds.get(key), news.get(key)
        kind = _kind(letter_of(old) if old else "", letter_of(new) if new else "")
        if kind:
            why = _why(new) if new and letter_of(new) != "p" else ""
            yield Change(kind, name, key[0], key[2], _word(old), _word(new), why, new)


def _verdicts(name: str, before: Judged, after: Judged) -> Iterator[Change]:
    was, now = ({v["component"]: i.said(v) for v in i.verdicts} for i in (before, after))
    for component in dict.fromkeys([*was, *now]):
        old, new = was.get(component), now.get(component)
        if not old or not new:
            yield _whole(name, component or "", (old or new or {})["verdict"], old is not None)
        elif old["verdict"] != new["verdict"]:
            worse = VERDICTS.index(new["verdict"]) > VERDICTS.index(old["verdict"])
            kind = "worse" if worse else "better"
            yield Change(kind, name, component or "", "verdict", old["verdict"], new["verdict"], new["reason"])


def _whole(name: str, component: str, verdict: str, vanished: bool) -> Change:
    """Return that a component, or an implementation, is there on one side alone."""
    kind, before, after = ("vanished", verdict, "") if vanished else ("appeared", "", verdict)
    return Change(kind, name, component, "", before, after)


def _results(i: Judged) -> dict[Key, Result]:
    return {(r["component"], r["lens"], r["requirement"]): r for r in i.results}


def _kind(old: str, new: str) -> str:
    """Return the kind of a change between two letters; "" for none."""
    if not old or not new:
        return "appeared" if new else "vanished"
    places = [BEST_FIRST.index(letter.translate(_SAME)) for letter in (old, new)]
    return "" if places[0] == places[1] else "worse" if places[1] > places[0] else "better"


def _word(r: Result | None) -> str:
    return OF_LETTER[letter_of(r)].word if r else ""


def _why(r: Result) -> str:
    """Return the known mistake, or else what was found."""
    stories = "; and ".join(mistake["story"] for mistake in r["diagnosis"])
    return stories or r["message"] or ""
