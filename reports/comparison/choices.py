"""Who does what where the specification leaves it open."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from attnconf.reports.merging import Judged


@dataclass(frozen=True)
class Choice:
    """One convention: who has chosen what."""

    name: str
    about: str  # the specification's words on it, as HTML; empty if there are none
    chosen: dict[str, list[str]]  # what -> labels; of one component alone: "label (component)"


def choices(judged: Iterable[Judged], about: Mapping[str, str]) -> list[Choice]:
    """Return all conventions that anybody declares, or was seen to have; in the order of ``about``."""
    found: dict[str, dict[str, list[str]]] = {}
    for i in judged:
        for convention, choice in i.entry["conventions"].items():
            name, component = re.fullmatch(r"(.*?)(?: (\(.*\)))?", convention, re.DOTALL).groups()  # type: ignore[union-attr]
            label = f"{i.label} {component}" if component else i.label
            found.setdefault(name, {}).setdefault(choice, []).append(label)
    known = list(about)
    in_order = sorted(found, key=lambda name: (known.index(name) if name in about else len(known), name))
    return [Choice(name, about.get(name, ""), found[name]) for name in in_order]
