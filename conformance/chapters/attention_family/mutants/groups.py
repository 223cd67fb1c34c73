"""Ways to get shared heads of keys and values wrong."""

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
