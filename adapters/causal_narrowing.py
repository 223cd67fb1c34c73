"""Always-causal self-attention from d_in to d_out features, with a causal buffer for up to context_length tokens."""

import torch
from torch import nn

from attnconf.adapters import bind

declares = {"inputs": "self", "causality": "always", "masks": "none", "returned-weights": "none"}
profile = "causal-self-attention-1"
CONTEXT = 256  # tokens, the layer's context_length


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
        tokens = x.shape[1]
        q, k, v = self.heads(self.W_query(x)), self.heads(self.W_key(x)), self.heads(self.W_value(x))
        scores = q @ k.transpose(2, 3)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -torch.inf)
        attn = self.dropout(torch.softmax(scores / self.head_dim**0.5, dim=-1))
        return self.out_proj((attn @ v).transpose(1, 2).flatten(2))


def multi_head_attention(config, weights):
    if not config.causal:
        raise NotImplementedError("attention that is not causal")
    d_out = config.num_heads * config.head_dim
    if config.embed_dim % config.num_heads and weights["q.weight"].shape[0] != d_out:
        d_out = config.embed_dim  # for the layer to refuse
    if config.out_dim != d_out:
        raise NotImplementedError("an output of another width than the heads together")
    layer = CausalAttention(config.embed_dim, d_out, CONTEXT, config.dropout, config.num_heads, qkv_bias=config.bias)
    state = {"out_proj.bias": weights["out.weight"].new_zeros(d_out)}  # the layer has it always
    ours = {"q": "W_query", "k": "W_key", "v": "W_value", "out": "out_proj"}
    for name, weight in weights.items():
        projection, kind = name.split(".")
        state[f"{ours[projection]}.{kind}"] = weight
    call = bind(layer.train(config.training).to(weights["out.weight"].device), state)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if not query is key is value:
            raise NotImplementedError("cross-attention")
        if key_mask is not None or attn_mask is not None or attn_bias is not None:
            raise NotImplementedError("masks other than its own")
        if need_weights:
            raise NotImplementedError("returned weights")
        if query.shape[1] > CONTEXT:
            raise NotImplementedError(f"sequences longer than {CONTEXT} tokens")
        return call(query)

    return forward
