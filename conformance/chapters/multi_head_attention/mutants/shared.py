"""Ways to get multi-head attention wrong: what the mutants of several sections use."""

from attnconf.reference import multi_head_attention as mha

BARE = {"attention": "it has no projections and no heads to split"}


def attend_with(change):
    """Return a multi_head_attention that first changes (query, key, value, weights, num_heads)."""

    def multi_head_attention(query, key, value, weights, num_heads, mask=None, bias=None, dropout=0.0):
        q, k, v, w = change(query, key, value, weights, num_heads)
        return mha.multi_head_attention(q, k, v, w, num_heads, mask, bias, dropout)

    return multi_head_attention


def with_bias(options, bias):
    given = options.get("attn_bias")
    return {**options, "attn_bias": bias if given is None else given + bias}
