import torch
from torch import nn


class RotaryPositions(nn.Module):
    """x of shape (..., T, head_dim): features 2i and 2i+1 are the two coordinates of a point that we rotate."""

    def __init__(self, head_dim, theta=10000.):
        super().__init__()
        if head_dim % 2 != 0:
            raise ValueError("head_dim must be even")
        self.head_dim = head_dim
        self.theta = theta

    def angles(self, T, device):
        k = torch.arange(self.head_dim // 2, device=device, dtype=torch.float64)
        inv = 1.0 / self.theta ** (2 * k / self.head_dim)
        return torch.arange(T, device=device, dtype=torch.float64)[:, None] * inv

    def forward(self, x):
        ang = self.angles(x.shape[-2], x.device)
        c, s = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(start_dim=-2)
