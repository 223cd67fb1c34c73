import torch
from torch import nn


class PaperAttention(nn.Module):
    def __init__(self, d_model=512, h=8):
        super().__init__()
        assert d_model % h == 0
        self.h = h
        self.w = nn.ModuleDict({n: nn.Linear(d_model, d_model, bias=False) for n in ["q", "k", "v", "o"]})

    def forward(self, q, k, v):
        q, k, v = [self.w[n](t).unflatten(-1, (self.h, -1)).transpose(1, 2) for n, t in zip("qkv", (q, k, v))]
        z = q @ k.mT / 8      # sqrt(64)
        return self.w["o"]((z.softmax(-1) @ v).transpose(1, 2).flatten(2))
