"""Always-causal self-attention from d_in to d_out features, with a causal buffer for up to context_length tokens."""

import torch
from torch import nn

from attnconf.adapters import bind

declares = {"inputs": "self", "causality": "always"}
profile = "causal-self-attention-1"


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError(f"d_out = {d_out} is not divisible by num_heads = {num_heads}")
        self.num_heads, self.head_dim = num_heads, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("future", torch.ones(context_length, context_length).triu(diagonal=1).bool())

    def heads(self, x):
        b, tokens, _ = x.shape
        return x.view(b, tokens, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x):
        b, tokens, _ = x.shape
        q, k, v = self.heads(self.W_query(x)), self.heads(self.W_key(x)), self.heads(self.W_value(x))
        scores = q @ k.transpose(2, 3)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -torch.inf)
        attn = self.dropout(torch.softmax(scores / self.head_dim**0.5, dim=-1))
        context = (attn @ v).transpose(1, 2).contiguous().view(b, tokens, -1)
        return self.out_proj(context)


def multi_head_attention(config, weights):
    if not config.causal:
        raise NotImplementedError("attention that is not causal")
    if config.bias:
        raise NotImplementedError("biases of query, key and value")
    d_out = config.num_heads * config.head_dim
    if config.embed_dim % config.num_heads and weights["q.weight"].shape[0] != d_out:
        d_out = config.embed_dim  # for the layer to refuse
    if config.out_dim != d_out:
        raise NotImplementedError("an output of another width than the heads together")
    layer = CausalAttention(config.embed_dim, d_out, 256, config.dropout, config.num_heads)
    out = weights["out.weight"]
    state = {"W_query.weight": weights["q.weight"], "W_key.weight": weights["k.weight"]}
    state |= {"W_value.weight": weights["v.weight"], "out_proj.weight": out, "out_proj.bias": out.new_zeros(d_out)}
    call = bind(layer.train(config.training).to(out.device), state)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if not query is key is value:
            raise NotImplementedError("cross-attention")
        if key_mask is not None or attn_mask is not None or attn_bias is not None:
            raise NotImplementedError("masks other than its own")
        if need_weights:
            raise NotImplementedError("returned weights")
        return call(query)

    return forward
