"""A binding is tried before it is believed: run on fresh weights and inputs, and compared with the textbook.

What certifies it is equality, up to rounding, with the reference in some conventions, or with one known mistake.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

from torch import Tensor

from attnconf.conformance.chapters.contents import all_mutants, named, with_variants
from attnconf.conformance.diagnosis.replay import alike
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.mutant import Mutant, apply, reaches, size
from attnconf.conformance.engine.request import INFERRED, Binding, Implementation, Reply, Request
from attnconf.conformance.engine.translate import in_conventions, telling
from attnconf.conformance.inference.trials.budgets import A_CALL
from attnconf.conformance.inference.trials.probing import Failed, search
from attnconf.conformance.worker.bodies import functions_of
from attnconf.spec import registry

ROUNDING = 2e-5  # of what is largest: a class may take its roots, or all of it, in float32
FLOAT32 = 1e-3  # of what is largest: what angles of thousands of radians are off by in float32
FAILED = float("inf")
UNLIKE = 1e30  # the distance of what is not a number, but came back


@dataclass(frozen=True)
class Draft:
    """A binding that may be right: the text of an adapter's function, and what it declares."""

    component: str
    body: str
    declares: Mapping[str, Any] = field(default_factory=dict)  # under a component, its own
    also: tuple[str, ...] = ()  # other components that the text defines

    def implementation(self, module: ModuleType, name: str = "draft") -> Implementation:
        """Return the implementation that the text defines, over the user's module."""
        components = functions_of(self.body, INFERRED, module, (self.component, *self.also))
        source = str(getattr(module, "__file__", None) or "")
        return Implementation(name, components, dict(self.declares), None, source, binding=Binding(INFERRED))


def reply(implementation: Implementation, request: Request) -> Reply | Failure:
    """Return what an implementation replies, or why it does not; what it prints is dropped."""
    try:
        search.spend(A_CALL + size(request.component))
        return call(implementation, request)
    except Failed as given_up:
        return Failure("given up", str(given_up))
    except Failure as failure:
        return failure.alone()
    except Unsupported as words:
        return Failure("unsupported", str(words))


def why(failure: Failure) -> str:
    """Return why a call failed, and where in the user's file."""
    return failure.message.removeprefix("raised ") + (f" ({failure.at})" if failure.at else "")


def gap(got: Reply | Failure, want: Reply | Failure) -> float:
    """Return the largest difference of two replies, in units of what is wanted; infinite where one failed."""
    if isinstance(got, Failure) or isinstance(want, Failure) or got.out.shape != want.out.shape:
        return FAILED
    pairs = [(got.out, want.out)]
    if got.weights is not None and want.weights is not None:
        if got.weights.shape != want.weights.shape:
            return FAILED
        pairs.append((got.weights, want.weights))
    found = max(
        float((a.double() - b.double()).abs().max() / b.double().abs().max().clamp_min(1e-12)) for a, b in pairs
    )
    return found if found == found else UNLIKE


def within_rounding(distance: float, rounding: float = ROUNDING) -> bool:
    """Return whether what is so far from what is wanted equals it up to rounding."""
    return distance <= rounding


def same(one: Reply | Failure, other: Reply | Failure) -> bool:
    """Return whether two replies are equal up to rounding."""
    return within_rounding(gap(one, other))


def all_same(ones: Sequence[Reply | Failure], others: Sequence[Reply | Failure]) -> bool:
    """Return whether replies to the same calls are equal up to rounding, each to each."""
    return len(ones) == len(others) and all(map(same, ones, others))


def same_numbers(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors are equal up to rounding, in units of what is largest in the second."""
    return one.shape == other.shape and bool((one - other).abs().max() <= ROUNDING * other.abs().max())


View = Callable[[Reply, Request], Reply]


class Certificate:
    """Calls on which a draft has to give what the textbook gives.

    ``view``: what of a reply has a meaning; ``kept`` for the next file: what it costs is charged to no file.
    """

    def __init__(self, component: str, requests: Sequence[Request], view: View | None = None, kept: bool = False):
        self.component = component
        self.requests = list(requests)
        self.view, self.kept = view, kept
        self._each: dict[tuple[str, frozenset[tuple[str, str]], int], Reply | Failure] = {}

    def wanted(self, declares: Mapping[str, str], mutant: str = "") -> list[Reply | Failure]:
        """Return the replies of the reference, or of a mutant, in conventions; computed once."""
        return [self._one(i, declares, mutant) for i in range(len(self.requests))]

    def _one(self, i: int, declares: Mapping[str, str], mutant: str) -> Reply | Failure:
        """Return the reply of the reference, or of a mutant, to one of the calls."""
        key = (mutant, telling(self.component, declares), i)
        if key not in self._each:
            with search.free() if self.kept else contextlib.nullcontext():
                found = reply(in_conventions(textbook(mutant), dict(declares)), self.requests[i])
            if isinstance(found, Failure) and found.reason == "given up":  # another file may have more left
                return found
            self._each[key] = self._seen(found, i)
        return self._each[key]

    def _seen(self, found: Reply | Failure, i: int) -> Reply | Failure:
        return found if self.view is None or isinstance(found, Failure) else self.view(found, self.requests[i])

    def replies(self, draft: Implementation) -> list[Reply | Failure]:
        """Return what a draft replies to all calls; no more are made once one has failed."""
        given: list[Reply | Failure] = []
        for i, request in enumerate(self.requests):
            given.append(self._seen(reply(draft, request), i))
            if isinstance(given[-1], Failure):
                break
        return given

    def distance(self, given: Sequence[Reply | Failure], declares: Mapping[str, str], mutant: str = "") -> float:
        """Return how far replies are from the reference's, or from a mutant's; infinite where a call failed."""
        if len(given) < len(self.requests):
            return FAILED
        return max((gap(a, b) for a, b in zip(given, self.wanted(declares, mutant), strict=True)), default=FAILED)

    def agrees(
        self,
        given: Sequence[Reply | Failure],
        declares: Mapping[str, str],
        mutant: str = "",
        rounding: float = ROUNDING,
    ) -> bool:
        """Return whether replies are the reference's, or a mutant's, up to rounding."""
        complete = 0 < len(given) == len(self.requests)
        return complete and all(
            within_rounding(gap(reply, self._one(i, declares, mutant)), rounding) for i, reply in enumerate(given)
        )

    def mistake(
        self, given: Sequence[Reply | Failure], declares: Mapping[str, str],
        matters: Callable[[Mutant], bool] | None = None,
    ) -> Mutant | None:  # fmt: skip
        """Return a known mistake that gives these replies, where the reference does not; None if none does.

        ``matters``: mistakes of which one has to be among those that give them, else no other is looked for.
        """
        likely = (m for m in _mutants(self.component) if matters is None or matters(m))
        if matters is not None and not any(
            self.agrees(given, declares, m.id, max(ROUNDING, m.rounding)) for m in likely
        ):
            return None
        return next(self.mistakes(given, declares), None)

    def mistakes(
        self, given: Sequence[Reply | Failure], declares: Mapping[str, str], rounding: float = ROUNDING
    ) -> Iterator[Mutant]:
        """Yield the known mistakes that give these replies, where the reference does not: its own before its parts'."""
        apart = rounding if rounding == ROUNDING else 10 * rounding  # what is loosely alike has to be clearly wrong
        for mutant in _mutants(self.component):
            if self.agrees(given, declares, mutant.id, max(rounding, mutant.rounding)) and any(
                not alike(a, b, apart)
                for a, b in zip(self.wanted(declares, mutant.id), self.wanted(declares), strict=True)
            ):
                yield mutant


_kept: dict[tuple[Hashable, ...], Certificate] = {}


def kept_certificate(
    component: str, key: tuple[Hashable, ...], requests: Callable[[], Sequence[Request]], view: View | None = None
) -> Certificate:
    """Return the calls that belong to a key: made once, and what the textbook gives in them is kept for other files.

    No file is charged for that, so that what a search may cost does not depend on the files before it.
    """
    if (component, *key) not in _kept:
        _kept[(component, *key)] = Certificate(component, requests(), view, kept=True)
    return _kept[(component, *key)]


@cache
def _mutants(component: str) -> list[Mutant]:
    """Return the mutants that reach a component, with their variants: its own before its parts'."""
    reached = [m for m in all_mutants().values() if reaches(component, m)]
    chapters = list(registry.CHAPTERS.values())
    reached.sort(key=lambda m: -chapters.index(m.chapter))
    return [variant for m in reached for variant in with_variants(m.id)]


_applied: dict[str, Implementation] = {}


def textbook(mutant: str = "") -> Implementation:
    """Return the reference, or a mutant of it."""
    if mutant not in _applied:
        _applied[mutant] = apply([named(mutant)] if mutant else [])
    return _applied[mutant]


def drawn(name: str, *shape: int) -> Tensor:
    """Return numbers for a trial: they depend on the name and the shape, and on nothing else."""
    from attnconf.conformance.engine.case import draw

    return draw(f"inference/{name}", *shape)
