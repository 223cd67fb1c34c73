"""Encoder for keyword spotting: log-mel frames, halved by a strided convolution, then Transformer layers."""

import torch
from torch import nn
from torch.nn import functional as F


class SpeechLayer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.before_mixing, self.before_thinking = nn.LayerNorm(width), nn.LayerNorm(width)
        self.in_proj, self.out_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)

    def mix(self, x):
        b, t, w = x.shape
        q, k, v = self.in_proj(x).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        return self.out_proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, w))

    def forward(self, x):
        x = x + self.mix(self.before_mixing(x))
        return x + self.narrow(F.gelu(self.wide(self.before_thinking(x))))


class SpeechEncoder(nn.Module):
    """One window of sound (batch, mel_bins, 2 * frames) -> (batch, n_keywords)."""

    def __init__(self, mel_bins, frames, width, depth, heads, inner, n_classes):
        super().__init__()
        self.listen = nn.Conv1d(mel_bins, width, 5, stride=2, padding=2)
        self.when = nn.Parameter(0.02 * torch.randn(frames, width))
        self.layers = nn.ModuleList(SpeechLayer(width, heads, inner) for _ in range(depth))
        self.last = nn.LayerNorm(width)
        self.keywords = nn.Linear(width, n_classes)

    def forward(self, mel):
        x = F.gelu(self.listen(mel)).mT
        if x.shape[1] != len(self.when):
            raise ValueError(f"a window has {2 * len(self.when)} frames")
        x = x + self.when
        for layer in self.layers:
            x = layer(x)
        return self.keywords(self.last(x).mean(dim=1))
