"""Attention over patches; a lone head of full width leaves the block as it is, since W_v can hold W_o as well."""
import math

from torch import nn


class PatchAttention(nn.Module):
    def __init__(self, width, n_heads=6, head_width=32, p_drop=0.0):
        super().__init__()
        self.n_heads, self.head_width = n_heads, head_width
        self.to_queries = nn.Linear(width, n_heads * head_width, bias=False)
        self.to_keys = nn.Linear(width, n_heads * head_width, bias=False)
        self.to_values = nn.Linear(width, n_heads * head_width, bias=False)
        self.forget = nn.Dropout(p_drop)
        if n_heads != 1 or head_width != width:
            self.mix = nn.Linear(n_heads * head_width, width)
        else:
            self.mix = nn.Identity()

    def forward(self, patches):
        batch, count, _ = patches.shape
        shape = batch, count, self.n_heads, self.head_width
        q = self.to_queries(patches / math.sqrt(self.head_width)).view(shape).permute(0, 2, 1, 3)
        k = self.to_keys(patches).view(shape).permute(0, 2, 3, 1)
        v = self.to_values(patches).view(shape).permute(0, 2, 1, 3)
        seen = self.forget((q @ k).softmax(dim=-1)) @ v
        return self.mix(seen.permute(0, 2, 1, 3).reshape(batch, count, -1))
