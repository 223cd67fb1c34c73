"""Our OLMo 2 block. RMSNorms `post_attention_layernorm` and `post_feedforward_layernorm`, one of each."""

import torch
from torch import nn


def heads_of(x, n):
    return x.unflatten(-1, (n, -1)).movedim(-2, 1)


class Olmo2Block(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, d_model, bias=False)
        self.v_proj = nn.Linear(d_model, d_model, bias=False)
        self.o_proj = nn.Linear(d_model, d_model, bias=False)
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)
        self.post_attention_layernorm = nn.RMSNorm(d_model, eps=1e-6)
        self.post_feedforward_layernorm = nn.RMSNorm(d_model, eps=1e-6)

    def attend(self, x):
        q, k, v = (heads_of(f(x), self.n_heads) for f in (self.q_proj, self.k_proj, self.v_proj))
        scores = q @ k.mT * q.shape[-1] ** -0.5
        later = torch.ones(x.shape[1], x.shape[1], device=x.device).triu(1).bool()
        return self.o_proj((scores.masked_fill(later, -torch.inf).softmax(-1) @ v).movedim(1, -2).flatten(-2))

    def forward(self, x):
        x = x + self.post_attention_layernorm(self.attend(x))
        return x + self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))
