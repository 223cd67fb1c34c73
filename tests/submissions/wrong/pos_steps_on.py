# positional encoding with support for incremental decoding
import math
import torch
import torch.nn as nn


class StreamingPositions(nn.Module):
    def __init__(self, d, limit=4000):
        super().__init__()
        self.offset = 0
        ang = torch.arange(limit).view(-1, 1) * torch.exp(-math.log(10000) * torch.arange(0, d, 2) / d)
        self.register_buffer("pe", torch.cat([ang.sin().unsqueeze(-1), ang.cos().unsqueeze(-1)], -1).view(limit, d))

    def reset(self):
        self.offset = 0

    def forward(self, x):
        n = x.size(1)
        if n > self.pe.size(0):
            raise ValueError("sequence longer than limit")
        if self.offset + n > self.pe.size(0):
            self.reset()
        out = x + self.pe[self.offset:self.offset + n]
        self.offset += n
        return out
