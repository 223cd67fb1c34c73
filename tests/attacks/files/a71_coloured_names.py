"""A-71: has a class whose name is no name, and a version that colours the terminal.

Must: earns nothing.
"""

from torch import nn

__version__ = "\x1b[2J\x1b[32m1.0<script>alert(1)</script>"
NAME = "\x1b[2J<img src=x onerror=alert(1)>\n@file"


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))
        type(self).__name__ = type(self).__qualname__ = NAME

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        out = self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        raise TypeError(f"{type(self)} takes no such thing")
        return out
