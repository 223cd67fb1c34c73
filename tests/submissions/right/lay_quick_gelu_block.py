from collections import OrderedDict

import torch
import torch.nn as nn


class QuickGELU(nn.Module):
    def forward(self, x: torch.Tensor):
        gate = torch.sigmoid(x * 1.702)
        return gate * x


class AttentionBlock(nn.Module):
    """One block of the image tower. Tokens come first: (grid ** 2 + 1, batch, width)."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads)
        self.ln_2 = nn.LayerNorm(width)
        layers = [("c_fc", nn.Linear(width, 4 * width)), ("gelu", QuickGELU()), ("c_proj", nn.Linear(4 * width, width))]
        self.mlp = nn.Sequential(OrderedDict(layers))

    def look_around(self, x: torch.Tensor):
        out, _ = self.attn(x, x, x, need_weights=False)
        return out

    def forward(self, x: torch.Tensor):
        x = x + self.look_around(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))
