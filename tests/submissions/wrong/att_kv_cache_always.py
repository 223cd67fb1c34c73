import torch
import torch.nn as nn


class CachedAttention(nn.Module):
    """For generation. Remembers keys and values so that they are not computed again."""

    def __init__(self, dim, n_heads, max_batch=8):
        super().__init__()
        assert dim % n_heads == 0
        self.n_heads = n_heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, dim, bias=False)
        self.wv = nn.Linear(dim, dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        self.cache_k = None
        self.cache_v = None

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, self.n_heads, C // self.n_heads).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        if not self.training:
            if self.cache_k is not None and self.cache_k.size(0) == B:
                k = torch.cat([self.cache_k, k], dim=2)
                v = torch.cat([self.cache_v, v], dim=2)
            self.cache_k, self.cache_v = k, v
        S = k.size(2)
        w = q @ k.transpose(2, 3) / (C // self.n_heads) ** 0.5
        visible = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        w = w.masked_fill(~visible, float("-inf")).softmax(-1)
        return self.wo((w @ v).transpose(1, 2).reshape(B, T, C))
