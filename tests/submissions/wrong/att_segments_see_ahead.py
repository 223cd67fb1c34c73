import torch
from torch import nn


class KVCache:
    """Keys and values so far, each (batch, heads, tokens, head width)."""

    def __init__(self):
        self.k = self.v = None

    def append(self, k, v):
        self.k = k if self.k is None else torch.cat([self.k, k], dim=2)
        self.v = v if self.v is None else torch.cat([self.v, v], dim=2)
        return self.k, self.v


class SegmentAttention(nn.Module):
    """Causal self-attention over a text that comes in segments; cache: what came before.

    Cut a text in segments of several tokens each, and you get what you get from all of it.
    """

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.to_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.to_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache: KVCache | None = None):
        B, T, D = x.shape
        q, k, v = self.to_qkv(x).view(B, T, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        first = cache is None or cache.k is None
        if cache is not None:
            k, v = cache.append(k, v)
        scores = (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)
        if first:
            scores = scores + torch.full_like(scores[0, 0], float("-inf")).triu(1)
        return self.to_out((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
