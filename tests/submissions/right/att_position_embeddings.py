"""Attention as libraries of language models have it: a configuration, the number of the layer, angles as a pair."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class DecoderConfig:
    hidden_size: int = 64
    num_attention_heads: int = 8
    num_key_value_heads: int = 2
    rope_theta: float = 10000.0
    attention_bias: bool = False


class RotaryEmbedding(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size // config.num_attention_heads
        speed = 1.0 / config.rope_theta ** (torch.arange(0, width, 2).float() / width)
        self.register_buffer("speed", speed, persistent=False)

    def forward(self, x, position_ids):
        """position_ids (batch, tokens) -> cosines and sines, (batch, tokens, head width)."""
        phase = position_ids[..., None].float() * self.speed
        phase = torch.cat((phase, phase), dim=-1)
        return phase.cos().to(x.dtype), phase.sin().to(x.dtype)


def rotate_half(x):
    first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-second, first), dim=-1)


def turn_both(q, k, cos, sin):
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


class DecoderAttention(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx
        self.width = config.hidden_size // config.num_attention_heads
        self.share = config.num_attention_heads // config.num_key_value_heads
        inner, less = config.num_attention_heads * self.width, config.num_key_value_heads * self.width
        self.q_proj = nn.Linear(config.hidden_size, inner, bias=config.attention_bias)
        self.k_proj = nn.Linear(config.hidden_size, less, bias=config.attention_bias)
        self.v_proj = nn.Linear(config.hidden_size, less, bias=config.attention_bias)
        self.o_proj = nn.Linear(inner, config.hidden_size, bias=config.attention_bias)

    def forward(self, hidden_states, position_embeddings, attention_mask=None):
        """attention_mask: added to the scores, broadcastable to (batch, heads, tokens, tokens)."""
        shape = (*hidden_states.shape[:2], -1, self.width)
        q = self.q_proj(hidden_states).view(shape).transpose(1, 2)
        k = self.k_proj(hidden_states).view(shape).transpose(1, 2)
        v = self.v_proj(hidden_states).view(shape).transpose(1, 2)
        q, k = turn_both(q, k, *position_embeddings)
        k, v = (x.repeat_interleave(self.share, dim=1) for x in (k, v))
        scores = q @ k.transpose(-2, -1) * self.width**-0.5
        if attention_mask is not None:
            scores = scores + attention_mask
        weights = torch.softmax(scores, dim=-1)
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2)), weights
