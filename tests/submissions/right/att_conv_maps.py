"""Self-attention over feature maps, (B, C, H, W), as a layer of a U-Net."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class AttentionBlock2d(nn.Module):
    def __init__(self, channels, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.to_qkv = nn.Conv2d(channels, channels * 3, kernel_size=1)
        self.proj_out = nn.Conv2d(channels, channels, kernel_size=1)

    def forward(self, x):
        b, c, h, w = x.shape
        qkv = self.to_qkv(x).reshape(b, 3, self.num_heads, c // self.num_heads, h * w)
        q, k, v = qkv[:, 0], qkv[:, 1], qkv[:, 2]  # (b, heads, d, n)
        scale = (c // self.num_heads) ** -0.5
        attn = torch.einsum("bhdi,bhdj->bhij", q * scale, k).softmax(dim=-1)
        out = torch.einsum("bhij,bhdj->bhdi", attn, v)
        return self.proj_out(out.reshape(b, c, h, w))
