"""Local attention of a text model: causal where it is asked for, `window_size` tokens back, its own among them."""

import torch
import torch.nn.functional as F
from torch import nn


class LocalSelfAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, causal: bool = False, window_size: int | None = None):
        super().__init__()
        self.num_heads, self.causal, self.window_size = num_heads, causal, window_size
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)
        self.out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, width = x.shape
        q, k, v = (
            layer(x).reshape(batch, tokens, self.num_heads, -1).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        steps = torch.arange(tokens, device=x.device)
        apart = steps[None, :] - steps[:, None]
        seen = apart <= 0 if self.causal else torch.ones_like(apart, dtype=torch.bool)
        if self.window_size is not None:
            seen = seen & (apart < self.window_size)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        return self.out(out.transpose(1, 2).reshape(batch, tokens, width))
