"""Ways to get learned positions wrong: the end of the table."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import learned


def from_table(fetch):
    """Return a component that fetches with ``fetch(table, positions)`` where no positions are given."""

    def component(config, weights):
        def forward(x, *, positions=None):
            table = weights["table.weight"]
            if positions is not None:
                return learned.learned(x, table, positions, adapter.active_dropout(config))
            rows = fetch(table, torch.arange(x.shape[1]))
            return learned.drop(learned.add(x, rows), adapter.active_dropout(config))

        return forward

    return component


last_row_missing = Mutant(
    "LRN-last-row-missing",
    story="the last row is never used: the longest sequence raises",
    breaks={"LRN-LAST-1"},
    hint="max_len tokens have the positions 0 … max_len - 1: allow L <= max_len",
    replace={adapter.learned: from_table(lambda table, p: table[:-1][p])},
    raises={"LRN-LAST-1"},
)

last_row_twice = Mutant(
    "LRN-last-row-twice",
    story="the last token of the longest sequence gets the row before its own",
    breaks={"LRN-LAST-1"},
    hint="clamping hides what is out of range by one; raise instead",
    replace={
        adapter.learned: from_table(
            lambda table, p: learned.look_up(table, torch.where(p == len(table) - 1, p - 1, p))
        ),
    },
)

wrapped = Mutant(
    "LRN-wrapped",
    story="beyond the table positions begin again at 0",
    breaks={"LRN-BEYOND-1"},
    hint="there is no row for them: raise an error",
    replace={adapter.learned: from_table(lambda table, p: table[p % len(table)])},
)

clamped = Mutant(
    "LRN-clamped",
    story="beyond the table all tokens get the last row",
    breaks={"LRN-BEYOND-1"},
    hint="there is no row for them: raise an error",
    replace={adapter.learned: from_table(lambda table, p: table[p.clamp(max=len(table) - 1)])},
)


def zeros_beyond(table, positions):
    return table[positions.clamp(max=len(table) - 1)] * (positions < len(table))[:, None]


nothing_beyond = Mutant(
    "LRN-nothing-beyond",
    story="beyond the table tokens get no position at all",
    breaks={"LRN-BEYOND-1"},
    hint="raise an error: the caller must know",
    replace={adapter.learned: from_table(zeros_beyond)},
)


def truncating(config, weights):
    def forward(x, *, positions=None):
        if positions is None:
            x = x[:, : config.max_len]
        return learned.learned(x, weights["table.weight"], positions, adapter.active_dropout(config))

    return forward


truncated = Mutant(
    "LRN-truncated",
    story="tokens beyond max_len are cut off",
    breaks={"LRN-BEYOND-1"},
    hint="raise an error: the caller must know",
    replace={adapter.learned: truncating},
)
