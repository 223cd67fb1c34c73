"""Ways to get learned positions wrong: positions that are given."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import learned


def with_positions(change):
    """Return learned with the given positions changed on their way in; change(positions, x, rows)."""

    def changed(x, table, positions=None, dropout=0.0):
        if positions is not None:
            positions = change(positions, x, len(table))
        return learned.learned(x, table, positions, dropout)

    return changed


positions_ignored = Mutant(
    "LRN-positions-ignored",
    story="given positions are ignored: it always counts from 0",
    breaks={"LRN-POS-1"},
    hint="look up the positions that are given; counting is for when there are none",
    replace={learned.learned: with_positions(lambda positions, x, rows: None)},
)

positions_sorted = Mutant(
    "LRN-positions-sorted",
    story="given positions are taken to be ascending",
    breaks={"LRN-POS-1"},
    hint="look each position up as it is given",
    replace={learned.learned: with_positions(lambda positions, x, rows: positions.sort(dim=-1).values)},
)

first_positions = Mutant(
    "LRN-first-positions",
    story="all samples get the positions of the first",
    breaks={"LRN-POS-2"},
    hint="index with the whole of (B, L)",
    replace={
        learned.learned: with_positions(
            lambda positions, x, rows: positions[0] if positions.shape == x.shape[:2] else positions
        ),
    },
)

negative_from_end = Mutant(
    "LRN-negative-from-end",
    story="a negative position takes a row from the table's end",
    breaks={"LRN-POS-3"},
    hint="indexing by -1 is the last row: compare with 0 and raise an error",
    replace={
        learned.learned: with_positions(
            lambda positions, x, rows: torch.where((positions < 0) & (positions >= -rows), positions + rows, positions)
        ),
    },
)

negative_clamped = Mutant(
    "LRN-negative-clamped",
    story="negative positions get the first row",
    breaks={"LRN-POS-3"},
    hint="raise an error",
    replace={learned.learned: with_positions(lambda positions, x, rows: positions.clamp(min=0))},
)

given_clamped = Mutant(
    "LRN-given-clamped",
    story="given positions beyond the table get the last row",
    breaks={"LRN-POS-4"},
    hint="raise an error",
    replace={learned.learned: with_positions(lambda positions, x, rows: positions.clamp(max=rows - 1))},
)

given_wrapped = Mutant(
    "LRN-given-wrapped",
    story="given positions beyond the table begin again at 0",
    breaks={"LRN-POS-4"},
    hint="raise an error",
    replace={
        learned.learned: with_positions(
            lambda positions, x, rows: torch.where(positions >= rows, positions % rows, positions)
        ),
    },
)

whole_positions = Mutant(
    "LRN-whole-positions",
    story="fractions of positions are cut off",
    breaks={"LRN-POS-5"},
    hint="refuse what is not an integer",
    replace={learned.learned: with_positions(lambda positions, x, rows: positions.long())},
)


def broadcasting(x, table, positions=None, dropout=0.0):
    if positions is not None and positions.numel() == 1:
        positions = positions.expand(x.shape[1])
    return learned.learned(x, table, positions, dropout)


misfits_broadcast = Mutant(
    "LRN-misfits-broadcast",
    story="a single position is broadcast over all tokens",
    breaks={"LRN-POS-6"},
    hint="compare the shape of the positions with that of x",
    replace={learned.learned: broadcasting},
)
