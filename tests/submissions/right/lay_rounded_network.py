"""One block of a small language model, sized by the model's own settings file."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    dim: int = 256
    n_heads: int = 4
    multiple_of: int = 64  # the network's width is rounded up to this
    eps: float = 1e-5


class Gain(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.eps, self.gain = eps, nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.gain * x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + self.eps)


class Swish(nn.Module):
    def __init__(self, width, wanted, step):
        super().__init__()
        inner = 2 * wanted // 3
        inner += -inner % step
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        g = self.gate(x)
        return self.down(g * torch.sigmoid(g) * self.up(x))


class Heads(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.n = s.n_heads
        self.qkv = nn.Linear(s.dim, 3 * s.dim, bias=False)
        self.back = nn.Linear(s.dim, s.dim, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.n, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.mT / (width // self.n) ** 0.5
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
        return self.back((weights @ v).transpose(1, 2).flatten(2))


class ModelBlock(nn.Module):
    def __init__(self, number: int, settings: Settings):
        super().__init__()
        self.number = number
        self.heads = Heads(settings)
        self.network = Swish(settings.dim, 4 * settings.dim, settings.multiple_of)
        self.before_heads = Gain(settings.dim, settings.eps)
        self.before_network = Gain(settings.dim, settings.eps)

    def forward(self, x):
        x = x + self.heads(self.before_heads(x))
        return x + self.network(self.before_network(x))
