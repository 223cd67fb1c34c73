import torch
from torch import nn


class RopeForCache(nn.Module):
    """q, k: (B, H, T, D). With a key-value cache pass the positions of the new tokens."""

    def __init__(self, D, theta=1e4):
        super().__init__()
        assert D % 2 == 0
        self.D, self.theta = D, theta

    def rotate(self, x, pos):
        half = self.D // 2
        w = self.theta ** (-torch.arange(half, device=x.device, dtype=torch.float64) / half)
        a = pos.to(torch.float64)[..., None] * w
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        u, v = x[..., :half], x[..., half:]
        return torch.cat([u * c - v * s, v * c + u * s], -1)

    def forward(self, q, k, positions=None):
        n = q.shape[2]
        positions = torch.arange(n, device=q.device)
        return self.rotate(q, positions), self.rotate(k, positions)
