import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, n_embed: int, n_heads: int) -> None:
        super().__init__()
        assert n_embed % n_heads == 0
        self.n_heads = n_heads
        self.q_proj = nn.Linear(n_embed, n_embed)
        self.k_proj = nn.Linear(n_embed, n_embed)
        self.v_proj = nn.Linear(n_embed, n_embed)
        self.o_proj = nn.Linear(n_embed, n_embed)

    def forward(self, x, key_padding_mask=None):
        # key_padding_mask: True = padding
        b, t, c = x.shape
        q, k, v = (p(x).view(b, t, self.n_heads, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if not self.training:
            # fused kernel, much faster
            y = F.scaled_dot_product_attention(q, k, v)
            return self.o_proj(y.transpose(1, 2).reshape(b, t, c))
        w = q @ k.transpose(-2, -1) * (c // self.n_heads) ** -0.5
        if key_padding_mask is not None:
            w = w.masked_fill(key_padding_mask[:, None, None], float("-inf"))
        y = w.softmax(-1) @ v
        return self.o_proj(y.transpose(1, 2).reshape(b, t, c))
