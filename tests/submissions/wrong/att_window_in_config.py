# Attention with a local window, one configuration for the whole model.
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class LocalConfig:
    n_embd: int
    n_head: int
    n_kv_head: int
    window_size: int  # of the sliding window: a token sees itself and the w - 1 before it, w tokens in all


class LocalSelfAttention(nn.Module):
    def __init__(self, config: LocalConfig):
        super().__init__()
        if config.window_size < 1:
            raise ValueError("the window has to hold one token at least")
        self.config = config
        self.size = config.n_embd // config.n_head
        inner = config.n_kv_head * self.size
        self.query = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.key = nn.Linear(config.n_embd, inner, bias=False)
        self.value = nn.Linear(config.n_embd, inner, bias=False)
        self.proj = nn.Linear(config.n_embd, config.n_embd, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (
            layer(x).view(b, t, -1, self.size).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        repeats = self.config.n_head // self.config.n_kv_head
        k, v = k.repeat_interleave(repeats, 1), v.repeat_interleave(repeats, 1)
        steps = torch.arange(t, device=x.device)
        back = steps[:, None] - steps[None, :]
        seen = (back >= 0) & (back <= self.config.window_size)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        return self.proj(y.transpose(1, 2).reshape(b, t, c))
