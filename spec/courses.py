"""A course's own requirements: a chapter in a folder of its own, added to those of the suite for this process.

    course.toml       prefix = "HW", and what is asked of which component, by lens, as a profile lists it
    requirements.md   the page, in the form of the chapters' pages
    checks.py         the checks of its requirements, with their cases
    mutants.py        the mistakes that these have to catch

``use`` reads the first two. What is in the others is run where checks and mutants are wanted: it is the course's code.
"""

import hashlib
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from attnconf.spec import profiles, registry
from attnconf.spec.registry import SpecError

CONTENT, PAGE, CHECKS, MUTANTS = FILES = ("course.toml", "requirements.md", "checks.py", "mutants.py")
PACKAGE = "attnconf_course"  # under which its modules are imported
VARIABLE = "ATTNCONF_COURSE"  # in the environment of the process that binds: the folder of the course
MOST_BYTES = 1_000_000  # of a file: a course is text


@dataclass(frozen=True)
class Course:
    """A course that is used."""

    folder: Path
    prefix: str
    shown: str
    digest: str  # of all its files

    @property
    def chapter(self) -> str:
        """How it is called among the chapters, in rubrics and reports."""
        return self.prefix.lower()


_used: list[Course] = []


def used() -> Course | None:
    """Return the course that is used in this process, if there is one."""
    return _used[0] if _used else None


def use(folder: Path, shown: str = "") -> Course:
    """Add a course to what is judged in this process. Raises SpecError, in one line; a second course is one, too.

    ``shown``: what results call it; as it was given, where nothing else is said.
    """
    if _used:
        raise SpecError(f"{folder}: the course {_used[0].folder} is used already")
    if not folder.is_dir():
        raise SpecError(f"there is no folder {str(folder)!r}")
    demand_name(folder)
    for name in FILES:
        if not (folder / name).is_file():
            raise SpecError(f"{str(folder)!r} is no course: it has no {name} ({', '.join(FILES)})")
    place = folder / CONTENT
    content = _content(place)
    prefix = content.pop("prefix", None)
    if not isinstance(prefix, str) or not re.fullmatch(r"[A-Z]+", prefix):
        raise SpecError(f'{place}: want prefix = "HW", capitals with which the ids on {PAGE} begin')
    course = Course(folder.absolute(), prefix, shown or str(folder), _digest(folder))
    registry.add(prefix, course.chapter, course.folder / PAGE)
    profiles.add(_sections(content, place), str(place))
    _importable(course.folder)
    _used.append(course)
    return course


def demand_name(folder: Path) -> None:
    """Raise SpecError for a folder whose name cannot stand in results."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", folder.absolute().name):
        raise SpecError(f"{str(folder)!r}: want a folder with a plain name, of letters, digits, _ and -")


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of a course by their names in its folder."""
    every = ((p.relative_to(folder), p) for p in sorted(folder.rglob("*")) if p.is_file())
    found = {str(n): p for n, p in every if "__pycache__" not in n.parts and not any(x[0] == "." for x in n.parts)}
    if too_large := [name for name, p in found.items() if p.stat().st_size > MOST_BYTES]:
        raise SpecError(f"{folder / too_large[0]}: larger than {MOST_BYTES} bytes, want a course of small files")
    return {name: p.read_bytes() for name, p in found.items()}


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for name, content in files(folder).items():
        found.update(f"{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SpecError(f"{path}: this is not TOML: {error}") from None


def _sections(content: Mapping[str, Any], place: Path) -> dict[str, Any]:
    """Return what is asked by component and lens. Raises SpecError for what is of another form, or asks for nothing."""
    for component, lenses in content.items():
        if not isinstance(lenses, dict) or not all(isinstance(lists, dict) for lists in lenses.values()):
            raise SpecError(f"{place}: {component}: want sections such as [multi_head_attention.direct]")
    asked = {name for lenses in content.values() for lists in lenses.values() for ids in lists.values() for name in ids}
    for name in sorted(asked):
        registry.get(name)
    known = [r.id for r in registry.requirements().values() if registry.of_course(r.chapter)]
    if left := [name for name in known if name not in asked]:
        raise SpecError(f"{place}: {left[0]} is on {PAGE}, and asked of no component")
    if not known:
        raise SpecError(f"{place.with_name(PAGE)}: there is no requirement on it")
    return dict(content)


def _importable(folder: Path) -> None:
    """Let the course's modules be imported from its folder, under a name that no other package has."""
    package = ModuleType(PACKAGE)
    package.__path__ = [str(folder)]
    sys.modules[PACKAGE] = package
