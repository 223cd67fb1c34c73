import torch
import torch.nn as nn


class TimeFirstAttention(nn.Module):
    """Self-attention on (T, B, C), the projections fused."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.heads, self.head_dim = num_heads, embed_dim // num_heads
        self.in_proj = nn.Linear(embed_dim, 3 * embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        """x: (T, B, C)"""
        T, B, C = x.shape
        q, k, v = self.in_proj(x).chunk(3, dim=-1)
        q, k, v = (t.reshape(T, B * self.heads, self.head_dim).transpose(0, 1) for t in (q, k, v))
        weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / self.head_dim**0.5, dim=-1)
        out = torch.bmm(weights, v).reshape(T, B, C)
        return self.out_proj(out)
