import torch
import torch.nn as nn


class MaskedMHA(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        assert e % h == 0
        self.h = h
        self.qkv = nn.Linear(e, 3 * e)
        self.out = nn.Linear(e, e)

    def forward(self, x, mask):
        """mask: [B, T, T] bool (True = attend). Causality is added here."""
        B, T, E = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.h, E // self.h).permute(2, 0, 3, 1, 4)
        mask &= torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        a = (q @ k.transpose(2, 3) / (E // self.h) ** 0.5).masked_fill(~mask[:, None], -1e9).softmax(3)
        return self.out((a @ v).transpose(1, 2).reshape(B, T, E))
