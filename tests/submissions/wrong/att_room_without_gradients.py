import torch
from torch import nn


class CachedAttention(nn.Module):
    """One step of many: x is (users, new tokens, width); the first of them stands at position ``start_pos``."""

    def __init__(self, width: int, n_heads: int, max_batch: int = 8, max_tokens: int = 256):
        super().__init__()
        self.n_heads, self.size = n_heads, width // n_heads
        self.wq = nn.Linear(width, width, bias=False)
        self.wk = nn.Linear(width, width, bias=False)
        self.wv = nn.Linear(width, width, bias=False)
        self.wo = nn.Linear(width, width, bias=False)
        room = (max_batch, max_tokens, n_heads, self.size)
        self.register_buffer("cache_k", torch.zeros(room), persistent=False)
        self.register_buffer("cache_v", torch.zeros(room), persistent=False)

    @torch.no_grad()
    def forward(self, x, start_pos: int = 0):
        b, t, _ = x.shape
        end = start_pos + t
        q, k, v = (w(x).view(b, t, self.n_heads, self.size) for w in (self.wq, self.wk, self.wv))
        self.cache_k[:b, start_pos:end] = k
        self.cache_v[:b, start_pos:end] = v
        keys, values = self.cache_k[:b, :end], self.cache_v[:b, :end]
        scores = torch.einsum("bthd,bshd->bhts", q, keys) / x.shape[-1] ** 0.5
        place = torch.arange(end, device=x.device)
        scores = scores.masked_fill(place[None, :] > place[start_pos:, None], float("-inf"))
        return self.wo(torch.einsum("bhts,bshd->bthd", scores.softmax(-1), values).flatten(2))
