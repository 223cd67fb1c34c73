"""Ways to get token embeddings wrong: what is refused."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import token_embedding


def refusing(*, floats=True, bools=True, low=True, high=True):
    def check(ids, size):
        if floats and ids.is_floating_point():
            raise TypeError("ids must be integers")
        if bools and ids.dtype == torch.bool:
            raise TypeError("ids must be integers")
        if low and ids.numel() and int(ids.min()) < 0:
            raise IndexError("ids must not be negative")
        if high and ids.numel() and int(ids.max()) >= size:
            raise IndexError(f"ids must be less than {size}")

    return check


beyond_clamped = Mutant(
    "EMB-beyond-clamped",
    story="ids beyond the vocabulary get the last row",
    breaks={"EMB-BEYOND-1"},
    hint="raise an error",
    replace={
        token_embedding.check_ids: refusing(high=False),
        token_embedding.rows: lambda ids, table: table[ids.clamp(max=len(table) - 1)],
    },
    source="indexing in JAX",
)

beyond_wrapped = Mutant(
    "EMB-beyond-wrapped",
    story="ids beyond the vocabulary begin again at 0",
    breaks={"EMB-BEYOND-1"},
    hint="raise an error",
    replace={
        token_embedding.check_ids: refusing(high=False),
        token_embedding.rows: lambda ids, table: table[ids % len(table)],
    },
)


def unknown_is_zero(ids, table):
    known = (ids < len(table))[..., None]
    return table[ids.clamp(max=len(table) - 1)] * known


beyond_zero = Mutant(
    "EMB-beyond-zero",
    story="ids beyond the vocabulary get zeros",
    breaks={"EMB-BEYOND-1"},
    hint="raise an error; an unknown word has an id of its own",
    replace={token_embedding.check_ids: refusing(high=False), token_embedding.rows: unknown_is_zero},
    source="lookups on accelerators that check nothing",
)

negative_from_end = Mutant(
    "EMB-negative-from-end",
    story="a negative id gets a row from the table's end",
    breaks={"EMB-NEG-1"},
    hint="indexing by -1 is the last row: compare with 0 and raise an error",
    replace={
        token_embedding.check_ids: refusing(low=False),
        token_embedding.rows: lambda ids, table: table[ids % len(table)],
    },
    source="pytorch#151918",
)

outside_to_first = Mutant(
    "EMB-outside-to-first",
    story="ids beyond the vocabulary, and negative ones, get row 0",
    breaks={"EMB-BEYOND-1", "EMB-NEG-1"},
    hint="raise an error: an unknown word has an id of its own, which the tokenizer gives it",
    replace={
        token_embedding.check_ids: refusing(high=False, low=False),
        token_embedding.rows: lambda ids, table: table[torch.where((ids < 0) | (ids >= len(table)), 0, ids)],
    },
)

negative_clamped = Mutant(
    "EMB-negative-clamped",
    story="negative ids get row 0",
    breaks={"EMB-NEG-1"},
    hint="raise an error; what is ignored in the loss, -100, is no id",
    replace={
        token_embedding.check_ids: refusing(low=False),
        token_embedding.rows: lambda ids, table: table[ids.clamp(min=0)],
    },
)

floats_cut = Mutant(
    "EMB-floats-cut",
    story="floating-point ids are cut to integers",
    breaks={"EMB-FLOAT-1"},
    hint="refuse what is not an integer; no .long()",
    replace={
        token_embedding.check_ids: refusing(floats=False),
        token_embedding.rows: lambda ids, table: table[ids.long() if ids.is_floating_point() else ids],
    },
)

truth_as_ids = Mutant(
    "EMB-truth-as-ids",
    story="False and True are taken for ids 0 and 1",
    breaks={"EMB-BOOL-1"},
    hint="a mask in the place of ids is a mistake: refuse it",
    replace={
        token_embedding.check_ids: refusing(bools=False),
        token_embedding.rows: lambda ids, table: table[ids.long() if ids.dtype == torch.bool else ids],
    },
)


def only_int64(ids, size):
    if ids.dtype != torch.int64:
        raise TypeError(f"ids are {ids.dtype}, want torch.int64")
    refusing()(ids, size)


int32_refused = Mutant(
    "EMB-int32-refused",
    story="ids of 32 bits raise",
    breaks={"EMB-INT-1"},
    hint="nn.Embedding takes them; so do others' tokenizers give them",
    replace={token_embedding.check_ids: only_int64},
    raises={"EMB-INT-1"},
)
