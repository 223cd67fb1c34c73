"""Ways to get encoder, decoder and Transformer together wrong: learning."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import decoder as decoders


def memory_cut_in_single(x, memory, weights, style, mask):
    out = decoders.attend_to_memory(x, memory, weights, style, mask)
    return out.detach() if x.dtype == torch.float32 else out


memory_cut = Mutant(
    "TRF-memory-cut",
    story="in float32 attention to the memory passes no gradient on, and is never trained",
    breaks={"CALL-FLOAT-1", "TRF-LEARN-1"},
    hint="a fused kernel needs a backward pass in every dtype that it has a forward pass for",
    replace={decoders.attend_to_memory: memory_cut_in_single},
)
