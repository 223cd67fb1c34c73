"""Attention with a sink that has learned to be worth nothing... or so its author thinks."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class AttentionArgs:
    hidden_size: int = 64
    num_attention_heads: int = 8
    num_key_value_heads: int = 2
    head_dim: int = 8
    rope_theta: float = 10_000.0


def apply_rope(x: Tensor, theta: float) -> Tensor:
    """x (batch, heads, time, head_dim): feature i and feature i + head_dim / 2 are a pair."""
    half = x.shape[-1] // 2
    rates = theta ** (-torch.arange(half, device=x.device, dtype=x.dtype) / half)
    angles = torch.arange(x.shape[-2], device=x.device, dtype=x.dtype).outer(rates)
    first, second = x.split(half, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class SinkAttention(nn.Module):
    def __init__(self, args: AttentionArgs):
        super().__init__()
        self.args = args
        q_width = args.num_attention_heads * args.head_dim
        kv_width = args.num_key_value_heads * args.head_dim
        self.q_proj = nn.Linear(args.hidden_size, q_width)
        self.k_proj = nn.Linear(args.hidden_size, kv_width)
        self.v_proj = nn.Linear(args.hidden_size, kv_width)
        self.o_proj = nn.Linear(q_width, args.hidden_size)
        self.sinks = nn.Parameter(torch.zeros(args.num_attention_heads))

    def forward(self, x: Tensor) -> Tensor:
        batch, time, _ = x.shape
        q, k, v = (
            layer(x).view(batch, time, -1, self.args.head_dim).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = apply_rope(q, self.args.rope_theta), apply_rope(k, self.args.rope_theta)
        each = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(each, dim=1), v.repeat_interleave(each, dim=1)
        scores = q * self.args.head_dim**-0.5 @ k.transpose(-2, -1)
        later = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)
        scores = scores.masked_fill(later, float("-inf"))
        nothing = self.sinks[:, None, None].expand(batch, -1, time, 1)
        weights = F.softmax(torch.cat((nothing, scores), dim=-1), dim=-1)[..., :time]
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))
