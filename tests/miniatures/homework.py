"""Multi-head attention by hand, with the scale of the whole model: the failure that the README shows."""

import math

import torch


def multi_head_attention(config, weights):
    def project(x, name):
        y = x @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", 0)
        return y.unflatten(-1, (config.num_heads, -1)).transpose(1, 2)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        q, k, v = project(query, "q"), project(key, "k"), project(value, "v")
        scores = q @ k.transpose(-2, -1) / math.sqrt(config.embed_dim)
        if attn_bias is not None:
            scores = scores + attn_bias
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask, -math.inf)
        if key_mask is not None:
            scores = scores.masked_fill(~key_mask[:, None, None], -math.inf)
        if config.causal:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
        a = torch.dropout(torch.softmax(scores, dim=-1), config.dropout, config.training)
        out = (a @ v).transpose(1, 2).flatten(2) @ weights["out.weight"].T + weights.get("out.bias", 0)
        return (out, a) if need_weights else out

    return forward
