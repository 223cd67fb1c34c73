import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    """Causal self-attention with a penalty for distance, which grows at another rate in each head."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        if heads < 1 or heads & (heads - 1):
            raise ValueError(f"{heads} heads: the rates are those of a power of two")
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        rates = 2.0 ** (-8.0 / heads * torch.arange(1, heads + 1))
        self.register_buffer("rates", rates[:, None, None])

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        steps = torch.arange(T, device=x.device)
        behind = steps[:, None] - steps
        penalty = (self.rates * behind).to(x.dtype)
        scores = q @ k.mT * (C // self.heads) ** -0.5 - penalty
        scores = scores.masked_fill(behind < 0, float("-inf"))
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
