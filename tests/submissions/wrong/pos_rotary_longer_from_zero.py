import torch
import torch.nn as nn


class RotaryPositions(nn.Module):
    """Rotary position embedding (two halves). Angles for the first positions are kept; longer inputs make more."""

    def __init__(self, head_size: int, theta: float = 10000.0, kept: int = 40):
        super().__init__()
        self.head_size, self.theta = head_size, theta
        self.register_buffer("angles", self.of(torch.arange(kept)), persistent=False)

    def of(self, positions):
        i = torch.arange(0, self.head_size, 2, dtype=torch.float64)
        return positions.double().unsqueeze(1) * self.theta ** (-i / self.head_size)

    def forward(self, x):
        """x: (batch, heads, tokens, head_size)"""
        tokens, kept = x.size(2), self.angles.size(0)
        while tokens > kept:
            self.angles = torch.cat([self.angles, self.of(torch.arange(kept))])
            kept = self.angles.size(0)
        cos, sin = (f(self.angles[:tokens]).to(x.dtype) for f in (torch.cos, torch.sin))
        one, two = x.chunk(2, dim=-1)
        return torch.cat([one * cos - two * sin, two * cos + one * sin], dim=-1)
