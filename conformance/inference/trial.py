"""A binding is tried before it is believed: run on fresh weights and inputs, and compared with the textbook.

What certifies it is equality, up to rounding, with the reference in some conventions, or with one known mistake.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from torch import Tensor

from attnconf.conformance.chapters.contents import all_mutants, named, with_variants
from attnconf.conformance.diagnosis.replay import alike
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.mutant import Mutant, apply, reaches, size
from attnconf.conformance.engine.request import INFERRED, Binding, Implementation, Reply, Request
from attnconf.conformance.engine.translate import in_conventions, telling
from attnconf.conformance.inference.probing import A_CALL, Failed, search
from attnconf.conformance.worker.bodies import functions_of
from attnconf.spec import registry

ROUNDING = 2e-5  # of what is largest: a class may take its roots, or all of it, in float32
FAILED = float("inf")
UNLIKE = 1e30  # the distance of what is not a number, but came back


@dataclass(frozen=True)
class Draft:
    """A binding that may be right: the text of an adapter's function, and what it declares."""

    component: str
    body: str
    declares: Mapping[str, str] = field(default_factory=dict)
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
        return failure
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


class Certificate:
    """Calls on which a draft has to give what the textbook gives."""

    def __init__(self, component: str, requests: Sequence[Request]):
        self.component = component
        self.requests = list(requests)
        self._each: dict[tuple[str, frozenset[tuple[str, str]], int], Reply | Failure] = {}

    def wanted(self, declares: Mapping[str, str], mutant: str = "") -> list[Reply | Failure]:
        """Return the replies of the reference, or of a mutant, in conventions; computed once."""
        return [self._one(i, declares, mutant) for i in range(len(self.requests))]

    def _one(self, i: int, declares: Mapping[str, str], mutant: str) -> Reply | Failure:
        """Return the reply of the reference, or of a mutant, to one of the calls."""
        key = (mutant, telling(self.component, declares), i)
        if key not in self._each:
            found = reply(in_conventions(textbook(mutant), dict(declares)), self.requests[i])
            if isinstance(found, Failure) and found.reason == "given up":  # another file may have more left
                return found
            self._each[key] = found
        return self._each[key]

    def _unlike(self, given: Sequence[Reply | Failure], declares: Mapping[str, str], mutant: Mutant) -> bool:
        """Return whether the first reply already is not a mutant's."""
        return not given or gap(given[0], self._one(0, declares, mutant.id)) > max(ROUNDING, mutant.rounding)

    def replies(self, draft: Implementation) -> list[Reply | Failure]:
        """Return what a draft replies to all calls; no more are made once one has failed."""
        given: list[Reply | Failure] = []
        for request in self.requests:
            given.append(reply(draft, request))
            if isinstance(given[-1], Failure):
                break
        return given

    def distance(self, given: Sequence[Reply | Failure], declares: Mapping[str, str], mutant: str = "") -> float:
        """Return how far replies are from the reference's, or from a mutant's; infinite where a call failed."""
        if len(given) < len(self.requests):
            return FAILED
        return max((gap(a, b) for a, b in zip(given, self.wanted(declares, mutant), strict=True)), default=FAILED)

    def mistake(self, given: Sequence[Reply | Failure], declares: Mapping[str, str]) -> Mutant | None:
        """Return a known mistake that gives these replies, where the reference does not; None if none does."""
        return next(self.mistakes(given, declares), None)

    def mistakes(self, given: Sequence[Reply | Failure], declares: Mapping[str, str]) -> Iterator[Mutant]:
        """Yield the known mistakes that give these replies, where the reference does not: its own before its parts'."""
        reached = [m for m in all_mutants().values() if reaches(self.component, m)]
        chapters = list(registry.CHAPTERS.values())
        reached.sort(key=lambda m: -chapters.index(m.chapter))
        for mutant in (variant for m in reached for variant in with_variants(m.id)):
            if self._unlike(given, declares, mutant):
                continue
            distance = self.distance(given, declares, mutant.id)
            if distance <= max(ROUNDING, mutant.rounding) and any(
                not alike(a, b, ROUNDING)
                for a, b in zip(self.wanted(declares, mutant.id), self.wanted(declares), strict=True)
            ):
                yield mutant


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
