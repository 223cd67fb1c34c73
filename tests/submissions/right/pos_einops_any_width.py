from __future__ import annotations

from dataclasses import dataclass

import torch
from einops import rearrange, repeat
from torch import nn


@dataclass
class PositionConfig:
    width: int = 512
    base: float = 10_000.0
    p_drop: float = 0.0


class FixedPositions(nn.Module):
    def __init__(self, cfg: PositionConfig):
        super().__init__()
        self.cfg = cfg
        self.drop = nn.Dropout(cfg.p_drop)

    def encode(self, index: torch.Tensor) -> torch.Tensor:
        pair = torch.arange(0, self.cfg.width, 2, device=index.device, dtype=torch.double)
        phase = index.double()[..., None] / self.cfg.base ** (pair / self.cfg.width)
        waves = rearrange([phase.sin(), phase.cos()], "two ... pair -> ... (pair two)")
        return waves[..., : self.cfg.width]  # an odd width ends on a sine

    def forward(self, x: torch.Tensor, index: torch.Tensor | None = None) -> torch.Tensor:
        if index is None:
            index = repeat(torch.arange(x.shape[1], device=x.device), "n -> b n", b=x.shape[0])
        elif index.shape not in (x.shape[:2], x.shape[1:2]):
            raise ValueError(f"{tuple(index.shape)} indices for {tuple(x.shape)} features")
        return self.drop(x + self.encode(index).to(x.dtype))
