"""Which known mistake reproduces what came out: replay the very same calls on every mutant, and compare.

A mutant is named only if it gives the implementation's own replies on every call that the check made, and at least
one of them is not the reference's. Where several fit, those are kept that also reproduce the other
failures; where several are left, they are named together, unless they are too many to help.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from attnconf.conformance.door import Implementation, Reply, Request, call
from attnconf.conformance.evidence import Failure, Unsupported
from attnconf.conformance.judge import Judged
from attnconf.conformance.mutation import Mutant, all_mutants, apply, reaches

Log = Sequence[tuple[Request, Reply | Failure]]
AT_MOST = 3


@dataclass(frozen=True)
class Diagnosis:
    """The mutants that reproduce a failure on all of its cases."""

    mutants: tuple[Mutant, ...]
    cases: int


def diagnose(failed: Judged, others: Iterable[Judged] = (), passed: frozenset[str] = frozenset()) -> Diagnosis | None:
    """Return the mistake that reproduces a failure, or None if none does or too many do.

    ``others``: the other failures. ``passed``: requirements that hold; a mistake that would break one was not made.
    """
    telling = [(request, reply) for request, reply in failed.log if not alike(reply, _reply("", request))]
    if not telling:
        return None
    component = failed.log[0][0].component
    possible = [m for m in all_mutants().values() if reaches(component, m) and not passed & set(m.breaks)]
    fitting = [m for m in possible if _fits(m, telling) and _fits(m, failed.log)]
    if len(fitting) > 1:
        logs = [other.log for other in others]
        also = [mutant for mutant in fitting if all(_fits(mutant, log) for log in logs)]
        fitting = also or fitting
    if not 1 <= len(fitting) <= AT_MOST:
        return None
    return Diagnosis(tuple(fitting), len(failed.cases))


@cache
def _mutated(name: str) -> Implementation:
    return apply([all_mutants()[name]]) if name else apply([])


def _fits(mutant: Mutant, log: Log) -> bool:
    return all(alike(reply, _reply(mutant.id, request)) for request, reply in log)


def _reply(name: str, request: Request) -> Reply | Failure:
    try:
        return call(_mutated(name), request)
    except Failure as failure:
        return failure
    except Unsupported as words:
        return Failure("unsupported", str(words))


def alike(one: Reply | Failure, other: Reply | Failure) -> bool:
    """Return whether two replies are the same up to rounding, or both failed in the same words."""
    if isinstance(one, Failure) or isinstance(other, Failure):
        return isinstance(one, Failure) and isinstance(other, Failure) and one.message == other.message
    if set(one.grads) != set(other.grads) or (one.weights is None) != (other.weights is None):
        return False
    pairs = [(one.out, other.out), *((one.grads[name], other.grads[name]) for name in one.grads)]
    if one.weights is not None and other.weights is not None:
        pairs.append((one.weights, other.weights))
    return one.changed == other.changed and all(_equal(a, b) for a, b in pairs)


def _equal(a: Tensor, b: Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    rounding = 1e-2 if a.dtype in (torch.float16, torch.bfloat16) else 1e-6
    a, b = a.detach().double(), b.detach().double()
    if not a.numel():
        return True
    gap = (a - b).abs().nan_to_num(nan=0.0, posinf=0.0)
    same_specials = torch.equal(a.isnan(), b.isnan()) and torch.equal(a.isinf(), b.isinf())
    return same_specials and bool(gap.max() <= rounding * b.abs().nan_to_num(posinf=0.0).max())
