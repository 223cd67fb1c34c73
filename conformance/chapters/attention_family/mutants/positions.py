"""Ways to get positions within attention wrong."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention_family as family
from attnconf.reference import rotary


def turned(x, base, positions=None, omega=None):
    """Return x (B, H, T, D) turned by its positions, or by others."""
    omega = rotary.frequencies(x.shape[-1], base) if omega is None else omega
    return rotary.rotate(x, positions, omega, x.shape[-1])


def placing(change):
    """Return ``normalize_and_place`` that places by change(x, name, member) instead, where there is a rotation."""

    def placed(x, weights, name, member):
        if member.positions != "rotary":
            return family.normalize_and_place(x, weights, name, member)
        if member.qk_norm_place == "before":
            return change(family.normalize_heads(x, weights, name, member), name, member)
        return family.normalize_heads(change(x, name, member), weights, name, member)

    return placed


keys_not_turned = Mutant(
    "FAM-keys-not-turned",
    story="queries are turned by their positions, and keys are not, or the other way round",
    breaks={"FAM-ROTARY-1"},
    hint="turn both: q·k depends on the difference of their positions only then",
    replace={
        family.normalize_and_place: placing(lambda x, name, member: x if name == "k_norm" else turned(x, member.base))
    },
    variants=[
        {family.normalize_and_place: placing(lambda x, name, member: x if name == "q_norm" else turned(x, member.base))}
    ],
)

rotation_ignored = Mutant(
    "FAM-rotation-ignored",
    story="nothing is turned: attention knows no positions",
    breaks={"FAM-ROTARY-1"},
    hint="q, k = rotary(q), rotary(k) before the scores",
    replace={family.normalize_and_place: placing(lambda x, name, member: x)},
)


def backwards_in_keys(x, name, member):
    return turned(x, member.base, -torch.arange(x.shape[-2]) if name == "k_norm" else None)


keys_turned_back = Mutant(
    "FAM-keys-turned-back",
    story="queries and keys are turned in opposite directions",
    breaks={"FAM-ROTARY-1"},
    hint="one direction for both: scores depend on the sum of positions otherwise",
    replace={family.normalize_and_place: placing(backwards_in_keys)},
)


def later_in_keys(x, name, member):
    return turned(x, member.base, torch.arange(x.shape[-2]) + (name == "k_norm"))


keys_one_later = Mutant(
    "FAM-keys-one-later",
    story="the positions of keys begin at 1, those of queries at 0",
    breaks={"FAM-ROTARY-1"},
    hint="count both from the same place",
    replace={family.normalize_and_place: placing(later_in_keys)},
)


def halves_in_keys(x, name, member):
    if name == "q_norm":
        return turned(x, member.base)
    neighbours = torch.stack(x.chunk(2, -1), -1).flatten(-2)  # x_i beside x_i+D/2
    return rotary.to_half(turned(neighbours, member.base))


pairings_mixed = Mutant(
    "FAM-pairings-mixed",
    story="queries pair neighbours and keys pair halves",
    breaks={"FAM-ROTARY-2"},
    hint="one pairing for both",
    replace={family.normalize_and_place: placing(halves_in_keys)},
)


def twice_in_keys(x, name, member):
    once = turned(x, member.base)
    return turned(once, member.base) if name == "k_norm" else once


turned_twice = Mutant(
    "FAM-turned-twice",
    story="keys are turned twice, as where a cache keeps turned keys and turns them again",
    breaks={"FAM-ROTARY-1"},
    hint="turn keys once, before they are kept",
    replace={family.normalize_and_place: placing(twice_in_keys)},
)

turned_by_head = Mutant(
    "FAM-turned-by-head",
    story="the angle grows with the number of the head, not with the position: the axes are exchanged",
    breaks={"FAM-ROTARY-1"},
    hint="turn along the axis of tokens: x is (B, H, L, D) where it is turned",
    replace={
        family.normalize_and_place: placing(
            lambda x, name, member: turned(x.transpose(1, 2), member.base).transpose(1, 2)
        )
    },
)


def of_twice_the_width(x, name, member):
    omega = rotary.frequencies(2 * x.shape[-1], member.base)[: x.shape[-1] // 2]
    return turned(x, member.base, omega=omega)


frequencies_of_width = Mutant(
    "FAM-frequencies-of-width",
    story="the frequencies fall as for a width of twice the head's: only their first half is used",
    breaks={"FAM-ROTARY-1"},
    hint="frequencies for D, the width of one head",
    replace={family.normalize_and_place: placing(of_twice_the_width)},
)


def values_as_keys(query, key, value, weights, num_heads, member, mask=None, bias=None, dropout=0.0):
    if member.positions != "rotary":
        return family.family_attention(query, key, value, weights, num_heads, member, mask, bias, dropout)
    kept = num_heads if member.num_kv_heads is None else member.num_kv_heads
    v = family.split_heads(family.project_value(value, weights), kept)
    flat = family.merge_heads(turned(v, member.base))
    same = {**weights, "v.weight": torch.eye(flat.shape[-1], dtype=flat.dtype, device=flat.device)}
    same.pop("v.bias", None)
    return family.family_attention(query, key, flat, same, num_heads, member, mask, bias, dropout)


values_turned = Mutant(
    "FAM-values-turned",
    story="values are turned by their positions, as queries and keys are",
    breaks={"FAM-ROTARY-2"},
    hint="turn queries and keys only: a value is added up, not compared",
    replace={family.family_attention: values_as_keys},
)


# -- biases


def biased(change):
    """Return ``position_bias`` changed: change(bias, heads), where there is one."""

    def bias(queries, keys, heads, weights, member):
        found = family.position_bias(queries, keys, heads, weights, member)
        return found if found is None else change(found, heads)

    return bias


bias_ignored = Mutant(
    "FAM-bias-ignored",
    story="the bias of positions has no effect",
    breaks={"FAM-SLOPE-1", "FAM-RELATIVE-1"},
    hint="add it to the scaled scores before the softmax",
    replace={family.position_bias: lambda queries, keys, heads, weights, member: None},
)

bias_subtracted = Mutant(
    "FAM-bias-subtracted",
    story="the bias of positions is subtracted: distant keys weigh more",
    breaks={"FAM-SLOPE-1", "FAM-RELATIVE-1"},
    hint="scores + bias, of which ALiBi's is never above 0",
    replace={family.position_bias: biased(lambda bias, heads: -bias)},
)

bias_of_first_head = Mutant(
    "FAM-bias-of-first-head",
    story="all heads get the bias of the first one",
    breaks={"FAM-SLOPE-1", "FAM-RELATIVE-1"},
    hint="a slope, or a column of the table, for each head",
    replace={family.position_bias: biased(lambda bias, heads: bias[:1].expand_as(bias))},
)

bias_reversed_heads = Mutant(
    "FAM-bias-of-heads-reversed",
    story="the last head gets the bias of the first one, and so on",
    breaks={"FAM-SLOPE-1", "FAM-RELATIVE-1"},
    hint="head 0 has the largest slope, and the first column of the table",
    replace={family.position_bias: biased(lambda bias, heads: bias.flip(0))},
)

bias_turned = Mutant(
    "FAM-bias-of-keys-and-queries-exchanged",
    story="the bias of key j for query i is that of key i for query j",
    breaks={"FAM-SLOPE-1", "FAM-RELATIVE-1"},
    hint="the offset is key minus query",
    replace={family.position_bias: biased(lambda bias, heads: bias.mT if bias.shape[-1] == bias.shape[-2] else
                                          torch.flip(bias, (-1, -2)))},
)  # fmt: skip

bias_scaled = Mutant(
    "FAM-bias-scaled",
    story="the bias of positions is added before the scores are divided by √D, and divided with them",
    breaks={"FAM-SLOPE-1", "FAM-RELATIVE-1"},
    hint="scale first, then add the bias",
    replace={family.position_bias: biased(lambda bias, heads: bias / 7**0.5)},
    variants=[{family.position_bias: biased(lambda bias, heads: bias / 8**0.5)}],
)


def before_the_split(x, name, member):
    B, H, T, D = x.shape
    return turned(x.transpose(1, 2).reshape(B, 1, T, H * D), member.base).reshape(B, T, H, D).transpose(1, 2)


turned_before_the_split = Mutant(
    "FAM-turned-before-split",
    story="queries and keys are turned before they are split into heads: each head has frequencies of its own",
    breaks={"FAM-ROTARY-1"},
    hint="split into heads, then turn: frequencies for D, the width of one head",
    replace={family.normalize_and_place: placing(before_the_split)},
)
