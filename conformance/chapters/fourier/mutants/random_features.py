"""Ways to get Fourier features wrong: random features."""

import math

import torch

from attnconf.conformance.chapters.fourier.mutants.shared import by_the_largest
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import fourier


def random_times(factor):
    return lambda x, projection: factor * fourier.random_angles(x, projection)


random_factor_missing = Mutant(
    "FOUR-random-factor-missing",
    story="the angles of random features lack the factor 2π",
    breaks={"FOUR-RANGLE-1"},
    hint="2 * math.pi * x @ B.T",
    replace={fourier.random_angles: random_times(1 / (2 * math.pi))},
)

random_factor_pi = Mutant(
    "FOUR-random-factor-pi",
    story="the angles of random features have the factor π instead of 2π",
    breaks={"FOUR-RANGLE-1"},
    hint="2 * math.pi * x @ B.T",
    replace={fourier.random_angles: random_times(0.5)},
)


def redrawn(draw):
    """Return angles of directions that ``draw`` draws in the shape of B."""
    return {fourier.random_angles: lambda x, projection: fourier.random_angles(x, draw(projection))}


random_redrawn = Mutant(
    "FOUR-random-own-projection",
    story="the projection is drawn anew in every call",
    breaks={"CALL-REPEAT-1", "FOUR-RANGLE-1", "FOUR-RFIXED-1"},
    hint="draw B once, when the module is built, and keep it as a buffer",
    replace=redrawn(torch.randn_like),
    variants=[
        redrawn(lambda B: torch.randn_like(B.T).T),
        redrawn(lambda B: torch.randn(B.shape).to(B)),  # in float32
        redrawn(lambda B: torch.randn(B.T.shape).T.to(B)),
    ],
)


def random_angles_resampled(x, projection):
    theta = fourier.random_angles(x, projection.clone())
    projection.detach().copy_(projection.detach().flip(0))
    return theta


random_resampled = Mutant(
    "FOUR-random-resampled",
    story="the projection is drawn again after every call",
    breaks={"CALL-IMMUT-1", "FOUR-RFIXED-1"},
    hint="draw B once and keep it as a buffer",
    replace={fourier.random_angles: random_angles_resampled},
)

random_swapped = Mutant(
    "FOUR-random-swapped",
    story="the random sines stand before the cosines without being declared so",
    breaks={"FOUR-RORDER-1"},
    hint='cosines first, or declare {"random-fourier-order": "sin-first"}',
    replace={fourier.random_fourier: lambda x, projection: swap_halves(fourier.random_fourier(x, projection))},
)


def swap_halves(out):
    return out.roll(out.shape[-1] // 2, dims=-1)


random_cosines_only = Mutant(
    "FOUR-random-cosines-only",
    story="there are random cosines only",
    breaks={"CALL-SHAPE-1"},
    hint="cosines and sines of every direction, or a random phase; the spec asks for both",
    replace={fourier.random_fourier: lambda x, projection: fourier.random_angles(x, projection).cos()},
)

random_amplitude = Mutant(
    "FOUR-random-amplitude",
    story="random features are scaled by 1/√M",
    breaks={"FOUR-RORDER-1"},
    hint="amplitudes are 1",
    replace={
        fourier.random_fourier: lambda x, projection: (
            fourier.random_fourier(x, projection) / math.sqrt(2 * len(projection))
        )
    },
)

random_half_amplitude = Mutant(
    "FOUR-random-sine-of-double",
    story="the random sine is that of twice the angle",
    breaks={"FOUR-RPAIR-1"},
    hint="sine and cosine of one and the same angle",
    replace={
        fourier.random_fourier: lambda x, projection: torch.cat(
            [fourier.random_angles(x, projection).cos(), (2 * fourier.random_angles(x, projection)).sin()], dim=-1
        ).to(x.dtype)
    },
)

random_clamped = Mutant(
    "FOUR-random-clamped",
    story="coordinates beyond ±1 are clamped before the projection",
    breaks={"FOUR-RSHIFT-1"},
    hint="encode the coordinates as they are",
    replace={fourier.random_angles: lambda x, projection: fourier.random_angles(x.clamp(-1, 1), projection)},
)

random_normalised = Mutant(
    "FOUR-random-normalised",
    story="coordinates are divided by the largest that comes with them before the projection",
    breaks={"FOUR-RPOINTS-1"},
    hint="encode the coordinates as they are",
    replace={fourier.random_angles: lambda x, projection: fourier.random_angles(by_the_largest(x), projection)},
)


def random_angles_narrow(x, projection):
    return (2 * math.pi * torch.einsum("...d,md->...m", x, projection)).to(x.dtype)


random_narrow = Mutant(
    "FOUR-random-angles-in-half",
    story="the angles of random features are computed in the dtype of the coordinates, bfloat16 too",
    breaks={"FOUR-RHALF-1"},
    hint="compute angles and sines in float32, and round the features",
    replace={fourier.random_angles: random_angles_narrow},
)

random_detached = Mutant(
    "FOUR-random-detached",
    story="random features are computed without gradients",
    breaks={"FOUR-RGRAD-1"},
    hint="no torch.no_grad and no detach on the way from coordinates to features",
    replace={fourier.random_fourier: lambda x, projection: fourier.random_fourier(x, projection).detach()},
)
