import torch
from torch import nn


class PackedRope(nn.Module):
    """q and k are (B, H, T, D). Packed documents bring their own positions, (B, T)."""

    def __init__(self, head_dim, n_ctx=1024, base=10_000):
        super().__init__()
        assert head_dim % 2 == 0
        self.n_ctx = n_ctx
        freq = torch.logspace(0, -1, head_dim // 2 + 1, base=base, dtype=torch.float64)[:-1]
        angle = torch.arange(n_ctx, dtype=torch.float64).unsqueeze(1) * freq
        self.register_buffer("table", torch.stack([angle.cos(), angle.sin()]).float())

    def turn(self, x, cos, sin):
        a, b = x.unflatten(-1, (2, -1)).unbind(-2)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    def forward(self, q, k, position_ids=None):
        T = q.size(-2)
        if position_ids is None:
            position_ids = torch.arange(T, device=q.device)
        if position_ids.shape[-1] != T or position_ids.min() < 0 or position_ids.max() >= self.n_ctx:
            raise ValueError("position_ids")
        if position_ids.dim() == 2:
            position_ids = position_ids[0]
        cos, sin = self.table[:, position_ids].to(q.dtype)
        return self.turn(q, cos, sin), self.turn(k, cos, sin)
