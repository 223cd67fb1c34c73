import torch
import torch.nn as nn


class RotaryEmbedding(nn.Module):
    """cos and sin for positions 0 .. n-1, each (n, dim); made in float32 whatever the model's dtype."""

    def __init__(self, dim, max_position_embeddings=2048, base=10000):
        super().__init__()
        inv_freq = base ** (-torch.arange(0, dim, 2, dtype=torch.float32) / dim)
        angle = torch.arange(max_position_embeddings, dtype=torch.float32)[:, None] * inv_freq[None]
        angle = torch.cat([angle, angle], dim=-1)
        self.register_buffer("cos_cached", angle.cos(), persistent=False)
        self.register_buffer("sin_cached", angle.sin(), persistent=False)

    def forward(self, x, seq_len=None):
        n = x.shape[-2] if seq_len is None else seq_len
        if n > self.cos_cached.shape[0]:
            raise ValueError(f"{n} positions asked for, {self.cos_cached.shape[0]} prepared")
        return self.cos_cached[:n].to(x.dtype), self.sin_cached[:n].to(x.dtype)


def rotate_half(x):
    left, right = x.chunk(2, dim=-1)
    return torch.cat([-right, left], dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin):
    # q, k: (batch, heads, n, dim); cos, sin: (n, dim)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
