"""Ways to get T5's relative bias wrong: which way."""

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import relative_bias as t5

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

decoder_looks_ahead = Mutant(
    "REL-decoder-looks-ahead",
    story="in one direction the distance is max(key - query, 0): all earlier keys share bucket 0",
    breaks={"REL-ONE-1"},
    hint="earlier keys are at query - key: the minus is missing in front of clamp(min=0)",
    replace={
        t5.bucket: lambda relative_position, buckets, max_distance, bidirectional: t5.bucket(
            relative_position if bidirectional else -relative_position, buckets, max_distance, bidirectional
        )
    },
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
