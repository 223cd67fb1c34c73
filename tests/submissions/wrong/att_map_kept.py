import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        assert dim % n_heads == 0
        self.n_heads = n_heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        self.attn_map = None

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.n_heads, C // self.n_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        if self.attn_map is None or self.attn_map.shape[-1] != N:
            self.attn_map = (q @ k.transpose(-2, -1) * (C // self.n_heads) ** -0.5).softmax(-1)
        return self.proj((self.attn_map @ v).transpose(1, 2).reshape(B, N, C))
