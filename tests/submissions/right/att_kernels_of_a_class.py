"""Self-attention over sequences of unequal lengths. A class of four arrays holds the weights, and draws fresh ones."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass
class Kernels:
    ask: torch.Tensor  # (width, heads, per_head), as the next two
    offer: torch.Tensor
    carry: torch.Tensor
    join: torch.Tensor  # (heads, per_head, width)

    @staticmethod
    def fresh(width: int, heads: int, per_head: int) -> Kernels:
        def draw(*shape):
            return torch.randn(*shape) / width**0.5

        into = [draw(width, heads, per_head) for _ in range(3)]
        return Kernels(*into, draw(heads, per_head, width))


def ragged_attention(kernels: Kernels, x: torch.Tensor, lengths: torch.Tensor | None = None):
    """x (samples, steps, width). Only the first lengths[i] steps of sample i are real; nobody looks at the rest."""
    q = torch.einsum("btw,whp->bhtp", x, kernels.ask)
    k = torch.einsum("btw,whp->bhtp", x, kernels.offer)
    v = torch.einsum("btw,whp->bhtp", x, kernels.carry)
    scores = torch.einsum("bhtp,bhsp->bhts", q, k) / q.shape[-1] ** 0.5
    if lengths is not None:
        beyond = torch.arange(x.shape[1]) >= lengths.unsqueeze(1)
        scores = scores.masked_fill(beyond[:, None, None, :], torch.finfo(scores.dtype).min)
    mixed = torch.einsum("bhts,bhsp->bhtp", scores.softmax(-1), v)
    return torch.einsum("bhtp,hpw->btw", mixed, kernels.join)
