"""Ways to get token embeddings wrong: what comes out."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import token_embedding


def around(change):
    """Return both components with what comes out changed: change(out)."""

    def embedding(config, weights):
        return lambda ids: change(token_embedding.embed(ids, weights["table.weight"], config.padding_id))

    def attention(config, weights):
        def forward(ids, *, key_mask=None):
            x = ids[..., None]
            mask = adapter.gather_masks(config, x, x, key_mask, None)
            return change(token_embedding.token_attention(ids, weights, config.num_heads, mask))

        return forward

    return {adapter.token_embedding: embedding, adapter.token_attention: attention}


summed = Mutant(
    "EMB-summed",
    story="the vectors of a sample are added up, as by an embedding bag",
    breaks={"CALL-SHAPE-1"},
    hint="a vector for every token: nn.Embedding, not nn.EmbeddingBag",
    replace=around(lambda out: out.sum(dim=1)),
)


def checking_the_largest(ids, size):
    if int(ids.max()) >= size or int(ids.min()) < 0 or ids.is_floating_point() or ids.dtype == torch.bool:
        raise IndexError(f"ids must be integers from 0 to {size - 1}")


empty_raises = Mutant(
    "EMB-empty-raises",
    story="no tokens raise an error, as there is no largest id",
    breaks={"CALL-EMPTY-1"},
    hint="look for the largest only if ids.numel()",
    replace={token_embedding.check_ids: checking_the_largest},
    raises={"CALL-EMPTY-1"},
)


def shifted_in_place(ids, table):
    return table.roll(1, 0)[ids.add_(1).remainder_(len(table))]


ids_shifted_in_place = Mutant(
    "EMB-ids-in-place",
    story="ids += 1, for a table with a row before the first: the caller's ids are changed",
    breaks={"CALL-IMMUT-1"},
    hint="write ids + 1",
    replace={token_embedding.rows: shifted_in_place},
)


def shortened_in_place(ids, table):
    with torch.no_grad():
        table.mul_(1 / table.norm(dim=-1, keepdim=True).clamp(min=1e-9))
    return table[ids]


rows_shortened_in_place = Mutant(
    "EMB-max-norm",
    story="rows are shortened to length 1, in the table itself",
    breaks={"CALL-IMMUT-1", "EMB-ROW-1"},
    hint="no max_norm",
    replace={token_embedding.rows: shortened_in_place},
    source="max_norm of nn.Embedding, which changes its weight",
)
