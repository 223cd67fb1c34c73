import torch
from torch import nn


class BalancedPositions(nn.Module):
    """Keeps word and position equally loud."""

    def __init__(self, width, length=300):
        super().__init__()
        w = 10000.0 ** (-torch.arange(0, width, 2) / width)
        a = torch.arange(length)[:, None] * w
        self.register_buffer("pos", torch.stack((a.sin(), a.cos()), dim=2).view(length, -1))

    def forward(self, words):
        n = words.shape[1]
        if n > len(self.pos):
            raise ValueError("length")
        loudness = words.detach().abs().mean(dim=-1, keepdim=True)
        return words + loudness * self.pos[:n]
