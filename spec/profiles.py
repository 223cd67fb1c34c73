"""Profiles: frozen lists of what a verdict requires, one TOML file each in spec/profiles/.

title = "…"
extends = "core-1"                  # optional: all entries of another profile, and these
[multi_head_attention.heads]        # component, lens
required = ["ATT-SCALE-1", …]
optional = ["MASK-CAUSAL-2", …]     # a failure counts, a lack does not
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attnconf.spec import registry
from attnconf.spec.nearest import hint

FOLDER = Path(__file__).parent / "profiles"
DEFAULT = "core-2"
THROUGHPUT = "throughput-1"  # judged beside another one where throughput is asked for


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
    content = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    title, base = content.pop("title"), content.pop("extends", None)
    entries = [
        *(load(base).entries if base else ()),
        *(
            Entry(component, lens, registry.get(requirement).id, optional)
            for component, lenses in content.items()
            for lens, lists in lenses.items()
            for key, optional in (("required", False), ("optional", True))
            for requirement in lists.get(key, [])
        ),
    ]
    rank = {requirement: i for i, requirement in enumerate(registry.in_order(registry.requirements()))}
    components = list(dict.fromkeys(entry.component for entry in entries))
    entries.sort(key=lambda e: (components.index(e.component), rank[e.requirement]))
    return Profile(name, title, tuple(entries))
