"""Self-attention from an options object, or from keyword arguments that make one."""

from dataclasses import dataclass
from typing import Optional

import torch
from torch import nn


@dataclass(frozen=True)
class Options:
    width: int
    heads: int = 4
    bias: bool = True


class OptionalAttention(nn.Module):
    def __init__(self, options: Optional[Options] = None, **more):
        super().__init__()
        self.options = options = Options(**more) if options is None else options
        self.qkv = nn.Linear(options.width, 3 * options.width, bias=options.bias)
        self.back = nn.Linear(options.width, options.width, bias=options.bias)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.options.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        weights = torch.softmax(q @ k.mT * self.options.width**-0.5, dim=-1)
        return self.back((weights @ v).transpose(1, 2).flatten(2))
