"""Ways to get vectors of offsets within attention wrong."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention_family as family
from attnconf.reference.attention import mix, score


def scoring(change):
    """Return ``score_with_offsets`` in which the term of the offsets is change(term, q, k, a, scale)."""

    def scores(q, k, scale, weights, member, begin=0):
        if member.positions != "shaw":
            return family.score_with_offsets(q, k, scale, weights, member, begin)
        a = family.offset_vectors(weights["relative_keys.weight"], q.shape[2], k.shape[2], begin)
        term = torch.einsum("bhld,lsd->bhls", scale * q, a)
        return score(q, k, scale) + change(term, q, k, a, scale)

    return scores


def mixing(change):
    """Return ``mix_with_offsets`` in which the term of the offsets is change(term, attention, a, weights, begin)."""

    def mixed(attention, v, weights, member, begin=0):
        if member.positions != "shaw" or member.relative_values == "no":
            return family.mix_with_offsets(attention, v, weights, member, begin)
        a = family.offset_vectors(weights["relative_values.weight"], attention.shape[2], attention.shape[3], begin)
        term = torch.einsum("bhls,lsd->bhld", attention, a)
        return mix(attention, v) + change(term, attention, a, weights, begin)

    return mixed


def rows(change):
    """Return ``offset_rows`` that are change(offset, k): offset is key minus query."""

    def of(queries, keys, farthest, begin=0):
        return change(torch.arange(keys) - (begin + torch.arange(queries))[:, None], farthest)

    return of


def other_heads(term):
    """Return (B, H, …) with samples and heads, which shared an axis, taken apart in the wrong order."""
    return term.transpose(0, 1).reshape(term.shape)


def heads_first(term):
    """Return (B, H, …) of an axis that was samples first and is taken for heads first."""
    B, H = term.shape[:2]
    return term.reshape(H, B, *term.shape[2:]).transpose(0, 1)


keys_left_out = Mutant(
    "FAM-offsets-of-keys-left-out",
    story="keys get no vectors of offsets: the scores are those of queries and keys alone",
    breaks={"FAM-SHAW-1"},
    hint="q·(k + a): add the product of each query with the vectors of its offsets",
    replace={family.score_with_offsets: scoring(lambda term, q, k, a, scale: 0 * term)},
)

values_left_out = Mutant(
    "FAM-offsets-of-values-left-out",
    story="values get no vectors of offsets, though there is a table for them",
    breaks={"FAM-SHAW-3"},
    hint="sum the weights times (v + a): a table for the values as for the keys",
    replace={family.mix_with_offsets: mixing(lambda term, attention, a, weights, begin: 0 * term)},
)

reversed_offsets = Mutant(
    "FAM-offsets-reversed",
    story="the offset is query minus key: earlier and later keys change places",
    breaks={"FAM-SHAW-1", "FAM-SHAW-3"},
    hint='key minus query; or, where the first row is meant to be that of the latest keys, declare "offset-rows"',
    replace={family.offset_rows: rows(lambda offset, k: (-offset).clamp(-k, k) + k)},
)

values_reversed = Mutant(
    "FAM-offsets-of-values-reversed",
    story="the offset is query minus key for the values, and key minus query for the keys, or the other way round",
    breaks={"FAM-SHAW-3"},
    hint="one offset for both tables",
    replace={
        family.mix_with_offsets: mixing(
            lambda term, attention, a, weights, begin: torch.einsum(
                "bhls,lsd->bhld",
                attention,
                family.offset_vectors(
                    weights["relative_values.weight"].flip(0), attention.shape[2], attention.shape[3], begin
                ),
            )
        )
    },
)

without_direction = Mutant(
    "FAM-offsets-without-direction",
    story="the row is that of the distance: keys before and behind the query share one",
    breaks={"FAM-SHAW-1", "FAM-SHAW-3"},
    hint="key minus query, with its sign: clip(j - i, -k, k) + k",
    replace={family.offset_rows: rows(lambda offset, k: offset.abs().clamp(max=k) + k)},
    variants=[{family.offset_rows: rows(lambda offset, k: offset.abs().clamp(max=k))}],
)

by_key = Mutant(
    "FAM-offsets-of-the-place",
    story="the row is that of the key's place in the sequence, the same for every query",
    breaks={"FAM-SHAW-1", "FAM-SHAW-3"},
    hint="the row depends on key minus query",
    replace={
        family.offset_rows: lambda queries, keys, farthest, begin=0: (
            torch.arange(keys).clamp(max=2 * farthest).expand(queries, keys)
        )
    },
)

clipped_early = Mutant(
    "FAM-offsets-clipped-early",
    story="offsets are clipped at k - 1: the first and the last row are never read",
    breaks={"FAM-SHAW-1", "FAM-SHAW-3"},
    hint="clamp(-k, k), for a table of 2k + 1 rows",
    replace={family.offset_rows: rows(lambda offset, k: offset.clamp(1 - k, k - 1) + k)},
    variants=[{family.offset_rows: rows(lambda offset, k: offset.clamp(-k, k - 1) + k)}],
)

clipped_on_one_side = Mutant(
    "FAM-offsets-clipped-on-one-side",
    story="offsets below -k are not clipped: their rows are counted from the end of the table",
    breaks={"FAM-SHAW-2"},
    hint="clamp(-k, k), not clamp(max=k): a negative index is no error",
    replace={family.offset_rows: rows(lambda offset, k: (offset.clamp(max=k) + k) % (2 * k + 1))},
)

wrapped = Mutant(
    "FAM-offsets-wrapped",
    story="offsets beyond the table begin again at its other end",
    breaks={"FAM-SHAW-2"},
    hint="clamp(-k, k), not a remainder",
    replace={family.offset_rows: rows(lambda offset, k: (offset + k) % (2 * k + 1))},
)


def nothing_beyond(table, queries, keys, begin=0):
    offset = torch.arange(keys) - (begin + torch.arange(queries))[:, None]
    near = (offset.abs() <= len(table) // 2).to(table.device)
    return torch.where(near[..., None], family.offset_vectors(table, queries, keys, begin), 0.0)


beyond_forgotten = Mutant(
    "FAM-offsets-beyond-left-out",
    story="keys that are farther than k get no vector",
    breaks={"FAM-SHAW-2"},
    hint="beyond k the vector is that of ±k",
    replace={family.offset_vectors: nothing_beyond},
)

not_scaled = Mutant(
    "FAM-offsets-not-scaled",
    story="the term of the offsets is added to the scaled scores, and not scaled with them",
    breaks={"FAM-SHAW-1"},
    hint="(q·k + q·a) / √D",
    replace={family.score_with_offsets: scoring(lambda term, q, k, a, scale: term / scale)},
)

of_keys_with_keys = Mutant(
    "FAM-offsets-with-keys",
    story="the vectors of offsets are multiplied by the key, and not by the query",
    breaks={"FAM-SHAW-1"},
    hint="q·a: the query is compared with the key and its offset",
    replace={
        family.score_with_offsets: scoring(lambda term, q, k, a, scale: torch.einsum("bhsd,lsd->bhls", scale * k, a))
    },
)

one_table = Mutant(
    "FAM-offsets-of-keys-in-values",
    story="the values get the vectors of the keys' table",
    breaks={"FAM-SHAW-1", "FAM-SHAW-3"},
    hint="a table for each: a^K and a^V are not shared",
    replace={
        family.mix_with_offsets: mixing(
            lambda term, attention, a, weights, begin: torch.einsum(
                "bhls,lsd->bhld",
                attention,
                family.offset_vectors(weights["relative_keys.weight"], attention.shape[2], attention.shape[3], begin),
            )
        )
    },
)

heads_mixed = Mutant(
    "FAM-offsets-heads-mixed",
    story="samples and heads share an axis in the product with the offsets, and are taken apart in the wrong order",
    breaks={"FAM-SHAW-1"},
    hint="(L, B·H, S) comes apart as .view(L, B, H, S), the heads run fastest",
    replace={family.score_with_offsets: scoring(lambda term, q, k, a, scale: other_heads(term))},
    variants=[{family.score_with_offsets: scoring(lambda term, q, k, a, scale: heads_first(term))}],
)

heads_mixed_in_values = Mutant(
    "FAM-offsets-of-values-heads-mixed",
    story="samples and heads share an axis in what the values get of offsets, and are taken apart in the wrong order",
    breaks={"FAM-ORACLE-1"},
    hint="(L, B·H, D) comes apart as .view(L, B, H, D), the heads run fastest",
    replace={family.mix_with_offsets: mixing(lambda term, attention, a, weights, begin: other_heads(term))},
    variants=[{family.mix_with_offsets: mixing(lambda term, attention, a, weights, begin: heads_first(term))}],
)

unweighed = Mutant(
    "FAM-offsets-of-values-unweighed",
    story="the vectors of a value's offsets are averaged over all keys, and not weighed by attention",
    breaks={"FAM-ORACLE-1"},
    hint="the weights multiply v + a",
    replace={family.mix_with_offsets: mixing(lambda term, attention, a, weights, begin: a.mean(1).expand_as(term))},
)

scaled_by_the_width = Mutant(
    "FAM-offsets-scaled-by-width",
    story="where a scale is given, the term of the offsets is divided by √D all the same",
    breaks={"FAM-ORACLE-1"},
    hint="one scale for q·k and q·a",
    replace={
        family.score_with_offsets: scoring(
            lambda term, q, k, a, scale: torch.einsum("bhld,lsd->bhls", q * q.shape[-1] ** -0.5, a)
        )
    },
)

never_trained = Mutant(
    "FAM-offsets-never-trained",
    story="no gradient reaches the tables of offsets",
    breaks={"FAM-ORACLE-1"},
    hint="look vectors up without .data, .detach() or no_grad, in a parameter and not in a buffer",
    replace={
        family.offset_vectors: lambda table, queries, keys, begin=0: family.offset_vectors(
            table.detach(), queries, keys, begin
        )
    },
)
