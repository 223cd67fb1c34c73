"""Encoder of a flow-based text-to-speech model. All tensors are [b, channels, t]; masks are [b, 1, t] of floats."""
import math

import torch
from torch import nn
import torch.nn.functional as F


class LayerNorm(nn.Module):
    def __init__(self, channels, eps=1e-4):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(channels))
        self.beta = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        mean = torch.mean(x, 1, keepdim=True)
        variance = torch.mean((x - mean) ** 2, 1, keepdim=True)
        x = (x - mean) * torch.rsqrt(variance + self.eps)
        shape = [1, -1] + [1] * (x.dim() - 2)
        return x * self.gamma.view(*shape) + self.beta.view(*shape)


class MultiHeadAttention(nn.Module):
    def __init__(self, channels, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.conv_q = nn.Conv1d(channels, channels, 1)
        self.conv_k = nn.Conv1d(channels, channels, 1)
        self.conv_v = nn.Conv1d(channels, channels, 1)
        self.conv_o = nn.Conv1d(channels, channels, 1)

    def forward(self, x, c, attn_mask):
        b, d, t = x.shape
        q, k, v = (f(y).view(b, self.n_heads, d // self.n_heads, -1) for f, y in
                   ((self.conv_q, x), (self.conv_k, c), (self.conv_v, c)))
        scores = torch.einsum("bhct,bhcs->bhts", q, k) / math.sqrt(d // self.n_heads)
        scores = scores.masked_fill(attn_mask == 0, -1e9)
        return self.conv_o(torch.einsum("bhts,bhcs->bhct", F.softmax(scores, -1), v).reshape(b, d, t))


class FFN(nn.Module):
    def __init__(self, channels, filter_channels):
        super().__init__()
        self.conv_1 = nn.Conv1d(channels, filter_channels, 1)
        self.conv_2 = nn.Conv1d(filter_channels, channels, 1)

    def forward(self, x, x_mask):
        x = self.conv_1(x * x_mask)
        return self.conv_2(torch.relu(x) * x_mask) * x_mask


class Encoder(nn.Module):
    def __init__(self, hidden_channels, filter_channels, n_heads, n_layers):
        super().__init__()
        self.attn_layers = nn.ModuleList()
        self.norm_layers_1 = nn.ModuleList()
        self.ffn_layers = nn.ModuleList()
        self.norm_layers_2 = nn.ModuleList()
        for _ in range(n_layers):
            self.attn_layers.append(MultiHeadAttention(hidden_channels, n_heads))
            self.norm_layers_1.append(LayerNorm(hidden_channels))
            self.ffn_layers.append(FFN(hidden_channels, filter_channels))
            self.norm_layers_2.append(LayerNorm(hidden_channels))

    def forward(self, x, x_mask):
        attn_mask = x_mask.unsqueeze(2) * x_mask.unsqueeze(-1)
        for attn, norm_1, ffn, norm_2 in zip(self.attn_layers, self.norm_layers_1, self.ffn_layers, self.norm_layers_2):
            x = x * x_mask
            x = norm_1(x + attn(x, x, attn_mask))
            x = norm_2(x + ffn(x, x_mask))
        return x * x_mask
