"""Ways to get token embeddings wrong: which row."""

import math

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal, token_embedding

next_row = Mutant(
    "EMB-next-row",
    story="an id gets the next row, the last one the first",
    breaks={"EMB-ROW-1"},
    hint="ids count from 0, as the rows do",
    replace={token_embedding.rows: lambda ids, table: table[(ids + 1) % len(table)]},
)

from_the_end = Mutant(
    "EMB-from-the-end",
    story="rows are counted from the end of the table",
    breaks={"EMB-ROW-1"},
    hint="id i is row i",
    replace={token_embedding.rows: lambda ids, table: table[len(table) - 1 - ids]},
)

too_few_rows = Mutant(
    "EMB-hashed",
    story="two ids share a row: ids are taken modulo half of the vocabulary",
    breaks={"EMB-ROW-1"},
    hint="a row for every id",
    replace={token_embedding.rows: lambda ids, table: table[ids % (len(table) // 2)]},
)

batch_transposed = Mutant(
    "EMB-transposed",
    story="ids are read along the batch, as if the sequence came first",
    breaks={"EMB-SAMPLE-1"},
    hint="the batch comes first here",
    replace={token_embedding.rows: lambda ids, table: table[ids.T.reshape(ids.shape)]},
)

first_sample = Mutant(
    "EMB-first-sample",
    story="all samples get the vectors of the first",
    breaks={"EMB-SAMPLE-1"},
    hint="look up the whole of (B, L)",
    replace={token_embedding.rows: lambda ids, table: table[ids[:1].expand(ids.shape)]},
)

normalised_rows = Mutant(
    "EMB-normalised",
    story="vectors are scaled to length 1",
    breaks={"EMB-ROW-1"},
    hint="the row as it is",
    replace={
        token_embedding.rows: lambda ids, table: torch.nn.functional.normalize(table[ids], dim=-1, eps=1e-9),
    },
)


def embedding_with_positions(config, weights):
    def forward(ids):
        x = token_embedding.embed(ids, weights["table.weight"], config.padding_id)
        late = torch.arange(ids.shape[1], dtype=x.dtype)[:, None] > 0
        return x + late * (sinusoidal.sinusoidal(torch.zeros_like(x)))

    return forward


position_inside = Mutant(
    "EMB-position-inside",
    story="positions are added to the vectors by the embedding already",
    breaks={"EMB-SAME-1"},
    hint="positions are added once, after the embedding",
    replace={adapter.token_embedding: embedding_with_positions},
)


def zero_blank(ids, table):
    return table[ids] * (ids != 0)[..., None]


zero_blanked = Mutant(
    "EMB-zero-blanked",
    story="id 0 counts as padding, and gets zeros",
    breaks={"EMB-ZERO-1"},
    hint="only where padding_id says so",
    replace={token_embedding.rows: zero_blank},
)


def zero_freeze(ids, table):
    return torch.nn.functional.embedding(ids, table, padding_idx=0)


zero_frozen = Mutant(
    "EMB-zero-frozen",
    story="id 0 counts as padding: its row never learns",
    breaks={"EMB-ZERO-1"},
    hint="no padding_idx=0 by default",
    replace={token_embedding.rows: zero_freeze},
)


def all_but_the_last(ids, size):
    token_embedding.check_ids(ids, size - 1)


last_refused = Mutant(
    "EMB-last-refused",
    story="the last id raises",
    breaks={"EMB-LAST-1"},
    hint="V ids are 0 … V - 1: compare with <, not with < V - 1",
    replace={token_embedding.check_ids: all_but_the_last},
    raises={"EMB-LAST-1"},
)

last_is_the_one_before = Mutant(
    "EMB-last-clamped",
    story="the last id gets the row before its own",
    breaks={"EMB-LAST-1"},
    hint="clamping hides what is off by one",
    replace={token_embedding.rows: lambda ids, table: table[ids.clamp(max=len(table) - 2)]},
)

eight_bits = Mutant(
    "EMB-eight-bits",
    story="ids are kept in eight bits and begin again after 256",
    breaks={"EMB-LAST-1"},
    hint="keep ids in 64 bits, or 32",
    replace={token_embedding.rows: lambda ids, table: table[ids.to(torch.uint8).long()]},
)

undeclared_scale = Mutant(
    "EMB-undeclared-scale",
    story="rows are multiplied by √dim once more than is declared: where nobody says so, or twice",
    breaks={"EMB-SCALE-1"},
    hint='declare embedding-scale = "sqrt", and multiply once, or leave √dim out',
    replace={token_embedding.rows: lambda ids, table: token_embedding.scale(table[ids])},
)

divided = Mutant(
    "EMB-divided",
    story="rows are divided by √dim",
    breaks={"EMB-SCALE-1"},
    hint="1/√dim belongs to attention's scores",
    replace={token_embedding.rows: lambda ids, table: table[ids] / math.sqrt(table.shape[1])},
    source="proposed in pytorch/tutorials#2849",
)

scaled_twice = Mutant(
    "EMB-scaled-twice",
    story="rows are multiplied by √dim twice",
    breaks={"EMB-SCALE-1"},
    hint="once: in the embedding or in the model",
    replace={token_embedding.rows: lambda ids, table: token_embedding.scale(token_embedding.scale(table[ids]))},
)

scaled_by_vocabulary = Mutant(
    "EMB-scaled-by-vocabulary",
    story="rows are multiplied by the root of the vocabulary's size",
    breaks={"EMB-SCALE-1"},
    hint="if any, √dim: the last axis of the table, not its first",
    replace={token_embedding.rows: lambda ids, table: table[ids] * math.sqrt(len(table))},
)


def scaled_late(ids, weights, num_heads, mask=None):
    x = token_embedding.place(token_embedding.embed(ids, weights["table.weight"]))
    return token_embedding.look_around(token_embedding.scale(x), weights, num_heads, mask)


positions_scaled_too = Mutant(
    "EMB-positions-scaled-too",
    story="√dim multiplies what has its positions already",
    breaks={"EMB-SCALE-1"},
    hint="scale the rows, then add positions",
    replace={token_embedding.token_attention: scaled_late},
)


def rounded(ids, table):
    x = table[ids]
    return x.to(torch.float8_e4m3fn).to(x.dtype) if x.dtype in (torch.bfloat16, torch.float16) else x


rows_in_eight_bits = Mutant(
    "EMB-rows-in-eight-bits",
    story="in half precision rows are kept in eight bits",
    breaks={"EMB-HALF-1"},
    hint="a lookup rounds nothing",
    replace={token_embedding.rows: rounded},
    silent_on={"token_attention": "half precision is judged where nothing follows the rows"},
)
