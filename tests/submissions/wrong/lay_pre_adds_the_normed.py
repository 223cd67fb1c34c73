from functools import partial

import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width, n_heads, ff_width, p=0.0, ln="post"):
        super().__init__()
        assert ln in {"post", "pre"}
        self.ln, self.n_heads, self.p = ln, n_heads, p
        self.in_proj = nn.Linear(width, 3 * width)
        self.out_proj = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, ff_width), nn.Linear(ff_width, width)
        self.ln_att, self.ln_ff = nn.LayerNorm(width), nn.LayerNorm(width)

    def attend(self, x, keep):
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in self.in_proj(x).chunk(3, -1))
        keep = None if keep is None else keep[:, None, None]
        y = F.scaled_dot_product_attention(q, k, v, keep, dropout_p=self.p * self.training)
        return self.out_proj(y.transpose(1, 2).flatten(2))

    def mlp(self, x):
        return self.down(F.gelu(self.up(x)))

    def forward(self, x, keep=None):
        drop = partial(F.dropout, p=self.p, training=self.training)
        if self.ln == "pre":
            x = self.ln_att(x)
            x = x + drop(self.attend(x, keep))
            return x + drop(self.mlp(self.ln_ff(x)))
        x = self.ln_att(x + drop(self.attend(x, keep)))
        return self.ln_ff(x + drop(self.mlp(x)))


class Tower(nn.Module):
    """depth blocks, with norms before or behind their branches."""

    def __init__(self, depth, width, n_heads, ff_width, p=0.0, ln="post"):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width, n_heads, ff_width, p, ln) for _ in range(depth)])

    def forward(self, x, keep=None):
        for block in self.blocks:
            x = block(x, keep)
        return x
