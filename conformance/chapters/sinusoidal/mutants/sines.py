"""Ways to get sinusoidal positions wrong: sines and cosines."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal


def with_own_exponents(positions, dim, base=10000.0):
    theta = sinusoidal.angles(positions, base ** (-torch.arange(dim, dtype=torch.float64) / dim))
    return torch.where(torch.arange(dim) % 2 == 0, theta.sin(), theta.cos())


cosine_with_its_own_exponent = Mutant(
    "SIN-cosine-own-exponent",
    story="feature j has the exponent j/d: a cosine's is (2i+1)/d, not 2i/d as that of its sine",
    breaks={"SIN-PAIR-1"},
    hint="both features of a pair have the exponent 2i/d: 2 * (j // 2) / d",
    replace={sinusoidal.encode: with_own_exponents},
    source="tensorflow/docs, positional encoding written with one loop over features",
)


def with_doubled_numbers(positions, dim, base=10000.0):
    theta = sinusoidal.angles(positions, base ** (-2 * torch.arange(dim, dtype=torch.float64) / dim))
    return torch.where(torch.arange(dim) % 2 == 0, theta.sin(), theta.cos())


doubled_numbers = Mutant(
    "SIN-feature-number-doubled",
    story="feature j has the exponent 2j/d, where j goes in steps of 2 already, and a cosine that of its own number",
    breaks={"SIN-PAIR-1"},
    hint="for i in range(0, d, 2): both features, i and i + 1, have the exponent i/d",
    replace={sinusoidal.encode: with_doubled_numbers},
    source="SamLynnEvans/Transformer#25",
)

whole_numbers = Mutant(
    "SIN-whole-numbers",
    story="the table is of whole numbers: sines and cosines are cut to -1, 0 and 1",
    breaks={"SIN-ORDER-1"},
    hint="make the table of floating-point numbers: torch.zeros(length, dim) without an integer dtype",
    replace={sinusoidal.interleave: lambda theta, dim: sinusoidal.interleave(theta, dim).trunc()},
)


def shifted_cosines(theta, dim):
    """Each cosine has the angle of the next pair; the last its own."""
    following = torch.cat([theta[..., 1:], theta[..., -1:]], dim=-1)
    return torch.stack([theta.sin(), following.cos()], dim=-1).flatten(-2)[..., :dim]


cosine_of_next = Mutant(
    "SIN-cosine-of-next",
    story="a cosine has the frequency of the next pair",
    breaks={"SIN-PAIR-1"},
    hint="both features of a pair have the exponent 2i/d",
    replace={sinusoidal.interleave: shifted_cosines},
    source="SamLynnEvans/Transformer#25; PapersReimplementations#9; DeepCTR#379",
)

undeclared_halves = Mutant(
    "SIN-undeclared-halves",
    story="all sines stand before all cosines, and nobody says so",
    breaks={"SIN-PAIR-1"},
    hint='declare sinusoidal-layout = "halves", or interleave them',
    replace={
        sinusoidal.interleave: lambda theta, dim: torch.cat([theta.sin(), theta.cos()], dim=-1)[..., :dim],
    },
    source="tensor2tensor#177; tensorflow#37191",
)

sines_only = Mutant(
    "SIN-sines-only",
    story="both features of a pair are the sine",
    breaks={"SIN-PAIR-1"},
    hint="the odd features are cosines",
    replace={sinusoidal.interleave: lambda theta, dim: theta.sin().repeat_interleave(2, dim=-1)[..., :dim]},
)

swapped = Mutant(
    "SIN-swapped",
    story="cosines stand in the even features, sines in the odd ones",
    breaks={"SIN-ZERO-1"},
    hint="sines first: row 0 is 0, 1, 0, 1, …",
    replace={
        sinusoidal.interleave: lambda theta, dim: torch.stack([theta.cos(), theta.sin()], -1).flatten(-2)[..., :dim],
    },
    source="Deep-ML#495",
)

from_one = Mutant(
    "SIN-from-one",
    story="positions are counted from 1",
    breaks={"SIN-ZERO-1"},
    hint='the first position is 0, torch.arange(L); or declare sinusoidal-offset = "1"',
    replace={sinusoidal.count: lambda x: torch.arange(x.shape[1]) + 1},
)

from_the_end = Mutant(
    "SIN-from-the-end",
    story="positions are counted backwards, from the last token",
    breaks={"SIN-ZERO-1"},
    hint="the first token is at position 0",
    replace={sinusoidal.count: lambda x: torch.arange(x.shape[1]).flip(0)},
)
