"""Ways to get token embeddings wrong: gradients."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import token_embedding

table_frozen = Mutant(
    "EMB-table-frozen",
    story="the table does not learn",
    breaks={"EMB-GRAD-1"},
    hint="make it a parameter: no buffer, no detach; from_pretrained freezes unless told otherwise",
    replace={token_embedding.rows: lambda ids, table: table.detach()[ids] + 0 * table[ids]},
    source="nn.Embedding.from_pretrained, which freezes by default",
)


class ByFrequency(torch.autograd.Function):
    """A lookup whose backward pass divides by the number of uses."""

    @staticmethod
    def forward(ctx, ids, table):
        ctx.save_for_backward(ids)
        ctx.rows = len(table)
        return table[ids]

    @staticmethod
    def backward(ctx, grad):
        (ids,) = ctx.saved_tensors
        out = grad.new_zeros(ctx.rows, grad.shape[-1]).index_add(0, ids.flatten(), grad.flatten(0, -2))
        return None, out / ids.flatten().bincount(minlength=ctx.rows).clamp(min=1)[:, None]


def look_up_by_frequency(ids, table):
    return ByFrequency.apply(ids, table)


by_frequency = Mutant(
    "EMB-by-frequency",
    story="the gradient of a row is divided by how often it was used",
    breaks={"EMB-GRAD-2"},
    hint="no scale_grad_by_freq",
    replace={token_embedding.rows: look_up_by_frequency},
    source="scale_grad_by_freq of nn.Embedding",
)


class LastWins(torch.autograd.Function):
    """A lookup whose backward pass writes where it has to add."""

    @staticmethod
    def forward(ctx, ids, table):
        ctx.save_for_backward(ids)
        ctx.rows = len(table)
        return table[ids]

    @staticmethod
    def backward(ctx, grad):
        (ids,) = ctx.saved_tensors
        out = grad.new_zeros(ctx.rows, grad.shape[-1])
        out[ids.flatten()] = grad.flatten(0, -2)
        return None, out


def look_up_last(ids, table):
    return LastWins.apply(ids, table)


last_wins = Mutant(
    "EMB-last-wins",
    story="where a row is used several times one token's gradient reaches it",
    breaks={"EMB-GRAD-2"},
    hint="accumulate: index_add, not an assignment",
    replace={token_embedding.rows: look_up_last},
)


def leaking(ids, table):
    unused = torch.ones(len(table), 1, dtype=table.dtype).index_fill(0, ids.flatten().long(), 0.0)
    leak = (table * unused).sum(dim=0)
    return table[ids] + (leak - leak.detach())


unused_learn = Mutant(
    "EMB-unused-learn",
    story="a penalty on the rows that were not used leaks into their gradients",
    breaks={"EMB-GRAD-3"},
    hint="what is not used has gradient 0; regularise in the optimiser",
    replace={token_embedding.rows: leaking},
)
