"""Ways to get encoder, decoder and Transformer together wrong: half precision."""

import torch

from attnconf.conformance.chapters.transformer.mutants.shared import scaled_rows
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder as encoders
from attnconf.reference import sinusoidal, transformer
from attnconf.reference.attention import drop
from attnconf.reference.encoder import under


def counted_in_half(ids, table, dropout):
    positions = torch.arange(ids.shape[1]).to(table.dtype)
    return drop(sinusoidal.sinusoidal(scaled_rows(ids, table), positions), dropout)


half_positions = Mutant(
    "TRF-half-positions",
    story="positions are counted in the dtype of the weights",
    breaks={"TRF-HALF-1"},
    hint="count in integers or float32, and round the encoding last",
    replace={transformer.place: counted_in_half},
    source="gpt-neox#1003, of rotary positions",
)


def rounded_memory(source, weights, style, mask):
    memory = encoders.encoder(source, under(weights, "encoder"), style, mask)
    return memory if memory.dtype == torch.float64 else memory.bfloat16().to(memory.dtype)


memory_rounded = Mutant(
    "TRF-memory-rounded",
    story="the memory is kept in bfloat16, whatever the weights are",
    breaks={"CALL-FLOAT-1"},
    hint="keep the memory in the dtype of the weights",
    replace={transformer.encode: rounded_memory},
)
