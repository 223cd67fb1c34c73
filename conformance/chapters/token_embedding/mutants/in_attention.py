"""Ways to get token embeddings wrong: from ids to attention."""

import math

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal, token_embedding
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import multi_head_attention

no_positions = Mutant(
    "EMB-no-positions",
    story="no positions are added",
    breaks={"EMB-ORDER-1"},
    hint="embedding, then positions, then attention",
    replace={token_embedding.place: lambda x: x},
)

positions_twice = Mutant(
    "EMB-positions-twice",
    story="positions are added twice",
    breaks={"EMB-POS-1"},
    hint="once: in the embedding or in front of attention",
    replace={token_embedding.place: lambda x: sinusoidal.sinusoidal(sinusoidal.sinusoidal(x))},
)

positions_from_one = Mutant(
    "EMB-positions-from-one",
    story="the first token has position 1",
    breaks={"EMB-POS-1"},
    hint='count from 0, or declare {"sinusoidal-offset": "1"}',
    replace={token_embedding.place: lambda x: sinusoidal.sinusoidal(x, torch.arange(1, x.shape[1] + 1))},
)

positions_along_batch = Mutant(
    "EMB-positions-along-batch",
    story="positions run along the batch",
    breaks={"EMB-ORDER-1"},
    hint="the batch comes first: positions belong to axis 1",
    replace={
        token_embedding.place: lambda x: sinusoidal.sinusoidal(x, torch.arange(len(x))[:, None].expand(x.shape[:2])),
    },
)

positions_multiplied = Mutant(
    "EMB-positions-multiplied",
    story="vectors are multiplied by positions",
    breaks={"EMB-ROW-1"},
    hint="add",
    replace={token_embedding.place: lambda x: x * sinusoidal.sinusoidal(torch.zeros_like(x))},
)


def positions_behind(ids, weights, num_heads, mask=None):
    x = token_embedding.embed(ids, weights["table.weight"])
    return token_embedding.place(token_embedding.look_around(x, weights, num_heads, mask))


positions_after_attention = Mutant(
    "EMB-positions-after-attention",
    story="positions are added to what attention gives",
    breaks={"EMB-ORDER-1"},
    hint="before attention: it is attention that needs them",
    replace={token_embedding.token_attention: positions_behind},
)


def own(weights):
    return {name.removeprefix("attn."): w for name, w in weights.items() if name.startswith("attn.")}


def positions_not_in_values(ids, weights, num_heads, mask=None):
    x = token_embedding.embed(ids, weights["table.weight"])
    placed = token_embedding.place(x)
    return multi_head_attention(placed, placed, x, own(weights), num_heads, mask)[0]


values_without_positions = Mutant(
    "EMB-values-without-positions",
    story="queries and keys have positions, values have none",
    breaks={"EMB-POS-1"},
    hint="all three are read from the same x",
    replace={token_embedding.token_attention: positions_not_in_values},
    source="the attention of DETR, which means it",
)


def looking(change):
    """Return look_around with its arguments changed: change(x, mask) -> (x, mask)."""

    def look_around(x, weights, num_heads, mask):
        x, mask = change(x, mask)
        return multi_head_attention(x, x, x, own(weights), num_heads, mask)[0]

    return look_around


def always_triangular(x, mask):
    triangle = causal(x.shape[1], x.shape[1])
    return x, triangle if mask is None else mask & triangle


always_causal = Mutant(
    "EMB-always-causal",
    story="attention is causal without being asked",
    breaks={"EMB-SEEN-1"},
    hint='only with config.causal, or declare {"causality": "always"}',
    replace={token_embedding.look_around: looking(always_triangular)},
)


def only_neighbours(x, mask):
    at = torch.arange(x.shape[1])
    near = (at[:, None] - at).abs() <= max(1, x.shape[1] - 2)
    return x, near if mask is None else mask & near


last_not_seen = Mutant(
    "EMB-window",
    story="a token does not see those that are furthest away",
    breaks={"EMB-SEEN-1"},
    hint="no window unless one is asked for",
    replace={token_embedding.look_around: looking(only_neighbours)},
)


def across_the_batch(x, weights, num_heads, mask):
    if not len(x):
        return x
    y = x.transpose(0, 1)
    return multi_head_attention(y, y, y, own(weights), num_heads)[0].transpose(0, 1)


attends_across_batch = Mutant(
    "EMB-attends-across-batch",
    story="tokens look at the tokens of other samples, at their own position",
    breaks={"EMB-SAMPLE-1"},
    hint="batch_first=True",
    replace={token_embedding.look_around: across_the_batch},
)


def first_sample_mixed(x, mask):
    return x + 0.1 * x[:1], mask


samples_mixed = Mutant(
    "EMB-samples-mixed",
    story="a tenth of the first sample gets into all others",
    breaks={"EMB-SAMPLE-1"},
    hint="keep the batch axis in every product",
    replace={token_embedding.look_around: looking(first_sample_mixed)},
)


def without(config, weights, causal=False, padding=False):
    def forward(ids, *, key_mask=None):
        x = ids[..., None]
        whole = adapter.gather_masks(config, x, x, key_mask, None)
        only_padding = None if key_mask is None else key_mask[:, None, None, :]
        only_causal = adapter.gather_masks(config, x, x, None, None)
        mask = only_padding if causal else only_causal if padding else whole
        return token_embedding.token_attention(ids, weights, config.num_heads, mask)

    return forward


causal_ignored = Mutant(
    "EMB-causal-ignored",
    story="causal is ignored: a token sees later ones",
    breaks={"EMB-CAUSAL-1"},
    hint="mask what comes later",
    replace={adapter.token_attention: lambda config, weights: without(config, weights, causal=True)},
)

mask_ignored = Mutant(
    "EMB-mask-ignored",
    story="the mask of padding is ignored",
    breaks={"EMB-MASK-1"},
    hint="pass the mask on to attention",
    replace={adapter.token_attention: lambda config, weights: without(config, weights, padding=True)},
)


def inverting(config, weights):
    def forward(ids, *, key_mask=None):
        x = ids[..., None]
        mask = adapter.gather_masks(config, x, x, None if key_mask is None else ~key_mask, None)
        return token_embedding.token_attention(ids, weights, config.num_heads, mask)

    return forward


mask_inverted = Mutant(
    "EMB-mask-inverted",
    story="True of the mask means padding: only that is seen",
    breaks={"EMB-MASK-1"},
    hint="True means: may attend; nn.MultiheadAttention wants ~key_mask",
    replace={adapter.token_attention: inverting},
)


def unscaled(x, weights, num_heads, mask):
    width = math.sqrt(x.shape[-1] / num_heads)
    sharp = {n: w * width if n.startswith("q.") else w for n, w in own(weights).items()}
    return multi_head_attention(x, x, x, sharp, num_heads, mask)[0]


scores_unscaled = Mutant(
    "EMB-scores-unscaled",
    story="the scores are not divided by √(D/H)",
    breaks={"EMB-ORACLE-1"},
    hint="divide by the root of one head's width",
    replace={token_embedding.look_around: unscaled},
    source="system 1a",
)

one_head = Mutant(
    "EMB-one-head",
    story="there is one head as wide as all",
    breaks={"EMB-ORACLE-1"},
    hint="pass the number of heads on",
    replace={
        token_embedding.look_around: lambda x, weights, num_heads, mask: multi_head_attention(
            x, x, x, own(weights), 1, mask
        )[0],
    },
)


def values_from_keys(x, weights, num_heads, mask):
    weights = own(weights)
    weights["k.weight"], weights["q.weight"] = weights["q.weight"], weights["k.weight"]
    return multi_head_attention(x, x, x, weights, num_heads, mask)[0]


queries_and_keys_swapped = Mutant(
    "EMB-queries-and-keys-swapped",
    story="queries are made by the keys' weight, and keys by the queries'",
    breaks={"EMB-ORACLE-1"},
    hint="q.weight makes queries",
    replace={token_embedding.look_around: values_from_keys},
)
