"""Ways to get rotary positions wrong: which axis."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.rotary.mutants.shared import called, rotating
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary

normalised = Mutant(
    "ROPE-normalised-inside",
    story="the features are normalised while they are turned",
    breaks={"ROPE-LINEAR-1"},
    hint="normalise queries and keys before, outside of the rotation",
    replace={
        adapter.rotary: called(lambda x, at, rotate: rotate(x / x.square().mean(dim=-1, keepdim=True).sqrt(), at))
    },
    source="tiny-llm#287 (the order of the two)",
)

added = Mutant(
    "ROPE-added",
    story="sines and cosines are added to the features instead of turning them",
    breaks={"ROPE-LINEAR-1"},
    hint="multiply: a·cos - b·sin and a·sin + b·cos",
    replace={adapter.rotary: called(lambda x, at, rotate: x + rotate(torch.ones_like(x), at))},
)


def along(axis):
    """Return the change by which positions run along another axis where none are given."""

    def change(x, positions, turned):
        if positions is not None:
            return turned(x, positions)
        return turned(x.transpose(axis, 2), None).transpose(axis, 2)

    return change


along_heads = Mutant(
    "ROPE-along-heads",
    story="positions run along the heads instead of the tokens",
    breaks={"ROPE-HEAD-1", "ROPE-ORDER-1"},
    hint="tokens are the third of (B, H, L, E): look at the order of the axes",
    replace={rotary.rotate: rotating(along(1))},
)

along_batch = Mutant(
    "ROPE-along-batch",
    story="positions run along the samples instead of the tokens",
    breaks={"ROPE-BATCH-1", "ROPE-ORDER-1"},
    hint="tokens are the third of (B, H, L, E): look at the order of the axes",
    replace={rotary.rotate: rotating(along(0))},
)


def misread(x, positions, turned):
    if positions is not None:
        return turned(x, positions)
    B, H, L, E = x.shape
    return turned(x.reshape(B, L, H, E).transpose(1, 2), None).transpose(1, 2).reshape(B, H, L, E)


heads_reshaped = Mutant(
    "ROPE-heads-reshaped",
    story="heads and tokens are swapped by a reshape, which deals the features out anew",
    breaks={"ROPE-HEAD-1", "ROPE-REL-2"},
    hint="swap axes with transpose; reshape does not",
    replace={rotary.rotate: rotating(misread)},
)
