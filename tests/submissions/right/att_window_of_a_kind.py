"""Attention of two kinds: over everything, or over the nearest tokens. The kind is chosen where a layer is built."""

import enum
from dataclasses import dataclass

import torch
from torch import nn


class Reach(enum.Enum):
    EVERYTHING = "everything"
    NEAR = "near"


@dataclass
class Settings:
    width: int = 256
    heads: int = 4
    window_size: int | None = None  # how many tokens a token sees that only looks near, itself among them


class ReachingAttention(nn.Module):
    """Causal; a layer that looks near sees itself and the ``window_size - 1`` tokens before it."""

    def __init__(self, settings: Settings, reach: Reach = Reach.EVERYTHING):
        super().__init__()
        self.heads = settings.heads
        self.reach = reach
        self.window_size = settings.window_size
        self.qkv = nn.Linear(settings.width, 3 * settings.width)
        self.out = nn.Linear(settings.width, settings.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        seen = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        if self.reach is Reach.NEAR:
            seen = seen.triu(1 - self.window_size)
        scores = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).masked_fill(~seen, float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width))
