import math
import torch
import torch.nn as nn


class ScaledDotProduct(nn.Module):
    def forward(self, Q, K, V, allowed=None):
        scores = torch.einsum("...qd,...kd->...qk", Q, K) / math.sqrt(Q.size(-1))
        if allowed is not None:
            scores = scores.masked_fill(~allowed, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return torch.einsum("...qk,...kd->...qd", weights, V), weights


class MultiHead(nn.Module):
    def __init__(self, dim_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.attention = ScaledDotProduct()
        self.linear_q = nn.Linear(dim_model, dim_model)
        self.linear_k = nn.Linear(dim_model, dim_model)
        self.linear_v = nn.Linear(dim_model, dim_model)
        self.linear_o = nn.Linear(dim_model, dim_model)

    def forward(self, q, k, v, causal):
        B = q.size(0)
        Q, K, V = [lin(t).view(B, t.size(1), self.num_heads, -1).transpose(1, 2)
                   for lin, t in ((self.linear_q, q), (self.linear_k, k), (self.linear_v, v))]
        allowed = None
        if causal:
            allowed = torch.ones(Q.size(2), K.size(2), dtype=torch.bool, device=q.device).tril()
        out, weights = self.attention(Q, K, V, allowed)
        return self.linear_o(out.transpose(1, 2).flatten(2)), weights


class DecoderLayer(nn.Module):
    def __init__(self, dim_model, num_heads, dim_ff):
        super().__init__()
        self.mha1 = MultiHead(dim_model, num_heads)
        self.mha2 = MultiHead(dim_model, num_heads)
        self.ff = nn.Sequential(nn.Linear(dim_model, dim_ff), nn.ReLU(), nn.Linear(dim_ff, dim_model))
        self.layernorm1 = nn.LayerNorm(dim_model)
        self.layernorm2 = nn.LayerNorm(dim_model)
        self.layernorm3 = nn.LayerNorm(dim_model)

    def forward(self, x, enc_output):
        """Returns the output and the two blocks of attention weights."""
        attn1, block1 = self.mha1(x, x, x, causal=True)
        out1 = self.layernorm1(attn1 + x)
        attn2, block2 = self.mha2(out1, enc_output, enc_output, causal=True)
        out2 = self.layernorm2(attn2 + out1)
        return self.layernorm3(self.ff(out2) + out2), block1, block2
