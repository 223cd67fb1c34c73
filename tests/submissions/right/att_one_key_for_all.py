"""Multi-query attention (Shazeer 2019): every head asks, and all of them read the same keys and values."""

import torch
import torch.nn.functional as F
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, bias: bool = True):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.to_q = nn.Linear(d_model, n_heads * self.d_head, bias=bias)
        self.to_kv = nn.Linear(d_model, 2 * self.d_head, bias=bias)
        self.to_out = nn.Linear(n_heads * self.d_head, d_model, bias=bias)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """x (batch, length, d_model); mask (batch, length), True where there is a token."""
        batch, length, _ = x.shape
        q = self.to_q(x).view(batch, length, self.n_heads, self.d_head).transpose(1, 2)
        k, v = self.to_kv(x).unsqueeze(1).split(self.d_head, dim=-1)  # (batch, 1, length, d_head)
        scores = (q / self.d_head**0.5) @ k.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        out = F.softmax(scores, dim=-1) @ v
        return self.to_out(out.transpose(1, 2).reshape(batch, length, -1))
