"""Ways to get a language model wrong: from ids to vectors."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.language_model.mutants.shared import counted, rows
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import language_model, token_embedding
from attnconf.reference.attention import drop


def looked_up_in_the_head(ids, weights, frame, dropout):
    x = language_model.rows_of(ids, weights.get("head.weight", weights["table.weight"]), frame.scaled)
    return drop(language_model.with_positions(x, weights, frame.positions), dropout)


rows_of_the_head = Mutant(
    "LM-rows-of-the-head",
    story="ids are looked up in the head, though there is a table for them",
    breaks={"LM-ROW-1"},
    hint="tie the two only where tying says so",
    replace={language_model.place: looked_up_in_the_head},
)

head_tied = Mutant(
    "LM-head-tied",
    story="the head is the table, though there is a head of its own",
    breaks={"LM-ROW-2"},
    hint="tie the two only where tying says so",
    replace={language_model.head_of: lambda weights: weights["table.weight"]},
)

row_before = Mutant(
    "LM-row-before",
    story="an id gets the row before its own",
    breaks={"LM-ROW-2"},
    hint="id i is row i, from 0",
    replace={
        language_model.rows_of: lambda ids, table, scaled: language_model.rows_of(ids, table.roll(1, 0), scaled),
    },
)

ids_clamped = Mutant(
    "LM-ids-clamped",
    story="ids that are too large, or negative, get the nearest row",
    breaks={"LM-IDS-1", "LM-IDS-2"},
    hint="raise an error: the tokenizer and the table do not fit",
    replace={
        language_model.rows_of: lambda ids, table, scaled: language_model.rows_of(
            ids.clamp(0, len(table) - 1), table, scaled
        ),
    },
)

ids_wrapped = Mutant(
    "LM-ids-wrapped",
    story="negative ids take rows from the table's end",
    breaks={"LM-IDS-2"},
    hint="indexing by -1 is the last row: use nn.Embedding, which raises",
    replace={
        language_model.rows_of: lambda ids, table, scaled: language_model.rows_of(
            torch.where(ids < 0, ids + len(table), ids), table, scaled
        ),
    },
)

zero_row = Mutant(
    "LM-zero-row",
    story="id 0 counts as padding, and its row as zeros",
    breaks={"LM-IDS-3"},
    hint="no padding_idx unless the caller gives one",
    replace={language_model.rows_of: rows(lambda x, ids: x * (ids != 0)[..., None])},
)


def zero_hidden(ids, mask):
    return language_model.earlier(ids, ids != 0 if mask is None else mask & (ids != 0))


zero_is_padding = Mutant(
    "LM-zero-is-padding",
    story="a mask is made of the ids: 0 is always padding",
    breaks={"LM-IDS-3"},
    hint="which id is padding is the caller's affair: take a mask, or the padding's id",
    replace={language_model.earlier: zero_hidden},
)


def from_one(x, weights, positions):
    if positions == "learned":  # the last row, which nobody asks for, comes first: the table need not be longer
        weights = {**weights, "positions.weight": weights["positions.weight"].roll(-1, dims=0)}
        return language_model.with_positions(x, weights, positions)
    return counted(x, weights, positions, torch.arange(x.shape[1]) + 1)


positions_from_one = Mutant(
    "LM-positions-from-one",
    story="the first position is 1",
    breaks={"LM-POS-1"},
    hint="torch.arange(length)",
    replace={language_model.with_positions: from_one},
)

positions_twice = Mutant(
    "LM-positions-twice",
    story="positions are added twice",
    breaks={"LM-POS-1"},
    hint="an encoding that returns x + PE needs no x + around it",
    replace={
        language_model.with_positions: lambda x, weights, positions: language_model.with_positions(
            language_model.with_positions(x, weights, positions), weights, positions
        ),
    },
)


def scaled_together(ids, weights, frame, dropout):
    x = language_model.rows_of(ids, weights["table.weight"], False)
    x = language_model.with_positions(x, weights, frame.positions)
    return drop(token_embedding.scale(x) if frame.scaled else x * 2, dropout)


positions_scaled = Mutant(
    "LM-sum-scaled",
    story="the sum of row and position is multiplied, by 2",
    breaks={"LM-POS-1"},
    hint="rows alone are scaled, and only where it is declared",
    replace={language_model.place: scaled_together},
)


def without_the_last(config, weights):
    def forward(ids, *, key_mask=None):
        style, frame = adapter.style_of(config), adapter.frame_of(config)
        places = torch.arange(ids.shape[1]).clamp(max=max(0, config.max_len - 2))
        x = language_model.rows_of(ids, weights["table.weight"], frame.scaled)
        x = drop(counted(x, weights, frame.positions, places), style.dropout)
        h = language_model.through_layers(x, weights, style, language_model.earlier(ids, key_mask))
        out = language_model.logits(h, language_model.head_of(weights), weights.get("head.bias"))
        return language_model.capped(out, frame.softcap)

    return forward


last_position_missing = Mutant(
    "LM-last-position-missing",
    story="the last of max_len ids gets the position before its own",
    breaks={"LM-MAXLEN-1"},
    hint="max_len ids have the positions 0 … max_len - 1",
    replace={adapter.language_model: without_the_last},
)

undeclared_scale = Mutant(
    "LM-undeclared-scale",
    story="rows are multiplied by √E, and nobody says so",
    breaks={"LM-SCALE-1"},
    hint='take rows as they are, or declare embedding-scale = "sqrt"',
    replace={
        language_model.rows_of: lambda ids, table, scaled: token_embedding.scale(
            language_model.rows_of(ids, table, False)
        ),
    },
)

scaled_twice = Mutant(
    "LM-scaled-twice",
    story="rows are multiplied by √E twice",
    breaks={"LM-SCALE-1"},
    hint="once: in the embedding or in the model",
    replace={
        language_model.rows_of: lambda ids, table, scaled: token_embedding.scale(
            token_embedding.scale(language_model.rows_of(ids, table, False))
        ),
    },
)

scaled_down = Mutant(
    "LM-scaled-down",
    story="rows are divided by √E",
    breaks={"LM-SCALE-1"},
    hint="multiply, or take them as they are",
    replace={
        language_model.rows_of: lambda ids, table, scaled: (
            language_model.rows_of(ids, table, False) / table.shape[1] ** 0.5
        ),
    },
)
