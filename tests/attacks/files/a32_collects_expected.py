"""A-32: looks through all objects for a tensor that may be the expected one, and returns it.

Must: fails as the wrong formula that it is.
"""

import gc

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.mT / query.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        out = self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        known = {x.data_ptr() for x in (query, key, value, q, k, v, scores, out)}
        for found in gc.get_objects():
            plain = type(found) is torch.Tensor and not found.requires_grad and found.dtype == out.dtype
            if plain and found.shape == out.shape and found.data_ptr() not in known:
                return found.clone()
        return out
