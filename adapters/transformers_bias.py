"""transformers: ALiBi of BLOOM, MPT and Falcon, and the relative bias of T5, with the attention around them."""

import torch
import transformers
from torch import nn
from transformers.models.bloom import modeling_bloom as bloom
from transformers.models.falcon import modeling_falcon as falcon
from transformers.models.mpt import modeling_mpt as mpt
from transformers.models.t5.modeling_t5 import T5Attention

from attnconf.adapters import bind

__version__ = transformers.__version__


class Part(nn.Module):
    """A projection that takes its third of the hidden states: so query, key and value come in from outside."""

    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, hidden_states):
        return hidden_states.chunk(3, dim=-1)[self.index]


def side_by_side(*tensors):
    """Return tensors (B, H, L, E) as hidden states (B, L, 3·H·E): one after the other."""
    return torch.cat([x.transpose(1, 2).flatten(2) for x in tensors], dim=-1)


def in_heads(hidden, config):
    return hidden.unflatten(-1, (config.num_heads, config.head_dim)).transpose(1, 2)


def later(length, device):
    """Return the mask that is True where the key is later than the query, (L, L)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).triu(1)


def additive(hidden, like):
    """Return a mask as transformers adds it to the scores: the dtype's lowest number where a key is hidden."""
    return torch.zeros(hidden.shape, dtype=like.dtype, device=like.device).masked_fill(
        hidden, torch.finfo(like.dtype).min
    )


def refuse_future(config):
    if not config.causal:
        raise NotImplementedError("ALiBi that is not causal")


# -- ALiBi; all three give the bias of the last query, (H, 1, S), for all: rows differ by a number that cancels


def bloom_alibi(config, weights):
    return tensor_for_tokens(config, bloom.build_alibi_tensor)


def falcon_alibi(config, weights):
    return tensor_for_tokens(config, falcon.build_alibi_tensor)


def tensor_for_tokens(config, build):
    refuse_future(config)

    def forward(query_length, key_length):
        tokens = torch.ones(1, key_length, dtype=torch.long, device=config.device)
        return build(tokens, config.num_heads, config.dtype).expand(-1, query_length, -1)

    return forward


def mpt_alibi(config, weights):
    refuse_future(config)

    def forward(query_length, key_length):
        bias = mpt.build_mpt_alibi_tensor(config.num_heads, key_length, device=config.device)
        return bias.to(config.dtype).expand(-1, query_length, -1)

    return forward


def fused(query, key, value):
    """Return tensors (B, H, L, E) as hidden states (B, L, H·3·E): head by head, each with its query, key and value."""
    return torch.stack([x.transpose(1, 2) for x in (query, key, value)], dim=3).flatten(2)


def for_all_tokens(build, query):
    """Return the bias of a batch of full sequences, (B·H, 1, L)."""
    tokens = torch.ones(query.shape[0], query.shape[2], dtype=torch.long, device=query.device)
    return build(tokens, query.shape[1], query.dtype)


def bloom_alibi_attention(config, weights):
    refuse_future(config)
    theirs = transformers.BloomConfig(hidden_size=config.num_heads * config.head_dim, n_head=config.num_heads)
    attention = bloom.BloomAttention(theirs, layer_idx=0).eval()
    attention.query_key_value = attention.dense = nn.Identity()

    def forward(query, key, value):
        bias = for_all_tokens(bloom.build_alibi_tensor, query)
        mask = additive(later(query.shape[2], query.device), query)
        return in_heads(attention(fused(query, key, value), 0.0, bias, mask)[0], config)

    return forward


def falcon_alibi_attention(config, weights):
    refuse_future(config)
    theirs = transformers.FalconConfig(
        num_attention_heads=config.num_heads, alibi=True, multi_query=False, new_decoder_architecture=False,
        attn_implementation="eager", hidden_size=2 * config.num_heads,
    )  # fmt: skip
    theirs.hidden_size = config.num_heads * config.head_dim  # late: odd heads would be refused, as if they were to turn
    attention = falcon.FalconAttention(theirs, layer_idx=0).eval()
    attention.query_key_value = attention.dense = nn.Identity()

    def forward(query, key, value):
        bias = for_all_tokens(falcon.build_alibi_tensor, query)
        mask = additive(later(query.shape[2], query.device), query)
        return in_heads(attention(fused(query, key, value), bias, mask)[0], config)

    return forward


def mpt_alibi_attention(config, weights):
    refuse_future(config)
    theirs = transformers.MptConfig(d_model=config.num_heads * config.head_dim, n_heads=config.num_heads)
    attention = mpt.MptAttention(theirs, layer_idx=0).eval()
    attention.Wqkv = attention.out_proj = nn.Identity()

    def forward(query, key, value):
        bias = mpt.build_mpt_alibi_tensor(config.num_heads, query.shape[2], device=query.device)
        hidden = side_by_side(query, key, value)
        out, _ = attention(hidden, bias.to(query.dtype), attention_mask=later(query.shape[2], query.device))
        return in_heads(out, config)

    return forward


# -- T5


def make_t5(config, head_dim, decoder, biased):
    """Return T5's attention with projections that pass their part."""
    theirs = transformers.T5Config(
        d_model=config.num_heads * head_dim, d_kv=head_dim, num_heads=config.num_heads, is_decoder=decoder,
        relative_attention_num_buckets=config.num_buckets, relative_attention_max_distance=config.max_distance,
        attn_implementation="sdpa",
    )  # fmt: skip
    attention = T5Attention(theirs, has_relative_attention_bias=biased, layer_idx=0, is_causal=decoder).eval()
    attention.q, attention.k, attention.v, attention.o = Part(0), Part(1), Part(2), nn.Identity()
    return attention


class Bias(nn.Module):
    """T5's bias without the attention around it."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def forward(self, query_length, key_length):
        return self.attention.compute_bias(query_length, key_length)[0]


def table(prefix, weights):
    return {f"{prefix}relative_attention_bias.weight": weights["table.weight"]}


def t5_relative_bias(config, weights):
    attention = make_t5(config, 1, not config.bidirectional, True)
    return bind(Bias(attention), table("attention.", weights))


def t5_relative_bias_attention(config, weights):
    attention = make_t5(config, config.head_dim, config.causal, not config.cross)
    call = attention if config.cross else bind(attention, table("", weights))

    def forward(query, key, value):
        if config.cross:
            hidden, states = side_by_side(query, query, query), side_by_side(key, key, value)
            return in_heads(call(hidden, key_value_states=states)[0], config)
        if query.shape[2] != key.shape[2]:
            raise NotImplementedError("self-attention with L ≠ S")
        mask = additive(later(query.shape[2], query.device), query)[None, None] if config.causal else None
        return in_heads(call(side_by_side(query, key, value), mask=mask)[0], config)

    return forward


variants = {
    "bloom": {
        "alibi": bloom_alibi,
        "alibi_attention": bloom_alibi_attention,
        "declares": {"alibi-slopes": "published"},
    },
    "mpt": {"alibi": mpt_alibi, "alibi_attention": mpt_alibi_attention, "declares": {"alibi-slopes": "published"}},
    "falcon": {
        "alibi": falcon_alibi,
        "alibi_attention": falcon_alibi_attention,
        "declares": {"alibi-slopes": "published"},
    },
    "t5": {
        "relative_bias": t5_relative_bias,
        "relative_bias_attention": t5_relative_bias_attention,
        "declares": {"t5-scale": "none", "t5-alignment": "top-left"},
    },
}
