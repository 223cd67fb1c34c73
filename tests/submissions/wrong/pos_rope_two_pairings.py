import torch
import torch.nn.functional as F
from torch import nn, Tensor


def rope_q(x: Tensor, ang: Tensor) -> Tensor:
    c, s = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)


def rope_k(x: Tensor, ang: Tensor) -> Tensor:
    c, s = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat((a * c - b * s, a * s + b * c), -1)


class RopeSDPA(nn.Module):
    def __init__(self, dim: int, theta: float = 1e4, causal: bool = False) -> None:
        super().__init__()
        if dim % 2:
            raise ValueError("dim must be even")
        self.causal = causal
        self.inv_freq = theta ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        t = torch.arange(query.size(-2), dtype=torch.float64)
        ang = torch.outer(t, self.inv_freq)
        return F.scaled_dot_product_attention(rope_q(query, ang), rope_k(key, ang), value, is_causal=self.causal)
