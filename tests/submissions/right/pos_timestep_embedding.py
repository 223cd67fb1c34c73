import math
from typing import Final

import torch
from torch import Tensor, nn


class SinusoidalPosEmb(nn.Module):
    """Embeds (possibly fractional) positions or diffusion times: (n,) -> (n, dim)."""

    dim: Final[int]
    theta: Final[float]

    def __init__(self, dim: int, theta: float = 10000.0) -> None:
        super().__init__()
        if dim % 2 or dim < 4:
            raise ValueError("dim must be even, and at least 4")
        self.dim = dim
        self.theta = theta

    def forward(self, t: Tensor) -> Tensor:
        half_dim = self.dim // 2
        emb = math.log(self.theta) / (half_dim - 1)
        emb = torch.exp(torch.arange(half_dim, device=t.device, dtype=torch.float32) * -emb)
        emb = t.float()[..., None] * emb
        return torch.cat((emb.sin(), emb.cos()), dim=-1)
