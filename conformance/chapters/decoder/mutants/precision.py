"""Ways to get decoder layers, and stacks of them, wrong: precision."""

import torch

from attnconf.conformance.chapters.decoder.mutants.shared import around
from attnconf.conformance.engine.mutant import Mutant


def run_coarsely(config, compute, x, memory, mask, hidden):
    if x.dtype == torch.float32:
        return compute(x.bfloat16().float(), memory.bfloat16().float(), mask, hidden).bfloat16().float()
    return compute(x, memory, mask, hidden)


autocast = Mutant(
    "DEC-autocast",
    story="float32 is computed in bfloat16",
    breaks={"CALL-FLOAT-1"},
    hint="leave autocast to the caller",
    replace=around(run_coarsely),
)
