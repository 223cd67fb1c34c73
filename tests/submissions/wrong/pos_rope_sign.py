from typing import Tuple

import torch
import torch.nn as nn
from torch import Tensor


class RotaryPositionalEmbedding(nn.Module):
    def __init__(self, d_k: int, theta: float = 10000.0, max_seq_len: int = 2048, device=None):
        super().__init__()
        assert d_k % 2 == 0
        freqs = 1.0 / (theta ** (torch.arange(0, d_k, 2, device=device).float() / d_k))
        angle = torch.outer(torch.arange(max_seq_len, device=device).float(), freqs)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, x: Tensor, token_positions: Tensor) -> Tensor:
        """x (..., T, d_k), token_positions (T,) or (..., T)"""
        if int(token_positions.min()) < 0 or token_positions.is_floating_point():
            raise ValueError("positions are 0, 1, 2, ...")
        cos = self.cos[token_positions].to(x.dtype)
        sin = self.sin[token_positions].to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        out = torch.empty_like(x)
        out[..., 0::2] = even * cos + odd * sin
        out[..., 1::2] = odd * cos - even * sin
        return out
