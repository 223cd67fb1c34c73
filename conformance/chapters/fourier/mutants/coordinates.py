"""Ways to get Fourier features wrong: of which coordinates."""

import torch

from attnconf.conformance.chapters.fourier.mutants.shared import by_the_largest
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import fourier


def on(change):
    """Return angles of other coordinates."""
    return lambda x, frequencies: fourier.angles(change(x), frequencies)


coordinates_clamped = Mutant(
    "FOUR-coordinates-clamped",
    story="coordinates beyond ±1 are clamped",
    breaks={"FOUR-SHIFT-1"},
    follows={"FOUR-LEARN-1"},
    hint="encode the coordinates as they are; the formula holds everywhere",
    replace={fourier.angles: on(lambda x: x.clamp(-1, 1))},
)

coordinates_absolute = Mutant(
    "FOUR-coordinates-absolute",
    story="the sign of the coordinates is lost",
    breaks={"FOUR-PARITY-1"},
    hint="encode x, not |x|",
    replace={fourier.angles: on(torch.abs)},
)

coordinates_cut = Mutant(
    "FOUR-coordinates-cut",
    story="negative coordinates are taken to be 0",
    breaks={"FOUR-PARITY-1"},
    hint="encode the coordinates as they are",
    replace={fourier.angles: on(lambda x: x.clamp_min(0))},
)

coordinates_rescaled = Mutant(
    "FOUR-coordinates-rescaled",
    story="coordinates are mapped from 0 … 1 to -1 … 1 on their way in",
    breaks={"FOUR-ZERO-1"},
    hint="leave that to the caller: encode x",
    replace={fourier.angles: on(lambda x: 2 * x - 1)},
)

coordinates_normalised = Mutant(
    "FOUR-coordinates-normalised",
    story="coordinates are divided by the largest that comes with them",
    breaks={"FOUR-POINTS-1"},
    hint="encode the coordinates as they are: a place has the same features in any company",
    replace={fourier.angles: on(by_the_largest)},
)

coordinates_ranked = Mutant(
    "FOUR-points-numbered",
    story="the points are numbered and the numbers encoded, as if they were positions in a sequence",
    breaks={"FOUR-POINTS-1"},
    hint="encode the coordinates, not the index",
    replace={fourier.angles: on(lambda x: x + torch.arange(x[..., 0].numel()).view(x[..., :1].shape).to(x))},
)

coordinates_summed = Mutant(
    "FOUR-coordinates-summed",
    story="the sum of the coordinates is encoded, once for each",
    breaks={"FOUR-ORDER-1"},
    hint="take the angles of each coordinate: x[..., None] * frequencies",
    replace={fourier.angles: on(lambda x: x.sum(dim=-1, keepdim=True).expand_as(x))},
)

first_coordinate = Mutant(
    "FOUR-coordinate-first-only",
    story="the first coordinate is encoded in place of each",
    breaks={"FOUR-ORDER-1"},
    hint="take the angles of each coordinate: x[..., None] * frequencies",
    replace={fourier.angles: on(lambda x: x[..., :1].expand_as(x))},
)
