from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class FusedAttention(nn.Module):
    """Same parameter names as the built-in module, but readable."""

    def __init__(self, embed_dim: int, num_heads: int, *, bias: bool = True) -> None:
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{num_heads} heads do not divide {embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None) -> Tensor:
        wq, wk, wv = self.in_proj_weight.chunk(3)
        bq, bk, bv = self.in_proj_bias.chunk(3) if self.in_proj_bias is not None else (None, None, None)
        q = self._heads(F.linear(query, wq, bq))
        k = self._heads(F.linear(key, wk, bk))
        v = self._heads(F.linear(value, wv, bv))
        scores = (q / q.shape[-1] ** 0.5) @ k.transpose(-2, -1)
        if key_padding_mask is not None:  # [batch, keys], True = padding
            scores = scores.masked_fill(key_padding_mask[:, None, None, :], float("-inf"))
        out = scores.softmax(dim=-1) @ v
        return self.out_proj(out.transpose(1, 2).flatten(2))

    def _heads(self, t: Tensor) -> Tensor:
        return t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
