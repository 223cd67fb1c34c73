"""What a check is: a function (subject, case) that yields evidence, marked with the requirement that it checks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.engine.case import FAMILIES, Case, family
from attnconf.conformance.engine.evidence import Measure, Observed
from attnconf.conformance.engine.subject import Subject
from attnconf.spec import registry

Check = Callable[[Subject, Case], Iterator[Measure | Observed]]


@dataclass(frozen=True)
class Checked:
    """A requirement's check and the family of cases it runs on."""

    requirement: registry.Requirement
    check: Check
    families: tuple[str, ...]
    any_weights: bool = False  # whether it holds of every right implementation whatever its weights are

    def cases(self, subject: Subject, seed: int, device: str) -> list[Case]:
        """Return the scored cases for a subject, with values as wide as its lens can make them."""
        width = subject.offers("value-width")
        cases = [case for name in self.families for case in family(name, seed, device, width)]
        return [as_declared(case, subject) for case in cases] if _changes_cases(subject) else cases


_BIASES = {"all": "qkvo", "none": "", "output": "o", "inputs": "qkv"}  # by what "biases" declares
_SHAPING = ("heads", "biases", "network-biases", "norm-biases", "hidden-ratio")  # what cases are drawn by


def _changes_cases(subject: Subject) -> bool:
    """Return whether what a subject declares changes the sizes or weights that its cases are drawn with."""
    return any(name in subject.declares and subject.choice(name) != CONVENTIONS[name][0] for name in _SHAPING)


def as_declared(case: Case, subject: Subject) -> Case:
    """Return a case in the sizes, and with the biases, that a subject declares to have."""
    sizes = {"H": 1, "E": case.embed or case.E} if subject.choice("heads") == "one" else {}
    if subject.choice("hidden-ratio") != "free":
        ratio = int(subject.choice("hidden-ratio"))
        sizes |= {"S": ratio * case.E} if subject.component == "feed_forward" else {"F": ratio * case.H * case.E}
    others = "".join(
        mark for mark, name in (("f", "network"), ("n", "norm")) if subject.choice(f"{name}-biases") == "yes"
    )
    return case.but(biases=_BIASES[subject.choice("biases")] + others, **sizes)


def requirement(name: str, *families: str, any_weights: bool = False) -> Callable[[Check], Check]:
    """Mark a check with its requirement's id and the families of its cases (default: "distinct").

    ``any_weights``: it compares an implementation with itself, and can be asked of one whose own weights are kept, as
    nobody knows which of them is what.
    """
    unknown = [f for f in families if f not in FAMILIES]
    if unknown:
        raise registry.SpecError(f"unknown family of cases {unknown[0]!r}: there are {', '.join(FAMILIES)}")

    def mark(check: Check) -> Check:
        marked: Any = check
        try:
            marked.checked = Checked(registry.get(name), check, families or ("distinct",), any_weights)
        except registry.SpecError as error:
            raise registry.SpecError(f"{check.__module__}.{check.__name__}: {error}") from None
        return check

    return mark
