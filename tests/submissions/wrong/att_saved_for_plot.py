import torch
import torch.nn as nn


class VisualAttention(nn.Module):
    """keeps the last attention map in .attn for the figures"""

    def __init__(self, width: int, heads: int):
        super().__init__()
        assert width % heads == 0
        self.heads = heads
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)
        self.o = nn.Linear(width, width)
        self.attn = None

    def forward(self, x, mask=None):
        B, T, C = x.shape
        d = C // self.heads
        q = self.q(x).reshape(B, T, self.heads, d)
        k = self.k(x).reshape(B, T, self.heads, d)
        v = self.v(x).reshape(B, T, self.heads, d)
        logits = torch.einsum("bthd,bshd->bhts", q, k) / d ** 0.5
        if mask is not None:
            logits = logits.masked_fill(mask.logical_not()[:, None, None, :], float("-inf"))
        self.attn = logits.softmax(dim=-1).detach()
        y = torch.einsum("bhts,bshd->bthd", self.attn, v)
        return self.o(y.reshape(B, T, C))
