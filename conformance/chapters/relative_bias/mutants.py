"""Ways to get T5's relative bias wrong: the reference with one function replaced."""

import math

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, ZERO_APART, Vacuous
from attnconf.reference import attention, masks
from attnconf.reference import relative_bias as t5

# -- which way


query_minus_key = Mutant(
    "REL-query-minus-key",
    story="the relative position is query - key: earlier and later keys change places",
    breaks={"REL-SIGN-1"},
    hint="the relative position is key - query",
    replace={
        t5.bucket: lambda relative_position, buckets, max_distance, bidirectional: t5.bucket(
            -relative_position, buckets, max_distance, bidirectional
        )
    },
    source="gluon-nlp#1470",
)


def bucket_with_halves(upper):
    """Return bucket with the upper half for those relative positions where upper(relative_position)."""

    def bucket(relative_position, buckets, max_distance, bidirectional):
        if not bidirectional:
            return t5.bucket(relative_position, buckets, max_distance, False)
        half = buckets // 2
        return half * upper(relative_position) + t5.bucket_of_distance(relative_position.abs(), half, max_distance)

    return bucket


halves_swapped = Mutant(
    "REL-halves-swapped",
    story="earlier keys take the upper half of the buckets",
    breaks={"REL-SIGN-1"},
    hint="N/2 is added where key > query",
    replace={t5.bucket: bucket_with_halves(lambda relative_position: relative_position < 0)},
    source="x-transformers#10",
)

halves_not_used = Mutant(
    "REL-upper-half-unused",
    story="earlier and later keys share the lower half of the buckets",
    breaks={"REL-SIGN-1"},
    hint="add N/2 where key > query",
    replace={t5.bucket: bucket_with_halves(lambda relative_position: 0 * relative_position)},
)

own_key_above = Mutant(
    "REL-own-key-above",
    story="the query's own key takes the first bucket of the upper half",
    breaks={"REL-EXACT-1"},
    hint="N/2 is added where key > query, not where key ≥ query",
    replace={t5.bucket: bucket_with_halves(lambda relative_position: relative_position >= 0)},
)


def bucket_always(direction):
    return lambda relative_position, buckets, max_distance, bidirectional: t5.bucket(
        relative_position, buckets, max_distance, direction
    )


decoder_in_encoder = Mutant(
    "REL-decoder-in-encoder",
    story="the buckets are those of one direction everywhere: all later keys share bucket 0",
    breaks={"REL-SIGN-1"},
    hint="without causality later keys have the upper half of the buckets",
    replace={t5.bucket: bucket_always(False)},
)

encoder_in_decoder = Mutant(
    "REL-encoder-in-decoder",
    story="the buckets are those of two directions also where later keys are hidden, so half of them lie idle",
    breaks={"REL-ONE-1"},
    hint="with causality all buckets are for earlier keys",
    replace={t5.bucket: bucket_always(True)},
    source="x-transformers#10",
)


def bucket_with_later_by_distance(relative_position, buckets, max_distance, bidirectional):
    if bidirectional:
        return t5.bucket(relative_position, buckets, max_distance, True)
    return t5.bucket_of_distance(relative_position.abs(), buckets, max_distance)


later_by_distance = Mutant(
    "REL-later-by-distance",
    story="in one direction later keys take the bucket of their distance instead of bucket 0",
    breaks={"REL-ONE-1"},
    hint="in one direction the distance is max(query - key, 0)",
    replace={t5.bucket: bucket_with_later_by_distance},
    silent_on={"relative_bias_attention": "causality hides later keys"},
)

# -- buckets of distances


def bucket_by(size, exact_part=2, last=1):
    """Return bucket_of_distance with size(distance, exact, buckets, max_distance) beyond the exact range."""

    def bucket_of_distance(distance, buckets, max_distance):
        exact = buckets // exact_part
        far = distance.clamp(min=1).double()
        found = exact + size(far, exact, buckets, max_distance).long()
        return torch.where(distance < exact, distance, found.clamp(max=buckets - last))

    return bucket_of_distance


def logarithmic(far, exact, buckets, max_distance):
    return torch.log(far / exact) / math.log(max_distance / exact) * (buckets - exact)


exact_too_short = Mutant(
    "REL-exact-too-short",
    story="only a quarter of a direction's buckets are exact, not half",
    breaks={"REL-EXACT-1"},
    hint="half of the buckets of a direction are for one distance each",
    replace={t5.bucket_of_distance: bucket_by(logarithmic, exact_part=4)},
)

counted_from_one = Mutant(
    "REL-counted-from-one",
    story="distances are counted from 1",
    breaks={"REL-EXACT-1"},
    hint="the own key has the distance 0 and the bucket 0",
    replace={
        t5.bucket_of_distance: lambda distance, buckets, max_distance: t5.bucket_of_distance(
            distance + 1, buckets, max_distance
        )
    },
)

rounded = Mutant(
    "REL-rounded",
    story="logarithmic buckets are rounded to the nearest, not down",
    breaks={"REL-LOG-1"},
    hint="cut the fraction off: .long(), not .round()",
    replace={
        t5.bucket_of_distance: bucket_by(lambda far, exact, n, longest: logarithmic(far, exact, n, longest).round())
    },
)

rounded_up = Mutant(
    "REL-rounded-up",
    story="logarithmic buckets are rounded up",
    breaks={"REL-LOG-1"},
    hint="cut the fraction off: .long(), not .ceil()",
    replace={
        t5.bucket_of_distance: bucket_by(lambda far, exact, n, longest: logarithmic(far, exact, n, longest).ceil())
    },
)

logarithm_of_distance = Mutant(
    "REL-logarithm-of-distance",
    story="the logarithm is that of the distance over that of the largest, without dividing both by the exact range",
    breaks={"REL-LOG-1"},
    hint="log(distance/exact) / log(max_distance/exact)",
    replace={
        t5.bucket_of_distance: bucket_by(
            lambda far, exact, n, longest: torch.log(far) / math.log(longest) * (n - exact)
        )
    },
)

linear = Mutant(
    "REL-linear",
    story="buckets beyond the exact range are all equally wide",
    breaks={"REL-LOG-1"},
    hint="they widen with the logarithm of the distance",
    replace={
        t5.bucket_of_distance: bucket_by(lambda far, exact, n, longest: (far - exact) / (longest - exact) * (n - exact))
    },
)

no_last = Mutant(
    "REL-no-last",
    story="the last bucket is not the last: beyond the largest distance the numbers go on, into the other half",
    breaks={"REL-LAST-1"},
    raises={"REL-LAST-1"},
    hint="clamp the bucket to the last of its direction",
    replace={t5.bucket_of_distance: bucket_by(logarithmic, last=-1000)},
    source="candle#1312",
)


def bucket_of_all(relative_position, buckets, max_distance, bidirectional):
    if not bidirectional:
        return t5.bucket(relative_position, buckets, max_distance, bidirectional)
    half, distance = buckets // 2, relative_position.abs()
    exact = half // 2
    far = exact + logarithmic(distance.clamp(min=1).double(), exact, half, max_distance).long()
    return (half * (relative_position > 0) + torch.where(distance < exact, distance, far)).clamp(max=buckets - 1)


last_of_all = Mutant(
    "REL-last-of-all",
    story="far keys are clamped to the last bucket of all, not of their direction: earlier ones become later ones",
    breaks={"REL-LAST-1"},
    hint="clamp before the half of the later keys is added, to half - 1",
    replace={t5.bucket: bucket_of_all},
)

last_unused = Mutant(
    "REL-last-unused",
    story="the far keys share the last but one bucket",
    breaks={"REL-LOG-1"},
    hint="clamp to buckets - 1, counted from 0",
    replace={t5.bucket_of_distance: bucket_by(logarithmic, last=2)},
)


def bucket_far_forgotten(distance, buckets, max_distance):
    found = t5.bucket_of_distance(distance, buckets, max_distance)
    return torch.where(distance >= max_distance, 0, found)


far_is_near = Mutant(
    "REL-far-is-near",
    story="keys at the largest distance or beyond take bucket 0",
    breaks={"REL-LAST-1"},
    hint="they share the last bucket",
    replace={t5.bucket_of_distance: bucket_far_forgotten},
)

longest_fixed = Mutant(
    "REL-max-distance-fixed",
    story="the largest distance is 128, whatever was asked for",
    breaks={"REL-SIZES-1"},
    hint="use config.max_distance",
    replace={
        t5.bucket_of_distance: lambda distance, buckets, max_distance: t5.bucket_of_distance(distance, buckets, 128)
    },
)

exact_fixed = Mutant(
    "REL-exact-fixed",
    story="the exact range is that of 32 buckets, however many there are",
    breaks={"REL-SIZES-1"},
    hint="half of the buckets of a direction are exact",
    replace={
        t5.bucket_of_distance: lambda distance, buckets, max_distance: t5.bucket_of_distance(
            distance, 32 if buckets % 16 else buckets, max_distance if buckets % 16 == 0 else 128
        ).clamp(max=buckets - 1)
    },
)


def bucket_in_dtype_of(table, queries, keys, max_distance, bidirectional):
    """The buckets with the logarithm taken in the dtype of the table."""

    def of_distance(distance, buckets):
        exact = buckets // 2
        far = distance.clamp(min=1).to(table.dtype)
        step = torch.log(far / exact) / math.log(max_distance / exact) * (buckets - exact)
        return torch.where(distance < exact, distance, (exact + step.long()).clamp(max=buckets - 1))

    offset = t5.relative(queries, keys)
    if not bidirectional:
        return of_distance((-offset).clamp(min=0), len(table))
    half = len(table) // 2
    return half * (offset > 0) + of_distance(offset.abs(), half)


in_half_precision = Mutant(
    "REL-in-half-precision",
    story="the logarithm is taken in the dtype of the model: in bfloat16 distances at the edge of a bucket change it",
    breaks={"REL-HALF-1"},
    hint="compute buckets in float32 or from integers, whatever the dtype of the table",
    replace={
        t5.bias: lambda table, queries, keys, max_distance=128, bidirectional=True: t5.look_up(
            table, bucket_in_dtype_of(table, queries, keys, max_distance, bidirectional)
        )
    },
    silent_on={"relative_bias_attention": "the precision of its table is judged where the bias can be seen"},
)

# -- relative positions


def keys_alone(queries, keys):
    return (torch.arange(keys) - keys // 2).expand(queries, -1)


absolute = Mutant(
    "REL-absolute",
    story="the position is that of the key in the sequence, the same for every query",
    breaks={"REL-RELATIVE-1"},
    hint="the relative position is key - query",
    replace={t5.relative: keys_alone},
)

in_blocks = Mutant(
    "REL-in-blocks",
    story="positions of queries begin again every 4 tokens",
    breaks={"REL-RELATIVE-1"},
    hint="positions run through the whole sequence, whatever the tile",
    replace={t5.relative: lambda queries, keys: torch.arange(keys) - torch.arange(queries)[:, None] % 4},
)

aligned_right = Mutant(
    "REL-aligned-right",
    story="with more keys than queries the last query stands at the last key, where the other corner is declared",
    breaks={"REL-ALIGN-1"},
    hint='both count from 0; else declare "t5-alignment": "bottom-right"',
    replace={
        t5.relative: lambda queries, keys: torch.arange(keys) - torch.arange(keys - queries, keys)[:, None],
    },
    silent_on={"relative_bias_attention": "it has as many queries as keys"},
)

# -- the table


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
    breaks={"CALL-DTYPE-1"},
    hint="return the dtype of the table",
    replace={t5.look_up: looking_up(lambda bias: bias.to(torch.promote_types(bias.dtype, torch.float32)))},
    raises={"CALL-DTYPE-1"},
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

# -- in attention


def attending(scores, after=lambda weights, bias: weights):
    """Return relative_bias_attention with scores(q, k, bias), and weights changed after the softmax."""

    def relative_bias_attention(q, k, v, table, max_distance=128, causal=False):
        if table is None:
            return t5.relative_bias_attention(q, k, v, None)
        L, S = q.shape[-2], k.shape[-2]
        bias = t5.bias(table, L, S, max_distance, not causal)
        weights = attention.weigh(masks.hide(scores(q, k, bias), masks.causal(L, S) if causal else None))
        return attention.mix(after(weights, bias), v)

    return relative_bias_attention


def product(q, k, scale=1.0):
    return attention.score(q, k, scale)


scaled = Mutant(
    "REL-scaled",
    story="the scores are divided by √E, where none is declared",
    breaks={"REL-SCALE-1"},
    hint='T5 does not scale: its queries were initialised smaller instead; else declare "t5-scale": "sqrt"',
    replace={t5.relative_bias_attention: attending(lambda q, k, bias: product(q, k, q.shape[-1] ** -0.5) + bias)},
)

bias_scaled = Mutant(
    "REL-bias-scaled",
    story="the bias is divided by √E",
    breaks={"REL-ENTRY-1"},
    hint="add the entry of the table itself",
    replace={t5.relative_bias_attention: attending(lambda q, k, bias: product(q, k) + bias * q.shape[-1] ** -0.5)},
)

multiplied = Mutant(
    "REL-multiplied",
    story="the scores are multiplied by the bias",
    breaks={"REL-ADD-1"},
    hint="add the bias to the scores",
    replace={t5.relative_bias_attention: attending(lambda q, k, bias: product(q, k) * bias)},
)

after_softmax = Mutant(
    "REL-after-softmax",
    story="the bias is added to the weights, after the softmax",
    breaks={"REL-ADD-1"},
    hint="add the bias to the scores, before the softmax",
    replace={
        t5.relative_bias_attention: attending(
            lambda q, k, bias: product(q, k), lambda weights, bias: weights + bias * (weights > 0)
        )
    },
)

causality_ignored = Mutant(
    "REL-not-causal",
    story="the buckets of one direction are taken for the causal mask",
    breaks={"REL-CAUSAL-1"},
    hint="bucket 0 hides nothing: the causal mask is needed as well",
    replace={
        t5.relative_bias_attention: lambda q, k, v, table, max_distance=128, causal=False: attention.attend(
            q,
            k,
            v,
            None,
            None if table is None else t5.bias(table, q.shape[-2], k.shape[-2], max_distance, not causal),
            scale=1.0,
        )[0]
    },
)


def by_sample(q, k, bias):
    """The heads of all samples on one axis, head by head instead of sample by sample."""
    B, H = q.shape[:2]
    return product(q, k) + bias.repeat_interleave(B, dim=0).unflatten(0, (B, H))


bias_by_sample = Mutant(
    "REL-bias-by-sample",
    story="the bias is repeated for an axis of B·H in the wrong order: samples get other heads' biases",
    breaks={"REL-SAMPLE-1"},
    hint="where samples and heads share an axis the heads run fastest: repeat, not repeat_interleave",
    replace={t5.relative_bias_attention: attending(by_sample)},
)


def biased_across(q, k, v, table, max_distance=128, causal=False):
    if table is None:
        table = torch.linspace(-1, 1, 32, dtype=q.dtype)[:, None].expand(-1, q.shape[1])
    return t5.relative_bias_attention(q, k, v, table, max_distance, causal)


bias_across = Mutant(
    "REL-bias-across",
    story="cross-attention has a bias of its own",
    breaks={"REL-CROSS-1"},
    hint="keys of another sequence have no positions relative to the query: no bias",
    replace={t5.relative_bias_attention: biased_across},
    source="transformers#8518",
)


def causal_across(q, k, v, table, max_distance=128, causal=False):
    return t5.relative_bias_attention(q, k, v, table, max_distance, causal or table is None)


mask_across = Mutant(
    "REL-mask-across",
    story="cross-attention in a decoder is causal",
    breaks={"REL-CROSS-1"},
    hint="the whole of the other sequence is seen",
    replace={t5.relative_bias_attention: causal_across},
)

keys_cut_off = Mutant(
    "REL-keys-cut-off",
    story="no gradient reaches the keys",
    breaks={"REL-ORACLE-1"},
    hint="keep keys attached to what they are made of",
    replace={t5.relative_bias_attention: attending(lambda q, k, bias: product(q, k.detach()) + bias)},
)

heads_merged = Mutant(
    "REL-heads-merged",
    story="the output comes back with its heads side by side, (B, L, H·E)",
    breaks={"CALL-SHAPE-1"},
    hint="return (B, H, L, E), the shape of the query",
    replace={
        t5.relative_bias_attention: lambda q, k, v, table, max_distance=128, causal=False: (
            t5.relative_bias_attention(q, k, v, table, max_distance, causal).transpose(1, 2).flatten(2)
        )
    },
)


def with_last_row_frozen(table, buckets):
    return t5.look_up(torch.cat([table[:-1], table[-1:].detach()]), buckets)


last_row_frozen = Mutant(
    "REL-padding-last",
    story="the last bucket is taken for padding: its entry is never trained",
    breaks={"REL-GRAD-1"},
    hint="no padding_idx, not -1 either: the last bucket is for the keys that are furthest away",
    replace={t5.look_up: with_last_row_frozen},
)


def scaled_across(q, k, v, table, max_distance=128, causal=False):
    scale = q.shape[-1] ** -0.5 if table is None else 1.0
    return t5.relative_bias_attention(scale * q, k, v, table, max_distance, causal)


scale_across = Mutant(
    "REL-scale-across",
    story="cross-attention divides the scores by √E, self-attention does not",
    breaks={"REL-CROSS-2"},
    hint="T5 scales nowhere: hand scale=1 to the attention of both",
    replace={t5.relative_bias_attention: scaled_across},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(NUMBERS, "REL-CAUSAL-1", "no key is read, later ones included"),
    Vacuous(("zeros", "ones"), "REL-HALF-1", "half precision holds 0 and 1 exactly"),
    Vacuous(CONSTANT, "REL-ALIGN-1", "the same bias everywhere"),
    Vacuous(
        ZERO_APART,
        "REL-ENTRY-1 REL-HEAD-1 REL-RELATIVE-1 REL-SAMPLE-1",
        "equal weights are those of one bucket for all keys",
        components=("relative_bias_attention",),
    ),
)
