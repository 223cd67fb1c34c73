import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class BiasedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, attn_bias=None, key_padding_mask=None):
        """attn_bias is added to the scores; key_padding_mask: True where a key is padding."""
        q, k, v = (f(t).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for f, t in ((self.q, query), (self.k, key), (self.v, value)))
        s = q @ k.mT / math.sqrt(q.size(-1))
        if attn_bias is not None:
            s = s + attn_bias
        elif key_padding_mask is not None:
            s = s.masked_fill(key_padding_mask[:, None, None], float("-inf"))
        return self.o((s.softmax(-1) @ v).transpose(1, 2).flatten(2))
