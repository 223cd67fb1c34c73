"""Ways to get encoder, decoder and Transformer together wrong: from ids to vectors."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.transformer.mutants.shared import placing, scaled_rows, with_positions
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal, token_embedding, transformer
from attnconf.reference.attention import drop


def in_tables(choose):
    """Return a tables whose source, target and head are chosen from those three."""
    return lambda weights: choose(*transformer.tables(weights))


tables_swapped = Mutant(
    "TRF-tables-swapped",
    story="source ids are looked up in the target's table, and target ids in the source's",
    breaks={"TRF-ROW-1"},
    hint="each language has its own table",
    replace={transformer.tables: in_tables(lambda source, target, head: (target, source, head))},
)

source_in_target_table = Mutant(
    "TRF-source-in-target-table",
    story="source ids are looked up in the target's table, though there is one for the source",
    breaks={"TRF-ROW-1"},
    hint="tie tables only where tying says so",
    replace={transformer.tables: in_tables(lambda source, target, head: (target, target, head))},
)

head_tied = Mutant(
    "TRF-head-tied",
    story="the head is the target's table, though there is one for the head",
    breaks={"TRF-ROW-2"},
    hint="tie tables only where tying says so",
    replace={transformer.tables: in_tables(lambda source, target, head: (source, target, target))},
)

ids_clamped = Mutant(
    "TRF-ids-clamped",
    story="ids that are too large, or negative, get the nearest row",
    breaks={"TRF-IDS-1", "TRF-IDS-3"},
    hint="raise an error: the tokenizer and the table do not fit",
    replace={transformer.place: placing(row_of=lambda ids, table: table[ids.clamp(0, len(table) - 1)])},
)

ids_wrapped = Mutant(
    "TRF-ids-wrapped",
    story="negative ids take rows from the table's end",
    breaks={"TRF-IDS-3"},
    hint="indexing by -1 is the last row: use nn.Embedding, which raises",
    replace={transformer.place: placing(row_of=lambda ids, table: table[ids])},
)

zero_row = Mutant(
    "TRF-zero-row",
    story="id 0 counts as padding, and its row as zeros",
    breaks={"TRF-IDS-2"},
    hint="no padding_idx unless the caller gives one",
    replace={
        transformer.place: placing(row_of=lambda ids, table: token_embedding.embed(ids, table) * (ids != 0)[..., None]),
    },
)


def zero_hidden(source, target, weights, style, source_mask, target_mask):
    real = source != 0
    return transformer.transformer(
        source, target, weights, style, real if source_mask is None else real & source_mask, target_mask
    )


zero_is_padding = Mutant(
    "TRF-zero-is-padding",
    story="a mask is made of the ids: 0 is always padding",
    breaks={"TRF-IDS-2"},
    hint="which id is padding is the caller's affair: take masks, or the padding's id",
    replace={transformer.transformer: zero_hidden},
)

no_positions = Mutant(
    "TRF-no-positions",
    story="no positions are added",
    breaks={"TRF-POS-1"},
    hint="without positions a sentence is a bag of words",
    replace={transformer.place: placing(x_of=token_embedding.scale)},
)


def one_side(source_of=None, target_of=None):
    """Return a Transformer that places the source's ids, or the target's, by another function of ids and table."""

    def transformed(source, target, weights, style, source_mask, target_mask):
        first, second, head = transformer.tables(weights)
        x = transformer.place(source, first, style.dropout) if source_of is None else source_of(source, first, target)
        y = transformer.place(target, second, style.dropout) if target_of is None else target_of(target, second, source)
        x, y = (drop(z, style.dropout) for z in (x, y))
        return transformer.logits(transformer.encoder_decoder(x, y, weights, style, source_mask, target_mask), head)

    return transformed


source_without_positions = Mutant(
    "TRF-source-without-positions",
    story="positions are added to the target only",
    breaks={"TRF-POS-1"},
    hint="both inputs need positions",
    replace={transformer.transformer: one_side(source_of=lambda ids, table, other: scaled_rows(ids, table))},
)

target_goes_on = Mutant(
    "TRF-target-goes-on",
    story="the target's positions begin where the source's end",
    breaks={"TRF-POS-1"},
    hint="positions begin at 0 in both",
    replace={
        transformer.transformer: one_side(
            target_of=lambda ids, table, other: sinusoidal.sinusoidal(
                scaled_rows(ids, table), torch.arange(ids.shape[1]) + other.shape[1]
            )
        ),
    },
)

positions_twice = Mutant(
    "TRF-positions-twice",
    story="positions are added twice",
    breaks={"TRF-POS-1"},
    hint="an encoding that returns x + PE needs no x + around it",
    replace={
        transformer.place: placing(
            x_of=lambda rows: sinusoidal.sinusoidal(sinusoidal.sinusoidal(token_embedding.scale(rows)))
        ),
    },
)

positions_from_one = Mutant(
    "TRF-positions-from-one",
    story="the first position is 1",
    breaks={"TRF-POS-1"},
    hint="torch.arange(length)",
    replace={
        transformer.place: placing(
            x_of=lambda rows: sinusoidal.sinusoidal(token_embedding.scale(rows), torch.arange(rows.shape[1]) + 1)
        ),
    },
)

positions_scaled = Mutant(
    "TRF-positions-scaled",
    story="positions are multiplied by √E as well",
    breaks={"TRF-POS-1"},
    hint="√E · rows + positions: scale first",
    replace={transformer.place: placing(x_of=lambda rows: token_embedding.scale(sinusoidal.sinusoidal(rows)))},
)


def in_halves(rows):
    omega = sinusoidal.frequencies(rows.shape[-1], 10000.0)
    theta = sinusoidal.angles(torch.arange(rows.shape[1]), omega)
    encoded = torch.cat([theta.sin(), theta.cos()], dim=-1)[:, : rows.shape[-1]]
    return token_embedding.scale(rows) + encoded.to(rows.dtype)


undeclared_halves = Mutant(
    "TRF-undeclared-halves",
    story="all sines come before all cosines, and nobody says so",
    breaks={"TRF-POS-1"},
    hint='declare sinusoidal-layout = "halves"',
    replace={transformer.place: placing(x_of=in_halves)},
    source="tensor2tensor#177",
)

unscaled = Mutant(
    "TRF-unscaled",
    story="rows are not multiplied by √E, and nobody says so",
    breaks={"TRF-SCALE-1"},
    hint='multiply by √E, or declare transformer-scale = "none"',
    replace={transformer.place: placing(x_of=sinusoidal.sinusoidal)},
    source="attention-is-all-you-need-pytorch#138",
)

scaled_twice = Mutant(
    "TRF-scaled-twice",
    story="rows are multiplied by √E twice",
    breaks={"TRF-SCALE-1"},
    hint="once: in the embedding or in the model",
    replace={
        transformer.place: placing(
            x_of=lambda rows: sinusoidal.sinusoidal(token_embedding.scale(token_embedding.scale(rows)))
        ),
    },
)

scaled_down = Mutant(
    "TRF-scaled-down",
    story="rows are divided by √E",
    breaks={"TRF-SCALE-1"},
    hint="multiply: rows are small, positions are not",
    replace={
        transformer.place: placing(x_of=lambda rows: sinusoidal.sinusoidal(rows / rows.shape[-1] ** 0.5)),
    },
    source="pytorch/tutorials#2849, as a question",
)

source_unscaled = Mutant(
    "TRF-source-unscaled",
    story="rows are multiplied by √E in the target only",
    breaks={"TRF-SCALE-1"},
    hint="both inputs are scaled alike",
    replace={
        transformer.transformer: one_side(
            source_of=lambda ids, table, other: sinusoidal.sinusoidal(token_embedding.embed(ids, table))
        ),
    },
)

last_position_missing = Mutant(
    "TRF-last-position-missing",
    story="the table of positions is a row too short, and the last token gets the position before its own",
    breaks={"TRF-MAXLEN-1"},
    hint="max_len tokens have the positions 0 … max_len - 1",
    replace={
        adapter.transformer: with_positions(
            lambda x, config, target, seen: torch.arange(x.shape[1]).clamp(max=config.max_len - 2)
        ),
    },
)
