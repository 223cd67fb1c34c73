"""Ways to get sinusoidal positions wrong: positions that are given."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal


def with_positions(change):
    """Return sinusoidal with the given positions changed on their way in; change(positions, x)."""

    def changed(x, positions=None, base=10000.0, dropout=0.0):
        if positions is not None:
            sinusoidal.refuse_positions(positions, x)
            positions = change(positions, x)
        return sinusoidal.sinusoidal(x, positions, base, dropout)

    return changed


positions_ignored = Mutant(
    "SIN-positions-ignored",
    story="given positions are ignored: it always counts from 0",
    breaks={"SIN-POS-1"},
    hint="encode the positions that are given; counting is for when there are none",
    replace={sinusoidal.sinusoidal: with_positions(lambda positions, x: None)},
)

only_offset = Mutant(
    "SIN-only-offset",
    story="of given positions only the first is read, and counted from",
    breaks={"SIN-POS-1"},
    hint="encode each position as it is given",
    replace={
        sinusoidal.sinusoidal: with_positions(
            lambda positions, x: positions[..., :1] + torch.arange(x.shape[1], dtype=positions.dtype)
        ),
    },
)

first_positions = Mutant(
    "SIN-first-positions",
    story="all samples get the positions of the first",
    breaks={"SIN-POS-2"},
    hint="index with the whole of (B, L)",
    replace={
        sinusoidal.sinusoidal: with_positions(lambda positions, x: positions[0] if positions.ndim == 2 else positions),
    },
)

negative_from_end = Mutant(
    "SIN-negative-from-end",
    story="a negative position takes a row from the table's end",
    breaks={"SIN-POS-3"},
    hint="indexing by -1 is the last row: compute, or raise an error",
    replace={
        sinusoidal.sinusoidal: with_positions(
            lambda positions, x: torch.where(positions < 0, positions + 64, positions)
        ),
    },
)

absolute_positions = Mutant(
    "SIN-absolute-positions",
    story="the sign of a position is lost",
    breaks={"SIN-POS-3"},
    hint="sin(-p·ω) is -sin(p·ω)",
    replace={sinusoidal.sinusoidal: with_positions(lambda positions, x: positions.abs())},
)

whole_positions = Mutant(
    "SIN-whole-positions",
    story="fractions of positions are cut off",
    breaks={"SIN-POS-4"},
    hint="compute with what is given, or refuse what is not whole",
    replace={sinusoidal.sinusoidal: with_positions(lambda positions, x: positions.long())},
)

misfits_broadcast = Mutant(
    "SIN-misfits-broadcast",
    story="a single position is broadcast over all tokens",
    breaks={"SIN-POS-5"},
    hint="compare the shape of the positions with that of x",
    replace={sinusoidal.refuse_positions: lambda positions, x: None},
)
