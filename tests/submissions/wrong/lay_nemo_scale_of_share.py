"""A decoder layer whose heads are as wide as its settings say, as in Mistral NeMo; tables of angles come with the call."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class NemoSettings:
    hidden_size: int = 64
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 24  # 128 where 5120 / 32 would be 160
    intermediate_size: int = 160
    rms_norm_eps: float = 1e-5


def angles(settings, length, base=1e6):
    """Return cosines and sines, each (length, head_dim / 2)."""
    steps = base ** (-torch.arange(0, settings.head_dim, 2) / settings.head_dim)
    turn = torch.outer(torch.arange(length), steps)
    return turn.cos(), turn.sin()


def turn(x, cos, sin):
    one, two = x.tensor_split(2, dim=-1)
    return torch.cat((one * cos - two * sin, two * cos + one * sin), dim=-1)


class NemoDecoderLayer(nn.Module):
    def __init__(self, settings: NemoSettings):
        super().__init__()
        width, self.size = settings.hidden_size, settings.head_dim
        heads, shared = settings.num_attention_heads, settings.num_key_value_heads
        self.times = heads // shared
        self.to_q = nn.Linear(width, heads * self.size, bias=False)
        self.to_k = nn.Linear(width, shared * self.size, bias=False)
        self.to_v = nn.Linear(width, shared * self.size, bias=False)
        self.back = nn.Linear(heads * self.size, width, bias=False)
        self.before_attention = nn.RMSNorm(width, eps=settings.rms_norm_eps)
        self.before_network = nn.RMSNorm(width, eps=settings.rms_norm_eps)
        self.gate = nn.Linear(width, settings.intermediate_size, bias=False)
        self.up = nn.Linear(width, settings.intermediate_size, bias=False)
        self.down = nn.Linear(settings.intermediate_size, width, bias=False)

    def heads_of(self, x):
        return x.unflatten(-1, (-1, self.size)).transpose(1, 2)

    def attend(self, x, cos, sin):
        q = turn(self.heads_of(self.to_q(x)), cos, sin)
        k = turn(self.heads_of(self.to_k(x)), cos, sin).repeat_interleave(self.times, dim=1)
        v = self.heads_of(self.to_v(x)).repeat_interleave(self.times, dim=1)
        scores = q @ k.mT * (x.shape[-1] * self.size / self.back.in_features) ** -0.5
        later = torch.ones_like(scores, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(later, float("-inf")).softmax(dim=-1)
        return self.back((weights @ v).transpose(1, 2).flatten(2))

    def forward(self, x, cos, sin):
        x = x + self.attend(self.before_attention(x), cos, sin)
        n = self.before_network(x)
        return x + self.down(F.silu(self.gate(n)) * self.up(n))
