"""What stands beside a requirement: its check, the mistakes that the check has caught, and what the gallery says."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import quote

from attnconf.conformance.engine import catalogue
from attnconf.reports import kill_matrix, merging
from attnconf.reports.comparison import matrix
from attnconf.reports.record import Record
from attnconf.spec import profiles, registry

WORST_FIRST = "ekfdwourpn"  # kinds of matrix.KINDS


@dataclass(frozen=True)
class Kill:
    """A mutant in the kill matrix: the roots of its failures, how many follow, and on which components it shows."""

    mutant: catalogue.MutantText
    roots: tuple[str, ...]
    follow: tuple[int, ...]
    shown_on: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """The implementations of the gallery with one kind of result, each with the address of what it says."""

    kind: matrix.Kind
    members: tuple[tuple[str, str], ...]  # name, address


@dataclass(frozen=True)
class Beside:
    """All that stands beside one requirement."""

    requirement: registry.Requirement
    check: catalogue.CheckText
    mutants: tuple[catalogue.MutantText, ...]
    judged_on: Mapping[str, tuple[str, ...]]  # profile -> components
    reference: tuple[catalogue.FunctionText, ...]
    gallery: tuple[Group, ...] = field(default=())


def kills(rows: Path) -> list[Kill]:
    """Return all mutants with what the kept rows of the kill matrix say of them, in the order of the chapters."""
    kept: dict[str, list[Record]] = {}
    for line in rows.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row.get("roots"):
            kept.setdefault(row["mutant"], []).append(row)
    found = []
    for name, mutant in catalogue.mutant_texts().items():
        rows_of_it = kept.get(name, [])
        roots = sorted({root for row in rows_of_it for root in row["roots"]})
        follow = (len(row.get("consequences", ())) for row in rows_of_it)
        found.append(Kill(mutant, tuple(roots), tuple(follow), tuple(row["component"] for row in rows_of_it)))
    return found


def beside(known: Iterable[Kill], gallery: Mapping[str, tuple[Group, ...]]) -> dict[str, Beside]:
    """Return what stands beside each requirement, by id, in the order of the pages."""
    by_name = {kill.mutant.id: kill.mutant for kill in known}
    rows = [{"mutant": kill.mutant.id, "roots": kill.roots} for kill in known]
    caught = kill_matrix.killers({"rows": rows})
    return {
        name: Beside(
            requirement,
            catalogue.check_texts(requirement.chapter)[name],
            tuple(by_name[mutant] for mutant in caught.get(name, ())),
            _judged_on().get(name, {}),
            tuple(catalogue.references(requirement)),
            gallery.get(name, ()),
        )
        for name, requirement in registry.requirements().items()
    }


@cache
def _judged_on() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return for each requirement the profiles that ask for it, each with its components."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for profile in profiles.names():
        for entry in profiles.load(profile).entries:
            components = found.setdefault(entry.requirement, {}).setdefault(profile, ())
            if entry.component not in components:
                found[entry.requirement][profile] = (*components, entry.component)
    return found


def gallery(record: Record, page: str) -> dict[str, tuple[Group, ...]]:
    """Return by requirement who of a results file does what, the worst first. ``page``: the report on that file."""
    columns = matrix.columns(merging.judged([(page, record)]))
    found = {}
    for section in matrix.sections(columns):
        for row in section.requirements:
            by_letter: dict[str, list[tuple[str, str]]] = {}
            for column, letter in zip(columns, row.letters, strict=True):
                by_letter.setdefault(letter, []).append((column.label, f"{page}#{row.id}/{quote(column.label)}"))
            kinds = [letter for letter in WORST_FIRST if letter in by_letter]
            found[row.id] = tuple(Group(matrix.OF_LETTER[x], tuple(by_letter[x])) for x in kinds)
    return found
