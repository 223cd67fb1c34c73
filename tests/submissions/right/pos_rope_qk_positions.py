"""RoPE for queries and keys at once, positions optional (needed when decoding with a cache)."""
from typing import Optional

import torch
from torch import Tensor, nn


class QKRotary(nn.Module):
    def __init__(self, head_size: int, max_len: int = 4096, base: float = 1e4):
        super().__init__()
        assert head_size % 2 == 0, "head_size has to be even"
        self.max_len = max_len
        freq = base ** (-2 * torch.arange(head_size // 2, dtype=torch.float64) / head_size)
        table = torch.arange(max_len, dtype=torch.float64).unsqueeze(-1) * freq
        self.register_buffer("c", table.cos().float())
        self.register_buffer("s", table.sin().float())

    def _rotate(self, t: Tensor, pos: Tensor) -> Tensor:
        c, s = self.c[pos].to(t.dtype), self.s[pos].to(t.dtype)
        if c.ndim == 2:  # (T, half) for all samples
            c, s = c[None], s[None]
        c, s = c[:, :, None], s[:, :, None]  # (B or 1, T, 1, half)
        half = t.shape[-1] // 2
        x, y = t[..., :half], t[..., half:]
        return torch.cat((x * c - y * s, y * c + x * s), dim=-1)

    def forward(self, q: Tensor, k: Tensor, pos: Optional[Tensor] = None) -> tuple[Tensor, Tensor]:
        """q, k: (B, T, heads, head_size); pos: (T,) or (B, T)."""
        B, T = q.shape[:2]
        if pos is None:
            pos = torch.arange(T, device=q.device)
        if tuple(pos.shape) not in ((T,), (B, T)):
            raise ValueError("one position per token")
        if pos.numel() and (int(pos.min()) < 0 or int(pos.max()) >= self.max_len):
            raise IndexError("position outside of the table")
        return self._rotate(q, pos), self._rotate(k, pos)
