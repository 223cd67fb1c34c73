"""Ways to get sinusoidal positions wrong: what comes out."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal


def concatenate(x, encoded):
    return torch.cat([x, encoded.to(x.dtype).expand_as(x)], dim=-1)


concatenated = Mutant(
    "SIN-concatenated",
    story="the encoding is concatenated to x instead of added",
    breaks={"CALL-SHAPE-1"},
    hint="add: the width stays dim, and no later layer has to grow",
    replace={sinusoidal.add: concatenate},
)


promoted = Mutant(
    "SIN-promoted",
    story="the table keeps its own dtype, and the output takes it over",
    breaks={"CALL-DTYPE-1"},
    hint="convert the table to the dtype of x before it is added",
    replace={sinusoidal.add: lambda x, encoded: x + encoded},
)


def counting_on(config, weights):
    seen = 0

    def forward(x, *, positions=None):
        nonlocal seen
        if positions is None:
            positions = torch.arange(seen, seen + x.shape[1])
            seen += x.shape[1]
        return sinusoidal.sinusoidal(x, positions, config.base, adapter.active_dropout(config))

    return forward


def table_of_the_first_call(config, weights):
    table = None

    def forward(x, *, positions=None):
        nonlocal table
        if positions is not None:
            return sinusoidal.sinusoidal(x, positions, config.base, adapter.active_dropout(config))
        table = sinusoidal.encode(sinusoidal.count(x), config.dim, config.base) if table is None else table
        return sinusoidal.drop(sinusoidal.add(x, table[: x.shape[1]]), adapter.active_dropout(config))

    return forward


first_length_kept = Mutant(
    "SIN-first-length-kept",
    story="the table is made for the length of the first call, and a longer one later raises",
    breaks={"CALL-REPEAT-1"},
    raises={"CALL-REPEAT-1"},
    hint="make a new table when a call is longer than it: if L > len(table), not if table is None",
    replace={adapter.sinusoidal: table_of_the_first_call},
)

counts_on = Mutant(
    "SIN-counts-on",
    story="a call begins to count where the call before it ended",
    breaks={"CALL-REPEAT-1"},
    hint="count from 0 in every call; who decodes step by step gives positions",
    replace={adapter.sinusoidal: counting_on},
)

only_square = Mutant(
    "SIN-only-square",
    story="the table is (length, 1, dim), as for sequences that come first: added to (batch, length, dim) it runs only "
    "where there are as many samples as tokens",
    breaks={"CALL-SHAPE-1"},
    hint="unsqueeze(0), not unsqueeze(1): (1, length, dim) broadcasts over the samples",
    replace={sinusoidal.add: lambda x, encoded: x + encoded.unsqueeze(1).to(x.dtype)},
    source="the tutorial module of PyTorch used with batch_first",
)


def cut_by_batch(x, encoded):
    return x + sinusoidal.encode(torch.arange(x.shape[0]), x.shape[2]).to(x.dtype)


cut_by_the_batch = Mutant(
    "SIN-cut-by-the-batch",
    story="the table is cut to as many rows as there are samples: it runs only where there are as many tokens",
    breaks={"CALL-SHAPE-1"},
    hint="cut it by the axis of the tokens: x.size(1) where the batch comes first, x.size(0) where the sequence does",
    replace={sinusoidal.add: cut_by_batch},
    source="the tutorial module of PyTorch used with batch_first",
)
