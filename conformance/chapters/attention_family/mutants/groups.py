"""Ways to get shared heads of keys and values wrong."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention_family as family


def tiled(x, num_heads):
    return x.repeat(1, num_heads // x.shape[1], 1, 1)


tiled_heads = Mutant(
    "FAM-heads-tiled",
    story="shared heads are repeated as a whole, 0 1 0 1 0 1: head h reads head h mod K instead of h // (H/K)",
    breaks={"FAM-GROUP-1", "FAM-GROUP-2"},
    hint="repeat_interleave(H // K, dim=1), or expand a new axis behind that of the heads; not repeat or tile",
    replace={family.share_keys: tiled, family.share_values: tiled},
)

tiled_keys = Mutant(
    "FAM-keys-tiled",
    story="the shared keys are repeated as a whole, 0 1 0 1 0 1, and the values side by side",
    breaks={"FAM-GROUP-1"},
    hint="repeat_interleave(H // K, dim=1) for the keys as for the values",
    replace={family.share_keys: tiled},
)

tiled_values = Mutant(
    "FAM-values-tiled",
    story="the shared values are repeated as a whole, 0 1 0 1 0 1, and the keys side by side",
    breaks={"FAM-GROUP-2"},
    hint="repeat_interleave(H // K, dim=1) for the values as for the keys",
    replace={family.share_values: tiled},
)


def first_for_all(x, num_heads):
    return x if x.shape[1] == num_heads else x[:, :1].expand(-1, num_heads, -1, -1)


first_keys_for_all = Mutant(
    "FAM-first-keys-for-all",
    story="all heads read the first of the shared heads of keys",
    breaks={"FAM-GROUP-1"},
    hint="expand each head over its group, not the first over all heads",
    replace={family.share_keys: first_for_all},
    variants=[{family.share_keys: first_for_all, family.share_values: first_for_all}],
)

first_values_for_all = Mutant(
    "FAM-first-values-for-all",
    story="all heads read the first of the shared heads of values",
    breaks={"FAM-GROUP-2"},
    hint="expand each head over its group, not the first over all heads",
    replace={family.share_values: first_for_all},
)


def reversed_groups(x, num_heads):
    return x if x.shape[1] == num_heads else x.flip(1).repeat_interleave(num_heads // x.shape[1], dim=1)


groups_reversed = Mutant(
    "FAM-groups-reversed",
    story="the last group of heads reads the first shared head, and so on",
    breaks={"FAM-GROUP-1", "FAM-GROUP-2"},
    hint="head h reads head h // (H/K) of keys and values",
    replace={family.share_keys: reversed_groups, family.share_values: reversed_groups},
)


def learning_from_first(x, num_heads):
    times = num_heads // x.shape[1]
    shared = x.unsqueeze(2).expand(-1, -1, times, -1, -1)
    one = x.unsqueeze(2)
    return one.new_zeros(()) + (shared.detach() + (one - one.detach()) * (shared[:, :, :1] == shared)[:, :, :, :1, :1]
                                * (x.new_ones(times).cumsum(0) == 1)[:, None, None]).flatten(1, 2)  # fmt: skip


gradient_of_first = Mutant(
    "FAM-gradient-of-first",
    story="a shared head learns from the first head of its group alone: the copies for the others are detached",
    breaks={"FAM-GROUP-3"},
    hint="repeat or expand the projected heads themselves, not a detached copy of them",
    replace={family.share_keys: learning_from_first, family.share_values: learning_from_first},
)


def averaged(x, num_heads):
    times = num_heads // x.shape[1]
    return (x / times + (x - x / times).detach()).repeat_interleave(times, dim=1)


gradients_averaged = Mutant(
    "FAM-gradients-averaged",
    story="a shared head gets the mean of its group's gradients, not their sum",
    breaks={"FAM-GROUP-3"},
    hint="add up the gradients of the heads that share a head: a kernel's backward pass is where this goes wrong",
    replace={family.share_keys: averaged, family.share_values: averaged},
)


def as_many_as_needed(x, num_heads):
    return x.repeat_interleave(-(-num_heads // x.shape[1]), dim=1)[:, :num_heads]


uneven_groups = Mutant(
    "FAM-uneven-groups",
    story="heads that K does not divide are cut: the last group is smaller, silently",
    breaks={"FAM-GROUP-4"},
    hint="raise an error if num_heads % num_kv_heads",
    replace={family.share_keys: as_many_as_needed, family.share_values: as_many_as_needed},
)


def mean_for_all(x, num_heads):
    alike = x if x.shape[1] == num_heads else x.mean(1, keepdim=True).expand_as(x)
    return family.share_heads(alike, num_heads)


mean_of_groups = Mutant(
    "FAM-mean-of-shared-heads",
    story="all heads read the mean of the shared heads, as where weights are merged for multi-query attention",
    breaks={"FAM-GROUP-1", "FAM-GROUP-2"},
    hint="each group of heads reads a head of its own: repeat_interleave(H // K, dim=1)",
    replace={family.share_keys: mean_for_all, family.share_values: mean_for_all},
)


def count_for_size(x, num_heads):
    kept, shared = x.shape[1], family.share_heads(x, num_heads)
    return shared if kept == num_heads else x[:, torch.arange(num_heads) // kept % kept]


size_taken_for_count = Mutant(
    "FAM-group-size-for-count",
    story="the number of groups is taken for their size: head h reads head h // K",
    breaks={"FAM-GROUP-1", "FAM-GROUP-2"},
    hint="a group has H/K heads, and there are K of them",
    replace={family.share_keys: count_for_size, family.share_values: count_for_size},
)


def along_the_tokens(x, num_heads):
    B, K, S, D = x.shape
    return x.repeat_interleave(num_heads // K, dim=2).reshape(B, num_heads, S, D)


repeated_along_tokens = Mutant(
    "FAM-repeated-along-tokens",
    story="shared heads are repeated along the axis of tokens, and brought into shape: positions are mixed up",
    breaks={"FAM-GROUP-1", "FAM-GROUP-2"},
    hint="repeat_interleave along the axis of heads: dim=1 of (B, K, S, D), dim=2 of (B, S, K, D)",
    replace={family.share_keys: along_the_tokens, family.share_values: along_the_tokens},
)


def softmax_over_group(query, key, value, weights, num_heads, member, mask=None, bias=None, dropout=0.0):
    kept = member.num_kv_heads
    if kept in (None, num_heads):
        return family.family_attention(query, key, value, weights, num_heads, member, mask, bias, dropout)
    q, k, v = family.heads(query, key, value, weights, num_heads, member)
    scores = family.score(q, k, family.default_scale(q) if member.scale is None else member.scale)
    seen = family.intersect(mask, family.on(query, family.within(q.shape[-2], k.shape[-2], member.window)))
    grouped = family.prepare(scores, member.softcap, (bias,), seen).unflatten(1, (kept, -1))  # (B, K, H/K, L, S)
    attention = torch.softmax(grouped, dim=2).nan_to_num().flatten(1, 2)
    context = family.let_through(family.merge_heads(family.mix(attention, v)), query, weights, member, num_heads)
    return family.project_out(context, weights), attention


over_the_group = Mutant(
    "FAM-softmax-over-group",
    story="with scores (B, K, H/K, L, S) the softmax is taken over the heads of a group, not over the keys",
    breaks={"FAM-GROUP-1", "FAM-GROUP-2"},
    hint="dim=-1: the keys, however many axes stand in front of them",
    replace={family.family_attention: softmax_over_group},
)
