"""Which known mistake reproduces what came out: replay the very same calls on every mutant, and compare.

A mutant is named only if it gives the implementation's own replies on every call that the check made, and at least
one of them is not the reference's; both in the conventions that the implementation declares. Replies are compared up
to the rounding of float64 code, and, where nothing fits so, up to what float32 tables are off by. Where several fit,
those are kept that reproduce most of the other failures; where several are left, they are named together, unless they
are too many to help.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from attnconf.conformance.conventions import in_conventions, others_than
from attnconf.conformance.door import Implementation, Reply, Request, call
from attnconf.conformance.evidence import Failure, Unsupported
from attnconf.conformance.judge import Judged
from attnconf.conformance.mutation import Mutant, all_mutants, apply, reaches

Log = Sequence[tuple[Request, Reply | Failure]]
AT_MOST = 3
ROUNDING = 1e-6  # of what is largest in a reply
FLOAT32 = 1e-3  # likewise, for angles of thousands of radians in float32


@dataclass(frozen=True)
class Diagnosis:
    """The mutants that reproduce a failure on all of its cases."""

    mutants: tuple[Mutant, ...]
    cases: int


class Shared:
    """What the diagnoses of one component of one implementation share, as a mutant's reply takes milliseconds.

    A mistake of another chapter, alone, reproduces every failure: what did not fit the first is not tried again.
    """

    def __init__(self) -> None:
        self.elsewhere: list[Mutant] | None = None
        self._replies: dict[tuple[str, frozenset[tuple[str, str]], int], tuple[Request, Reply | Failure]] = {}

    def reply(self, name: str, spoken: frozenset[tuple[str, str]], request: Request) -> Reply | Failure:
        """Return what the mutant replies, or the reference where the name is empty; computed once."""
        key = (name, spoken, id(request))  # the request is kept, so that no other gets its id
        if key not in self._replies:
            self._replies[key] = (request, _reply(name, spoken, request))
        return self._replies[key][1]


def diagnose(
    failed: Judged, others: Iterable[Judged] = (), passed: Iterable[Judged] = (),
    declares: Mapping[str, str] | None = None, shared: Shared | None = None,
) -> Diagnosis | None:  # fmt: skip
    """Return the mistake that reproduces a failure, or None if none does or too many do.

    ``others``: the other failures. ``passed``: what holds; a mistake that would break one of them was not made.
    A mistake of another chapter breaks nothing that is judged here, so it has to reproduce what holds as well.
    ``declares``: the conventions in which the mutants are to answer. ``shared``: the same for all failures of a
    component.
    """
    if not failed.log:
        return None
    others, passed, shared = list(others), list(passed), shared or Shared()
    held = {judged.requirement.id for judged in passed}
    here = held | {judged.requirement.id for judged in (failed, *others)}
    component, spoken = failed.log[0][0].component, frozenset((declares or {}).items())
    possible = [m for m in all_mutants().values() if reaches(component, m) and not held & set(m.breaks)]
    near = [m for m in possible if here & set(m.breaks)]
    far = [m for m in possible if m not in near] if shared.elsewhere is None else shared.elsewhere
    for rounding in (ROUNDING, FLOAT32):
        compare = Comparison(spoken, rounding, shared)
        telling = [(request, reply) for request, reply in failed.log if not compare.same("", request, reply)]
        fits = [m for m in (*near, *far) if compare.fits(m, telling) and compare.fits(m, failed.log)] if telling else []
        shared.elsewhere = [m for m in fits if m not in near]
        fitting = [m for m in fits if m in near]
        fitting = fitting or [m for m in fits if all(compare.fits(m, j.log) for j in passed)]
        if fitting:
            also = [sum(compare.fits(m, other.log) for other in others) for m in fitting]
            fitting = [m for m, count in zip(fitting, also, strict=True) if count == max(also)]
            return Diagnosis(tuple(fitting), len(failed.cases)) if len(fitting) <= AT_MOST else None
    return _undeclared(failed, component, declares or {}, shared)


def _undeclared(failed: Judged, component: str, declares: Mapping[str, str], shared: Shared) -> Diagnosis | None:
    """Return the one set of conventions in which the reference gives these replies: right, but not as declared.

    The smallest: a convention that has no effect on these replies, the gate's where there is none, is not named.
    """
    found: list[dict[str, str]] = []
    for choices in others_than(component, declares):
        if any(known.items() <= choices.items() for known in found):
            continue
        compare = Comparison(frozenset({**declares, **choices}.items()), FLOAT32, shared)
        if all(compare.same("", request, reply) for request, reply in failed.log):
            found.append(choices)
    if len(found) != 1:
        return None
    said = ", ".join(f'"{name}": "{choice}"' for name, choice in found[0].items())
    story = "this is right in other conventions than those that are declared"
    mutant = Mutant(f"{failed.requirement.id.split('-')[0]}-undeclared", story, set(), f"declares = {{{said}}}", {})
    return Diagnosis((mutant,), len(failed.cases))


@dataclass(frozen=True)
class Comparison:
    """Replies of an implementation against a mutant's, in the same conventions."""

    spoken: frozenset[tuple[str, str]]
    rounding: float
    shared: Shared

    def same(self, name: str, request: Request, reply: Reply | Failure) -> bool:
        """Return whether the mutant, or the reference where the name is empty, gives this reply."""
        return alike(reply, self.shared.reply(name, self.spoken, request), self.rounding)

    def fits(self, mutant: Mutant, log: Log) -> bool:
        """Return whether the mutant gives all replies."""
        return all(self.same(mutant.id, request, reply) for request, reply in log)


@cache
def _mutated(name: str, spoken: frozenset[tuple[str, str]]) -> Implementation:
    return in_conventions(apply([all_mutants()[name]] if name else []), dict(spoken))


def _reply(name: str, spoken: frozenset[tuple[str, str]], request: Request) -> Reply | Failure:
    try:
        return call(_mutated(name, spoken), request)
    except Failure as failure:
        return failure
    except Unsupported as words:
        return Failure("unsupported", str(words))


def alike(one: Reply | Failure, other: Reply | Failure, rounding: float = ROUNDING) -> bool:
    """Return whether two replies are the same up to rounding, or both failed in the same words."""
    if isinstance(one, Failure) or isinstance(other, Failure):
        return isinstance(one, Failure) and isinstance(other, Failure) and one.message == other.message
    if set(one.grads) != set(other.grads) or (one.weights is None) != (other.weights is None):
        return False
    pairs = [(one.out, other.out), *((one.grads[name], other.grads[name]) for name in one.grads)]
    if one.weights is not None and other.weights is not None:
        pairs.append((one.weights, other.weights))
    return one.changed == other.changed and all(_equal(a, b, rounding) for a, b in pairs)


def _equal(a: Tensor, b: Tensor, rounding: float) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    rounding = 1e-2 if a.dtype in (torch.float16, torch.bfloat16) else rounding
    a, b = a.detach().double(), b.detach().double()
    if not a.numel():
        return True
    gap = (a - b).abs().nan_to_num(nan=0.0, posinf=0.0)
    same_specials = torch.equal(a.isnan(), b.isnan()) and torch.equal(a.isinf(), b.isinf())
    return same_specials and bool(gap.max() <= rounding * b.abs().nan_to_num(posinf=0.0).max())
