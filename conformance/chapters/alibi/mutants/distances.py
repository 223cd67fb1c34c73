"""Ways to get ALiBi wrong: distances."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import alibi


def with_distances(change):
    """Return distances with each one changed by change(distance)."""
    return lambda queries, keys: change(alibi.distances(queries, keys))


rewarded = Mutant(
    "ALIBI-rewarded",
    story="the sign is lost: keys are rewarded for being far away",
    breaks={"ALIBI-SIGN-1"},
    hint="the bias is -m·distance",
    replace={alibi.bias: lambda heads, queries, keys: -alibi.bias(heads, queries, keys)},
)

absent = Mutant(
    "ALIBI-absent",
    story="there is no bias",
    breaks={"ALIBI-SIGN-1"},
    hint="add -m·distance to the scaled scores",
    replace={alibi.bias: lambda heads, queries, keys: 0 * alibi.bias(heads, queries, keys)},
)

squared = Mutant(
    "ALIBI-squared",
    story="the penalty grows with the square of the distance",
    breaks={"ALIBI-LINEAR-1"},
    hint="the bias is -m·distance",
    replace={alibi.distances: with_distances(torch.square)},
)

logarithmic = Mutant(
    "ALIBI-logarithmic",
    story="the penalty grows with the logarithm of the distance",
    breaks={"ALIBI-LINEAR-1"},
    hint="the bias is -m·distance; logarithms are for other encodings",
    replace={alibi.distances: with_distances(torch.log1p)},
)

relative_to_length = Mutant(
    "ALIBI-relative-to-length",
    story="the distance is divided by the number of keys that the query sees",
    breaks={"ALIBI-DISTANCE-1"},
    hint="distances are in tokens, whatever the length",
    replace={
        alibi.distances: lambda queries, keys: (
            alibi.distances(queries, keys) / torch.arange(keys - queries + 1, keys + 1)[:, None]
        )
    },
)

in_blocks = Mutant(
    "ALIBI-in-blocks",
    story="positions begin again every 4 tokens",
    breaks={"ALIBI-DISTANCE-1"},
    hint="positions run through the whole sequence, whatever the tile",
    replace={
        alibi.distances: lambda queries, keys: (
            (torch.arange(queries) + keys - queries)[:, None] % 4 - torch.arange(keys) % 4.0
        ).abs()
    },
)

clipped = Mutant(
    "ALIBI-clipped",
    story="distances beyond 128 tokens count as 128",
    breaks={"ALIBI-LONG-1"},
    hint="nothing is clipped: that the penalty goes on growing is the point",
    replace={alibi.distances: with_distances(lambda distance: distance.clamp(max=128))},
)

wrapped = Mutant(
    "ALIBI-wrapped",
    story="distances are kept in eight bits and begin again after 256",
    breaks={"ALIBI-LONG-1"},
    hint="keep distances in 32 bits",
    replace={alibi.distances: with_distances(lambda distance: distance % 256)},
)


def rounded_distances(queries, keys):
    i, j = (torch.arange(n).bfloat16().double() for n in (queries, keys))
    return (i[:, None] + (keys - queries) - j).abs()


positions_rounded = Mutant(
    "ALIBI-positions-rounded",
    story="positions are kept in bfloat16, which has no odd numbers beyond 256",
    breaks={"ALIBI-LONG-1"},
    hint="keep positions as integers or in float32; cast the bias, if at all, at the end",
    source="Falcon in transformers",
    replace={alibi.distances: rounded_distances},
)


def by_key_alone(config, weights):
    def forward(query_length, key_length):
        own = torch.arange(key_length - query_length, key_length)
        bias = alibi.bias(config.num_heads, query_length, key_length)
        earlier = (alibi.slopes(config.num_heads)[:, None, None] * torch.arange(key_length)).expand_as(bias)
        chosen = torch.where(torch.arange(key_length) <= own[:, None], earlier, bias) if config.causal else bias
        return chosen.to(config.device, config.dtype)

    return forward


key_rounded = Mutant(
    "ALIBI-key-rounded",
    story="the bias is +m·key, which is right, but cast to half precision, where late neighbours become one",
    breaks={"ALIBI-HALF-1"},
    hint="in half precision use -m·(query - key), which is small for neighbours, or keep the bias in float32",
    replace={adapter.alibi: by_key_alone},
    source="BLOOM in transformers",
)


def signed(queries, keys):
    i, j = torch.arange(queries, dtype=torch.float64), torch.arange(keys, dtype=torch.float64)
    return i[:, None] + (keys - queries) - j


later_rewarded = Mutant(
    "ALIBI-later-rewarded",
    story="without causality later keys have negative distances: they are rewarded",
    breaks={"ALIBI-BOTH-1"},
    hint="without causality the distance is |query - key|",
    replace={alibi.distances: signed},
    source="x-transformers#85",
)

earlier_rewarded = Mutant(
    "ALIBI-earlier-rewarded",
    story="the slope has the wrong sign, and so has the distance of later keys: m·(query - key)",
    breaks={"ALIBI-SIGN-1", "ALIBI-BOTH-1"},
    hint="the bias is -m·|query - key|",
    replace={alibi.distances: lambda queries, keys: -signed(queries, keys)},
)

later_free = Mutant(
    "ALIBI-later-free",
    story="without causality later keys have no penalty",
    breaks={"ALIBI-BOTH-1"},
    hint="without causality the distance is |query - key|",
    replace={alibi.distances: lambda queries, keys: signed(queries, keys).clamp(min=0)},
)

top_left = Mutant(
    "ALIBI-top-left",
    story="with fewer queries than keys the first query stands at the first key",
    breaks={"ALIBI-ALIGN-1"},
    hint="the queries are the last tokens: query i stands at key i + S - L",
    replace={
        alibi.distances: lambda queries, keys: (
            torch.arange(queries, dtype=torch.float64)[:, None] - torch.arange(keys)
        ).abs()
    },
    silent_on={"alibi_attention": "it has as many queries as keys"},
)
