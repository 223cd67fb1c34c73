"""Three projections of its own in front of nn.MultiheadAttention, whose own projections are then identities."""

import torch
from torch import nn

from attnconf.adapters import bind

declares = {"fully-masked-row": "zeros", "causal-alignment": "top-left", "returned-weights": "per-head"}


class ProjectedAttention(nn.Module):
    def __init__(self, query_dim, key_dim, value_dim, hidden, num_heads, bias, dropout):
        super().__init__()
        self.query_proj = nn.Linear(query_dim, hidden, bias=bias)
        self.key_proj = nn.Linear(key_dim, hidden, bias=bias)
        self.value_proj = nn.Linear(value_dim, hidden, bias=bias)
        self.attention = nn.MultiheadAttention(hidden, num_heads, dropout=dropout, bias=bias, batch_first=True)

    def forward(self, query, key, value, **masks):
        q, k, v = self.query_proj(query), self.key_proj(key), self.value_proj(value)
        return self.attention(q, k, v, average_attn_weights=False, **masks)


def multi_head_attention(config, weights):
    hidden = config.num_heads * config.head_dim
    if config.embed_dim % config.num_heads:
        hidden = config.embed_dim  # for the layer to refuse
    if config.out_dim != hidden:
        raise NotImplementedError("an output of another width than the heads together")
    layer = ProjectedAttention(
        config.embed_dim, config.key_dim, config.value_dim, hidden, config.num_heads, config.bias, config.dropout
    )
    state = {"attention.out_proj.weight": weights["out.weight"]}
    state["attention.in_proj_weight"] = torch.eye(hidden).to(weights["q.weight"]).repeat(3, 1)
    if config.bias:
        state["attention.in_proj_bias"] = torch.zeros(3 * hidden).to(weights["q.weight"])
        state["attention.out_proj.bias"] = weights["out.bias"]
    for ours, theirs in (("q", "query_proj"), ("k", "key_proj"), ("v", "value_proj")):
        for kind in ("weight", "bias") if config.bias else ("weight",):
            state[f"{theirs}.{kind}"] = weights[f"{ours}.{kind}"]
    call = bind(layer.train(config.training), state)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        rows = (query.shape[0], config.num_heads, query.shape[1], key.shape[1])
        hidden_keys = None if key_mask is None else ~key_mask
        mask = attn_mask if attn_mask is None else ~attn_mask
        if config.causal:
            future = torch.ones(rows[2:], dtype=torch.bool, device=query.device).triu(1)
            mask = future if mask is None else mask | future
        if attn_bias is not None:
            mask = attn_bias if mask is None else attn_bias.masked_fill(mask, float("-inf"))
            if hidden_keys is not None:  # torch wants both masks to be of one kind
                hidden_keys = torch.zeros_like(key_mask, dtype=query.dtype).masked_fill(hidden_keys, float("-inf"))
        if mask is not None:
            mask = mask.expand(rows).reshape(-1, *rows[2:])
        out, attn = call(query, key, value, key_padding_mask=hidden_keys, attn_mask=mask, need_weights=need_weights)
        return (out, attn) if need_weights else out

    return forward
