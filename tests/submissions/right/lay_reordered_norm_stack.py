# A small language model's trunk in the manner of OLMo 2: RMSNorm on the outputs of attention and MLP ("reordered norm"),
# nothing on their inputs, and a last norm.
import math

import torch
import torch.nn as nn


class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.g = nn.Parameter(torch.ones(d))
        self.eps = eps

    def forward(self, x):
        return self.g * x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + self.eps)


class CausalAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        D = C // self.n_heads
        q = self.w_q(x).reshape(B, T, self.n_heads, D).permute(0, 2, 1, 3)
        k = self.w_k(x).reshape(B, T, self.n_heads, D).permute(0, 2, 1, 3)
        v = self.w_v(x).reshape(B, T, self.n_heads, D).permute(0, 2, 1, 3)
        att = q @ k.transpose(-2, -1) / math.sqrt(D)
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        att = att.masked_fill(future, float("-inf")).softmax(dim=-1)
        return self.w_out((att @ v).permute(0, 2, 1, 3).reshape(B, T, C))


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.w2(nn.functional.silu(self.w1(x)) * self.w3(x))


class ReorderedNormBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.attention = CausalAttention(d_model, n_heads)
        self.attention_norm = RMSNorm(d_model)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.feed_forward_norm = RMSNorm(d_model)

    def forward(self, x):
        h = x + self.attention_norm(self.attention(x))
        return h + self.feed_forward_norm(self.feed_forward(h))


class TransformerTrunk(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.blocks = nn.ModuleList([ReorderedNormBlock(d_model, n_heads, d_ff) for _ in range(n_layers)])
        self.final = RMSNorm(d_model)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.final(x)
