"""Encoder layer of a vocoder's text encoder, channels first."""
import torch
from torch import nn


class ChannelNorm(nn.Module):
    def __init__(self, channels, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.g = nn.Parameter(torch.ones(1, channels, 1))
        self.b = nn.Parameter(torch.zeros(1, channels, 1))

    def forward(self, x):
        mean = x.mean(dim=1, keepdim=True)
        var = x.var(dim=1, unbiased=False, keepdim=True)
        return (x - mean) * torch.rsqrt(var + self.eps) * self.g + self.b


class ConvAttention(nn.Module):
    def __init__(self, channels, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Conv1d(channels, 3 * channels, 1)
        self.out = nn.Conv1d(channels, channels, 1)

    def forward(self, x, mask=None):
        b, c, t = x.shape
        q, k, v = self.qkv(x).view(b, 3 * self.heads, c // self.heads, t).chunk(3, dim=1)
        scores = q.transpose(-1, -2) @ k / (c // self.heads) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        w = scores.softmax(-1)
        return self.out((v @ w.transpose(-1, -2)).reshape(b, c, t))


class EncoderLayer(nn.Module):
    def __init__(self, channels, heads, filter_channels):
        super().__init__()
        self.attn = ConvAttention(channels, heads)
        self.norm1 = ChannelNorm(channels)
        self.norm2 = ChannelNorm(channels)
        self.ff1 = nn.Conv1d(channels, filter_channels, 1)
        self.ff2 = nn.Conv1d(filter_channels, channels, 1)

    def forward(self, x, mask=None):
        """x: (B, C, T); mask: (B, T) of booleans, True for real frames."""
        x = self.norm1(x + self.attn(x, mask))
        return self.norm2(self.ff2(torch.relu(self.ff1(x))))
