import torch
from torch import nn
import torch.nn.functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, d: int, n_heads: int):
        super().__init__()
        self.n_heads = n_heads
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)
        self._mask = None

    def mask_for(self, padding):
        # built on the first batch, so that it lands on the right device
        if self._mask is None:
            n = padding.shape[1]
            causal = torch.ones(n, n, dtype=torch.bool, device=padding.device).tril()
            self._mask = causal & ~padding[:, None, None, :]
        return self._mask

    def forward(self, x, padding):
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask_for(padding))
        return self.out(y.transpose(1, 2).flatten(2))


class LMBlock(nn.Module):
    """x: (batch, n, d), padding: (batch, n) bool, True for what is to be ignored (padding, deleted words)."""

    def __init__(self, d: int, n_heads: int, d_ff: int):
        super().__init__()
        self.attn = CausalSelfAttention(d, n_heads)
        self.up = nn.Linear(d, d_ff)
        self.down = nn.Linear(d_ff, d)
        self.before_attn = nn.LayerNorm(d)
        self.before_ff = nn.LayerNorm(d)

    def forward(self, x, padding):
        x = x + self.attn(self.before_attn(x), padding)
        return x + self.down(F.silu(self.up(self.before_ff(x))))
