import torch
import torch.nn as nn


class SelfAttentionBlock(nn.Module):
    """diffusion-unet style: norm, attention, skip; all in one class"""

    def __init__(self, channels: int, n_heads: int):
        super().__init__()
        assert channels % n_heads == 0
        self.n_heads = n_heads
        self.norm = nn.LayerNorm(channels)
        self.to_q = nn.Linear(channels, channels, bias=False)
        self.to_k = nn.Linear(channels, channels, bias=False)
        self.to_v = nn.Linear(channels, channels, bias=False)
        self.to_out = nn.Linear(channels, channels)

    def forward(self, x):
        h = self.norm(x)
        b, n, c = h.shape
        q, k, v = [f(h).view(b, n, self.n_heads, c // self.n_heads) for f in (self.to_q, self.to_k, self.to_v)]
        # scale split over q and k, safer in half precision
        s = (c // self.n_heads) ** -0.25
        w = torch.einsum("bnhd,bmhd->bhnm", q * s, k * s).softmax(dim=-1)
        h = torch.einsum("bhnm,bmhd->bnhd", w, v).reshape(b, n, c)
        return x + self.to_out(h)
