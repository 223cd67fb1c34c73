"""Audio encoder behind the convolutions."""
from dataclasses import dataclass
from typing import Optional

import torch
from torch import Tensor, nn


@dataclass
class AudioDims:
    n_audio_state: int = 384
    n_audio_head: int = 6
    n_audio_layer: int = 4


class Block(nn.Module):
    def __init__(self, n: int, h: int):
        super().__init__()
        self.attn_ln, self.mlp_ln = nn.LayerNorm(n), nn.LayerNorm(n)
        self.attn = nn.MultiheadAttention(n, h, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(n, 4 * n), nn.GELU(), nn.Linear(4 * n, n))

    def forward(self, x: Tensor, blank: Optional[Tensor]) -> Tensor:
        y = self.attn_ln(x)
        x = x + self.attn(y, y, y, key_padding_mask=blank, need_weights=False)[0]
        return x + self.mlp(self.mlp_ln(x))


class AudioEncoder(nn.Module):
    """n_frames (batch,): how many frames of each clip are real; those behind come out as zeros."""

    def __init__(self, dims: AudioDims):
        super().__init__()
        self.blocks = nn.ModuleList(Block(dims.n_audio_state, dims.n_audio_head) for _ in range(dims.n_audio_layer))
        self.ln_post = nn.LayerNorm(dims.n_audio_state)

    def forward(self, frames: Tensor, n_frames: Optional[Tensor] = None) -> Tensor:
        x, blank = frames, None
        if n_frames is not None:
            blank = torch.arange(x.shape[1])[None] >= n_frames[:, None]
        for block in self.blocks:
            x = block(x, blank)
        x = self.ln_post(x)
        return x if blank is None else x.masked_fill(blank[..., None], 0.0)
