"""Ways to get rotary positions wrong: explicit positions."""

import torch

from attnconf.conformance.chapters.rotary.mutants.shared import rotating
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary

positions_ignored = Mutant(
    "ROPE-positions-ignored",
    story="positions that are given are ignored: every call starts at 0",
    breaks={"ROPE-POS-1", "ROPE-POS-5"},
    hint="turn by the positions that are given; a decoding step does not start at 0",
    replace={rotary.rotate: rotating(lambda x, positions, turned: turned(x, None))},
    source="survives Stanford CS336's public tests",
)


def from_the_first(x, positions, turned):
    return turned(x, None if positions is None else positions[..., :1] + rotary.count(x))


first_position_only = Mutant(
    "ROPE-offset-only",
    story="of the positions only the first is used, and the others are counted from it",
    breaks={"ROPE-POS-1", "ROPE-POS-5"},
    hint="look every position up: packed sequences and permuted tokens have gaps",
    replace={rotary.rotate: rotating(from_the_first)},
)

positions_sorted = Mutant(
    "ROPE-positions-sorted",
    story="positions are sorted before they are used",
    breaks={"ROPE-POS-1", "ROPE-POS-5"},
    hint="the position of token i is positions[i], in whatever order",
    replace={rotary.rotate: rotating(lambda x, at, turned: turned(x, None if at is None else at.sort(dim=-1).values))},
)

sample_0 = Mutant(
    "ROPE-positions-of-sample-0",
    story="all samples get the positions of the first",
    breaks={"ROPE-POS-2", "ROPE-POS-5"},
    hint="positions (B, L) are for each sample: give the table a batch axis",
    replace={rotary.spread: lambda positions: positions if positions.ndim == 1 else positions[:1, None]},
)

positions_cut = Mutant(
    "ROPE-positions-cut",
    story="more positions than tokens are cut off, silently",
    breaks={"ROPE-POS-3"},
    hint="raise an error where the number of positions is not the number of tokens",
    replace={rotary.rotate: rotating(lambda x, at, turned: turned(x, None if at is None else at[..., : x.shape[-2]]))},
)


def looked_up(positions, omega):
    return rotary.angles(torch.arange(4096, device=positions.device), omega)[positions.long()]


from_the_end = Mutant(
    "ROPE-negative-wraps",
    story="a negative position is looked up from the end of the table",
    breaks={"ROPE-POS-4"},
    hint="refuse negative positions, or compute their angles",
    replace={rotary.angles: looked_up},
)

negative_at_0 = Mutant(
    "ROPE-negative-at-0",
    story="negative positions are taken for 0",
    breaks={"ROPE-POS-4"},
    hint="refuse negative positions, or compute their angles",
    replace={rotary.angles: lambda positions, omega: rotary.angles(positions.clamp(min=0), omega)},
)
