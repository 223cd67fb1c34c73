"""What a call of a component costs, as data: the call that is counted, and how one is timed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from attnconf.conformance.chapters.shared.work import Sizes, Work, attention_flops
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject

Shapes = Mapping[str, tuple[int, ...]]


# A call, and the FLOPs of its products of matrices: 2 for a multiplication and an addition.
Workload = tuple[Call, int]


@dataclass(frozen=True)
class Timed:
    """How a component is timed: with what, and what a call must do at least.

    ``inputs``: where there is a query alone, it is key and value too. ``weights``: by the contract's names.
    """

    work: Callable[[Sizes], Work]
    config: Callable[[Sizes], Any]
    inputs: Callable[[Sizes], Shapes]
    weights: Callable[[Sizes], Shapes] = lambda case: {}
    sublayers: int = 0  # that errors pass through
    copies: bool = False  # whether it only reads and writes: it is held against a copy of as many bytes


@dataclass(frozen=True)
class Cost:
    """``workload(subject, case)``: the call that is counted, as the subject is declared to take it."""

    workload: Callable[[Subject, Case], Workload]
    timed: Timed | None = None


def flops_of_attention(case: Case, keys: int, width: int) -> int:
    """Return 2·B·H·L·S·(E + F): every query times every key, every weight times every value."""
    return int(attention_flops(case.B, case.H, case.L * keys, case.E, width))


def with_positions(subject: Subject, case: Case, config: Any, weights: Mapping[str, Tensor]) -> Workload:
    """Return the call of self-attention with positions of its own."""
    shape = (case.B, case.H, case.L, case.E)
    inputs = {name: case.draw(name, *shape) for name in ("query", "key", "value")}
    return Call(subject.component, config, weights, inputs, shape), flops_of_attention(case, case.L, case.E)


def of_block(case: Case, block: Call, layers: int) -> Workload:
    """Return the call of a stack: in each layer every weight of two axes meets every token, and attention is added."""
    matrices = sum(w.numel() for w in block.weights.values() if w.ndim == 2)
    return block, 2 * case.B * case.L * matrices + layers * flops_of_attention(case, case.L, case.E)


def each_token(subject: Subject, case: Case, config: Any, weights: Mapping[str, Tensor], flops: int = 0) -> Workload:
    """Return the call of what takes x (B, L, E) token by token."""
    x = case.draw("x", case.B, case.L, case.E)
    return Call(subject.component, config, weights, {"x": x}, tuple(x.shape)), flops


# -- shapes of what is timed


def tokens(case: Sizes) -> Shapes:
    return {"x": (case.B, case.L, case.width)}


def projections(case: Sizes) -> Shapes:
    """Return the shapes of the weights of multi-head attention, all of the model's width."""
    return {
        f"{name}.{kind}": (case.width,) * axes
        for name in ("q", "k", "v", "out")
        for kind, axes in (("weight", 2), ("bias", 1))
    }
