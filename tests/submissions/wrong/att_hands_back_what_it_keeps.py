"""Attention of a story writer. With keeps=True what is written so far comes back, for the call with the next words."""
import torch
from torch import nn


class StoryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, keeps=False):
        super().__init__()
        self.num_heads, self.keeps = num_heads, keeps
        self.to_q = nn.Linear(embed_dim, embed_dim)
        self.to_kv = nn.Linear(embed_dim, 2 * embed_dim)
        self.to_out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, past_key_values=None):
        q, k, v = (y.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for y in (self.to_q(x), *self.to_kv(x).chunk(2, 2)))
        if past_key_values is not None:
            k, v = (torch.cat([before, now], dim=2) for before, now in zip(past_key_values, (k, v)))
        scores = q @ k.mT / q.shape[3] ** 0.5
        queries, keys = scores.shape[2:]
        later = torch.ones(queries, keys, dtype=torch.bool, device=x.device).triu(1)
        out = scores.masked_fill(later, float("-inf")).softmax(dim=3) @ v
        out = self.to_out(out.transpose(1, 2).flatten(2))
        return (out, (k, v)) if self.keeps else (out, None)
