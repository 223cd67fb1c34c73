import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Rope(nn.Module):
    def __init__(self, head_dim, theta=10000.0, interleaved=False):
        super().__init__()
        self.interleaved = interleaved
        self.register_buffer("freqs", theta ** (-torch.arange(0, head_dim, 2).float() / head_dim), persistent=False)

    def rotate(self, x):
        if self.interleaved:
            a, b = x[..., ::2], x[..., 1::2]
            return torch.stack((-b, a), -1).flatten(-2)
        a, b = x.chunk(2, -1)
        return torch.cat((-b, a), -1)

    def forward(self, q, k):
        t = torch.arange(q.shape[-2], device=q.device).float()
        f = torch.outer(t, self.freqs)
        f = torch.cat((f, f), -1)
        cos, sin = f.cos().to(q.dtype), f.sin().to(q.dtype)
        return q * cos + self.rotate(q) * sin, k * cos + self.rotate(k) * sin
