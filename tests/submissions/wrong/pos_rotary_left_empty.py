"""Assignment 1: rotary positions. The table is done, the rest is for tomorrow."""

import torch
from torch import nn


class Rope(nn.Module):
    def __init__(self, theta: float, d_k: int, max_seq_len: int):
        super().__init__()
        self.d_k = d_k
        rate = theta ** (-torch.arange(0, d_k, 2).float() / d_k)
        angle = torch.outer(torch.arange(max_seq_len).float(), rate)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, x: torch.Tensor, token_positions: torch.Tensor) -> torch.Tensor:
        cos, sin = self.cos[token_positions], self.sin[token_positions]
        assert x.shape[-1] == self.d_k and cos.shape[-2] == x.shape[-2]
        turned = torch.empty_like(x)
        return turned
