import torch
from torch import nn


class SelfAttn(nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, lookahead=True):
        b, t, w = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.n_heads, w // self.n_heads).permute(2, 0, 3, 1, 4)
        s = q @ k.mT * (w // self.n_heads) ** -0.5
        if not lookahead:
            s.masked_fill_(torch.ones(t, t, device=x.device).triu(2).bool(), -torch.inf)
        return self.out((s.softmax(-1) @ v).transpose(1, 2).flatten(2))
