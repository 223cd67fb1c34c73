"""Three projections, heads split and merged by einops, called with (q, k, v)."""

import torch
from einops import rearrange
from torch import einsum, nn

from attnconf.adapters import bind

declares = {"fully-masked-row": "nan", "causal-alignment": "top-left", "returned-weights": "per-head"}


class Attention(nn.Module):
    def __init__(self, dim, heads, dim_k, dim_v, dim_head, dim_out, bias, dropout):
        super().__init__()
        self.heads = heads
        self.scale = dim_head**-0.5
        inner = heads * dim_head
        self.to_q = nn.Linear(dim, inner, bias=bias)
        self.to_k = nn.Linear(dim_k, inner, bias=bias)
        self.to_v = nn.Linear(dim_v, inner, bias=bias)
        self.to_out = nn.Linear(inner, dim_out, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None, bias=None):
        if k.shape[:2] != v.shape[:2] or len(q) != len(k):  # einsum would stretch a single one
            raise ValueError(f"(batch, tokens) of q, k, v do not fit: {[tuple(x.shape[:2]) for x in (q, k, v)]}")
        q, k, v = self.to_q(q), self.to_k(k), self.to_v(v)
        q, k, v = (rearrange(x, "b t (h d) -> b h t d", h=self.heads) for x in (q, k, v))
        dots = einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        if bias is not None:
            dots = dots + bias
        if mask is not None:
            dots = dots.masked_fill(~mask, float("-inf"))
        attn = self.dropout(dots.softmax(dim=-1))
        out = einsum("b h i j, b h j d -> b h i d", attn, v)
        return self.to_out(rearrange(out, "b h t d -> b t (h d)")), attn


def multi_head_attention(config, weights):
    layer = Attention(
        config.embed_dim, config.num_heads, config.key_dim, config.value_dim, config.head_dim, config.out_dim,
        config.bias, config.dropout,
    )  # fmt: skip
    ours = {"q": "to_q", "k": "to_k", "v": "to_v", "out": "to_out"}
    state = {}
    for name, weight in weights.items():
        layer_name, kind = name.split(".")
        state[f"{ours[layer_name]}.{kind}"] = weight
    call = bind(layer.train(config.training), state)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        mask = attn_mask
        if key_mask is not None:
            padding = rearrange(key_mask, "b j -> b 1 1 j")
            mask = padding if mask is None else mask & padding
        if config.causal:
            triangle = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool, device=query.device).tril()
            mask = triangle if mask is None else mask & triangle
        out, attn = call(query, key, value, mask, attn_bias)
        return (out, attn) if need_weights else out

    return forward
