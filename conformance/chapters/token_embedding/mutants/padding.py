"""Ways to get token embeddings wrong: padding."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import token_embedding

padding_learns = Mutant(
    "EMB-padding-learns",
    story="padding_id is ignored: its row learns",
    breaks={"EMB-PAD-1"},
    hint="pass padding_idx on",
    replace={token_embedding.keep_from_training: lambda table, padding_id: table},
    source="pytorch#26302, pytorch#28716",
)


def freeze_other(table, padding_id):
    if padding_id is None:
        return table
    frozen = torch.arange(len(table)) <= padding_id
    return torch.where(frozen[:, None], table.detach(), table)


rows_before_frozen = Mutant(
    "EMB-rows-before-padding-frozen",
    story="the rows before the padding's do not learn either",
    breaks={"EMB-PAD-2"},
    hint="ids == padding_id, not ids <= padding_id",
    replace={token_embedding.keep_from_training: freeze_other},
)


def freeze_zero(table, padding_id):
    if padding_id is None:
        return table
    return torch.cat([table[:1].detach(), table[1:]])


zero_is_padding = Mutant(
    "EMB-zero-is-padding",
    story="row 0 is kept from training, whatever the padding is",
    breaks={"EMB-PAD-1", "EMB-PAD-2"},
    hint="use padding_id",
    replace={token_embedding.keep_from_training: freeze_zero},
)


def padding_is_mean(table, padding_id):
    if padding_id is None:
        return table
    frozen = torch.arange(len(table)) == padding_id
    return torch.where(frozen[:, None], table.mean(dim=0).detach(), table)


padding_averaged = Mutant(
    "EMB-padding-averaged",
    story="the padding gets the mean of all rows",
    breaks={"EMB-PAD-3"},
    hint="its own row, or zeros",
    replace={token_embedding.keep_from_training: padding_is_mean},
)


def padding_is_far(table, padding_id):
    if padding_id is None:
        return table
    frozen = torch.arange(len(table)) == padding_id
    return torch.where(frozen[:, None], -1e9, table)


padding_far_away = Mutant(
    "EMB-padding-far-away",
    story="the padding gets -1e9 in every feature, as if it were a score",
    breaks={"EMB-PAD-3"},
    hint="-inf belongs to the scores of masked keys",
    replace={token_embedding.keep_from_training: padding_is_far},
)
