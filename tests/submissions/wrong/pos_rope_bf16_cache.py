import torch
import torch.nn as nn


class CachedRope(nn.Module):
    def __init__(self, head_dim, max_seq, rope_theta=10000.0, cache_dtype=torch.bfloat16):
        super().__init__()
        if head_dim % 2:
            raise ValueError(head_dim)
        inv = rope_theta ** (-torch.arange(0, head_dim, 2).float() / head_dim)
        grid = torch.arange(max_seq).float().unsqueeze(1) * inv
        grid = torch.cat((grid, grid), dim=1)
        self.max_seq = max_seq
        self.register_buffer("cos", grid.cos().to(cache_dtype), persistent=False)
        self.register_buffer("sin", grid.sin().to(cache_dtype), persistent=False)

    def forward(self, q):
        T, D = q.shape[-2:]
        if T > self.max_seq:
            raise ValueError("cache is too short")
        cos, sin = self.cos[:T].type_as(q), self.sin[:T].type_as(q)
        flipped = torch.cat((-q[..., D // 2:], q[..., : D // 2]), dim=-1)
        return q * cos + flipped * sin
