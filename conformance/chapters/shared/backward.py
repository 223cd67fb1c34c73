"""A backward pass that is right in some dtypes alone: those in which its author tried it."""

from typing import Any

import torch
from torch import Tensor


class _Backward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, out: Tensor, right: tuple[torch.dtype, ...]) -> Tensor:
        ctx.right = right
        return out.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (g,) = grads
        return g if g.dtype in ctx.right else -3 * g, None


def right_alone_in(out: Tensor, *dtypes: torch.dtype) -> Tensor:
    """Return ``out``, (...), whose gradient is -3 times what it should be, but in these dtypes."""
    found: Tensor = _Backward.apply(out, dtypes)  # type: ignore[no-untyped-call]
    return found
