"""What a check is: a function (subject, case) that yields evidence, marked with the requirement that it checks."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from attnconf.conformance.cases import FAMILIES, Case, family
from attnconf.conformance.evidence import Measure, Observed
from attnconf.conformance.subject import Subject
from attnconf.spec import registry

Check = Callable[[Subject, Case], Iterator[Measure | Observed]]


@dataclass(frozen=True)
class Checked:
    """A requirement's check and the family of cases it runs on."""

    requirement: registry.Requirement
    check: Check
    families: tuple[str, ...]

    def cases(self, subject: Subject, seed: int, device: str) -> list[Case]:
        """Return the scored cases for a subject, with values as wide as its lens can make them."""
        width = subject.offers("value-width")
        cases = [case for name in self.families for case in family(name, seed, device, width)]
        return [_as_declared(case, subject) for case in cases] if _changes_cases(subject) else cases


_BIASES = {"all": "qkvo", "none": "", "output": "o", "inputs": "qkv"}  # by what "biases" declares


def _changes_cases(subject: Subject) -> bool:
    """Return whether what a subject declares changes the sizes or weights that its cases are drawn with."""
    return subject.component == "multi_head_attention" and any(
        subject.choice(name) not in ("any", "all") for name in ("heads", "biases")
    )


def _as_declared(case: Case, subject: Subject) -> Case:
    one = {"H": 1, "E": case.embed or case.E} if subject.choice("heads") == "one" else {}
    return case.but(biases=_BIASES[subject.choice("biases")], **one)


def requirement(name: str, *families: str) -> Callable[[Check], Check]:
    """Mark a check with its requirement's id and the families of its cases (default: "distinct")."""
    unknown = [f for f in families if f not in FAMILIES]
    if unknown:
        raise registry.SpecError(f"unknown family of cases {unknown[0]!r}: there are {', '.join(FAMILIES)}")

    def mark(check: Check) -> Check:
        marked: Any = check
        try:
            marked.checked = Checked(registry.get(name), check, families or ("distinct",))
        except registry.SpecError as error:
            raise registry.SpecError(f"{check.__module__}.{check.__name__}: {error}") from None
        return check

    return mark


@cache
def all_checks() -> dict[str, Checked]:
    """Return the checks of all chapters by requirement id.

    Raises SpecError for an unknown id, or where two checks claim one requirement.
    """
    found: dict[str, Checked] = {}
    for chapter in registry.CHAPTERS.values():
        module = importlib.import_module(f"attnconf.conformance.{chapter}")
        for value in vars(module).values():
            checked = getattr(value, "checked", None)
            if isinstance(checked, Checked) and value.__module__ == module.__name__:
                if checked.requirement.id in found:
                    raise registry.SpecError(
                        f"{checked.requirement.id} has two checks, {value.__name__} is one of them"
                    )
                found[checked.requirement.id] = checked
    return found
