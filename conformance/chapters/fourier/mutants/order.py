"""Ways to get Fourier features wrong: in which order."""

import math

import torch

from attnconf.conformance.chapters.fourier.mutants.shared import features
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import fourier


def join_by_frequency(sines, cosines):
    return torch.stack([sines, cosines], dim=-3).movedim(-1, -3).flatten(-3)


order_frequency = Mutant(
    "FOUR-order-frequency",
    story="the features stand frequency by frequency, as in the code of NeRF, without being declared so",
    breaks={"FOUR-ORDER-1"},
    hint='flatten coordinate by coordinate, or declare {"fourier-order": "frequency"}',
    replace={fourier.join: join_by_frequency},
    source="perceiver-pytorch#4",
)


def join_by_function(sines, cosines):
    return torch.cat([sines.flatten(-2), cosines.flatten(-2)], dim=-1)


order_function = Mutant(
    "FOUR-order-function",
    story="all sines stand before all cosines, without being declared so",
    breaks={"FOUR-ORDER-1"},
    hint='flatten coordinate by coordinate, or declare {"fourier-order": "function"}',
    replace={fourier.join: join_by_function},
)

order_transposed = Mutant(
    "FOUR-order-reshaped",
    story="the axes of coordinates and frequencies are mixed up by a reshape where a transpose is meant",
    breaks={"FOUR-ORDER-1"},
    hint='flatten (d, 2K) in this order, or declare {"fourier-order": "function-frequency"}',
    replace={fourier.join: lambda sines, cosines: torch.cat([sines, cosines], -1).mT.flatten(-2)},
)

order_alternating = Mutant(
    "FOUR-order-alternating",
    story="sines and cosines alternate, frequency by frequency",
    breaks={"FOUR-ZERO-1"},
    hint='for each coordinate first all sines, then all cosines, or declare {"fourier-order": "coordinate-frequency"}',
    replace={fourier.join: lambda sines, cosines: torch.stack([sines, cosines], dim=-1).flatten(-3)},
)

swapped = Mutant(
    "FOUR-swapped",
    story="the cosines stand where the sines belong",
    breaks={"FOUR-ZERO-1"},
    hint="sines first",
    replace={fourier.join: lambda sines, cosines: fourier.join(cosines, sines)},
)

input_kept = Mutant(
    "FOUR-input-kept",
    story="the coordinates are kept before the features without being declared so",
    breaks={"CALL-SHAPE-1"},
    hint='drop the coordinates, or declare {"fourier-input": "kept"}',
    replace={fourier.fourier: features(lambda x, out: torch.cat([x, out], dim=-1))},
    source="bmild/nerf keeps them by default",
)

cosines_missing = Mutant(
    "FOUR-cosines-missing",
    story="there are sines only",
    breaks={"CALL-SHAPE-1"},
    hint="the sine and the cosine of every angle",
    replace={fourier.join: lambda sines, cosines: sines.flatten(-2)},
)

last_axis_kept = Mutant(
    "FOUR-not-flattened",
    story="the features of the coordinates are left on an axis of their own",
    breaks={"CALL-SHAPE-1"},
    hint="flatten the last two axes",
    replace={fourier.join: lambda sines, cosines: torch.cat([sines, cosines], dim=-1)},
)

flattened_from_1 = Mutant(
    "FOUR-flattened-from-1",
    story="everything but the first axis is flattened",
    breaks={"FOUR-AXES-1"},
    hint="flatten(-2), the last two axes, not flatten(1)",
    replace={fourier.join: lambda sines, cosines: torch.cat([sines, cosines], dim=-1).flatten(1)},
)

squeezed = Mutant(
    "FOUR-squeezed",
    story="axes of size 1 are squeezed away",
    breaks={"FOUR-AXES-1"},
    hint="name the axis that is squeezed, or squeeze none",
    replace={
        fourier.fourier: features(
            lambda x, out: out.reshape(*(n for n in x.shape[:-1] if n > 1), -1) if x.ndim > 2 else out
        )
    },
)

cosine_of_next = Mutant(
    "FOUR-cosine-of-next",
    story="a cosine has the frequency of the next sine",
    breaks={"FOUR-PAIR-1"},
    hint="sine and cosine of one and the same angle",
    replace={fourier.join: lambda sines, cosines: fourier.join(sines, cosines.roll(-1, dims=-1))},
)


def damped_by(change):
    """Return features of which each pair is scaled by ``change`` of its frequency."""

    def damped(x, frequencies):
        theta = fourier.angles(x, frequencies)
        by = change(torch.tensor(frequencies, dtype=theta.dtype))
        return fourier.join(theta.sin() * by, theta.cos() * by).to(x.dtype)

    return {fourier.fourier: damped}


damped = Mutant(
    "FOUR-damped",
    story="high frequencies are damped: each pair is divided by its frequency",
    breaks={"FOUR-ZERO-1"},
    hint="leave sines and cosines as they are; what the network needs of them it learns",
    replace=damped_by(lambda f: 1 / f),
    variants=[damped_by(lambda f: f**-0.5), damped_by(lambda f: f**-2)],
)

amplitude = Mutant(
    "FOUR-amplitude",
    story="the sines are scaled by √2",
    breaks={"FOUR-PAIR-1"},
    hint="amplitudes are 1",
    replace={fourier.join: lambda sines, cosines: fourier.join(math.sqrt(2) * sines, cosines)},
)
