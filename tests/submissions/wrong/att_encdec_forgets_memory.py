import torch
from torch import nn


class EncDecAttention(nn.Module):
    def __init__(self, d_model: int = 64, n_heads: int = 8, causal: bool = False):
        super().__init__()
        assert d_model % n_heads == 0
        self.heads, self.causal = n_heads, causal
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, memory):
        B, T, C = x.shape
        q = self.Wq(x).view(B, T, self.heads, -1).transpose(1, 2)
        k = self.Wk(x).view(B, T, self.heads, -1).transpose(1, 2)
        v = self.Wv(x).view(B, T, self.heads, -1).transpose(1, 2)
        logits = q @ k.transpose(-1, -2) / (C // self.heads) ** 0.5
        if self.causal:
            logits = logits.masked_fill(torch.ones(T, k.size(2), device=x.device).triu(1).bool(), float("-inf"))
        return self.Wo((logits.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
