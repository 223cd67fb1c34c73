import torch
from torch import nn


def unit_numbers(size, longest, theta=10000.0):
    """One complex number of length 1 for each position and each pair of neighbouring features."""
    rates = theta ** -(torch.arange(0, size, 2).float() / size)
    angles = torch.outer(torch.arange(longest).float(), rates)
    return torch.polar(torch.ones(longest, size // 2), angles)


class PolarAttention(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads, max_seq_len=256):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.head_dim = n_heads, n_kv_heads, dim // n_heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        self.turns = unit_numbers(self.head_dim, max_seq_len)  # made in float32 whatever the rest is

    def turned(self, x):
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * self.turns[: x.shape[1], None]).flatten(-2).to(x)

    def forward(self, x, cache=None):
        """``cache``: a dict of the caller's, empty at first, in which keys and values stay for the next call."""
        batch, length, dim = x.shape
        q = self.wq(x).view(batch, length, self.n_heads, self.head_dim)
        k = self.wk(x).view(batch, length, self.n_kv_heads, self.head_dim)
        v = self.wv(x).view(batch, length, self.n_kv_heads, self.head_dim)
        if cache:
            k, v = torch.cat([cache["k"], k], 1), torch.cat([cache["v"], v], 1)
        if cache is not None:
            cache["k"], cache["v"] = k, v
        before = k.shape[1] - length
        q = self.turned(torch.cat([q.new_zeros(batch, before, self.n_heads, self.head_dim), q], 1))[:, before:]
        k = self.turned(k)
        share = self.n_heads // self.n_kv_heads
        k, v = k.repeat_interleave(share, 2), v.repeat_interleave(share, 2)
        scores = torch.einsum("bihd,bjhd->bhij", q, k) / self.head_dim**0.5
        ahead = torch.ones(length, before + length, dtype=torch.bool, device=x.device).triu(before + 1)
        weights = scores.masked_fill(ahead, float("-inf")).softmax(-1)
        return self.wo(torch.einsum("bhij,bjhd->bihd", weights, v).reshape(batch, length, dim))
