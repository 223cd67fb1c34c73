"""Checks: functions (subject, case) that yield evidence, each marked with its id: ``@requirement("ATT-SCALE-1")``."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, prod
from typing import Any

from attnconf.conformance.engine.case import Case, Shape
from attnconf.conformance.engine.evidence import Measure, Observed
from attnconf.conformance.engine.subject import Subject
from attnconf.spec import registry

Check = Callable[[Subject, Case], Iterator[Measure | Observed]]


@dataclass(frozen=True)
class Checked:
    """A requirement with its check and the families of its cases."""

    requirement: registry.Requirement
    check: Check
    families: tuple[tuple[Case, ...], ...]
    any_weights: bool = False  # the check passes on every right implementation, whatever its weights are
    moves_keys: bool = False  # it does so where keys and values can be moved without the queries
    out_of_range: bool = False  # it hands over indices that no table has

    def cases(self, subject: Subject, seed: int, device: str) -> list[Case]:
        """Return the scored cases for a subject, in sizes that its lens can express.

        Indices out of range are tried on the CPU alone: a kernel's assertion ends the process's context of CUDA.
        """
        device = "cpu" if self.out_of_range else device
        cases = [case.but(seed=seed, device=device) for family in self.families for case in family]
        return [as_declared(case, subject) for case in cases]


_STEPS = {"free": 1, "even": 2, "eights": 8}  # what a width of a head is a multiple of, by the choice of "head-width"
_BIASES = {"all": "qkvo", "none": "", "output": "o", "inputs": "qkv"}  # by the declared choice of "biases"


def as_declared(case: Case, subject: Subject) -> Case:
    """Return a case in the sizes and with the biases that the subject declares and its lens can express."""
    others = "".join(
        mark for mark, name in (("f", "network"), ("n", "norm")) if subject.choice(f"{name}-biases") == "yes"
    )
    projected = subject.choice("output-projection") == "yes"
    of_attention = _BIASES[subject.choice("biases")].replace("o", "o" * projected)
    one = subject.choice("one-head-projection") == "yes"
    sizes = _declared_sizes(case, subject)
    return case.but(biases=of_attention + others, projected=projected, one_projected=one, **sizes)


def _declared_sizes(case: Case, subject: Subject) -> dict[str, int]:
    shape = case.shape
    sizes: dict[str, int] = {}
    step = _STEPS[subject.choice("head-width")]
    widths = [width for width in (shape.head, shape.keys, shape.values) if width and step > 1]
    sizes |= {width: step * -(-shape.size(width, case.sizes) // step) for width in widths}
    if shape.values and not subject.offers("value-width"):
        sizes[shape.values] = shape.size(shape.keys, {**case.sizes, **sizes})
    if shape.shared and subject.choice("kv-heads") == "one":
        sizes[shape.shared] = 1
    elif shape.heads and "one" in (subject.choice("heads"), subject.choice("kv-heads")):
        sizes[shape.heads] = 1
        if shape.head:
            sizes[shape.head] = shape.size(shape.model, case.sizes)
    if shape.head and subject.choice("positions-inside") == "rotary":  # features are turned in pairs
        sizes[shape.head] = 2 * ((shape.size(shape.head, {**case.sizes, **sizes}) + 1) // 2)
    if shape.hidden and subject.choice("model-width") != "free":
        sizes |= _of_width(shape, {**case.sizes, **sizes}, int(subject.choice("model-width")))
    if shape.hidden and subject.choice("hidden-ratio") != "free":
        width = shape.size(shape.model, {**case.sizes, **sizes})
        sizes[shape.hidden] = hidden_of(subject.choice("hidden-ratio"), width)
    if shape.normed and subject.choice("layer-norm-variance") == "unbiased":
        sizes[shape.normed] = max(2, shape.size(shape.normed, case.sizes))
    return sizes


def _of_width(shape: Shape, sizes: Mapping[str, int], step: int) -> dict[str, int]:
    """Return the size with which the width of the model is a multiple of a step: its own, or the width of a head."""
    if shape.model in sizes:
        return {shape.model: step * (-(-sizes[shape.model] // step))}
    *others, last = shape.products[shape.model].split()
    every = step // gcd(step, prod(sizes[name] for name in others))
    return {last: every * (-(-sizes[last] // every))}


def hidden_of(ratio: str, width: int) -> int:
    """Return how many hidden features a fixed ratio gives a width of the model: whole ones, as ``int`` makes them."""
    return int(Fraction(ratio) * width)


def requirement(
    name: str,
    *families: tuple[Case, ...],
    any_weights: bool = False,
    moves_keys: bool = False,
    out_of_range: bool = False,
) -> Callable[[Check], Check]:
    """Mark a check with its requirement's id and the families of its cases.

    ``any_weights``: the check compares an implementation with itself, and holds whatever its parameters mean. It can
    be asked where nobody knows which parameter is which, and of a module that keeps its own weights. What asks how an
    argument of attention takes masks is none: that is found by comparing with the textbook. ``moves_keys``: not through
    a lens where one token carries query, key and value, which only known weights tell apart. ``out_of_range``: the
    check hands over indices that no table has.
    """

    def mark(check: Check) -> Check:
        marked: Any = check
        try:
            marked.checked = Checked(registry.get(name), check, families, any_weights, moves_keys, out_of_range)
        except registry.SpecError as error:
            raise registry.SpecError(f"{check.__module__}.{check.__name__}: {error}") from None
        return check

    return mark
