"""Self-attention with one fused projection and a 0/1 mask that fills with -1e9."""

import math

import torch
from torch import nn

from attnconf.adapters import bind

declares = {"inputs": "self", "fully-masked-row": "mean", "returned-weights": "per-head"}
profile = "self-attention-1"


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, bias=True, dropout=0.0):
        super().__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.h, self.d = num_heads, embed_dim // num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim, bias=bias)
        self.proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, T, E = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, self.h, self.d).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        attn = self.drop(scores.softmax(dim=-1))
        return self.proj((attn @ v).transpose(1, 2).reshape(B, T, E)), attn


def multi_head_attention(config, weights):
    if len({config.embed_dim, config.key_dim, config.value_dim, config.out_dim}) > 1:
        raise NotImplementedError("different widths")
    if config.embed_dim % config.num_heads == 0 and config.num_heads * config.head_dim != config.embed_dim:
        raise NotImplementedError("heads whose widths do not add up to embed_dim")
    layer = SelfAttention(config.embed_dim, config.num_heads, config.bias, config.dropout)
    kinds = ("weight", "bias") if config.bias else ("weight",)
    state = {f"qkv.{kind}": torch.cat([weights[f"{n}.{kind}"] for n in "qkv"]) for kind in kinds}
    state |= {f"proj.{kind}": weights[f"out.{kind}"] for kind in kinds}
    call = bind(layer.train(config.training), state)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if not query is key is value:
            raise NotImplementedError("cross-attention")
        if attn_bias is not None:
            raise NotImplementedError("an additive bias")
        mask = None if attn_mask is None else attn_mask.int()
        if key_mask is not None:
            padding = key_mask[:, None, None, :].int()
            mask = padding if mask is None else mask * padding
        if config.causal:
            triangle = torch.ones(query.shape[1], query.shape[1], dtype=torch.int, device=query.device).tril()
            mask = triangle if mask is None else mask * triangle
        out, attn = call(query, mask)
        return (out, attn) if need_weights else out

    return forward
