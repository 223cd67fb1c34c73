"""Ways to make a mask wrong: the reference with one function replaced."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import Vacuous
from attnconf.reference import mask_making as making

VACUOUS = (
    Vacuous(("zeros",), "MAKE-LATER-1 MAKE-PADDING-1", "a mask that hides everything hides these"),
    Vacuous(("ones",), "MAKE-SEEN-1", "a mask that hides nothing shows these"),
)


def shifted(by):
    """Return the causal mask with its diagonal so many keys to the right."""
    return lambda queries, keys, offset=0: making.up_to_own(queries, keys, offset + by)


# -- causality

diagonal_hidden = Mutant(
    "MAKE-diagonal-hidden",
    story="a token does not see itself (tril(diagonal=-1), or triu without diagonal=1 as what is hidden)",
    breaks={"MAKE-SEEN-1"},
    hint="torch.tril(ones) is what may be seen, torch.triu(ones, diagonal=1) what may not",
    replace={making.up_to_own: shifted(-1)},
    source="the Annotated Transformer's triu with k=0",
)

next_seen = Mutant(
    "MAKE-next-seen",
    story="a token sees the next one too (triu(diagonal=2) as what is hidden)",
    breaks={"MAKE-LATER-1"},
    hint="torch.triu(ones, diagonal=1) is what may not be seen",
    replace={making.up_to_own: shifted(1)},
)

transposed = Mutant(
    "MAKE-transposed",
    story="the causal mask is transposed: a token sees itself and the future",
    breaks={"MAKE-LATER-1", "MAKE-SEEN-1"},
    hint="rows are queries, columns are keys: j <= i, torch.tril",
    replace={making.up_to_own: lambda queries, keys, offset=0: making.up_to_own(keys, queries, -offset).T},
)

causality_reversed = Mutant(
    "MAKE-causality-reversed",
    story="causality is of the other polarity: the future is seen, the past is hidden",
    breaks={"MAKE-LATER-1", "MAKE-SEEN-1"},
    hint="one polarity for both masks before they are joined: tril(ones) with real tokens, triu(ones, 1) with padding",
    replace={making.up_to_own: lambda queries, keys, offset=0: ~making.up_to_own(queries, keys, offset)},
)

not_causal = Mutant(
    "MAKE-not-causal",
    story="the mask is not causal: later tokens are seen",
    breaks={"MAKE-LATER-1"},
    hint="join the padding mask with torch.tril(ones)",
    replace={making.up_to_own: lambda queries, keys, offset=0: torch.ones(queries, keys, dtype=torch.bool)},
)

between_corners = Mutant(
    "MAKE-between-corners",
    story="where there are more keys than queries, the diagonal starts in neither corner",
    breaks={"MAKE-ALIGN-1"},
    hint="the offset is the number of keys before the first query's own: 0, or keys - queries",
    replace={
        making.up_to_own: lambda queries, keys, offset=0: making.up_to_own(
            queries, keys, offset if keys == queries else keys - queries - 1
        )
    },
    silent_on={"decoder_mask": "its queries are its keys"},
)


# -- padding


def changed(how):
    """Return the replacement of both ways to tell real tokens, the outcome changed."""
    return {
        making.told_by_ids: lambda ids, padding_id: how(making.told_by_ids(ids, padding_id)),
        making.told_by_lengths: lambda lengths, length: how(making.told_by_lengths(lengths, length)),
    }


padding_reversed = Mutant(
    "MAKE-padding-reversed",
    story="padding is of the other polarity: it is seen, and real tokens are hidden",
    breaks={"MAKE-PADDING-1", "MAKE-SEEN-1"},
    hint="one polarity for both masks before they are joined: ids != pad with tril, ids == pad with triu",
    replace=changed(torch.logical_not),
)

padding_forgotten = Mutant(
    "MAKE-padding-forgotten",
    story="padding is seen like real tokens",
    breaks={"MAKE-PADDING-1"},
    hint="join the causal mask with ids != pad",
    replace=changed(torch.ones_like),
)

first_row_for_all = Mutant(
    "MAKE-first-row-for-all",
    story="the padding of the first sample is taken for that of all",
    breaks={"MAKE-PADDING-1"},
    hint="keep the axis of the samples",
    replace=changed(lambda real: real[:1].expand_as(real)),
)

one_too_long = Mutant(
    "MAKE-one-too-long",
    story="the first padding after the end is seen: position <= length",
    breaks={"MAKE-PADDING-1"},
    hint="position < length is real, position >= length is padding",
    replace={making.told_by_lengths: lambda lengths, length: making.told_by_lengths(lengths + 1, length)},
    silent_on={"decoder_mask": "what is behind the end comes after every real query, and causality hides it"},
)

one_too_short = Mutant(
    "MAKE-one-too-short",
    story="the last real token is hidden: position < length - 1",
    breaks={"MAKE-SEEN-1"},
    hint="position < length is real: positions begin with 0",
    replace={making.told_by_lengths: lambda lengths, length: making.told_by_lengths(lengths - 1, length)},
)

along_queries = Mutant(
    "MAKE-along-queries",
    story="padding is laid along the queries instead of the keys: every real token sees it",
    breaks={"MAKE-PADDING-1"},
    hint="mask[:, None, None, :], the keys are the last axis",
    replace={making.as_keys: lambda real: making.as_keys(real).transpose(1, 2)},
    source="hyunwoongko/transformer#40",
)

hard_coded = Mutant(
    "MAKE-padding-is-0",
    story="id 0 is taken for padding, whatever id is given",
    breaks={"MAKE-ID-1"},
    hint="ids != pad_id",
    replace={making.told_by_ids: lambda ids, padding_id: making.told_by_ids(ids, 0)},
)

compared_by_size = Mutant(
    "MAKE-ids-above",
    story="only ids above that of padding are real: ids > pad",
    breaks={"MAKE-ID-1"},
    hint="ids != pad_id",
    replace={making.told_by_ids: lambda ids, padding_id: ids > padding_id},
)


# -- both

joined_by_or = Mutant(
    "MAKE-joined-by-or",
    story="a key is seen if either mask allows it",
    breaks={"MAKE-LATER-1", "MAKE-PADDING-1"},
    hint="allowed & allowed, or hidden | hidden",
    replace={making.both: lambda first, second: first | second},
)


# -- numbers

IN_BETWEEN = 0.5  # for what is neither of the two numbers, NaN among it


not_a_number = Mutant(
    "MAKE-zero-times-infinity",
    story="where a key may be seen the mask is neither of its two numbers: 0·inf, for one, is NaN",
    breaks={"MAKE-SEEN-1"},
    hint="masked_fill(hidden, float('-inf')) multiplies nothing",
    replace={making.as_numbers: lambda mask, dtype: torch.where(mask, IN_BETWEEN, 0.0).to(dtype)},
)

weak_fill = Mutant(
    "MAKE-weak-fill",
    story="what is added where a key is hidden is no large negative number: -1, -20 or -1e-9, for example",
    breaks={"MAKE-LATER-1", "MAKE-PADDING-1"},
    hint="float('-inf'), or torch.finfo(dtype).min",
    replace={making.as_numbers: lambda mask, dtype: torch.where(mask, 1.0, IN_BETWEEN).to(dtype)},
)
