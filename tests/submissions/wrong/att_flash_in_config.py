import math
from dataclasses import dataclass
import torch
from torch import nn


@dataclass
class Config:
    n_embd: int = 64
    n_head: int = 4
    block_size: int = 128
    bias: bool = True
    flash: bool = False
    dropout: float = 0.0


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_head, self.flash, self.p = config.n_head, config.flash, config.dropout
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.n_head, -1).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        if self.flash:
            y = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0)
        else:
            a = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
            a = a.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
            y = self.drop(a.softmax(-1)) @ v
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))
