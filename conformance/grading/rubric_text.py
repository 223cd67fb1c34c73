"""Read a rubric: a TOML file, held to its form when it is read, so that no batch is graded by a slip.

title = "A first attention"
profile = "core-3"                       # optional
components = ["multi_head_attention"]    # or [[component]], with name and class: what it has to be called
unrecognised = "nothing"                 # optional; "laws": see rubric.py
seconds = 120                            # optional, for one submission
file = "attention.py"                    # optional: which one is judged where a submission has several
forbidden = ["torch.nn.MultiheadAttention"]   # optional; told to the instructor, never scored

[conventions]                            # optional: choices that are prescribed
mask = "true-keeps"

[[item]]
name = "The scores"
points = 10
component = "multi_head_attention"       # may be left out where there is one
requirements = ["ATT-SCALE-1"]           # or chapter and section, for their MUSTs; with quality, for SHOULDs
without = ["ATT-WIDE-1"]                 # optional: but these
shared = false                           # whether its requirements may be in other items, too
needs = ["Shapes"]                       # optional, and all below
all_or_nothing = false
threshold = 0.0
partial = false
cap = 0.5
visibility = "visible"
hint = "diagnosis"
"""

import re
import tomllib
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from attnconf.conformance.engine.contract_texts import component_texts, convention_texts
from attnconf.conformance.grading import selecting
from attnconf.conformance.grading.rubric import HINTS, VISIBILITIES, Item, Rubric, RubricError, Wanted
from attnconf.conformance.grading.toml_lines import Lines, lines_of
from attnconf.conformance.grading.toml_table import Table, there_are
from attnconf.spec import courses, profiles
from attnconf.spec.nearest import hint

SHIPPED = Path(__file__).parent / "rubrics"
KEYS = (
    "title", "profile", "components", "component", "conventions", "unrecognised", "seconds", "file", "forbidden",
    "item",
)  # fmt: skip
OF_ITEM = (
    "name", "points", "component", *selecting.WAYS, "without", "shared", "needs", "all_or_nothing", "threshold",
    "partial", "cap", "visibility", "hint",
)  # fmt: skip
MOST_POINTS, MOST_SECONDS = 1e6, 86400


def shipped() -> list[str]:
    """Return the names of the rubrics that ship."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def load(name_or_path: str | Path) -> Rubric:
    """Return the rubric in a file, or a shipped one by its name. Raises RubricError."""
    name = str(name_or_path)
    path = SHIPPED / f"{name}.toml" if name in shipped() else Path(name)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        near = hint(name, [*shipped(), *(str(path.with_name(one.name)) for one in path.parent.glob("*.toml"))])
        raise RubricError(f"no rubric {name!r}: there is no such file, and {', '.join(shipped())} ship{near}") from None
    except IsADirectoryError:
        raise RubricError(f"{name!r} is a folder, want a rubric: a .toml file") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise RubricError(f"cannot read {name!r}: {getattr(error, 'strerror', None) or error}") from None
    try:
        return parse(raw.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        wrong = f"the byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise RubricError(f"{name}:{line}: {wrong}") from None


def parse(text: str, source: str) -> Rubric:
    """Return the rubric in a text; ``source`` is where it came from, for messages. Raises RubricError."""
    top = _read(text.replace("\r\n", "\n"), source)
    top.only(KEYS, "a rubric")
    title, profile = top.text("title"), _profile(top)
    wanted = _wanted(top, profile)
    conventions = _conventions(top, wanted)
    items = _items(top, profile, [one.component for one in wanted])
    return Rubric(
        title=title,
        wanted=wanted,
        items=items,
        profile=profile,
        conventions=conventions,
        unrecognised=top.one_of("unrecognised", ("nothing", "laws"), "nothing"),
        seconds=top.number("seconds", 1, MOST_SECONDS, Rubric.seconds),
        file=top.text("file", ""),
        forbidden=_forbidden(top),
        text=text,
        source=source,
        course=str(own.folder) if (own := courses.used()) else "",
    )


def _read(text: str, source: str) -> Table:
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is a ValueError
        said = str(error).removesuffix(".")
        place = re.search(r" \(at line (\d+), column (\d+)\)$| \(at end of document\)$", said)
        column = f" at column {place[2]}" if place and place[2] else ""
        line = int(place[1]) if place and place[1] else max(len(text.splitlines()), 1)
        words = said[: place.start()] if place else said
        raise RubricError(f"{source}:{line}: this is not TOML{column}: {words}") from None
    return Table(content, source, lines_of(text) if content else Lines(text))


def _profile(top: Table) -> str:
    name = top.text("profile", profiles.DEFAULT)
    known = profiles.names()
    if name not in known:
        raise top.wrong(f"no profile {name!r}: there are {', '.join(known)}{hint(name, known)}", "profile")
    return name


def _wanted(top: Table, profile: str) -> tuple[Wanted, ...]:
    """Return the components that a submission has to offer, from the list of their names or from tables."""
    if ("components" in top.content) == ("component" in top.content):
        has = "both components and" if "component" in top.content else "neither components nor"
        raise top.wrong(f"there are {has} [[component]]: want one of them", "component")
    if "components" in top.content:
        return tuple(Wanted(_component(top, "components", name, profile)) for name in top.words("components"))
    wanted: list[Wanted] = []
    for one in top.tables("component"):
        one.only(("name", "class"), "a component")
        component = _component(one, "name", one.text("name"), profile)
        if component in [earlier.component for earlier in wanted]:
            raise one.wrong(f"name = {component!r}: there is such a component above", "name")
        if not one.text("class", "_").isidentifier():
            raise one.wrong(f"class = {one.text('class')!r}: want the name of a class or a function", "class")
        wanted.append(Wanted(component, one.text("class", "") or None))
    if not wanted:
        raise top.wrong("component = []: want at least one", "component")
    return tuple(wanted)


def _component(table: Table, key: str, name: str, profile: str) -> str:
    known = list(component_texts())
    if name not in known:
        raise table.wrong(f"no component {name!r}{hint(name, known) or there_are(known)}", key, name)
    if not selecting.asked(profile, name):
        has = dict.fromkeys(entry.component for entry in profiles.load(profile).entries)
        raise table.wrong(f"{profile} asks for nothing of {name}: it is about {', '.join(has)}", key, name)
    return name


def _conventions(top: Table, wanted: Sequence[Wanted]) -> dict[str, str]:
    """Return the prescribed choices; each has to be one that some wanted component leaves open."""
    table, known, components = top.table("conventions"), convention_texts(), component_texts()
    for name in table.content:
        if name not in known:
            raise table.wrong(f"no convention {name!r}{hint(name, known) or there_are(known)}", name)
        if not any(name in components[one.component].conventions for one in wanted):
            of = ", ".join(one.component for one in wanted)
            raise table.wrong(f"{name} is no choice that {of} has", name)
        table.one_of(name, known[name].choices, "")
    return dict(table.content)


def _forbidden(top: Table) -> tuple[str, ...]:
    names = top.words("forbidden")
    for name in names:
        if not all(part.isidentifier() for part in name.split(".")):
            raise top.wrong(f"forbidden: {name!r} is no dotted name, such as torch.nn.Linear", "forbidden", name)
    return names


def _items(top: Table, profile: str, components: Sequence[str]) -> tuple[Item, ...]:
    tables = top.tables("item")
    if not tables:
        raise top.wrong("there is no [[item]], so nothing earns points")
    items = [_item(table, profile, components) for table in tables]
    _apart(tables, items)
    _in_order(tables, items)
    if lacking := [component for component in components if component not in [item.component for item in items]]:
        raise top.wrong(f"no item is about {lacking[0]}", "components" if "components" in top.content else "component")
    if not sum(item.points for item in items):
        raise top.wrong("no item is worth any points", "item")
    return tuple(items)


def _item(table: Table, profile: str, components: Sequence[str]) -> Item:
    table.only(OF_ITEM, "an item")
    name, points = table.text("name"), table.number("points", 0, MOST_POINTS)
    if round(points, 2) != points:
        raise table.wrong(f"points = {points}: want at most two decimals", "points")
    component = table.text("component", components[0] if len(components) == 1 else None)
    if component not in components:
        near = hint(component, components) or there_are(components)
        raise table.wrong(f"the rubric wants no component {component!r}{near}", "component")
    all_or_nothing, partial = table.flag("all_or_nothing"), table.flag("partial")
    for key, without in (("partial", not all_or_nothing), ("threshold", not all_or_nothing), ("cap", partial)):
        if table.content.get(key) and not without:
            words = "needs partial = true" if key == "cap" else "has no effect with all_or_nothing = true"
            raise table.wrong(f"{key} {words}", key)
    return Item(
        name, points, component, selecting.selected(table, profile, component), all_or_nothing, table.words("needs"),
        table.number("threshold", 0, 1, Item.threshold), partial, table.number("cap", 0, 1, Item.cap),
        table.one_of("visibility", VISIBILITIES, Item.visibility), table.one_of("hint", HINTS, Item.hint),
    )  # fmt: skip


def _apart(tables: Sequence[Table], items: Sequence[Item]) -> None:
    """Raise RubricError where two items have one name, or one requirement that neither says is shared."""
    names: set[str] = set()
    owners: dict[tuple[str, str], str] = {}
    for table, item in zip(tables, items, strict=True):
        if item.name in names:
            raise table.wrong(f"name = {item.name!r}: there is such an item above", "name")
        names.add(item.name)
        for requirement in item.requirements if not table.flag("shared") else ():
            if owner := owners.get((item.component, requirement)):
                key = next(key for key in selecting.WAYS if key in table.content)
                words = f"{requirement} is in the item {owner!r}, too: want it in one, or shared = true"
                raise table.wrong(words, key, requirement)
            owners[item.component, requirement] = item.name


def _in_order(tables: Sequence[Table], items: Sequence[Item]) -> None:
    """Raise RubricError where an item needs one that is not there, or itself by way of others."""
    names = [item.name for item in items]
    for table, item in zip(tables, items, strict=True):
        for name in item.needs:
            if name not in names:
                raise table.wrong(f"needs: no item {name!r}{hint(name, names) or there_are(names)}", "needs", name)
    try:
        TopologicalSorter({item.name: item.needs for item in items}).prepare()
    except CycleError as error:
        circle = error.args[1]
        raise tables[names.index(circle[0])].wrong(f"needs goes in a circle: {' -> '.join(circle)}", "needs") from None
