"""Ways to get learned positions wrong: what shows with long tables, full sequences and earlier calls."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import learned


def remembering_positions(config, weights):
    known = {}

    def forward(x, *, positions=None):
        positions = known.setdefault(x.shape[1], learned.count(x) if positions is None else positions)
        return adapter.learned(config, weights)(x, positions=positions)

    return forward


cached_by_length = Mutant(
    "LRN-cached-by-length",
    story="numbers of rows are kept by the number of tokens, whatever positions are given",
    breaks={"LRN-POS-7"},
    hint="look up the positions of this call",
    replace={adapter.learned: remembering_positions},
    source="rotary-embedding-torch#11, of rotary positions",
)

eight_bits = Mutant(
    "LRN-eight-bits",
    story="positions are kept in eight bits and begin again after 256",
    breaks={"LRN-LAST-1"},
    hint="keep positions in 64 bits, or 32",
    replace={learned.look_up: lambda table, positions: learned.look_up(table, positions % 256)},
)


def frozen_last_row(table, positions):
    return learned.look_up(torch.cat([table[:-1], table[-1:].detach()]), positions)


padding_last = Mutant(
    "LRN-padding-last",
    story="the last row is declared to be padding: it has a value and never learns",
    breaks={"LRN-GRAD-1"},
    hint="no padding_idx, not -1 either: the table of positions has no padding",
    replace={learned.look_up: frozen_last_row},
)

positions_not_taken = Mutant(
    "LRN-positions-not-taken",
    story="forward has no keyword for positions, and does not say so in words",
    breaks={"LRN-POS-1"},
    hint='take positions=None, and raise NotImplementedError("explicit positions") where they are given',
    replace={adapter.learned: lambda config, weights: lambda x: adapter.learned(config, weights)(x)},
)
