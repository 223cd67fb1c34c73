"""Attention of a GPT-NeoX-like model: `rotary_pct` of each head carries positions, with the rates of a whole head."""

import torch
from torch import nn


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class NeoXAttention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, rotary_pct=0.25, rotary_emb_base=10000):
        super().__init__()
        self.num_attention_heads = num_attention_heads
        self.head_size = hidden_size // num_attention_heads
        self.rotary_ndims = int(self.head_size * rotary_pct)
        self.base = rotary_emb_base
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def cos_sin(self, tokens, like):
        inv_freq = self.base ** -(torch.arange(0, self.rotary_ndims, 2, device=like.device).to(like) / self.head_size)
        angles = torch.arange(tokens, device=like.device).to(like)[:, None] * inv_freq
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos(), angles.sin()

    def rotated(self, x, cos, sin):
        turned, rest = x[..., : self.rotary_ndims], x[..., self.rotary_ndims :]
        return torch.cat((turned * cos + rotate_half(turned) * sin, rest), dim=-1)

    def forward(self, hidden_states):
        batch, tokens, width = hidden_states.shape
        # [batch, tokens, heads, 3 * head_size], as in the checkpoints
        qkv = self.query_key_value(hidden_states).view(batch, tokens, self.num_attention_heads, 3 * self.head_size)
        query, key, value = (x.transpose(1, 2) for x in qkv.chunk(3, dim=-1))
        cos, sin = self.cos_sin(tokens, query)
        query, key = self.rotated(query, cos, sin), self.rotated(key, cos, sin)
        out = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.dense(out.transpose(1, 2).reshape(batch, tokens, width))
