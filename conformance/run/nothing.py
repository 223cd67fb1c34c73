"""Implementations that compute nothing: what they pass shows nothing of anybody else."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor

from attnconf.adapters.contract import Build
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Implementation

Given = Sequence[Tensor]


def _fitted(x: Tensor, out: Tensor) -> Tensor:
    """Return the numbers of x in the shape and dtype of an output: its features over and over, where its rows fit."""
    shape = tuple(out.shape)
    if x.ndim == out.ndim and all(size in (1, wanted) for size, wanted in zip(x.shape[:-1], shape[:-1], strict=True)):
        rows = x.repeat(*[1] * (x.ndim - 1), -(-shape[-1] // x.shape[-1]))[..., : shape[-1]].expand(shape)
    else:
        size = math.prod(shape)
        rows = x.flatten().repeat(-(-size // x.numel()))[:size].reshape(shape)
    return rows.detach().to(out.dtype).clone()


FILLS: Mapping[str, Callable[[Given, Tensor], Tensor]] = {
    "zeros": lambda given, out: out.new_zeros(out.shape),
    "ones": lambda given, out: out.new_ones(out.shape),
    "constant": lambda given, out: out.new_full(out.shape, 0.7),
    "echo": lambda given, out: _fitted(given[0], out),
    "mean": lambda given, out: _fitted(given[-1].mean(dim=-2, keepdim=True), out),
}  # what is handed over, and what the reference returns -> what is returned


def nothing(name: str, components: Sequence[str]) -> Implementation:
    """Return what gives a tensor of the right shape and dtype, and computes nothing: one of FILLS."""
    reference = apply([])
    built = {component: _instead(reference.components[component], FILLS[name]) for component in components}
    return Implementation(name, built, reference.declares)


def _instead(build: Build, fill: Callable[[Given, Tensor], Tensor]) -> Build:
    def built(config: Any, weights: Any) -> Any:
        right = build(config, weights)

        def forward(*inputs: Any, **options: Any) -> Any:
            returned = right(*inputs, **options)
            given = [x for x in (*inputs, *options.values()) if _has_rows(x)]
            parts = returned if isinstance(returned, tuple) else (returned,)
            filled = tuple(fill(given or [x], x) if _has_rows(x) else x for x in parts)
            return filled if isinstance(returned, tuple) else filled[0]

        return forward

    return built


def _has_rows(x: Any) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point() and x.ndim > 1 and x.numel() > 0
