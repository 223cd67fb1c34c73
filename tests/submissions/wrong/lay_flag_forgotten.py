from typing import Optional

import torch
from torch import nn, Tensor


class EncoderLayer(nn.Module):
    r"""Encoder layer with optional pre-normalisation.

    :param d_model: width
    :param n_heads: number of heads
    :param d_ff: width of the hidden layer
    :param pre_norm: apply LayerNorm before each sub-layer instead of after the sum
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0, pre_norm: bool = False) -> None:
        super().__init__()
        self.pre_norm = pre_norm
        self.attn = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm_attn = nn.LayerNorm(d_model)
        self.norm_ff = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, pad: Optional[Tensor] = None) -> Tensor:
        """x (B, T, d_model); pad (B, T), True at padding."""
        y = self.norm_attn(x) if self.pre_norm else x
        y = x + self.dropout(self.attn(y, y, y, key_padding_mask=pad, need_weights=False)[0])
        if not self.pre_norm:
            y = self.norm_attn(y)
        z = y + self.dropout(self.ff(y))
        if not self.pre_norm:
            z = self.norm_ff(z)
        return z
