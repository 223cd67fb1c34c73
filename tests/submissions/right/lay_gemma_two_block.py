"""One decoder block of Gemma 2, read off the report: a norm before and a norm behind each of the two sub-layers.

Left out: the soft caps and the sliding windows.
"""

import torch
from torch import nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)
        return x * (1 + self.weight)


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


class SelfAttention(nn.Module):
    def __init__(self, width, num_heads):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, width // num_heads
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, width, bias=False)
        self.v_proj = nn.Linear(width, width, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)

    def rope(self, x):
        step = torch.arange(0, self.head_dim, 2, dtype=x.dtype, device=x.device) / self.head_dim
        place = torch.arange(x.shape[-2], dtype=x.dtype, device=x.device)
        angles = torch.outer(place, 10000.0**-step)
        angles = torch.cat((angles, angles), dim=-1)
        return x * angles.cos() + rotate_half(x) * angles.sin()

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            proj(x).view(batch, length, self.num_heads, self.head_dim).transpose(1, 2)
            for proj in (self.q_proj, self.k_proj, self.v_proj)
        )
        out = F.scaled_dot_product_attention(self.rope(q), self.rope(k), v, is_causal=True)
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, width))


class Mlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down_proj(F.gelu(self.gate_proj(x), approximate="tanh") * self.up_proj(x))


class DecoderBlock(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, intermediate_size):
        super().__init__()
        self.self_attn = SelfAttention(hidden_size, num_attention_heads)
        self.mlp = Mlp(hidden_size, intermediate_size)
        self.input_layernorm = Norm(hidden_size)
        self.post_attention_layernorm = Norm(hidden_size)
        self.pre_feedforward_layernorm = Norm(hidden_size)
        self.post_feedforward_layernorm = Norm(hidden_size)

    def forward(self, hidden_states):
        residual = hidden_states
        hidden_states = self.self_attn(self.input_layernorm(hidden_states))
        hidden_states = residual + self.post_attention_layernorm(hidden_states)

        residual = hidden_states
        hidden_states = self.mlp(self.pre_feedforward_layernorm(hidden_states))
        return residual + self.post_feedforward_layernorm(hidden_states)
