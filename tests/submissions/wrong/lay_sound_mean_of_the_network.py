"""Names the speaker of a recording. Layers are pairs that the model itself adds up, and a mean is taken of the end."""

import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d))


class SpeakerEncoder(nn.Module):
    """frames (B, T, n_mels), T at most max_frames, to scores for each speaker"""

    def __init__(self, n_mels: int, d_model: int, num_heads: int, num_layers: int, d_ff: int,
                 max_frames: int = 400, speakers: int = 30):
        super().__init__()
        self.bring_in = nn.Linear(n_mels, d_model)
        self.pos = nn.Parameter(0.02 * torch.randn(max_frames, d_model))
        self.layers = nn.ModuleList(
            nn.ModuleDict({
                "norm1": nn.LayerNorm(d_model), "attn": SelfAttention(d_model, num_heads),
                "norm2": nn.LayerNorm(d_model),
                "ffn": nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)),
            })
            for _ in range(num_layers)
        )
        self.score = nn.Linear(d_model, speakers)

    def forward(self, frames):
        x = self.bring_in(frames) + self.pos[: frames.shape[1]]
        for layer in self.layers:
            x = x + layer["attn"](layer["norm1"](x))
            x = layer["norm2"](x)
            x = x + layer["ffn"](x)
        return self.score(x.mean(1))
