"""Attention for translation with beams. Time first: (T, B, width)."""

import torch
from torch import nn


class BeamAttention(nn.Module):
    """past: a dict, empty before the first step. After a step of the search call `reorder_past(past, parents)`."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.each = heads, width // heads
        self.qkv = nn.Linear(width, 3 * width)
        self.join = nn.Linear(width, width)

    def apart(self, t):
        return t.reshape(t.shape[0], -1, self.each).transpose(0, 1)  # (B * heads, T, each)

    def forward(self, steps, past=None):
        T, B, width = steps.shape
        q, k, v = (self.apart(t) for t in self.qkv(steps).split(width, -1))
        before = 0
        if past is not None:
            if past:
                before = past["keys"].shape[2]
                k = torch.cat([past["keys"].flatten(0, 1), k], 1)
                v = torch.cat([past["values"].flatten(0, 1), v], 1)
            past["keys"], past["values"] = k.unflatten(0, (B, -1)), v.unflatten(0, (B, -1))
        scores = q @ k.transpose(1, 2) / self.each**0.5
        later = torch.ones(T, before + T, dtype=torch.bool, device=steps.device).triu(before + 1)
        mixed = scores.masked_fill(later, float("-inf")).softmax(-1) @ v
        return self.join(mixed.transpose(0, 1).reshape(T, B, width))

    @staticmethod
    def reorder_past(past, parents):
        for name in ("keys", "values"):
            past[name] = past[name].index_select(0, parents)
