import torch
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, max_positions=1024, base=10_000):
        super().__init__()
        inv = 1.0 / base ** (torch.arange(0, dim, 2, dtype=torch.float32) / dim)
        t = torch.arange(max_positions, dtype=torch.float32)
        f = torch.einsum("i,j->ij", t, inv)
        self.register_buffer("cos", f.cos().repeat(1, 2), persistent=False)
        self.register_buffer("sin", f.sin().repeat(1, 2), persistent=False)

    @staticmethod
    def _half(x):
        a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
        return torch.cat((-b, a), dim=-1)

    def apply(self, q, k, positions):
        cos, sin = self.cos[positions].unsqueeze(1), self.sin[positions].unsqueeze(1)
        return q * cos + self._half(q) * sin, k * cos + self._half(k) * sin
