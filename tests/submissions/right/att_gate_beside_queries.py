"""Gated attention: one linear layer gives each head its queries and, behind them, its gate."""

import torch
from torch import nn


class GatedAttention(nn.Module):
    def __init__(self, dim, heads, is_causal=False):
        super().__init__()
        self.heads, self.is_causal = heads, is_causal
        self.q_and_gate = nn.Linear(dim, 2 * dim, bias=False)
        self.kv = nn.Linear(dim, 2 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x, pad=None):
        """x (B, N, dim); pad (B, N), True where a token is padding."""
        B, N, dim = x.shape
        q, gate = self.q_and_gate(x).view(B, N, self.heads, -1).chunk(2, dim=-1)
        k, v = (t.view(B, N, self.heads, -1).transpose(1, 2) for t in self.kv(x).chunk(2, dim=-1))
        scores = q.transpose(1, 2) @ k.transpose(2, 3) * (dim // self.heads) ** -0.5
        hidden = torch.zeros(B, 1, N, N, dtype=torch.bool, device=x.device)
        if self.is_causal:
            hidden = hidden | torch.ones(N, N, dtype=torch.bool, device=x.device).triu(1)
        if pad is not None:
            hidden = hidden | pad[:, None, None, :]
        weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        y = (weights @ v).transpose(1, 2)  # (B, N, heads, head_dim), as the gate is
        return self.out((y * gate.sigmoid()).reshape(B, N, dim))
