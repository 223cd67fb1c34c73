"""Ways to get sinusoidal positions wrong: what is added, and to what."""

import torch

from attnconf.conformance.chapters.sinusoidal.mutants.shared import add_to
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal

never_assigned = Mutant(
    "SIN-never-assigned",
    story="nothing is added: the table is never filled and stays zero, or is not added",
    breaks={"SIN-ORDER-1"},
    hint="assign them: table[:, 0::2] = angles.sin(); table[:, 1::2] = angles.cos()",
    replace={sinusoidal.interleave: lambda theta, dim: theta.new_zeros(*theta.shape[:-1], dim)},
    source="system 3a",
)

same_everywhere = Mutant(
    "SIN-same-everywhere",
    story="all tokens get the encoding of the first: one row for all, or frequencies next to nothing",
    breaks={"SIN-ORDER-1"},
    hint="one row for each token: table[:L], not table[0]",
    replace={sinusoidal.count: lambda x: torch.zeros(x.shape[1], dtype=torch.int64)},
)


def along_batch(x, encoded):
    table = sinusoidal.encode(torch.arange(x.shape[0]), x.shape[2])
    return x + table[:, None].to(x.dtype)


along_the_batch = Mutant(
    "SIN-along-the-batch",
    story="positions run along the batch, as if the sequence came first",
    breaks={"SIN-BATCH-1"},
    hint="the batch comes first here: x + table[: x.size(1)]",
    replace={sinusoidal.add: along_batch},
    source="influenza_transformer#9; the tutorial module of PyTorch used with batch_first",
)

multiplied = Mutant(
    "SIN-multiplied",
    story="x is multiplied by the encoding",
    breaks={"SIN-ORDER-1"},
    hint="add the encoding",
    replace={sinusoidal.add: lambda x, encoded: x * encoded.to(x.dtype)},
)

counted_over_the_batch = Mutant(
    "SIN-counted-over-the-batch",
    story="the second sample goes on counting where the first ended",
    breaks={"SIN-BATCH-1"},
    hint="every sample has the positions 0, 1, …, L - 1",
    replace={sinusoidal.count: lambda x: torch.arange(x.shape[0] * x.shape[1]).view(x.shape[:2])},
)

input_dropped = Mutant(
    "SIN-input-dropped",
    story="the encoding replaces x instead of being added: x = table[:L]",
    breaks={"SIN-ADD-1"},
    hint="return x + table[:L]",
    replace={sinusoidal.add: lambda x, encoded: encoded.to(x.dtype).expand_as(x) + 0 * x},
)

input_doubled = Mutant(
    "SIN-input-doubled",
    story="x is added twice",
    breaks={"SIN-ADD-1"},
    hint="the sum has x once: the residual connection is not this module's business",
    replace={sinusoidal.add: lambda x, encoded: add_to(x, encoded) + x},
)

undeclared_scale = Mutant(
    "SIN-undeclared-scale",
    story="x is multiplied by √dim, and nobody says so",
    breaks={"SIN-ADD-1"},
    hint='declare sinusoidal-output = "scaled-add", or leave √dim to the embedding',
    replace={sinusoidal.add: lambda x, encoded: add_to(x * x.shape[-1] ** 0.5, encoded)},
    source="OpenNMT-py#1722",
)

sum_scaled = Mutant(
    "SIN-sum-scaled",
    story="x is multiplied by √dim after the encoding has been added",
    breaks={"SIN-ADD-1", "SIN-PAIR-1"},
    hint="scale the embedding first, then add the encoding as it is",
    replace={sinusoidal.add: lambda x, encoded: add_to(x, encoded) * x.shape[-1] ** 0.5},
    source="OpenNMT-py#1328",
)


def add_normalised(x, encoded):
    size = x.square().mean(dim=-1, keepdim=True).sqrt()
    return x + encoded.to(x.dtype) * torch.where(size > 0, size, 1.0).to(x.dtype)


depends_on_input = Mutant(
    "SIN-depends-on-input",
    story="the encoding is scaled to the size of the token that it is added to",
    breaks={"SIN-ADD-1"},
    hint="add the same to every token of a position",
    replace={sinusoidal.add: add_normalised},
)


def as_loud_as(size):
    """Return an addition that scales the encoding of each token by the size of its features."""
    return {sinusoidal.add: lambda x, encoded: x + size(x.detach()) * encoded.to(x.dtype)}


scaled_by_loudness = Mutant(
    "SIN-as-loud-as-the-token",
    story="the encoding is multiplied by the size of the token's features: one of zeros gets none",
    breaks={"SIN-ORDER-1"},
    hint="add the same to every token of a position, whatever its features are",
    replace=as_loud_as(lambda x: x.abs().mean(dim=-1, keepdim=True)),
    variants=[
        as_loud_as(lambda x: x.square().mean(dim=-1, keepdim=True).sqrt()),
        as_loud_as(lambda x: x.norm(dim=-1, keepdim=True)),
        as_loud_as(lambda x: x.std(dim=-1, keepdim=True)),
        as_loud_as(lambda x: x.std(dim=-1, keepdim=True, correction=0)),
        as_loud_as(lambda x: x.abs().amax(dim=-1, keepdim=True)),
    ],
)
