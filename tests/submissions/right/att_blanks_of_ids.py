"""Self-attention over sentences of ids, which hides what is no word.

The caller makes the mask of the ids, where 0 fills a sentence up:

    blanks = torch.eq(ids, 0)
"""
import torch
from torch import nn


class SentenceAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.to_q, self.to_k, self.to_v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.to_out = nn.Linear(d_model, d_model)

    def forward(self, x, blanks=None):
        q, k, v = (f(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        scores = (q * q.shape[-1] ** -0.5) @ k.mT
        if blanks is not None:
            scores = scores.masked_fill(blanks[:, None, None, :], torch.finfo(scores.dtype).min)
        return self.to_out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
