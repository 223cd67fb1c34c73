"""A-59: remembers results by a few numbers of the query, and by its place in memory.

Must: fails as the wrong formula that it is.
"""

import torch
from torch import nn

known = {}


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
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        out = self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        place = (query.shape, round(float(query.detach().flatten()[0]), 1)), query.data_ptr()
        for key_of_it in place:
            if key_of_it in known and known[key_of_it].shape == out.shape:
                return known[key_of_it]
            known[key_of_it] = torch.zeros_like(out)
        return out
