import torch
from torch import einsum, nn


class MultiQuery(nn.Module):
    """Queries of one group look at one head of keys and values. x is (batch, time, channels)."""

    def __init__(self, dim, num_heads, num_kv_heads, head_dim):
        super().__init__()
        self.h, self.g, self.d = num_heads, num_kv_heads, head_dim
        self.to_q = nn.Linear(dim, num_heads * head_dim)
        self.to_kv = nn.Linear(dim, 2 * num_kv_heads * head_dim)
        self.to_out = nn.Linear(num_heads * head_dim, dim)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.to_q(x).reshape(b, t, self.h // self.g, self.g, self.d)
        k, v = self.to_kv(x).reshape(b, t, 2, self.g, self.d).unbind(2)
        scores = einsum("btrgd,bsgd->bgrts", q, k) * self.d**-0.5
        out = einsum("bgrts,bsgd->btrgd", scores.softmax(-1), v)
        return self.to_out(out.reshape(b, t, -1))
