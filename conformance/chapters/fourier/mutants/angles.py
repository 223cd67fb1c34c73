"""Ways to get Fourier features wrong: which angles."""

import math

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import fourier


def times(factor):
    return lambda x, frequencies: factor * fourier.angles(x, frequencies)


def with_bank(change):
    """Return angles with other frequencies: ``change`` of the number of the frequency, from 0 on."""
    return lambda x, frequencies: fourier.angles(x, [change(k) for k in range(len(frequencies))])


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


def evenly_spaced(x, frequencies):
    low, high, steps = frequencies[0], frequencies[-1], max(1, len(frequencies) - 1)
    return fourier.angles(x, [low + (high - low) * k / steps for k in range(len(frequencies))])


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

bank_evenly = Mutant(
    "FOUR-bank-evenly-spaced",
    story="the frequencies are evenly spaced from the lowest to the highest, where each is twice the one before",
    breaks={"FOUR-FREQ-1"},
    hint="2 ** torch.linspace(0, K - 1, K), not torch.linspace(1, 2 ** (K - 1), K)",
    replace={fourier.angles: evenly_spaced},
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
