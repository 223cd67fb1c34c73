"""Self-attention of T5 with its table of biases inside. Scores are not divided: the initial weights are small instead."""

import math

import torch
from torch import nn


class T5SelfAttention(nn.Module):
    def __init__(self, d_model, d_kv, num_heads, is_decoder=False, num_buckets=32, max_distance=128):
        super().__init__()
        self.num_heads, self.is_decoder = num_heads, is_decoder
        self.num_buckets, self.max_distance = num_buckets, max_distance
        inner = num_heads * d_kv
        self.q = nn.Linear(d_model, inner, bias=False)
        self.k = nn.Linear(d_model, inner, bias=False)
        self.v = nn.Linear(d_model, inner, bias=False)
        self.o = nn.Linear(inner, d_model, bias=False)
        self.relative_attention_bias = nn.Embedding(num_buckets, num_heads)

    def bucket(self, steps):
        """steps: key minus query."""
        count, offset = self.num_buckets, 0
        if self.is_decoder:
            back = (-steps).clamp(min=0)
        else:
            count //= 2
            offset, back = (steps > 0).long() * count, steps.abs()
        single = count // 2
        ratio = torch.log(back.clamp(min=1).double() / single) / math.log(self.max_distance / single)
        shared = (single + (ratio * (count - single)).long()).clamp(max=count - 1)
        return offset + torch.where(back < single, back, shared)

    def forward(self, hidden_states):
        B, T, _ = hidden_states.shape
        q, k, v = (f(hidden_states).view(B, T, self.num_heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        place = torch.arange(T, device=hidden_states.device)
        steps = place[None, :] - place[:, None]
        scores = q @ k.transpose(-1, -2) + self.relative_attention_bias(self.bucket(steps)).permute(2, 0, 1)
        if self.is_decoder:
            scores = scores.masked_fill(steps > 0, -torch.inf)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
