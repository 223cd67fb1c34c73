"""Attention whose result is an object with names."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Attended:
    weights: Tensor | None
    tokens: Tensor


class NamedAttention(nn.Module):
    def __init__(self, model_dim: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.project = nn.ModuleDict({name: nn.Linear(model_dim, model_dim) for name in ("q", "k", "v", "out")})

    def forward(self, query: Tensor, key: Tensor, value: Tensor, return_weights: bool = False) -> Attended:
        given = {"q": query, "k": key, "v": value}
        q, k, v = (self.project[n](x).unflatten(-1, (self.num_heads, -1)).swapaxes(1, 2) for n, x in given.items())
        weights = torch.softmax((q / q.shape[-1] ** 0.5) @ k.mT, dim=-1)
        tokens = self.project["out"]((weights @ v).swapaxes(1, 2).flatten(2))
        return Attended(weights.softmax(-1) if return_weights else None, tokens)
