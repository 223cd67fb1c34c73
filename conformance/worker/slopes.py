"""Gradients of outputs with respect to inputs."""

from collections.abc import Sequence

import torch
from torch import Tensor


def slopes(pairs: Sequence[tuple[Tensor, Tensor]], wrt: Sequence[Tensor]) -> list[Tensor]:
    """Return the gradients of Σ <output, cotangent> with respect to ``wrt``; zeros for a tensor without effect.

    The sum is made a scalar here, as torch.autograd.grad imports 500 modules (0.35 s) when given cotangents.
    """
    loss = torch.stack([(output * cotangent).sum() for output, cotangent in pairs]).sum()
    grads = torch.autograd.grad(loss, list(wrt), allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(wrt, grads, strict=True)]
