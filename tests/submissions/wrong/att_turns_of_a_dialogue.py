"""Causal attention that remembers a dialogue until `forget()`."""

import torch
from torch import nn


class DialogueAttention(nn.Module):
    def __init__(self, d_model: int, heads: int):
        super().__init__()
        self.heads, self.d_head = heads, d_model // heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.forget()

    def forget(self):
        """The next call begins a new dialogue."""
        self.keys = self.values = None

    def by_head(self, x):
        return x.view(*x.shape[:2], self.heads, self.d_head).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.by_head(self.wq(x)), self.by_head(self.wk(x)), self.by_head(self.wv(x))
        before = 0
        if self.keys is not None:
            before = self.keys.shape[2]
            k, v = torch.cat([self.keys, k], 2), torch.cat([v, self.values], 2)
        self.keys, self.values = k, v
        q = q / self.d_head**0.5
        now = before + torch.arange(x.shape[1], device=x.device)
        weights = (q @ k.mT).masked_fill(torch.arange(k.shape[2], device=x.device) > now[:, None], -torch.inf).softmax(-1)
        return self.wo((weights @ v).transpose(1, 2).reshape(x.shape))
