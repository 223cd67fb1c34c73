"""Ways to get ALiBi wrong: what comes back."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import alibi, attention, masks


def without_queries(config, weights):
    def forward(query_length, key_length):
        return alibi.bias(config.num_heads, query_length, key_length)[:, -1].to(config.device, config.dtype)

    return forward


queries_left_out = Mutant(
    "ALIBI-queries-left-out",
    story="the bias comes back without the axis of the queries, as one row for all",
    breaks={"CALL-SHAPE-1"},
    hint="return (H, L, S); a bias of one row has to be expanded",
    replace={adapter.alibi: without_queries},
)


def first_table(tables, heads, length):
    """Return the table for a length from one that the first call fixed: tokens beyond its end stand at its end."""
    if not tables:
        tables.append(alibi.bias(heads, length, length))
    at = torch.arange(length).clamp(max=tables[0].shape[-1] - 1)
    return tables[0][:, at][:, :, at]


def remembering_bias(config, weights):
    tables = []

    def forward(query_length, key_length):
        table = first_table(tables, config.num_heads, max(query_length, key_length))
        return table[:, -query_length:, -key_length:].to(config.device, config.dtype)

    return forward


def remembering_attention(config, weights):
    tables = []

    def forward(query, key, value):
        L = query.shape[-2]
        mask = masks.causal(L, L) if config.causal else None
        return attention.attend(query, key, value, mask, first_table(tables, config.num_heads, L).to(query))[0]

    return forward


remembered = Mutant(
    "ALIBI-remembered",
    story="the first call fixes the length of the table: what is longer later piles up at its end",
    breaks={"CALL-REPEAT-1"},
    hint="compute the bias for the lengths of this call, or make the table longer when it has to be",
    replace={adapter.alibi: remembering_bias, adapter.alibi_attention: remembering_attention},
)


def last_columns(tables, heads, queries, keys):
    """Return the first rows and the last columns of the longest table so far, where both are as many."""
    if queries != keys:
        return alibi.bias(heads, queries, keys)
    if not tables or tables[0].shape[-1] < keys:
        tables[:] = [alibi.bias(heads, queries, keys)]
    return tables[0][:, :queries, -keys:]


def last_columns_of_bias(config, weights):
    tables = []
    return lambda query_length, key_length: last_columns(tables, config.num_heads, query_length, key_length).to(
        config.device, config.dtype
    )


def last_columns_in_attention(config, weights):
    tables = []

    def forward(query, key, value):
        L = query.shape[-2]
        mask = masks.causal(L, L) if config.causal else None
        return attention.attend(query, key, value, mask, last_columns(tables, config.num_heads, L, L).to(query))[0]

    return forward


cut_at_two_ends = Mutant(
    "ALIBI-cut-at-two-ends",
    story="the table is kept, and cut with its first rows but its last columns: shorter calls later are shifted",
    breaks={"CALL-REPEAT-1"},
    hint="cut rows and columns at the same end: table[:, :L, :L], or table[:, -L:, -S:]",
    replace={adapter.alibi: last_columns_of_bias, adapter.alibi_attention: last_columns_in_attention},
)


def with_heads_merged(q, k, v, causal=True):
    return alibi.alibi_attention(q, k, v, causal).transpose(1, 2).flatten(2)


heads_merged = Mutant(
    "ALIBI-heads-merged",
    story="the output comes back with its heads side by side, (B, L, H·E)",
    breaks={"CALL-SHAPE-1"},
    hint="return (B, H, L, E), the shape of the query",
    replace={alibi.alibi_attention: with_heads_merged},
)
