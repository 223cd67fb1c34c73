"""Ways to get learned wrong: the reference with one function replaced."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import NUMBERS, ZERO_APART, Vacuous
from attnconf.reference import learned

# -- what comes out


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
    breaks={"LRN-HALF-1"},
    hint="keep the table in the dtype of the model",
    replace={learned.look_up: lambda table, positions: learned.look_up(coarse(table), positions)},
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

# -- which row


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
        learned.count: lambda x: (torch.arange(x.shape[0]) % max(x.shape[1], 1))[:, None].expand(x.shape[:2]),
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

# -- what is added

input_dropped = Mutant(
    "LRN-input-dropped",
    story="the rows replace x instead of being added, and nobody says so",
    breaks={"LRN-ADD-1"},
    hint='return x + rows, or declare learned-output = "table"',
    replace={learned.add: lambda x, encoded: encoded.expand_as(x) + 0 * x},
)

input_doubled = Mutant(
    "LRN-input-doubled",
    story="x is added twice",
    breaks={"LRN-ADD-1"},
    hint="the sum has x once",
    replace={learned.add: lambda x, encoded: x + encoded + x},
)

undeclared_scale = Mutant(
    "LRN-undeclared-scale",
    story="x is multiplied by √dim",
    breaks={"LRN-ADD-1"},
    hint="leave √dim to the embedding",
    replace={learned.add: lambda x, encoded: x * x.shape[-1] ** 0.5 + encoded},
)

multiplied = Mutant(
    "LRN-multiplied",
    story="x is multiplied by the row",
    breaks={"LRN-ROW-1"},
    hint="add the row",
    replace={learned.add: lambda x, encoded: x * encoded},
)

# -- the end of the table


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

# -- gradients


def frozen_first_row(table, positions):
    return torch.nn.functional.embedding(positions, table, padding_idx=0)


padding_frozen = Mutant(
    "LRN-padding-frozen",
    story="row 0 is declared to be padding: it has a value and never learns",
    breaks={"LRN-GRAD-1"},
    hint="positions have no padding: no padding_idx in this embedding",
    replace={learned.look_up: frozen_first_row},
    source="transformers#10200",
)

table_detached = Mutant(
    "LRN-table-detached",
    story="the table does not learn",
    breaks={"LRN-GRAD-1"},
    hint="make it a parameter: no buffer, no detach, no .data",
    replace={learned.look_up: lambda table, positions: table.detach()[positions] + 0 * table[positions]},
)

gradient_of_mean = Mutant(
    "LRN-gradient-of-mean",
    story="a row gets the mean of its tokens' gradients instead of their sum",
    breaks={"LRN-GRAD-1"},
    hint="leave the gradient to autograd",
    replace={
        learned.add: lambda x, encoded: x + encoded / x.shape[0] + (encoded - encoded / x.shape[0]).detach(),
    },
)


def all_rows_drift(table, positions):
    drift = table.sum(dim=0)
    return table[positions] + drift - drift.detach()


unused_rows_learn = Mutant(
    "LRN-unused-rows-learn",
    story="rows that were not used get gradients, too",
    breaks={"LRN-GRAD-1", "LRN-GRAD-2"},
    hint="look rows up; what the whole table has in common is not part of a row",
    replace={learned.look_up: all_rows_drift},
)


def leak_unused(table, positions):
    unused = torch.ones(len(table), 1, dtype=table.dtype).index_fill(0, positions.flatten(), 0.0)
    leaked = (table * unused).sum(dim=0)
    return table[positions] + leaked - leaked.detach()


decay_of_unused = Mutant(
    "LRN-decay-of-unused",
    story="a penalty on the rows that were not used leaks into their gradients",
    breaks={"LRN-GRAD-2"},
    hint="what is not used has gradient 0; regularise in the optimiser",
    replace={learned.look_up: leak_unused},
)


class LastWins(torch.autograd.Function):
    """A look-up whose backward pass writes where it should add."""

    @staticmethod
    def forward(ctx, table, positions):
        ctx.save_for_backward(positions)
        ctx.rows = len(table)
        return table[positions]

    @staticmethod
    def backward(ctx, grad):
        (positions,) = ctx.saved_tensors
        out = grad.new_zeros(ctx.rows, grad.shape[-1])
        out[positions.flatten()] = grad.flatten(0, -2)
        return out, None


def look_up_once(table, positions):
    return LastWins.apply(table, positions)


repeated_overwritten = Mutant(
    "LRN-repeated-overwritten",
    story="where a row is used twice only one token's gradient reaches it",
    breaks={"LRN-GRAD-3"},
    hint="accumulate: index_add or index_put with accumulate=True, not an assignment",
    replace={learned.look_up: look_up_once},
)

input_detached = Mutant(
    "LRN-input-detached",
    story="the gradient does not reach x",
    breaks={"LRN-GRAD-4"},
    hint="no detach, no no_grad around the sum",
    replace={learned.add: lambda x, encoded: x.detach() + encoded},
)

# -- positions that are given


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

# -- training

dropout_in_evaluation = Mutant(
    "LRN-dropout-in-evaluation",
    story="dropout goes on in evaluation",
    breaks={"LRN-DROP-1"},
    hint="use nn.Dropout, and call eval()",
    replace={adapter.active_dropout: lambda config: config.dropout},
)

dropout_not_rescaled = Mutant(
    "LRN-dropout-not-rescaled",
    story="what is kept in training is not divided by 1 - p",
    breaks={"LRN-DROP-2"},
    hint="use nn.Dropout",
    replace={
        learned.drop: lambda out, probability: (
            torch.dropout(out, probability, train=probability > 0) * (1 - probability)
        ),
    },
)

# -- what shows with long tables, full sequences and earlier calls


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

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(
        NUMBERS,
        "LRN-DROP-1 LRN-POS-7",
        "the same sizes and values give the same output, whatever the settings or earlier calls",
    ),
    Vacuous(NUMBERS, "LRN-BATCH-1", "an output depends on the input in its own place, or on nothing"),
    Vacuous((*ZERO_APART, "echo"), "LRN-DROP-2", "a module without dropout is right, and not 0"),
    Vacuous(("echo",), "LRN-ADD-1", "x + 0"),
    Vacuous(("echo",), "LRN-GRAD-4", "autograd differentiates what was computed"),
)
