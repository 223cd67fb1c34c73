import torch
from torch import nn


class LengthAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h, self.e = n_heads, d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, lengths):
        """lengths: a list with the number of frames of each sequence"""
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, self.e).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / self.e**0.5
        for i, n in enumerate(lengths):
            scores[i, :, :, n + 1 :] = float("-inf")
        y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, d))
