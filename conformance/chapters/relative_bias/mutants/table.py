"""Ways to get T5's relative bias wrong: the table."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, masks
from attnconf.reference import relative_bias as t5


def looking_up(change):
    """Return look_up with the result (H, L, S) changed."""
    return lambda table, buckets: change(t5.look_up(table, buckets))


heads_reversed = Mutant(
    "REL-heads-reversed",
    story="the heads take the columns of the table in the opposite order",
    breaks={"REL-HEAD-1"},
    hint="head h takes column h",
    replace={t5.look_up: looking_up(lambda bias: bias.flip(0))},
)

heads_averaged = Mutant(
    "REL-heads-averaged",
    story="all heads share one bias, the mean of theirs",
    breaks={"REL-HEAD-1"},
    hint="head h takes column h",
    replace={t5.look_up: looking_up(lambda bias: bias.mean(dim=0, keepdim=True).expand_as(bias))},
)

scaled_entry = Mutant(
    "REL-entry-scaled",
    story="the bias is divided by the root of the number of heads",
    breaks={"REL-ENTRY-1"},
    hint="the bias is the entry of the table itself",
    replace={t5.look_up: looking_up(lambda bias: bias * len(bias) ** -0.5)},
)

interpolated = Mutant(
    "REL-interpolated",
    story="the bias is the mean of a bucket's entry and the one before",
    breaks={"REL-ENTRY-1"},
    hint="look the bucket's own entry up",
    replace={t5.look_up: lambda table, buckets: t5.look_up((table + table.roll(1, 0)) / 2, buckets)},
)

table_cut_off = Mutant(
    "REL-table-cut-off",
    story="no gradient reaches the table",
    breaks={"REL-GRAD-1"},
    hint="look entries up without .data, .detach() or no_grad",
    replace={t5.look_up: lambda table, buckets: t5.look_up(table.detach(), buckets)},
)


def with_padding_row(table, buckets):
    return t5.look_up(torch.cat([table[:1].detach(), table[1:]]), buckets)


padding_row = Mutant(
    "REL-padding-row",
    story="bucket 0 is taken for padding: its entry is never trained",
    breaks={"REL-GRAD-1"},
    hint="no padding_idx in the embedding: bucket 0 is the query's own key",
    replace={t5.look_up: with_padding_row},
)

always_float32 = Mutant(
    "REL-always-float32",
    story="the bias is float32 whatever the table is; attention then gives float32, or an error for mixed dtypes",
    breaks={"CALL-DTYPE-2"},
    hint="return the dtype of the table",
    replace={t5.look_up: looking_up(lambda bias: bias.to(torch.promote_types(bias.dtype, torch.float32)))},
    raises={"CALL-DTYPE-2"},
)

heads_last = Mutant(
    "REL-heads-last",
    story="the bias comes back as (L, S, H), as the embedding gives it",
    breaks={"CALL-SHAPE-1"},
    hint="permute it to (H, L, S)",
    replace={
        adapter.relative_bias: lambda config, weights: (
            lambda query_length, key_length: t5.bias(
                weights["table.weight"], query_length, key_length, config.max_distance, config.bidirectional
            ).permute(1, 2, 0)
        )
    },
)


def first_offsets(lengths, length):
    """Return the relative positions where the first call fixed the table: what is later stands at its end."""
    lengths.append(length)
    at = torch.arange(length).clamp(max=lengths[0] - 1)
    return at - at[:, None]


def remembering_bias(config, weights):
    lengths = []

    def forward(query_length, key_length):
        offsets = first_offsets(lengths, max(query_length, key_length))[:query_length, :key_length]
        table = weights["table.weight"]
        return t5.look_up(table, t5.bucket(offsets, len(table), config.max_distance, config.bidirectional))

    return forward


def remembering_attention(config, weights):
    lengths = []

    def forward(query, key, value):
        if config.cross:
            return t5.relative_bias_attention(query, key, value, None)
        table, L = weights["table.weight"], query.shape[-2]
        buckets = t5.bucket(first_offsets(lengths, L), len(table), config.max_distance, not config.causal)
        mask = masks.causal(L, L) if config.causal else None
        return attention.attend(query, key, value, mask, t5.look_up(table, buckets), scale=1.0)[0]

    return forward


remembered = Mutant(
    "REL-remembered",
    story="the first call fixes the length of the buckets kept: what is longer later piles up at the end",
    breaks={"CALL-REPEAT-1"},
    hint="compute the buckets for the lengths of this call, or make what is kept longer when it has to be",
    replace={adapter.relative_bias: remembering_bias, adapter.relative_bias_attention: remembering_attention},
)
