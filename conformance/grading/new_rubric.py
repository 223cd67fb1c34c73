"""A rubric to start from: every section of the specification on a component is an item."""

import json
import math
from collections.abc import Collection, Mapping, Sequence

from attnconf.conformance.engine.contract_texts import component_texts, convention_texts
from attnconf.conformance.grading.rubric import RubricError
from attnconf.conformance.grading.selecting import asked, section
from attnconf.conformance.grading.toml_table import there_are
from attnconf.spec import profiles, registry
from attnconf.spec.nearest import hint
from attnconf.spec.registry import Requirement

TOTAL, OF_A_QUALITY = 100, 5
RARE = {"attention_family": "what most attention has none of: grouped heads, windows, sinks, …"}  # chapters

_HEAD = """\
# A rubric to start from. Delete the items that were not asked for, and weigh the others; their sum is free.
# attnconf explain ID tells what a requirement means; attnconf rubric check FILE what is wrong with this file.

title = {title}
profile = {profile}  # the requirements that there are
components = [{component}]
# To want a class by its name, write this in place of the line above:
#   [[component]]
#   name = {component}
#   class = "…"

unrecognised = "nothing"  # what code earns that computes something nobody knows; "laws": what holds whatever it means
seconds = 120  # for one submission
# file = "attention.py"  # which one is judged where a submission has several
# forbidden = ["torch.nn.MultiheadAttention"]  # told to you where a submission names it; never scored

# Conventions that you prescribe, as the homework does. What is not prescribed may be either way.
[conventions]
{conventions}

# For each item there may also be
#   needs = ["another item"]   blocked, until that has all its points
#   all_or_nothing = true      or threshold = 0.5: less than half earns nothing
#   partial = true             a failed requirement earns the share of its cases that pass; cap = 0.5: at most half
#   visibility = "hidden"      or "after_due_date", "after_published"
#   hint = "category"          or "none": how much a student is told of a failure
"""


def text(component: str, offered: Collection[str] | None = None) -> str:
    """Return the text of a rubric for a component.

    offered   the requirements that an instructor's solution passes; all others are left out

    Raises RubricError for an unknown component, or where nothing is left.
    """
    there = asked(profiles.DEFAULT, component)
    if not there:
        known = dict.fromkeys(entry.component for entry in profiles.load(profiles.DEFAULT).entries)
        raise RubricError(f"no component {component!r}{hint(component, known) or there_are(known)}")
    kept = [r for r in there.values() if (r.id in offered if offered is not None else r.chapter not in RARE)]
    if not any(r.strength == "MUST" for r in kept):
        raise RubricError(f"the solution passes nothing that is asked of {component}, so there is nothing to grade")
    groups = _groups(component, kept)
    points = _points({name: len(group) for name, group in groups.items()})
    items = [_item(name, group, points[name], there) for name, group in groups.items()]
    return "\n".join([_head(component), *items, *_left_out([r for r in there.values() if r not in kept], offered)])


def _head(component: str) -> str:
    own, known = component_texts()[component].conventions, convention_texts()
    lines = [f"# {name} = {_quoted(known[name].choices[0])}  # {', '.join(known[name].choices)}" for name in own]
    return _HEAD.format(
        title=_quoted(component.replace("_", " ").capitalize()), profile=_quoted(profiles.DEFAULT),
        component=_quoted(component), conventions="\n".join(lines) or "# there are none",
    )  # fmt: skip


def _groups(component: str, kept: Sequence[Requirement]) -> dict[str, list[Requirement]]:
    """Return the MUSTs by section, the component's own pages first, and behind them the SHOULDs by quality."""
    order = [component, *registry.CHAPTERS.values()]
    musts = sorted(
        (r for r in kept if r.strength == "MUST"), key=lambda r: (r.chapter == "calls", order.index(r.chapter))
    )
    groups: dict[str, list[Requirement]] = {}
    for requirement in musts:
        groups.setdefault(section(requirement), []).append(requirement)
    for quality in registry.QUALITIES:
        if of_it := [r for r in kept if r.quality == quality]:
            groups[quality] = of_it
    return groups


def _points(sizes: Mapping[str, int]) -> dict[str, int]:
    """Return whole points, TOTAL in all: a few for each quality, for sections in proportion to their sizes."""
    qualities = {name: OF_A_QUALITY for name in sizes if name in registry.QUALITIES}
    sections = {name: size for name, size in sizes.items() if name not in qualities}
    left = TOTAL - sum(qualities.values()) - len(sections)  # each has 1 to begin with
    exact = {name: left * size / sum(sections.values()) for name, size in sections.items()}
    points = {name: 1 + math.floor(share) for name, share in exact.items()}
    lacking = left + len(sections) - sum(points.values())
    for name in sorted(exact, key=lambda name: exact[name] % 1, reverse=True)[:lacking]:
        points[name] += 1
    return points | qualities


def _item(name: str, group: Sequence[Requirement], points: int, there: Mapping[str, Requirement]) -> str:
    """Return the text of an item: its section, or the list of what is kept of it."""
    is_quality = name in registry.QUALITIES
    whole = [r for r in there.values() if (r.quality == name if is_quality else _in(r, name))]
    what = f"{'quality' if is_quality else 'section'} = {_quoted(name)}"
    comments = [f"# {registry.QUALITIES[name]}"] if is_quality else []
    comments += [f"#   {r.id}  {r.sentence}" for r in group]
    if len(group) < len(whole):
        what = "requirements = [\n" + "".join(f"    {_quoted(r.id)},\n" for r in group) + "]"
        comments.insert(0, "# some of it is left out, see the end")
    title = name.capitalize() if is_quality else _title(name)
    return "\n".join(["[[item]]", f"name = {_quoted(title)}", f"points = {points}", what, *comments, ""])


def _in(requirement: Requirement, name: str) -> bool:
    return requirement.strength == "MUST" and section(requirement) == name


def _title(name: str) -> str:
    """Return "Masks: causality" of "masks/Causality": the same heading stands on several pages."""
    chapter, _, topic = name.partition("/")
    return f"{chapter.replace('_', ' ').capitalize()}: {topic[:1].lower()}{topic[1:]}"


def _left_out(lost: Sequence[Requirement], offered: Collection[str] | None) -> list[str]:
    """Return comments on the requirements that are in no item."""
    if not lost:
        return []
    why = "the solution does not pass it" if offered is not None else RARE[lost[0].chapter]
    return [f"# Left out: {why}", *(f"#   {r.id}  {r.sentence}" for r in lost), ""]


def _quoted(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)
