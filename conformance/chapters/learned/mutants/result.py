"""Ways to get learned positions wrong: what comes out."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import learned


def coarse(table):
    return table if table.dtype == torch.float64 else table.bfloat16().to(table.dtype)


concatenated = Mutant(
    "LRN-concatenated",
    story="the row is concatenated to x instead of added",
    breaks={"CALL-SHAPE-1"},
    hint="add: the width stays dim",
    replace={learned.add: lambda x, encoded: torch.cat([x, encoded.expand_as(x)], dim=-1)},
)


coarse_table = Mutant(
    "LRN-coarse-table",
    story="below float64 the table is rounded to bfloat16",
    breaks={"CALL-FLOAT-1"},
    hint="keep the table in the dtype of the model",
    replace={learned.look_up: lambda table, positions: learned.look_up(coarse(table), positions)},
)


def in_halves(table):
    return table if table.dtype in (torch.float32, torch.float64) else (table * 2).round() / 2


quantised_in_half = Mutant(
    "LRN-quantised-in-half",
    story="in half precision the rows are kept in steps of a half, to save memory",
    breaks={"LRN-HALF-1"},
    hint="keep the table in the dtype of the model; quantisation is another model",
    replace={learned.look_up: lambda table, positions: learned.look_up(in_halves(table), positions)},
)


def counting_on(config, weights):
    seen = 0

    def forward(x, *, positions=None):
        nonlocal seen
        if positions is None:
            positions = (torch.arange(x.shape[1]) + seen) % max(config.max_len, x.shape[1])
            seen += x.shape[1]
        return learned.learned(x, weights["table.weight"], positions, adapter.active_dropout(config))

    return forward


counts_on = Mutant(
    "LRN-counts-on",
    story="a call begins to count where the call before it ended",
    breaks={"CALL-REPEAT-1"},
    hint="count from 0 in every call; who decodes step by step gives positions",
    replace={adapter.learned: counting_on},
)
