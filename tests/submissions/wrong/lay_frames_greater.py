"""Encoder of log-mel frames that were padded to the longest recording of a batch."""

import torch
from torch import nn


class FrameLayer(nn.Module):
    def __init__(self, width, heads, inner, p):
        super().__init__()
        self.norm_att, self.norm_ffn = nn.LayerNorm(width), nn.LayerNorm(width)
        self.att = nn.MultiheadAttention(width, heads, dropout=p, batch_first=True)
        self.ffn = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Dropout(p), nn.Linear(inner, width))
        self.drop = nn.Dropout(p)

    def forward(self, frames, silent):
        y = self.norm_att(frames)
        frames = frames + self.drop(self.att(y, y, y, key_padding_mask=silent, need_weights=False)[0])
        return frames + self.drop(self.ffn(self.norm_ffn(frames)))


class FrameEncoder(nn.Module):
    def __init__(self, width, heads, inner, num_layers, p=0.1):
        super().__init__()
        self.layers = nn.ModuleList(FrameLayer(width, heads, inner, p) for _ in range(num_layers))
        self.last_norm = nn.LayerNorm(width)

    def forward(self, frames, lengths):
        """frames (batch, time, width), lengths (batch,) in frames"""
        place = torch.arange(frames.size(1), device=frames.device)
        silent = place[None, :] > lengths[:, None]
        for layer in self.layers:
            frames = layer(frames, silent)
        return self.last_norm(frames)
