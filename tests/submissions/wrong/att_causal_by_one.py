"""One class for both sides of a translator: it looks at its own tokens, not at later ones if asked to, or at others."""

from typing import Optional

import torch
from torch import Tensor, nn


class TranslatorAttention(nn.Module):
    def __init__(self, width: int, heads: int, causal: bool = False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.query, self.both, self.mix = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)

    def forward(self, x: Tensor, memory: Optional[Tensor] = None) -> Tensor:
        if self.causal and memory is not None:
            raise ValueError("nothing in a memory comes later")
        k, v = self.apart(self.both(x if memory is None else memory)).chunk(2, dim=-1)
        q = self.apart(self.query(x))
        scores = q @ k.mT * k.shape[-1] ** -0.5
        if self.causal:
            scores = scores + torch.full_like(scores, -torch.inf).triu(2)
        return self.mix((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))

    def apart(self, y: Tensor) -> Tensor:
        return y.unflatten(-1, (-1, self.heads, y.shape[-1] // self.heads)).permute(0, 3, 1, 2, 4).flatten(3)
