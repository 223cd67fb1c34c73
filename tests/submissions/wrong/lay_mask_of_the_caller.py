"""A block of a decoder-only model that also hides padding."""

import torch
from torch import nn


class CausalBlock(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))

    def attend(self, x, mask):
        split = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        out = nn.functional.scaled_dot_product_attention(*split, attn_mask=mask[:, None])
        return self.out(out.transpose(1, 2).flatten(2))

    def forward(self, x, mask=None):
        """x (batch, tokens, width); mask (batch, tokens, tokens), True where a token may look."""
        n = x.shape[1]
        if mask is None:
            mask = torch.ones(len(x), n, n, dtype=torch.bool, device=x.device)
        mask &= torch.ones(n, n, dtype=torch.bool, device=x.device).tril()
        x = x + self.attend(self.norm_1(x), mask)
        return x + self.mlp(self.norm_2(x))
