"""Ways to get multi-head attention wrong: heads."""

import torch
from torch.nn.functional import pad

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.multi_head_attention.mutants.shared import BARE, attend_with
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import multi_head_attention as mha


def split_by_view(x, num_heads):
    B, T, W = x.shape
    return x.reshape(B, num_heads, T, W // num_heads)


split_without_transpose = Mutant(
    "MHA-split-without-transpose",
    story="the heads are split by view(B, H, T, D), without a transposition: tokens are mixed across heads",
    breaks={"ATT-HEAD-1", "ATT-KEYS-1", "ATT-QUERY-1", "MHA-HEADS-1"},
    hint="view(B, T, H, D).transpose(1, 2)",
    replace={mha.split_heads: split_by_view},
    variants=[{mha.split_heads: split_by_view, mha.merge_heads: lambda x: x.reshape(len(x), x.shape[2], -1)}],
    silent_on=BARE,
    source="FuxiCTR#30",
)


def split_interleaved(x, num_heads):
    return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)


def merge_interleaved(x):
    return x.permute(0, 2, 3, 1).flatten(2)


heads_last = Mutant(
    "MHA-heads-last",
    story="feature r belongs to head r mod H instead of head r // D, in the split and in the merge",
    breaks={"ATT-HEAD-1", "MHA-HEADS-1"},
    hint="view(B, T, H, D): the heads are the outer of the two axes",
    replace={mha.split_heads: split_interleaved, mha.merge_heads: merge_interleaved},
    silent_on=BARE,
)

heads_last_in_merge = Mutant(
    "MHA-heads-last-in-merge",
    story="the heads are merged as (D, H) although they were split as (H, D)",
    breaks={"ATT-HEAD-1", "MHA-MERGE-1"},
    hint="transpose(1, 2) back, then flatten the last two axes",
    replace={mha.merge_heads: merge_interleaved},
    silent_on=BARE,
)

merge_without_transpose = Mutant(
    "MHA-merge-without-transpose",
    story="the heads are merged by reshape, without transposing back: tokens are scrambled",
    breaks={"ATT-HEAD-1", "ATT-QUERY-1", "MHA-MERGE-1"},
    hint="transpose(1, 2) before reshape(B, T, H·D)",
    replace={mha.merge_heads: lambda x: x.reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])},
    variants=[{mha.merge_heads: lambda x: x.reshape(x.shape[2], x.shape[0], -1).transpose(0, 1)}],  # sequence first
    silent_on=BARE,
    source="system 2b; jsbaan/transformer-from-scratch#6; ajhalthor/Transformer-Neural-Network#4",
)


def unfolded_otherwise(x):
    """The heads stood before the batch, (H·B, T, D), and are merged as if behind it, (B·H, T, D)."""
    return mha.merge_heads(x.transpose(0, 1).reshape(x.shape))


folded_otherwise = Mutant(
    "MHA-folded-otherwise",
    story="heads and batch are one axis, folded as (h b) and unfolded as (b h): samples get one another's heads",
    breaks={"ATT-BATCH-1", "ATT-HEAD-1", "MHA-MERGE-1"},
    hint="the same order in both directions: '(b h) n d -> b n (h d)' only after 'b n (h d) -> (b h) n d'",
    replace={mha.merge_heads: unfolded_otherwise},
    variants=[{mha.merge_heads: lambda x: mha.merge_heads(x.reshape(x.transpose(0, 1).shape).transpose(0, 1))}],
    silent_on=BARE,
)


def split_into(count):
    """Return split_heads with a number of heads of its own, where the width allows it."""
    return lambda x, num_heads: mha.split_heads(x, num_heads if x.shape[-1] % count else count)


heads_fixed = Mutant(
    "MHA-heads-fixed",
    story="the number of heads is a constant, whatever is asked for",
    breaks={"ATT-HEAD-1", "ATT-WEIGHTS-2", "MASK-IMMUT-1", "MHA-DIVIDE-1"},
    hint="hand num_heads on to where the heads are split",
    replace={mha.split_heads: split_into(1)},
    variants=[{mha.split_heads: split_into(count)} for count in (2, 4, 8)],
    raises={"MASK-IMMUT-1"},
    silent_on=BARE,
)

heads_reversed = Mutant(
    "MHA-heads-reversed",
    story="the heads are concatenated in reverse order",
    breaks={"ATT-HEAD-1", "MHA-MERGE-1"},
    hint="concatenate head 0 first",
    replace={mha.merge_heads: lambda x: mha.merge_heads(x.flip(1))},
    silent_on=BARE,
)

heads_summed = Mutant(
    "MHA-heads-summed",
    story="the heads are averaged instead of concatenated",
    breaks={"ATT-HEAD-1"},
    hint="concatenate the heads; out.weight mixes them",
    replace={mha.merge_heads: lambda x: mha.merge_heads(x.mean(1, keepdim=True).expand_as(x))},
    silent_on=BARE,
)


def second_head_copied(query, key, value, weights, num_heads):
    D = weights["q.weight"].shape[0] // num_heads

    def copied(w):
        return torch.cat([w[:D], w[:D], w[2 * D :]]) if num_heads > 1 else w

    return query, key, value, {n: w if n[0] == "o" else copied(w) for n, w in weights.items()}


second_head_reuses_first = Mutant(
    "MHA-second-head-reuses-first",
    story="the second head uses the first head's projections",
    breaks={"ATT-HEAD-1", "MHA-DEAD-1", "MHA-MERGE-1"},
    hint="give every head rows of its own: [h*D:(h+1)*D]",
    replace={mha.multi_head_attention: attend_with(second_head_copied)},
    silent_on=BARE,
)


def from_first_head(*names):
    """Return a multi_head_attention in which all heads have the first head's projections of some kinds."""

    def shared(query, key, value, weights, num_heads):
        D = weights["q.weight"].shape[0] // num_heads

        def first(w):
            return w[:D].repeat(num_heads, *[1] * (w.ndim - 1))

        return query, key, value, {n: first(w) if n.split(".")[0] in names else w for n, w in weights.items()}

    return {mha.multi_head_attention: attend_with(shared)}


heads_tied = Mutant(
    "MHA-heads-tied",
    story="all heads are one: [head] * num_heads repeats one module, with one set of weights",
    breaks={"ATT-HEAD-1", "MHA-DEAD-1", "MHA-MERGE-1"},
    hint="build a module for each head: [Head(…) for _ in range(num_heads)]",
    replace=from_first_head("q", "k", "v"),
    silent_on=BARE,
)

first_head_shared = Mutant(
    "MHA-first-head-shared",
    story="all heads use the keys, or the values, of the first head",
    breaks={"ATT-HEAD-1", "MHA-DEAD-1", "MHA-HEADS-1"},
    hint="take the head's own projection: keys[h], not keys[0]",
    replace=from_first_head("k"),
    variants=[from_first_head("v"), from_first_head("k", "v"), from_first_head("q")],
    silent_on=BARE,
)


def run_floored(config, weights, query, key, value, mask, bias, need_weights):
    if config.embed_dim % config.num_heads:
        W = config.num_heads * config.head_dim
        weights = {n: w[:, :W] if n == "out.weight" else w if n == "out.bias" else w[:W] for n, w in weights.items()}
    return adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)


width_floored = Mutant(
    "MHA-width-floored",
    story="a width that the heads do not divide is floored, and features are dropped silently",
    breaks={"MHA-DIVIDE-1"},
    hint="raise an error if embed_dim % num_heads",
    replace={adapter.run_multi_head: run_floored},
    silent_on=BARE,
    source="yandexdataschool/nlp_course#131, as a wish",
)


def project_out_unless_one_head(config, weights, query, key, value, mask, bias, need_weights):
    if config.num_heads == 1 and config.out_dim == config.head_dim:
        weights = {**weights, "out.weight": torch.eye(config.out_dim).to(query)}
        weights.pop("out.bias", None)
    return adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)


one_head_not_projected = Mutant(
    "MHA-one-head-not-projected",
    story="with a single head the output projection is left out",
    breaks={"MHA-ONE-1"},
    hint="one head needs its output projection like any other number",
    replace={adapter.run_multi_head: project_out_unless_one_head},
    silent_on=BARE,
    source="vit-pytorch (deliberate there)",
)

heads_past_eighth = Mutant(
    "MHA-heads-past-eighth",
    story="heads past the eighth stay zero",
    breaks={"MHA-MANY-1"},
    hint="loop over all heads",
    replace={mha.merge_heads: lambda x: mha.merge_heads(pad(x[:, :8], (0, 0, 0, 0, 0, max(0, x.shape[1] - 8))))},
    silent_on=BARE,
)
