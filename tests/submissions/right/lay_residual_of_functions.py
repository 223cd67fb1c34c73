"""Encoder from building blocks that take functions; returns a NamedTuple."""
from typing import NamedTuple, Optional, Callable
import torch
from torch import nn, Tensor


class EncoderOutput(NamedTuple):
    last_hidden_state: Tensor
    attentions: Optional[list] = None


class Residual(nn.Module):
    def __init__(self, fn: nn.Module, width: int, p: float):
        super().__init__()
        self.fn = fn
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(p)

    def forward(self, x: Tensor, **kw) -> Tensor:
        return x + self.drop(self.fn(self.norm(x), **kw))


class SelfAttention(nn.Module):
    def __init__(self, width: int, n_heads: int, p: float = 0.0):
        super().__init__()
        self.inner = nn.MultiheadAttention(width, n_heads, dropout=p, batch_first=True)

    def forward(self, x: Tensor, pad: Optional[Tensor] = None) -> Tensor:
        y, _ = self.inner(x, x, x, key_padding_mask=pad, need_weights=False)
        return y


class EncoderStack(nn.Module):
    def __init__(self, width: int = 64, n_heads: int = 4, n_layers: int = 2, ffn_width: Optional[int] = None, p: float = 0.1):
        super().__init__()
        ffn_width = ffn_width or 4 * width
        self.attentions = nn.ModuleList()
        self.networks = nn.ModuleList()
        for _ in range(n_layers):
            self.attentions.append(Residual(SelfAttention(width, n_heads, p), width, p))
            self.networks.append(Residual(nn.Sequential(nn.Linear(width, ffn_width), nn.GELU(), nn.Dropout(p),
                                                        nn.Linear(ffn_width, width)), width, p))
        self.final = nn.LayerNorm(width)

    def forward(self, x: Tensor, pad: Optional[Tensor] = None) -> EncoderOutput:
        for attention, network in zip(self.attentions, self.networks):
            x = network(attention(x, pad=pad))
        return EncoderOutput(self.final(x))
