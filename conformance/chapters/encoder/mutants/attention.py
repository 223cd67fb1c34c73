"""Ways to get the encoder wrong: who attends to whom."""

from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.encoder.mutants.shared import attend, gather
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder, masks


def attend_batch_first(x, weights, style, mask):
    return attend(x.transpose(0, 1), weights, style, mask).transpose(0, 1) if len(x) else x


batch_second = Mutant(
    "ENC-batch-second",
    story="the batch is taken for the sequence: samples attend to one another",
    breaks={"ENC-BATCH-1"},
    hint="batch_first=True; nn.TransformerEncoderLayer has False",
    replace={encoder.self_attention: attend_batch_first},
    source="AEMatter#3",
)

indexed_as_a_tuple = Mutant(
    "ENC-indexed-as-a-tuple",
    story="attention's output is indexed as if it were a pair: all samples get what the first one attends to",
    breaks={"ENC-BATCH-1"},
    hint="out, weights = attention(x), or no [0] where only a tensor comes back",
    replace={
        encoder.self_attention: lambda x, weights, style, mask: attend(x, weights, style, mask)[0] if len(x) else x
    },
    source="system 1d",
)


def banded(x, width):
    at = torch.arange(x.shape[1])
    return (at[:, None] - at).abs() <= width


def attend_to_neighbours(x, weights, style, mask):
    return attend(x, weights, style, masks.intersect(mask, banded(x, 1)))


neighbours_only = Mutant(
    "ENC-neighbours-only",
    story="a token attends to its neighbours only",
    breaks={"ENC-REACH-1"},
    hint="no window where none is asked for",
    replace={encoder.self_attention: attend_to_neighbours},
)

itself_only = Mutant(
    "ENC-itself-only",
    story="a token attends to itself only",
    breaks={"ENC-REACH-1"},
    hint="scores are (L, L) for each head: tokens on the last two axes but one",
    replace={
        encoder.self_attention: lambda x, weights, style, mask: attend(
            x, weights, style, masks.intersect(mask, banded(x, 0))
        )
    },
)


def add_ramp(x):
    return x + 0.1 * torch.arange(x.shape[1], dtype=x.dtype)[:, None]


positions_in_every_layer = Mutant(
    "ENC-positions-in-layer",
    story="every layer adds positions to what attention gets",
    breaks={"ENC-PERM-1", "ENC-LEARN-3"},
    hint="positions are added once, before the first layer",
    replace={encoder.self_attention: lambda x, weights, style, mask: attend(add_ramp(x), weights, style, mask)},
)


def gather_causally(config, query, key, key_mask, attn_mask):
    return gather(replace(config, causal=True), query, key, key_mask, attn_mask)


always_causal = Mutant(
    "ENC-always-causal",
    story="the encoder is causal though nobody asked for it",
    breaks={"ENC-REACH-1"},
    hint='use config.causal, or declare causality = "always"',
    replace={adapter.gather_masks: gather_causally},
)

never_causal = Mutant(
    "ENC-never-causal",
    story="causal is ignored",
    breaks={"ENC-CAUSAL-1"},
    hint="apply the causal mask, or raise NotImplementedError",
    replace={
        adapter.gather_masks: lambda config, query, key, key_mask, attn_mask: gather(
            replace(config, causal=False), query, key, key_mask, attn_mask
        )
    },
)

one_ahead = Mutant(
    "ENC-one-ahead",
    story="causal attention sees the next token as well",
    breaks={"ENC-CAUSAL-1", "ENC-LEARN-4"},
    hint="query i sees keys 0 … i: triu(diagonal=1) hides the others",
    replace={masks.causal: lambda queries, keys, offset=0: torch.ones(queries, keys, dtype=torch.bool).tril(1)},
)

strictly_earlier = Mutant(
    "ENC-strictly-earlier",
    story="in causal attention a token does not see itself",
    breaks={"ENC-CAUSAL-1"},
    hint="query i sees keys 0 … i, itself among them",
    replace={masks.causal: lambda queries, keys, offset=0: torch.ones(queries, keys, dtype=torch.bool).tril(-1)},
)
