"""Ways to get Fourier features wrong: the reference with one function replaced."""

import math

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import NUMBERS, ZERO_APART, Vacuous
from attnconf.reference import fourier


def times(factor):
    return lambda x, frequencies: factor * fourier.angles(x, frequencies)


def with_bank(change):
    """Return angles with other frequencies: ``change`` of the number of the frequency, from 0 on."""
    return lambda x, frequencies: fourier.angles(x, [change(k) for k in range(len(frequencies))])


def on(change):
    """Return angles of other coordinates."""
    return lambda x, frequencies: fourier.angles(change(x), frequencies)


def features(change):
    """Return Fourier features, changed by a function of (x, features)."""
    return lambda x, frequencies: change(x, fourier.fourier(x, frequencies))


# -- which angles

factor_pi = Mutant(
    "FOUR-factor-pi",
    story="the angles carry a factor π that is not declared",
    breaks={"FOUR-FACTOR-1"},
    hint='the angle is frequency times coordinate, or declare {"fourier-factor": "pi"}',
    replace={fourier.angles: times(math.pi)},
    source="bmild/nerf#12; bmild/nerf#65; nerfmm#18",
)

factor_two_pi = Mutant(
    "FOUR-factor-2pi",
    story="the angles carry a factor 2π that is not declared",
    breaks={"FOUR-FACTOR-1"},
    hint='the angle is frequency times coordinate, or declare {"fourier-factor": "2pi"}',
    replace={fourier.angles: times(2 * math.pi)},
    source="tiny-cuda-nn#298",
)

factor_missing = Mutant(
    "FOUR-factor-missing",
    story="the angles lack a factor π that is declared",
    breaks={"FOUR-FACTOR-1"},
    hint="multiply by the declared factor",
    replace={fourier.angles: times(1 / math.pi)},
    source="bmild/nerf#50; nerf-pytorch#146",
)

bank_exponential = Mutant(
    "FOUR-bank-exp",
    story="the frequencies are exp(i/2) whatever bank is asked for",
    breaks={"FOUR-FREQ-1"},
    hint="use config.frequencies",
    replace={fourier.angles: with_bank(lambda k: math.exp(k / 2))},
    source="system 1b",
)


def multiples_of_the_first(change):
    """Return angles of ``change`` of the number of the frequency, times the first: what all of them have in common."""
    return lambda x, frequencies: fourier.angles(x, [frequencies[0] * change(k) for k in range(len(frequencies))])


bank_2k = Mutant(
    "FOUR-bank-2k",
    story="the frequencies are 2·k instead of 2^k",
    breaks={"FOUR-FACTOR-1"},
    hint="2 ** k, not 2 * k: the first frequency is 1, not 0",
    replace={fourier.angles: multiples_of_the_first(lambda k: 2.0 * k)},
)

bank_linear = Mutant(
    "FOUR-bank-linear",
    story="the frequencies are 1, 2, 3, … instead of 1, 2, 4, …",
    breaks={"FOUR-FREQ-1"},
    hint="use config.frequencies; linspace is not logspace",
    replace={fourier.angles: with_bank(lambda k: 1.0 + k)},
)

bank_squared = Mutant(
    "FOUR-bank-squared",
    story="the frequencies are 4^k: the exponent is doubled twice",
    breaks={"FOUR-FREQ-1"},
    hint="2 ** k",
    replace={fourier.angles: with_bank(lambda k: 4.0**k)},
)

bank_fixed = Mutant(
    "FOUR-bank-fixed",
    story="the frequencies are 2^k whatever bank is asked for",
    breaks={"FOUR-BANK-1"},
    hint='use config.frequencies, or raise NotImplementedError("other frequencies than powers of two")',
    replace={fourier.angles: with_bank(lambda k: 2.0**k)},
)

bank_sorted = Mutant(
    "FOUR-bank-sorted",
    story="the frequencies are sorted before use",
    breaks={"FOUR-BANK-1"},
    hint="keep the frequencies in the order in which they are given",
    replace={fourier.angles: lambda x, frequencies: fourier.angles(x, sorted(frequencies))},
)

bank_reversed = Mutant(
    "FOUR-bank-reversed",
    story="the highest frequency comes first",
    breaks={"FOUR-FACTOR-1"},
    hint="keep the frequencies in the order in which they are given",
    replace={fourier.angles: lambda x, frequencies: fourier.angles(x, frequencies[::-1])},
)

bank_integers = Mutant(
    "FOUR-bank-integers",
    story="the frequencies are rounded to integers",
    breaks={"FOUR-BANK-1"},
    hint="keep the frequencies as floats",
    replace={fourier.angles: lambda x, frequencies: fourier.angles(x, [float(int(f)) for f in frequencies])},
)

bank_capped = Mutant(
    "FOUR-bank-capped",
    story="frequencies above 128 are lowered to 128",
    breaks={"FOUR-HIGH-1"},
    hint="use the frequencies as they are given",
    replace={fourier.angles: lambda x, frequencies: fourier.angles(x, [min(f, 128.0) for f in frequencies])},
)

# -- of which coordinates

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


def by_the_largest(x):
    return x / x.abs().max().clamp_min(1e-9) if len(x) else x


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

# -- in which order


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
    hint="flatten (d, 2K) in this order",
    replace={fourier.join: lambda sines, cosines: torch.cat([sines, cosines], -1).mT.flatten(-2)},
)

order_alternating = Mutant(
    "FOUR-order-alternating",
    story="sines and cosines alternate, frequency by frequency",
    breaks={"FOUR-ZERO-1"},
    hint="for each coordinate first all sines, then all cosines",
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

# -- precision, dtype, gradients, side effects

narrow = Mutant(
    "FOUR-angles-in-half",
    story="angles are computed in the dtype of the coordinates, bfloat16 too",
    breaks={"FOUR-HALF-1", "FOUR-RHALF-1"},
    hint="compute angles and sines in float32, and round the features",
    replace={fourier.widen: lambda x: x},
)


def angles_under_autocast(x, frequencies):
    theta = fourier.angles(x.to(torch.bfloat16) if x.dtype == torch.float32 else x, frequencies)
    return theta.to(torch.bfloat16).to(theta.dtype) if x.dtype == torch.float32 else theta


autocast = Mutant(
    "FOUR-autocast",
    story="under autocast the product of coordinates and frequencies runs in bfloat16",
    breaks={"FOUR-PREC-1"},
    hint="compute the angles outside autocast: with torch.autocast(x.device.type, enabled=False)",
    replace={fourier.angles: angles_under_autocast},
)


detached = Mutant(
    "FOUR-detached",
    story="the features are computed without gradients",
    breaks={"FOUR-GRAD-1"},
    hint="no torch.no_grad and no detach on the way from coordinates to features",
    replace={fourier.fourier: features(lambda x, out: out.detach())},
)

sines_detached = Mutant(
    "FOUR-sines-detached",
    story="gradients flow through the cosines only",
    breaks={"FOUR-GRAD-1"},
    hint="no detach on the way from coordinates to features",
    replace={fourier.join: lambda sines, cosines: fourier.join(sines.detach(), cosines)},
)


def fourier_in_chunks(x, frequencies):
    out = fourier.fourier(x, frequencies)
    return torch.cat([out[:64], *(out[:64][: len(chunk)] for chunk in out[64:].split(64))]) if len(out) > 64 else out


chunks = Mutant(
    "FOUR-chunks",
    story="points are encoded in chunks of 64, and every chunk gets the features of the first",
    breaks={"FOUR-LEARN-1"},
    hint="take the points of the chunk: x[start : start + 64]",
    replace={fourier.fourier: fourier_in_chunks},
)

# -- random features


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

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(
        NUMBERS,
        "FOUR-RFIXED-1",
        "the same sizes and values give the same output, whatever the settings or earlier calls",
    ),
    Vacuous(
        NUMBERS,
        "FOUR-POINTS-1 FOUR-AXES-1 FOUR-RPOINTS-1",
        "an output depends on the input in its own place, or on nothing",
    ),
    Vacuous(ZERO_APART, "FOUR-ORDER-1", "what is the same everywhere is so beside all coordinates"),
    Vacuous(("echo",), "FOUR-GRAD-1 FOUR-RGRAD-1", "autograd differentiates what was computed"),
)
