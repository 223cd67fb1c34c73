"""Ways to get it wrong that a part of each head is turned."""

from dataclasses import replace

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention_family as family
from attnconf.reference import rotary


def placing(change):
    """Return ``place`` that turns by change(x, R, base) instead, where R features of each head are to turn."""

    def place(x, member):
        if member.positions != "rotary" or member.rotary_dim is None:
            return family.place(x, member)
        return change(x, member.rotary_dim, member.base)

    return place


def last_ones(x, part, base):
    rest = x.shape[-1] - part
    return torch.cat([x[..., :rest], rotary.rotate(x[..., rest:], None, rotary.frequencies(part, base), part)], dim=-1)


def by_the_width(x, part, base):
    return rotary.rotate(x, None, rotary.frequencies(x.shape[-1], base)[: part // 2], part)


all_turn = Mutant(
    "FAM-part-ignored",
    story="all features of a head are turned, where a part of them should be",
    breaks={"FAM-ROTARY-3"},
    hint="x[..., :R] turns, x[..., R:] passes",
    replace={family.place: lambda x, member: family.place(x, replace(member, rotary_dim=x.shape[-1] // 2 * 2))},
)

last_turn = Mutant(
    "FAM-part-last",
    story="the last R features of a head are turned, and not the first",
    breaks={"FAM-ROTARY-3"},
    hint="x[..., :R] turns, x[..., R:] passes",
    replace={family.place: placing(last_ones)},
)

exponent_of_the_width = Mutant(
    "FAM-part-exponent",
    story="where R features of a head turn, the exponents are divided by the width of the head",
    breaks={"FAM-ORACLE-1"},
    hint="base^(-2i/R): as in a head of R features",
    replace={family.place: placing(by_the_width)},
)
