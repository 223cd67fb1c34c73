"""Ways to get T5's relative bias wrong: buckets of distances."""

import math

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import relative_bias as t5


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

longest_undivided = Mutant(
    "REL-longest-undivided",
    story="the logarithm of the distance over the exact range is divided by that of the largest distance itself",
    breaks={"REL-LOG-1"},
    hint="log(distance/exact) / log(max_distance/exact)",
    replace={
        t5.bucket_of_distance: bucket_by(
            lambda far, exact, n, longest: torch.log(far / exact) / math.log(longest) * (n - exact)
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
