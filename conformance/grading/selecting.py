"""Which requirements an item of a rubric is about: listed, or of a chapter, a section, a quality."""

from collections.abc import Iterable
from functools import cache

from attnconf.conformance.grading.toml_table import Table, there_are
from attnconf.spec import profiles, registry
from attnconf.spec.nearest import hint
from attnconf.spec.registry import Requirement

WAYS = ("requirements", "chapter", "section", "quality")
Requirements = dict[str, Requirement]


@cache
def asked(profile: str, component: str) -> Requirements:
    """Return the requirements on a component in a profile, by id, in the order of the pages."""
    listed = {e.requirement for e in profiles.load(profile).entries if e.component == component}
    return {name: one for name, one in registry.requirements().items() if name in listed}


def section(requirement: Requirement) -> str:
    """Return the section of the pages that a requirement stands in: "attention/The scores"."""
    return f"{requirement.chapter}/{requirement.topic}"


def selected(item: Table, profile: str, component: str) -> tuple[str, ...]:
    """Return the ids that an item is about. Raises RubricError."""
    there = asked(profile, component)
    if "requirements" in item.content:
        if others := [key for key in (*WAYS[1:], "without") if key in item.content]:
            raise item.wrong(f"requirements are listed, so {others[0]} says nothing: want one of the two", others[0])
        return _listed(item, "requirements", there, f"is not asked of {component} in {profile}")
    if not any(key in item.content for key in WAYS):
        raise item.wrong(f"the item does not say what it is about: want one of {', '.join(WAYS)}")
    found = _of_places(item, there)
    left_out = _listed(item, "without", found, "is not in the item, so it need not be left out")
    found = {name: one for name, one in found.items() if name not in left_out}
    if not found:
        raise item.wrong(f"the item is about nothing: {profile} asks for no such requirement on {component}")
    return tuple(found)


def _listed(item: Table, key: str, there: Requirements, why_not: str) -> tuple[str, ...]:
    """Return the ids of a list in the order of the pages, all of which have to be there."""
    words = item.words(key)
    known = registry.requirements()
    for word in words:
        if word not in known:
            near = (hint(word, there) or hint(word, known)) + registry.may_be_of_course(word)
            raise item.wrong(f"{key}: no requirement {word!r}{near}", key, word)
        if word not in there:
            raise item.wrong(f"{key}: {word} {why_not}{hint(word, there)}", key, word)
    return tuple(name for name in known if name in words)


def _of_places(item: Table, there: Requirements) -> Requirements:
    """Return the MUSTs of the item's chapters and sections; with a quality, the SHOULDs of that quality there."""
    quality = item.one_of("quality", registry.QUALITIES, "") if "quality" in item.content else ""
    chapters = _known(item, "chapter", {one.chapter for one in there.values()})
    sections = _known(item, "section", {section(one) for one in there.values()})
    return {
        name: one
        for name, one in there.items()
        if (one.quality == quality if quality else one.strength == "MUST")
        and (not (chapters or sections) or one.chapter in chapters or section(one) in sections)
    }


def _known(item: Table, key: str, places: Iterable[str]) -> tuple[str, ...]:
    names = sorted(places)
    for word in item.words(key):
        if word not in names:
            near = hint(word, names) or there_are(names)
            raise item.wrong(f"no {key} {word!r} has requirements on the component{near}", key, word)
    return item.words(key)
