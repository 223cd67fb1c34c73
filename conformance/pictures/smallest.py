"""The smallest example of a failure: small sizes and whole numbers with which the requirement still fails.

A smaller case counts only if its own check fails on it for the same reason, the reference passes it, and one call of
the check gives visibly other numbers than the reference. Never scored. Hypothesis, with which ``--thorough`` shrinks,
takes longer to import than an example may take, and is not used here.
"""

import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property

import torch
from torch import Tensor

from attnconf.conformance.engine.case import REGIMES, Case, draw
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.judge import CaseResult, run_case
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.requirement import Checked
from attnconf.conformance.engine.subject import Subject

SECONDS = 0.3  # for one failure
RUNS = 150  # of its check, at most
VISIBLE = 1e-2  # a fraction of the largest number: a difference visible in three digits
ROUNDED = 1e-4  # a tensor with no larger numbers is one of zeros
NUMBERS = 60  # more numbers nobody follows by hand
_AS_DRAWN = re.compile(r"mask\(| ids\(|signs of ")  # not rounded: only compared, or vocabulary


def _as_drawn(key: str) -> bool:
    return _AS_DRAWN.search(key) is not None


@dataclass(frozen=True)
class Plain(Case):
    """A case with small whole numbers: from -most to most, some of them 0; with a grain, multiples of the grain."""

    most: int = 2
    grain: float = 1.0
    zeros: frozenset[tuple[str, int]] = frozenset()  # (what, which of its elements)

    def draw(self, what: str, *shape: int) -> Tensor:
        key = f"{what}{shape}"
        if _as_drawn(key):
            return super().draw(what, *shape)
        if key not in self._drawn:
            unit = draw(f"{self.seed}/{self.name}/{what}", *shape) / math.sqrt(3)
            whole = (unit * (self.most + 0.5)).round().clamp(-self.most, self.most) + 0.0
            for name, at in self.zeros:
                if name == key and at < whole.numel():
                    whole.view(-1)[at] = 0.0
            self._drawn[key] = (whole * self.grain * self._undone(what, shape)).to(self.device, self.dtype)
        return self._drawn[key]

    def _undone(self, what: str, shape: tuple[int, ...]) -> float:
        """Return the inverse of the factor that the weights of a projection are multiplied by when drawn."""
        if not what.endswith(".weight") or len(shape) != 2:
            return 1.0
        factor = REGIMES[self.regime] if what.split(".")[-2] == "q" else 1.0
        return math.sqrt(shape[1]) / factor

    @cached_property
    def q(self) -> Tensor:
        return self.draw("q", self.B, self.H, self.L, self.E)

    @property
    def nonzero(self) -> list[tuple[str, int]]:
        """Return all numbers drawn so far that are not 0, the largest first."""
        drawn = ((key, x.abs().flatten().tolist()) for key, x in self._drawn.items() if not _as_drawn(key))
        found = [(y, key, i) for key, numbers in drawn for i, y in enumerate(numbers) if y]
        return [(key, i) for _, key, i in sorted(found, key=lambda each: -each[0])]


class Deadline:
    """A deadline after some seconds of this process's own work, or four times as many by the wall clock."""

    def __init__(self, seconds: float):
        self._work = time.process_time() + seconds
        self._wall = time.perf_counter() + 4 * seconds

    @property
    def over(self) -> bool:
        return time.process_time() > self._work or time.perf_counter() > self._wall


class Hurried(Subject):
    """A subject that raises TimeoutError in place of a call after the deadline."""

    def __init__(self, subject: Subject, deadline: Deadline):
        super().__init__(subject.implementation, subject.component, subject.lens)
        self.deadline = deadline

    def call(self, request: Request) -> Reply:
        """Return the reply. Raises TimeoutError after the deadline."""
        if self.deadline.over:
            raise TimeoutError("no time is left")
        return super().call(request)


@dataclass(frozen=True)
class Difference:
    """One call with the implementation's reply and the reference's."""

    request: Request
    got: Reply | Failure
    want: Reply | Failure

    @property
    def size(self) -> int:
        """The number of numbers that a reader has to follow."""
        telling = (w for w in self.request.weights.values() if not (idle(w) or picks(w)))
        given = sum(x.numel() for x in (*self.request.inputs.values(), *telling) if isinstance(x, Tensor))
        return given + math.prod(self.request.out_shape)


def picks(weight: Tensor) -> bool:
    """Return whether a weight only picks features out of a token, as the projections of lenses do."""
    if weight.ndim != 2 or len(weight) < 3 or idle(weight) or not weight.any():
        return False
    some = weight[weight != 0]
    return bool((some == some[0]).all() and some[0] > 0 and ((weight != 0).sum(dim=1) <= 1).all())


def idle(weight: Tensor) -> bool:
    """Return whether a weight does nothing: an identity, or a bias of zeros."""
    if weight.ndim == 2 and weight.shape[0] == weight.shape[1]:
        return torch.equal(weight.detach(), torch.eye(len(weight)).to(weight))
    return weight.ndim == 1 and not weight.any()


@dataclass(frozen=True)
class Example:
    """The smallest failing case, its result, and the call that shows the failure best."""

    case: Case
    result: CaseResult
    difference: Difference


@dataclass
class ExampleSearch:
    """The search for the smallest failing case; keeps the best example so far."""

    subject: Subject
    reference: Subject
    checked: Checked
    reason: str
    deadline: Deadline
    found: Example | None = None
    runs: int = 0
    _tried: set[str] = field(default_factory=set)

    def fails(self, case: Case) -> bool:
        """Return whether the case fails for the wanted reason, and remember it if so; False after the deadline."""
        name = repr(case)
        if name in self._tried or self.over:
            return False
        self._tried.add(name)
        self.runs += 1
        self.subject.log = []
        result = run_case(self.subject, self.checked, case)
        if result.failure is None or result.failure.reason != self.reason:
            return False
        log = self.subject.log
        if run_case(self.reference, self.checked, case).outcome != "pass":
            return False
        try:
            differing = list(self._differences(log))
        except TimeoutError:
            return False
        if differing:
            self.found = Example(case, result, min(differing, key=lambda d: d.size))
        return bool(differing)

    @property
    def over(self) -> bool:
        return self.runs >= RUNS or self.deadline.over

    def _differences(self, log: list[tuple[Request, Reply | Failure]]) -> Iterator[Difference]:
        for request, got in log:
            config = request.config
            if getattr(config, "training", False) and getattr(config, "dropout", 0.0):
                continue  # two draws differ, and neither is wrong
            want = answer(self.reference, request)
            if differ(got, want):
                yield Difference(request, got, want)


def answer(subject: Subject, request: Request) -> Reply | Failure:
    """Return a subject's reply, or its failure."""
    try:
        return subject.call(request)
    except Failure as failure:
        return failure
    except Unsupported as words:
        return Failure("unsupported", str(words))


def differ(got: Reply | Failure, want: Reply | Failure) -> bool:
    """Return whether two replies can be told apart at a glance."""
    if isinstance(got, Failure) or isinstance(want, Failure):
        return isinstance(got, Failure) is not isinstance(want, Failure)
    pairs = [(got.out, want.out), *((got.grads[n], want.grads[n]) for n in want.grads if n in got.grads)]
    if got.weights is not None and want.weights is not None:
        pairs.append((got.weights, want.weights))
    return any(apart(a, b) for a, b in pairs)


def apart(a: Tensor, b: Tensor) -> bool:
    """Return whether two tensors differ visibly in shape or in some number; NaN equals NaN."""
    if a.shape != b.shape:
        return True
    a, b = a.detach().double().cpu(), b.detach().double().cpu()
    same = (a == b) | (a.isnan() & b.isnan())
    finite = a.isfinite() & b.isfinite()
    size = float(b[finite].abs().max()) if finite.any() else 0.0
    near = finite & ((a - b).abs() <= VISIBLE * max(size, ROUNDED))  # rounding is left where all cancels
    return not bool((same | near).all())


def smallest(
    subject: Subject, reference: Subject, checked: Checked, case: Case, reason: str, seconds: float = SECONDS
) -> Example | None:
    """Return the smallest example of a case that fails for this reason, or None if none is found in time.

    ``reference``: the reference in the subject's conventions.
    """
    if case.fixed:
        return None
    deadline = Deadline(seconds)
    search = ExampleSearch(Hurried(subject, deadline), Hurried(reference, deadline), checked, reason, deadline)
    given = {f.name: getattr(case, f.name) for f in fields(Case) if not f.name.startswith("_")}
    plain: Case = Plain(**given)
    halves = plain.but(most=3, grain=0.5)
    starts = [*(at_most(x, 2) for x in (plain, plain.but(seed=1), halves)), at_most(plain, 3), plain, halves, case]
    if not any(search.fails(start) for start in starts):
        return None
    _smaller_sizes(search)
    if search.found is None or search.found.difference.size > NUMBERS:
        return None
    _simpler_numbers(search)
    _fewer_numbers(search)
    return search.found


def at_most(case: Case, most: int) -> Case:
    """Return the case with no size larger than ``most``."""
    return resized(case, **{name: min(case.sizes[name], most) for name in case.shape.names})


def resized(case: Case, **sizes: int) -> Case:
    """Return the case with other sizes; a size that must be a multiple is rounded to one."""
    for name, of in case.shape.multiples.items():
        if name in sizes:
            sizes[name] = of * max(1, -(-sizes[name] // of))
    return case.but(**sizes)


def _smaller_sizes(search: ExampleSearch) -> None:
    """Make one size after another as small as possible; sizes that are equal are tried together first."""
    assert search.found
    every = search.found.case.shape.names
    for name in every:
        size = search.found.case.sizes[name]
        equal = [n for n in every if search.found.case.sizes[n] == size]
        for names in ([name], equal) if len(equal) > 1 else ([name],):
            case = search.found.case
            smaller = (resized(case, **dict.fromkeys(names, n)) for n in range(1, min(size, 5)))
            if any(search.fails(one.but(seed=one.seed + more)) for one in smaller for more in (0, 1)):
                break


def _simpler_numbers(search: ExampleSearch) -> None:
    """Try numbers from -1 to 1, then other draws of them."""
    assert search.found
    case = search.found.case
    if not isinstance(case, Plain):
        return
    for most in range(1, case.most):
        if any(search.fails(case.but(most=most, seed=case.seed + more)) for more in range(4)):
            return


def _fewer_numbers(search: ExampleSearch) -> None:
    """Set one number after another to 0."""
    assert search.found
    if not isinstance(search.found.case, Plain):
        return
    for at in search.found.case.nonzero:
        case = search.found.case
        assert isinstance(case, Plain)
        search.fails(case.but(zeros=case.zeros | {at}))
