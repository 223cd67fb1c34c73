import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, head_dim, base=10000.0, style="half"):
        super().__init__()
        if style not in ("half", "interleaved"):
            raise ValueError(style)
        self.style = style
        self.register_buffer("inv_freq", base ** (-torch.arange(0, head_dim, 2).double() / head_dim), persistent=False)

    def forward(self, x):
        a = torch.arange(x.shape[-2], dtype=torch.float64)[:, None] * self.inv_freq.double()
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        if self.style == "half":
            u, v = x.chunk(2, -1)
            return torch.cat((u * c - v * s, u * s + v * c), -1)
        u, v = x[..., ::2], x[..., 1::2]
        return torch.stack((u * c - v * s, u * c + v * s), -1).flatten(-2)
