"""The numbers of a timed case: configuration, weights, and several sets of inputs that the calls use in turn.

The inputs are normal numbers, never constants: a processor's power, and so its clock, depends on the numbers.
Before each sample, one row is changed in every set of inputs that the sample uses. So every result must be computed: it
can be taken neither from an earlier call with the same pointer nor from a buffer of another contender.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, Forward
from attnconf.conformance.chapters.contents import timed
from attnconf.conformance.engine.boundary import build
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.timing.clock import Run
from attnconf.conformance.timing.grid import TimedCase

_grad = torch.autograd.grad  # kept before a submission can replace it


@dataclass
class Numbers:
    """One set of numbers: a component's inputs and weights, and the cotangent of its output."""

    case: TimedCase
    inputs: Mapping[str, Tensor]
    weights: Mapping[str, Tensor]
    cotangent: Tensor
    mask: Tensor | None

    def __post_init__(self) -> None:
        names = COMPONENTS[self.case.component].inputs  # a query alone is key and value, too
        self.arguments = [self.inputs[name if name in self.inputs else "query"] for name in names]
        self.named = {} if self.mask is None else {"key_mask": self.mask}
        self.leaves = [*self.inputs.values(), *self.weights.values()]

    @property
    def first(self) -> Tensor:
        return self.arguments[0]

    def out(self, forward: Forward) -> Tensor:
        """Return an output that gradients can be taken of. Raises Failure."""
        return differentiable(forward(*self.arguments, **self.named))

    def grads(self, out: Tensor, **options: bool) -> Any:
        """Return the output, then the gradients of inputs and weights."""
        return out, *_grad(out, self.leaves, self.cotangent, allow_unused=True, **options)

    def compute(self, forward: Forward) -> Any:
        """Return ``forward``'s output for these numbers, with gradients unless only the forward pass is timed."""
        if self.case.passes == "forward":
            with torch.no_grad():
                return forward(*self.arguments, **self.named)
        return self.grads(self.out(forward))

    def copy(self) -> "Numbers":
        inputs = {name: x.detach().clone() for name, x in self.inputs.items()}
        return replace(self, inputs=inputs, cotangent=self.cotangent.clone())


class Problem:
    """The numbers of one case. Call i uses ``sets[i % len(sets)]``; all sets have the same weights."""

    def __init__(self, case: TimedCase, seed: int, sets: int = 1):
        self.case = case
        self.timed = timed(case.component)
        self.config = self.timed.config(case)
        self.generator = torch.Generator(case.device).manual_seed(seed)
        self.mask = key_mask(case)
        self.weights = self._weights()
        self.sets: list[Numbers] = []
        self.row: tuple[int, ...] = ()  # index of the row of the first input that was changed last
        self.grow(sets)

    def grow(self, sets: int) -> None:
        """Draw more sets until there are ``sets``."""
        while len(self.sets) < sets:
            inputs = {name: self._leaf(self.normal(*shape)) for name, shape in self.timed.inputs(self.case).items()}
            cotangent = self.normal(*next(iter(inputs.values())).shape)
            self.sets.append(Numbers(self.case, inputs, self.weights, cotangent, self.mask))

    def of(self, i: int) -> Numbers:
        return self.sets[i % len(self.sets)]

    def normal(self, *shape: int, size: float = 1.0) -> Tensor:
        drawn = torch.randn(*shape, generator=self.generator, device=self.case.device)
        return (drawn * size).to(self.case.torch_dtype)

    def touch(self, first: int, count: int) -> None:
        """Change one row of the first input and of the cotangent in the sets of ``count`` calls, from ``first`` on.

        It is the same row in all sets. If backward alone is timed, it runs on existing graphs, and inputs stay.
        """
        shape = self.of(0).first.shape
        self.row = tuple(
            int(torch.randint(n, (1,), generator=self.generator, device=self.case.device)) for n in shape[:-1]
        )
        rows = self.normal(2, shape[-1])
        with torch.no_grad():
            for i in range(first, first + min(count, len(self.sets))):
                if self.case.passes != "backward":
                    self.of(i).first[self.row] = rows[0]
                if self.case.passes != "forward":
                    self.of(i).cotangent[self.row] = rows[1]

    def runner(self, implementation: Implementation) -> Run:
        """Build the component; return a function of i that makes call i. Raises Failure or Unsupported."""
        forward = build(implementation, self.case.component, self.config, self.weights)
        return self._backward(forward) if self.case.passes == "backward" else lambda i: self.of(i).compute(forward)

    def _backward(self, forward: Forward) -> Run:
        """Return a function for backward alone; it makes the graph of a set once, and keeps it."""
        outs: dict[int, Tensor] = {}

        def run(i: int) -> Any:
            i %= len(self.sets)
            if i not in outs:
                outs[i] = self.sets[i].out(forward)
            return self.sets[i].grads(outs[i], retain_graph=True)

        return run

    def _leaf(self, x: Tensor) -> Tensor:
        return x.requires_grad_(self.case.passes != "forward")

    def _weights(self) -> dict[str, Tensor]:
        drawn = {}
        for name, shape in self.timed.weights(self.case).items():
            matrix = len(shape) == 2
            w = self.normal(*shape, size=1 / math.sqrt(shape[1]) if matrix else 0.1)
            drawn[name] = self._leaf(w if matrix or name.endswith("bias") else w + 1)  # a norm's gain is about 1
        return drawn


def plainly(x: Any) -> Tensor:
    """Return ``x`` if it is a plain tensor. Raises Failure for a subclass, which might compute when it is read."""
    if type(x) is not Tensor:
        raise Failure("protocol", f"returned a {type(x).__name__}, want a torch.Tensor and no class of one's own")
    return x


def differentiable(out: Any) -> Tensor:
    """Return an output that gradients can be taken of. Raises Failure."""
    out = plainly(out)
    if not out.requires_grad:
        raise Failure("property", "out carries no gradient: the graph to inputs and weights is cut")
    return out


def key_mask(case: TimedCase) -> Tensor | None:
    """Return the mask of keys that are no padding, (B, S): in every other sample, the last quarter is padding."""
    if not case.padded:
        return None
    mask = torch.ones(case.B, case.keys, dtype=torch.bool, device=case.device)
    mask[1::2, case.keys - case.keys // 4 :] = False
    return mask
