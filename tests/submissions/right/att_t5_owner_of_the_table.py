"""Attention for a text-to-text model in the manner of Raffel et al. (2020).

Queries and keys meet without a division by the root of their width. The first layer of a stack owns the biases of
distances and passes them on; layers that read the encoder own none.
"""

import math

import torch
from torch import Tensor, nn


class BucketedAttention(nn.Module):
    def __init__(self, width, head_width, n_heads, is_decoder=False, owns_table=False, n_buckets=32, farthest=128):
        super().__init__()
        self.n_heads, self.is_decoder = n_heads, is_decoder
        self.n_buckets, self.farthest = n_buckets, farthest
        inner = n_heads * head_width
        self.to_q = nn.Linear(width, inner, bias=False)
        self.to_kv = nn.Linear(width, 2 * inner, bias=False)
        self.merge = nn.Linear(inner, width, bias=False)
        self.table = nn.Parameter(torch.zeros(n_buckets, n_heads)) if owns_table else None

    def buckets(self, length: int) -> Tensor:
        i = torch.arange(length)
        ahead = i[None, :] - i[:, None]
        start, count = torch.zeros_like(ahead), self.n_buckets
        if self.is_decoder:
            apart = (-ahead).clamp_min(0)
        else:
            count = count // 2
            start, apart = count * (ahead > 0), ahead.abs()
        near = count // 2
        slope = (count - near) / math.log(self.farthest / near)
        wide = near + (slope * (apart.clamp_min(1) / near).log()).long()
        return start + torch.where(apart < near, apart, wide.clamp_max(count - 1))

    def bias(self, length: int) -> Tensor:
        return self.table[self.buckets(length)].movedim(-1, 0)[None]

    def forward(self, hidden_states, mask=None, encoder_hidden_states=None, shared_bias=None):
        """``mask`` is added to the scores, (batch, 1 or heads, queries, keys); a decoder's hides what is later."""
        from_encoder = encoder_hidden_states is not None
        source = encoder_hidden_states if from_encoder else hidden_states
        q = self.to_q(hidden_states).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k, v = (x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in self.to_kv(source).chunk(2, -1))
        scores = q @ k.mT
        if shared_bias is None and self.table is not None and not from_encoder:
            shared_bias = self.bias(hidden_states.shape[1])
        if shared_bias is not None:
            scores = scores + shared_bias
        if mask is not None:
            scores = scores + mask
        return self.merge((scores.softmax(-1) @ v).transpose(1, 2).flatten(2)), shared_bias
