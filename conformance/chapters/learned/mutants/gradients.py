"""Ways to get learned positions wrong: gradients."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import learned


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
