"""From a submission's record to its grade: a pure function, which walks over the plan and never over the record."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from attnconf.conformance.grading.found import Found, Result, found, passing, status_of
from attnconf.conformance.grading.rubric import Item, Rubric, Wanted
from attnconf.conformance.grading.well_formed import fault
from attnconf.spec import registry

Record = dict[str, Any]
# Why a requirement earned nothing, or not all: the first is no failure.
STATUSES = (
    "passed", "value", "shape", "dtype", "nonfinite", "property", "raised", "timeout", "out-of-memory", "crashed",
    "exited", "protocol", "unsupported", "not-applicable", "not-judged", "unrecognised", "empty", "blocked", "error",
)  # fmt: skip
LACKS = "not offered: "
OF_A_COURSE = "the course's check raises"  # as engine.judge says it
NOT_OFFERED = ("not-applicable", "unsupported", "not-judged")  # nothing failed, and nothing was shown
# Of a record: whose results may earn something; of the others nothing is read.
_MAY_EARN = ("judged", "timeout", "crashed", "out-of-memory")
_OF_A_RECORD = ("timeout", "out-of-memory", "crashed", "error")  # its status is that of its requirements


@dataclass(frozen=True)
class Planned:
    """A requirement on a component that earns points: fixed before any submission runs.

    ``telling``: whatever computes nothing fails it.
    """

    component: str
    requirement: str
    telling: bool


@dataclass(frozen=True)
class Part:
    """What a submission earned of one requirement."""

    component: str
    requirement: str
    earned: float  # of 1
    status: str  # one of STATUSES
    sentence: str  # of the specification
    spec: str  # where that stands, as reports/schema/results-1.json has it
    message: str  # what was found, of a failure; it came in part from the submission
    mistake: str = ""  # the id of the known mistake that was found behind it
    story: str = ""  # that mistake in words
    hint: str = ""  # how to mend it
    where: str = ""  # the line of the submission
    follows_from: tuple[str, ...] = ()  # of which other failures it is a consequence


@dataclass(frozen=True)
class Scored:
    """What a submission earned of one item of the rubric."""

    name: str
    component: str
    earned: float
    points: float
    status: str  # "full", "partial", "none", "blocked"
    reason: str  # in words; "" where all was earned
    visibility: str
    hint: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Grade:
    """The grade of a submission."""

    submission: str  # the name of its folder or file: whatever its author chose, so escape it
    file: str
    score: float
    points: float
    status: str  # of the record: "judged", or why it could not be
    message: str  # words on that
    verdicts: tuple[str, ...]  # a line for each component
    items: tuple[Scored, ...]
    notes: tuple[str, ...] = ()  # advisory: forbidden names that were seen
    for_instructor: tuple[str, ...] = ()  # what an instructor should look at, never shown to students


@dataclass(frozen=True)
class _Component:
    """What became of a component, whatever the items make of it."""

    parts: tuple[tuple[Part, float], ...] = ()  # each with the share of its cases that pass, where that may earn
    verdicts: tuple[str, ...] = ()
    for_instructor: tuple[str, ...] = ()


def grade(rubric: Rubric, plan: Sequence[Planned], record: Any) -> Grade:
    """Return what a submission earns by a rubric, of a plan that was made before it ran.

    It walks over the plan: what a record lacks has failed, and what is not in the plan earns nothing. A record that is
    malformed, or contradicts itself, earns nothing.
    """
    own = record if isinstance(record, dict) else {}
    wrong = fault(record)
    words = f"the record of this submission cannot be used: {wrong}" if wrong else own["message"]
    status = "error" if wrong else own["status"]
    results = own.get("results") if status in _MAY_EARN else None
    components = [_component(wanted, plan, results, (status, words), rubric) for wanted in rubric.wanted]
    parts = {(part.component, part.requirement): (part, share) for one in components for part, share in one.parts}
    items = _items(rubric, parts)
    return Grade(
        submission=str(own.get("submission", "")),
        file=str(own.get("file", "")),
        score=round(sum(item.earned for item in items), 2),
        points=round(rubric.points, 2),
        status=status,
        message=words,
        verdicts=tuple(line for one in components for line in one.verdicts),
        items=items,
        notes=() if wrong else tuple(own["notes"]),
        for_instructor=(*([words] if wrong else []), *(line for one in components for line in one.for_instructor)),
    )


def _component(
    wanted: Wanted, plan: Sequence[Planned], results: Record | None, why: tuple[str, str], rubric: Rubric
) -> _Component:
    """Return what became of a component. ``why``: the record's status and message, where there are no results."""
    planned = [one for one in plan if one.component == wanted.component]
    of_it = found(wanted, results) if results else Found()
    became = {one.requirement: status_of(of_it.of(one.requirement)) for one in planned}
    if results is None:
        bar = (why[0] if why[0] in _OF_A_RECORD else "not-judged"), why[1] or "the submission could not be judged"
        parts = [(_part(one, "not-judged", {}, bar), 0.0) for one in planned]
        return _Component(tuple(parts), (f"{wanted.component}: not judged",))
    strange = bool(of_it.said("unrecognised"))
    late = [] if results.get("complete") else [name for name, (status, _) in became.items() if status == "not-judged"]
    bars = dict.fromkeys(late, ("not-judged", why[1])) | _bars(planned, of_it, became, rubric.unrecognised == "laws")
    parts = [
        (
            _part(one, *became[one.requirement], bars.get(one.requirement)),
            0.0 if one.requirement in bars or strange else passing(of_it.of(one.requirement)),
        )
        for one in planned
    ]
    return _Component(tuple(parts), _verdicts(wanted, of_it), tuple(_for_instructor(wanted, of_it, parts)))


def _bars(
    planned: Sequence[Planned], of_it: Found, became: Mapping[str, tuple[str, Result]], laws: bool
) -> dict[str, tuple[str, str]]:
    """Return by requirement the (status, words) for which it earns nothing, whatever its own outcome is.

    laws    of what is not recognised, requirements that are MUST and telling may earn
    """
    everything = [one.requirement for one in planned]
    if not of_it.implementations:
        return dict.fromkeys(everything, ("not-judged", "none was found in the submission"))
    if of_it.said("not-gradable"):
        return dict.fromkeys(everything, ("error", "the suite itself failed on it: ask your instructor"))
    if not of_it.has_verdicts:
        return dict.fromkeys(everything, ("not-judged", "it has no verdict"))
    barred = {}
    if of_it.said("unrecognised"):
        may = {one.requirement for one in planned if laws and one.telling and _is_must(one)}
        words = ("unrecognised", "what it computes was not understood, so this says nothing")
        barred = {name: words for name in everything if name not in may}
    if not any(one.telling and one.requirement not in barred and became[one.requirement][0] == "passed"
               for one in planned):  # fmt: skip
        words = ("empty", "it shows nothing: what computes nothing passes as well")
        return dict.fromkeys(everything, words) | barred
    return barred


def _is_must(planned: Planned) -> bool:
    return registry.get(planned.requirement).strength == "MUST"


def _part(planned: Planned, status: str, result: Result, bar: tuple[str, str] | None) -> Part:
    """Return a requirement as it is told, with all or nothing earned. ``bar``: why a pass earns nothing."""
    requirement = registry.get(planned.requirement)
    message = "" if status == "passed" else result.get("message") or ""
    if bar and status in ("passed", "not-judged"):
        status, message = bar
    elif status in NOT_OFFERED:
        message = _not_offered(planned.component, message)
    advice = result.get("advice") or {}
    mistakes = result.get("diagnosis") or [advice]
    return Part(
        component=planned.component,
        requirement=requirement.id,
        earned=1.0 if status == "passed" else 0.0,
        status=status,
        sentence=requirement.sentence,
        spec=requirement.anchor,
        message=message,
        mistake=" + ".join(mistake["mutants"][0] for mistake in result.get("diagnosis") or ()),
        story="; and ".join(mistake["story"] for mistake in mistakes if mistake.get("story")),
        hint="; and ".join(mistake["hint"] for mistake in mistakes if mistake.get("hint")),
        where=next((mistake["where"] for mistake in mistakes if mistake.get("where")), ""),
        follows_from=tuple(result.get("follows_from") or ()),
    )


def _not_offered(component: str, message: str) -> str:
    """Return why nothing could be asked of a submission, in words that its author knows."""
    if message.startswith(OF_A_COURSE):
        return f"{message}: ask your instructor"
    lens = re.fullmatch(r"the lens '.*' on \w+ offers no (.+)", message)
    lacking = lens[1].replace("-", " ") if lens else message or f"it is another kind of {component} than is asked for"
    return f"{LACKS}{lacking}"


def _verdicts(wanted: Wanted, of_it: Found) -> tuple[str, ...]:
    called = f"{wanted.component} called {wanted.name}" if wanted.name else wanted.component
    if not of_it.implementations:
        return (f"{wanted.component}: no {called} was found",)
    return tuple(_told(wanted, of_it, verdict) for verdict in of_it.verdicts) or (f"{wanted.component}: no verdict",)


def _told(wanted: Wanted, of_it: Found, verdict: Result) -> str:
    name = wanted.component if len(of_it.implementations) == 1 else f"{wanted.component}, {verdict['implementation']}"
    return f"{name}: {verdict['verdict']}" + (f" ({verdict['reason']})" if verdict["reason"] else "")


def _for_instructor(wanted: Wanted, of_it: Found, parts: Sequence[tuple[Part, float]]) -> list[str]:
    """Return a line for each thing about a component that a person should look at."""
    said = of_it.said("unrecognised", "not-gradable")
    lines = [f"look at it yourself: {_told(wanted, of_it, verdict)}" for verdict in said]
    if len(of_it.implementations) > 1:
        several = ", ".join(of_it.implementations)
        lines.append(
            f"{wanted.component}: {several} were all graded, and the worst counts; the rubric can name a class"
        )
    lines += [
        f"{wanted.component}: {part.requirement} earns nothing: {part.message.partition(': ask ')[0]}"
        for part, _ in parts
        if part.message.startswith(OF_A_COURSE)
    ]
    lacking = [part for part, _ in parts if part.message.startswith(LACKS)]
    if lacking and len(lacking) < len(parts):
        why = ", ".join(dict.fromkeys(part.message.removeprefix(LACKS) for part in lacking))
        lines.append(
            f"{wanted.component}: {len(lacking)} of {len(parts)} requirements earn nothing as what they are about is "
            f"not offered ({why}): does the rubric ask for more than the homework did?"
        )
    empty = sum(part.status == "empty" for part, _ in parts)
    if empty:
        lines.append(f"{wanted.component}: {empty} requirements pass, all of which code passes that computes nothing")
    return lines


def _items(rubric: Rubric, parts: Mapping[tuple[str, str], tuple[Part, float]]) -> tuple[Scored, ...]:
    """Return the items in the rubric's order; one that needs another which lacks something is blocked."""
    alone = {item.name: _alone(item, parts) for item in rubric.items}
    full = {name for name, scored in alone.items() if scored.status == "full"}
    while held_back := {item.name for item in rubric.items if item.name in full and not full.issuperset(item.needs)}:
        full -= held_back
    return tuple(
        _blocked(alone[item.name], lacking)
        if (lacking := [name for name in item.needs if name not in full])
        else alone[item.name]
        for item in rubric.items
    )


def _blocked(scored: Scored, lacking: Sequence[str]) -> Scored:
    words = f"it needs all points of {', '.join(lacking)}"
    parts = tuple(
        Part(part.component, part.requirement, 0.0, "blocked", part.sentence, part.spec, words)
        for part in scored.parts
    )  # fmt: skip
    return replace(scored, earned=0.0, status="blocked", reason=words, parts=parts)


def _alone(item: Item, parts: Mapping[tuple[str, str], tuple[Part, float]]) -> Scored:
    """Return an item without regard to those that it needs."""
    of_it = [parts[item.component, name] for name in item.requirements if (item.component, name) in parts]
    told = tuple(_in_part(item, *one) for one in of_it)
    held = sum(part.status == "passed" for part in told)
    share = sum(part.earned for part in told) / max(len(told), 1)
    enough = held == len(told) if item.all_or_nothing else held / max(len(told), 1) >= item.threshold
    earned = _points(item.points, share if enough else 0.0)
    full = bool(told) and held == len(told)
    status = "full" if full else "partial" if earned else "none"
    reason = "" if full else _reason(item, told, held, enough)
    return Scored(
        item.name, item.component, earned, item.points, status, reason, item.visibility, item.hint, told
    )  # fmt: skip


def _in_part(item: Item, part: Part, share: float) -> Part:
    return replace(part, earned=min(item.cap, share)) if item.partial and part.status != "passed" else part


def _points(points: float, share: float) -> float:
    """Return a share of the points, of two decimals; all of them are earned by nothing but all of the requirements."""
    return points if share == 1 else max(min(round(points * share, 2), round(points - 0.01, 2)), 0.0)


def _reason(item: Item, parts: Sequence[Part], held: int, enough: bool) -> str:
    """Return in words why an item has not all its points."""
    if not parts:
        return "nothing of it can be judged"
    words = f"{held} of {len(parts)} requirements hold"
    if not enough:
        return f"{words}, and {'all' if item.all_or_nothing else f'{item.threshold:.0%} of them'} have to"
    in_part = sum(0 < part.earned < 1 and part.status != "passed" for part in parts)
    messages = {part.message for part in parts}
    if not held and not in_part and len(messages) == 1 and len(parts) > 1:
        return f"{words}: {messages.pop()}" if "" not in messages else words
    return f"{words}, and some cases of {in_part} more" if in_part else words
