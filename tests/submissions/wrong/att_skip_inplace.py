import torch
from torch import nn


class AttentionSublayer(nn.Module):
    """LayerNorm -> attention -> skip connection"""

    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.ln = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln(x)).split(C, dim=-1)
        q, k, v = [t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v)]
        w = torch.softmax(q @ k.transpose(2, 3) / (C // self.heads) ** 0.5, dim=-1)
        x += self.proj((w @ v).transpose(1, 2).reshape(B, T, C))
        return x
