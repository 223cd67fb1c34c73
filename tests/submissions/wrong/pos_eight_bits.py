import math
import torch
from torch import nn


class SlimPositions(nn.Module):
    """keeps one byte per position until it is needed"""

    def __init__(self, d_model, max_len=512):
        super().__init__()
        self.d_model, self.max_len = d_model, max_len
        self.register_buffer("index", (torch.arange(max_len)).to(torch.uint8))

    def forward(self, x):
        n = x.size(1)
        if n > self.max_len:
            raise ValueError("too long")
        w = torch.exp(-math.log(1e4) * torch.arange(0, self.d_model, 2).double() / self.d_model)
        a = self.index[:n].double().unsqueeze(-1) * w
        return x + torch.stack((a.sin(), a.cos()), -1).flatten(1)[:, : self.d_model].to(x.dtype)
