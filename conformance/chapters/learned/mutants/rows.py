"""Ways to get learned positions wrong: which row."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import learned


def counted_but_zeros(x):
    return (x.abs().sum(dim=-1) > 0).long().cumsum(dim=1).sub(1).clamp(min=0)


zeros_are_padding = Mutant(
    "LRN-zeros-are-padding",
    story="a token of zeros is taken for padding: it gets no position of its own, and those behind it are too low",
    breaks={"LRN-ROW-1"},
    hint="count all tokens; a mask says what is padding, the features do not",
    replace={learned.count: counted_but_zeros},
)

from_one = Mutant(
    "LRN-from-one",
    story="the first token gets the second row; the last one of a full sequence begins again",
    breaks={"LRN-ROW-1"},
    hint="the first position is 0: torch.arange(L)",
    replace={learned.look_up: lambda table, positions: table[(positions + 1) % len(table)]},
)

undeclared_offset = Mutant(
    "LRN-undeclared-offset",
    story="two rows are left for special positions, and nobody says so",
    breaks={"LRN-ROW-1"},
    hint='declare learned-offset = "2", with two rows more in the table',
    replace={learned.look_up: lambda table, positions: torch.cat([table, table])[positions + 2]},
    source="the BART of transformers",
)

from_the_end = Mutant(
    "LRN-from-the-end",
    story="rows are counted from the end of the table",
    breaks={"LRN-ROW-1"},
    hint="position p is row p",
    replace={learned.look_up: lambda table, positions: table[len(table) - 1 - positions]},
)


def padding_row_zero(table, positions):
    return torch.nn.functional.embedding(positions, table) * (positions != 0)[..., None]


padding_zeroed = Mutant(
    "LRN-padding-zeroed",
    story="row 0 counts as padding, and position 0 gets zeros",
    breaks={"LRN-ROW-1"},
    hint="positions have no padding: no padding_idx in this embedding",
    replace={learned.look_up: padding_row_zero},
    source="transformers#10200",
)

same_everywhere = Mutant(
    "LRN-same-everywhere",
    story="every token gets the first row",
    breaks={"LRN-ROW-1"},
    hint="one row for each token: table[:L], not table[0]",
    replace={learned.count: lambda x: torch.zeros(x.shape[1], dtype=torch.int64)},
)

along_the_batch = Mutant(
    "LRN-along-the-batch",
    story="rows run along the batch, as if the sequence came first",
    breaks={"LRN-ROW-1"},
    hint="the batch comes first here: table[: x.size(1)]",
    replace={
        learned.count: lambda x: torch.arange(x.shape[0])[:, None].expand(x.shape[:2]),
    },
)

normalised_rows = Mutant(
    "LRN-normalised-rows",
    story="rows are scaled to length 1",
    breaks={"LRN-ROW-1"},
    hint="use the rows as they are, without max_norm",
    replace={
        learned.look_up: lambda table, positions: torch.nn.functional.normalize(table[positions], dim=-1),
    },
)


def starting_late(x):
    late = torch.arange(x.shape[0])[:, None] % 2
    return (torch.arange(x.shape[1]) + late) % x.shape[1]


odd_samples_shifted = Mutant(
    "LRN-odd-samples-shifted",
    story="every other sample begins at position 1, and ends at 0",
    breaks={"LRN-BATCH-1"},
    hint="every sample has the positions 0, 1, …, L - 1",
    replace={learned.count: starting_late},
)
