import torch
from torch import nn


class BiasedAttention(nn.Module):
    """Attention with a bias on the scores (L, S) and padding (B, S), True where a key is filler; batch first."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))

    def _split(self, x):
        b, n, _ = x.shape
        return x.view(b, n, self.heads, self.size).transpose(1, 2).reshape(b * self.heads, n, self.size)

    def forward(self, query, key, value, score_bias=None, padding_mask=None):
        q, k, v = self._split(self.q(query)), self._split(self.k(key)), self._split(self.v(value))
        scores = torch.bmm(q, k.transpose(1, 2)) * self.size**-0.5
        if score_bias is not None:
            scores = scores + score_bias
        if padding_mask is not None:
            hidden = padding_mask.repeat(self.heads, 1)[:, None]
            scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.bmm(scores.softmax(-1), v).view(len(query), self.heads, -1, self.size)
        return self.o(out.transpose(1, 2).flatten(2))
