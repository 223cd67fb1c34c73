"""Profiles: frozen lists of the requirements for a verdict, one TOML file each in spec/profiles/.

title = "…"
extends = "core-1"                  # optional: all entries of another profile, and these
counts = ["robust", "precise"]      # optional: qualities that count for a verdict as a MUST does
gradients = false                   # optional: none are asked for
[multi_head_attention.heads]        # component, lens
like = "attention.direct"           # optional: the entries listed above for it; "core-3/attention.direct": in core-3
without_needs = ["scale"]           # minus requirements that need one of these
without = ["ATT-FLOAT-1", …]        # minus these
required = ["ATT-SCALE-1", …]       # plus these; an entry of ``like`` is listed again to change its kind
optional = ["MASK-CAUSAL-2", …]     # a failure counts, a lack does not
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from attnconf.spec import registry
from attnconf.spec.nearest import hint

FOLDER = Path(__file__).parent / "profiles"
DEFAULT = "core-3"
THROUGHPUT = "throughput-1"  # judged with --throughput, beside another profile


@dataclass(frozen=True)
class Entry:
    """One line of a plan: judge this requirement on this component, seen through this lens."""

    component: str
    lens: str
    requirement: str
    optional: bool


@dataclass(frozen=True)
class Profile:
    name: str
    title: str
    entries: tuple[Entry, ...]
    counts: frozenset[str] = frozenset()  # the qualities that count for a verdict
    gradients: bool = True  # whether any are asked for


def names() -> list[str]:
    """Return the names of all profiles."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@cache
def load(name: str) -> Profile:
    """Return a profile, its entries ordered so that presuppositions come first; "full" is the newest "full-N".

    Raises SpecError for an unknown profile, or an unknown id in one.
    """
    editions = [known for known in names() if known.rpartition("-")[0] == name]
    if editions:
        name = max(editions, key=lambda known: int(known.rpartition("-")[2]))
    if name not in names():
        raise registry.SpecError(f"unknown profile {name!r}: there are {', '.join(names())}{hint(name, names())}")
    entries = [
        Entry(component, lens, requirement, optional)
        for (component, lens), listed in _sections(name).items()
        for requirement, optional in {**listed, **_of_course(name, component, lens)}.items()
    ]
    rank = {requirement: i for i, requirement in enumerate(registry.in_order(registry.requirements()))}
    components = list(dict.fromkeys(entry.component for entry in entries))
    entries.sort(key=lambda e: (components.index(e.component), rank[e.requirement]))
    counts = frozenset(_content(name).get("counts", ()))
    if not counts <= registry.QUALITIES.keys():
        raise registry.SpecError(f"{name}: counts = {sorted(counts)}: there are {', '.join(registry.QUALITIES)}")
    return Profile(name, _content(name)["title"], tuple(entries), counts, _content(name).get("gradients", True))


def narrowed(wanted: Profile, own: Profile) -> Profile:
    """Return what a profile asks of an implementation of a kind of its own, through the lenses of that kind's profile.

    Of the components that ``own`` lists, what both list; of others what ``wanted`` lists. It counts as ``wanted`` does.
    """
    if wanted.name == own.name:
        return own
    asked = {(e.component, e.requirement): e.optional for e in wanted.entries}
    listed = {e.component for e in own.entries}
    both = [e for e in own.entries if (e.component, e.requirement) in asked]
    entries = [replace(e, optional=e.optional or asked[e.component, e.requirement]) for e in both]
    entries += [e for e in wanted.entries if e.component not in listed]
    return replace(wanted, name=f"{wanted.name} for {own.name}", entries=tuple(entries))


Section = Mapping[str, bool]  # requirement -> is it optional?
_added: dict[tuple[str, str], Section] = {}  # what a course asks, by component and lens


def add(content: Mapping[str, Any], source: str) -> None:
    """Add what a course asks to every profile: to each section of one that lists the same component and lens.

    Raises SpecError for a section that the default profile, and those of kinds of attention, have not.
    """
    known = {place for name in names() for place in _sections(name)}
    for component, lenses in content.items():
        for lens, lists in lenses.items():
            if (component, lens) not in known:
                own = [f"{component}.{other}" for c, other in known if c == component]
                near = f": there are {', '.join(sorted(own))}" if own else hint(component, {c for c, _ in known})
                raise registry.SpecError(f"{source}: no profile has a section [{component}.{lens}]{near}")
            if wrong := lists.keys() - {"required", "optional"}:
                raise registry.SpecError(f"{source}: [{component}.{lens}] has {min(wrong)!r}: want required, optional")
            _added[component, lens] = _listed(lists)
    load.cache_clear()


def added() -> list[tuple[str, str, str]]:
    """Return what a course asks, each as (component, lens, requirement)."""
    return [(*place, requirement) for place, listed in _added.items() for requirement in listed]


def _of_course(profile: str, component: str, lens: str) -> Section:
    return {} if profile == THROUGHPUT else _added.get((component, lens), {})


@cache
def _content(name: str) -> dict[str, Any]:
    content: dict[str, Any] = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return content


@cache
def _sections(name: str) -> Mapping[tuple[str, str], Section]:
    """Return a profile's lists by (component, lens); the lists of the profile it extends come first."""
    content = _content(name)
    found = dict(_sections(content["extends"])) if "extends" in content else {}
    for component, lenses in content.items():
        for lens, lists in lenses.items() if isinstance(lenses, dict) else ():
            of_base = found.get((component, lens), {})
            found[component, lens] = {**of_base, **_derived(lists, found), **_listed(lists)}
    return found


def _listed(lists: Mapping[str, Any]) -> Section:
    """Return the requirements that a section lists itself."""
    kinds = (("required", False), ("optional", True))
    return {registry.get(requirement).id: optional for kind, optional in kinds for requirement in lists.get(kind, [])}


def _derived(lists: Mapping[str, Any], above: Mapping[tuple[str, str], Section]) -> Section:
    """Return the entries that a section takes from its ``like``: a section above, or of another profile.

    Raises SpecError where there is no such section.
    """
    if "like" not in lists:
        return {}
    profile, _, place = lists["like"].rpartition("/")
    component, _, lens = place.partition(".")
    model = (_sections(profile) if profile else above).get((component, lens))
    if model is None:
        raise registry.SpecError(f"like = {lists['like']!r}: there is no such section above, or in that profile")
    without = {registry.get(requirement).id for requirement in lists.get("without", [])}
    needs = frozenset(lists.get("without_needs", []))
    return {r: optional for r, optional in model.items() if r not in without and not needs & registry.get(r).needs}
