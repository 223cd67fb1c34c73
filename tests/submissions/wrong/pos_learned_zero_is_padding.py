import torch
from torch import nn


class MaskAwarePositions(nn.Module):
    """x: (batch, length, dim). Padding has been zeroed before, so it gets no number of its own."""

    def __init__(self, dim, max_len):
        super().__init__()
        self.emb = nn.Embedding(max_len, dim)

    def forward(self, x):
        real = (x.abs().sum(dim=-1) > 0).long()
        number = (real.cumsum(dim=1) - 1).clamp(min=0)
        return x + self.emb(number)
