"""Self-attention with one projection to 3E, split per head and then into query, key and value."""

import math

import torch
from torch import nn

from attnconf.adapters import bind

declares = {"inputs": "self", "fully-masked-row": "nan", "returned-weights": "per-head"}
profile = "self-attention-1"


def scaled_dot_product(q, k, v, mask=None):
    scaled = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1))
    if mask is not None:
        scaled = scaled + mask  # additive: 0 or -inf
    attention = torch.softmax(scaled, dim=-1)
    return torch.matmul(attention, v), attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.qkv_layer = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.linear_layer = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        batch_size, sequence_length, d_model = x.size()
        qkv = self.qkv_layer(x).reshape(batch_size, sequence_length, self.num_heads, 3 * self.head_dim)
        q, k, v = qkv.permute(0, 2, 1, 3).chunk(3, dim=-1)
        values, attention = scaled_dot_product(q, k, v, mask)
        values = values.permute(0, 2, 1, 3).reshape(batch_size, sequence_length, d_model)
        return self.linear_layer(values), attention


def interleave(tensors, heads):
    """Return q, k and v (H·D, …) as one tensor whose rows are head by head: q, k, v of the first, of the second, …"""
    per_head = [t.unflatten(0, (heads, -1)) for t in tensors]
    return torch.cat(per_head, dim=1).flatten(0, 1)


def multi_head_attention(config, weights):
    if config.dropout and config.training:
        raise NotImplementedError("dropout on the weights")
    if len({config.embed_dim, config.key_dim, config.value_dim, config.out_dim}) > 1:
        raise NotImplementedError("different widths")
    if config.embed_dim % config.num_heads == 0 and config.num_heads * config.head_dim != config.embed_dim:
        raise NotImplementedError("heads whose widths do not add up to embed_dim")
    state = {}
    for kind in ("weight", "bias") if config.bias else ("weight",):
        state[f"qkv_layer.{kind}"] = interleave([weights[f"{n}.{kind}"] for n in "qkv"], config.num_heads)
        state[f"linear_layer.{kind}"] = weights[f"out.{kind}"]
    call = bind(MultiHeadAttention(config.embed_dim, config.num_heads, config.bias), state)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if not query is key is value:
            raise NotImplementedError("cross-attention")
        mask = attn_bias
        triangle = torch.ones(query.shape[1], query.shape[1], dtype=torch.bool, device=query.device).tril()
        padding = None if key_mask is None else key_mask[:, None, None, :]
        for allowed in (attn_mask, padding, triangle if config.causal else None):
            if allowed is not None:
                hidden = torch.zeros(allowed.shape, dtype=query.dtype, device=query.device)
                hidden = hidden.masked_fill(~allowed, -math.inf)
                mask = hidden if mask is None else mask + hidden
        out, attention = call(query, mask)
        return (out, attention) if need_weights else out

    return forward
