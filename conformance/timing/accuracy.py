"""The accuracy tier: a contender is timed only if it is right on the same shapes, in the same dtype and pass.

The wanted output is the reference's in float64 on the very numbers that were used. The bound is the error of the
reference itself in the case's dtype, times a factor (engine.error_budget): wide enough for any order of evaluation, and
many times too narrow for the next lower precision.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.engine.boundary import build
from attnconf.conformance.engine.error_budget import error_budget, worst
from attnconf.conformance.engine.evidence import Failure, Measure
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.timing.problem import Numbers, Problem

# Factor on the reference's own error: others sum in blocks, in another order. Errors of the next lower precision than
# float32 are thousands of times larger.
SLACK = {torch.float32: 8.0, torch.bfloat16: 2.0, torch.float16: 2.0}
SCORES = {"cpu": 2**22, "cuda": 2**28}  # scores that the reference may hold at once
LITTLE = 1e8  # operations that the reference may repeat at each look
Part = tuple[slice, ...]


class Tier:
    """The wanted output and gradients of one problem, by a reference in the conventions that contenders declare."""

    def __init__(self, problem: Problem, reference: Implementation):
        self.problem = problem
        self.reference = reference
        self._baseline: dict[bool, list[tuple[float, float] | None]] = {}
        self._first: list[Tensor | None] = []

    def check(self, given: Numbers, returned: Any, first: bool = False) -> Measure:
        """Return the measure of the output if everything returned for ``given`` is right, else raise Failure.

        With ``first``, all contenders are given the same numbers, and as much as possible is compared. Otherwise only
        the part that depends on the row changed last is compared.
        """
        case = self.problem.case
        got = [returned] if case.passes == "forward" else list(returned)
        part = self.part(first)
        want = (first and self._first) or self.wanted(given, part, torch.float64)
        self._first = want if first else self._first
        if bool(part) not in self._baseline:
            less = self.wanted(given, part, case.torch_dtype)
            self._baseline[bool(part)] = [_error(a, b, case.torch_dtype) for a, b in zip(less, want, strict=True)]
        measures = [
            self._compare(name, g, w, baseline, part)
            for name, g, w, baseline in zip(self.names(), got, want, self._baseline[bool(part)], strict=True)
            if w is not None and baseline is not None
        ]
        return measures[0]

    def names(self) -> list[str]:
        """Return names for the returned tensors: "out", then "gradient of …" for each input and weight."""
        if self.problem.case.passes == "forward":
            return ["out"]
        return ["out", *(f"gradient of {name}" for name in (*self.problem.of(0).inputs, *self.problem.weights))]

    def part(self, first: bool) -> Part:
        """Return the part of inputs and output to compare: all (), or the sample and head of the row changed last.

        Gradients of weights can be compared only on all of it.
        """
        case, row = self.problem.case, self.problem.row
        little = case.work.flops < LITTLE
        if not row or ((first or little) and case.B * case.H * case.L * case.keys <= SCORES[case.device]):
            return ()
        return tuple(slice(n, n + 1) for n in row[: 2 if case.component == "attention" else 1])

    def wanted(self, given: Numbers, part: Part, dtype: torch.dtype) -> list[Tensor | None]:
        """Return the reference's output and gradients in ``dtype``; None for gradients that need more than the part."""
        graded = self.problem.case.passes != "forward"

        def leaf(x: Tensor) -> Tensor:
            return x.detach().to(dtype, copy=True).requires_grad_(graded)

        inner = replace(
            given,
            case=replace(given.case, passes="both" if graded else "forward"),
            inputs={name: leaf(x[self._of(name, part)]) for name, x in given.inputs.items()},
            weights={name: leaf(w) for name, w in given.weights.items()},
            cotangent=given.cotangent[part].to(dtype),
            mask=given.mask if given.mask is None else given.mask[part[:1]],
        )
        settings = (
            replace(self.problem.config, dtype=dtype) if hasattr(self.problem.config, "dtype") else self.problem.config
        )
        found = inner.compute(build(self.reference, given.case.component, settings, inner.weights))
        if not graded:
            return [found]
        return list(found) if not part else [*found[: 1 + len(inner.inputs)], *[None for _ in inner.weights]]

    def _of(self, name: str, part: Part) -> Part:
        """Return the part of an input: several heads of queries may share one of keys."""
        case = self.problem.case
        if len(part) < 2 or name == "query" or case.kv_heads in (0, case.H):
            return part
        head = part[1].start // (case.H // case.kv_heads)
        return part[0], slice(head, head + 1)

    def _compare(
        self, name: str, got: Tensor | None, want: Tensor, baseline: tuple[float, float], part: Part
    ) -> Measure:
        if got is None:
            raise Failure("property", f"there is no {name}: the graph to it is cut")
        case = self.problem.case
        got, want = got.detach(), want.detach()
        got = got[self._of(name.split()[-1].replace("out", "query"), part)] if part else got
        if got.shape != want.shape:
            raise Failure("shape", f"{name} has shape {tuple(got.shape)}, want {tuple(want.shape)}")
        try:
            return error_budget(got, want, baseline, case.torch_dtype, self.problem.timed.sublayers)
        except Failure as failure:
            raise Failure(failure.reason, f"{name} {failure.message}", **failure.details) from None


def _error(less: Tensor | None, want: Tensor | None, dtype: torch.dtype) -> tuple[float, float] | None:
    """Return the reference's own (largest, mean) error in the case's dtype, with slack."""
    if less is None or want is None:
        return None
    largest, mean = worst([less.detach().double() - want.detach()])
    return SLACK[dtype] * largest, SLACK[dtype] * mean
