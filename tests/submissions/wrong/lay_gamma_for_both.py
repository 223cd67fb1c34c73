"""Image tokens in, image tokens out: blocks whose branches start out nearly silent."""

import torch
import torch.nn.functional as F
from torch import nn


class StochasticDepth(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, branch):
        if self.rate == 0 or not self.training:
            return branch
        survives = torch.rand(branch.shape[0], device=branch.device) > self.rate
        return branch * survives.view(-1, 1, 1) / (1 - self.rate)


class Gamma(nn.Module):
    def __init__(self, channels, start):
        super().__init__()
        self.weight = nn.Parameter(start * torch.ones(channels))

    def forward(self, branch):
        return branch.mul_(self.weight)


class TokenMixer(nn.Module):
    def __init__(self, channels, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.to_qkv = nn.Linear(channels, 3 * channels)
        self.merge = nn.Linear(channels, channels)

    def forward(self, tokens):
        batch, count, channels = tokens.shape
        packed = self.to_qkv(tokens).view(batch, count, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*packed)
        return self.merge(mixed.transpose(1, 2).reshape(batch, count, channels))


class ImageBlock(nn.Module):
    def __init__(self, channels, num_heads, hidden, start=1e-5, depth_rate=0.0):
        super().__init__()
        self.mix_norm, self.mix = nn.LayerNorm(channels), TokenMixer(channels, num_heads)
        self.net_norm = nn.LayerNorm(channels)
        self.net = nn.Sequential(nn.Linear(channels, hidden), nn.GELU(), nn.Linear(hidden, channels))
        self.mix_gamma, self.net_gamma = Gamma(channels, start), Gamma(channels, start)
        self.rest = StochasticDepth(depth_rate)

    def forward(self, tokens):
        tokens = tokens + self.rest(self.mix_gamma(self.mix(self.mix_norm(tokens))))
        return tokens + self.rest(self.mix_gamma(self.net(self.net_norm(tokens))))
