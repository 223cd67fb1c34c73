"""An encoder that refuses what makes no sense."""

from typing import Optional

import torch
from torch import Tensor, nn


class StrictLayer(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.attend = nn.MultiheadAttention(width, heads, dropout, batch_first=True)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.before_attend, self.before_up = nn.LayerNorm(width), nn.LayerNorm(width)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, blank: Optional[Tensor]) -> Tensor:
        y = self.before_attend(x)
        x = x + self.drop(self.attend(y, y, y, key_padding_mask=blank, need_weights=False)[0])
        return x + self.drop(self.down(self.drop(torch.relu(self.up(self.before_up(x))))))


class StrictEncoder(nn.Module):
    """keep: bool (B, T), True for tokens; every sample has one."""

    def __init__(self, width: int, depth: int, heads: int, hidden: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.width = width
        self.layers = nn.ModuleList(StrictLayer(width, heads, hidden, dropout) for _ in range(depth))
        self.final = nn.LayerNorm(width)

    def forward(self, x: Tensor, keep: Optional[Tensor] = None) -> Tensor:
        assert x.ndim == 3 and x.shape[-1] == self.width
        if keep is not None:
            assert keep.dtype == torch.bool and keep.shape == x.shape[:2]
            if not bool(keep.any(dim=1).all()):
                raise ValueError("a sample without any token")
        for layer in self.layers:
            x = layer(x, None if keep is None else ~keep)
        return self.final(x)
