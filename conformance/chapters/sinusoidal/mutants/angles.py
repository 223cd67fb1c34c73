"""Ways to get sinusoidal positions wrong: angles and frequencies."""

import math

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal


def pairs_of(dim):
    """Return the numbers 0, 1, … of the pairs of features, float64."""
    return torch.arange(0, dim, 2, dtype=torch.float64) / 2


squared_positions = Mutant(
    "SIN-squared-positions",
    story="the angle grows with the square of the position",
    breaks={"SIN-SHIFT-1", "SIN-GRID-5"},
    hint="the angle is p·ω",
    replace={sinusoidal.angles: lambda positions, omega: sinusoidal.angles(positions * positions, omega)},
)

logarithmic = Mutant(
    "SIN-logarithmic",
    story="the angle grows with the logarithm of 1 + p",
    breaks={"SIN-SHIFT-1"},
    hint="the angle is p·ω: equal steps turn by equal angles",
    replace={sinusoidal.count: lambda x: (1 + torch.arange(x.shape[1]).double()).log2()},
)

double_step = Mutant(
    "SIN-double-step",
    story="the exponent is 2i/d where i goes in steps of 2 already, so 4i/d",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="range(0, d, 2) is 2i: the exponent is then i/d",
    replace={sinusoidal.frequencies: lambda dim, base: base ** (-4 * pairs_of(dim) / dim)},
    source="SamLynnEvans/Transformer#25; intro-llm#34",
)

half_exponent = Mutant(
    "SIN-half-exponent",
    story="the exponent is i/d instead of 2i/d",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="pair i has the exponent 2i/d",
    replace={sinusoidal.frequencies: lambda dim, base: base ** (-pairs_of(dim) / dim)},
    source="slippi-ai#24",
)


def with_logarithm_of(quotient):
    """Frequencies exp(-2i·log(quotient)), where exp(-2i·log(base)/dim) was meant."""
    return {sinusoidal.frequencies: lambda dim, base: quotient(dim, base) ** (-2 * pairs_of(dim))}


logarithm_of_quotient = Mutant(
    "SIN-logarithm-of-quotient",
    story="the exponent is 2i·log(10000 / d), where 2i·log(10000) / d is meant",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="close the bracket of the logarithm before the division: math.log(10000.0) / d",
    replace=with_logarithm_of(lambda dim, base: base / dim),
    variants=[
        with_logarithm_of(lambda dim, base: 1000.0 / dim),
        {
            sinusoidal.frequencies: lambda dim, base: torch.exp(
                torch.arange(0, dim, 2).float() * -math.log(base / dim)
            ).double()
        },
        {
            sinusoidal.frequencies: lambda dim, base: torch.exp(
                torch.arange(0, dim, 2).float() * -math.log(1000.0 / dim)
            ).double()
        },
    ],
)

frequencies_vanish = Mutant(
    "SIN-frequencies-vanish",
    story="all frequencies but the first are next to nothing: 10000 without its logarithm, or to a power times d",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="10000 ** (-2i / d), or exp(-2i · log(10000) / d)",
    replace={sinusoidal.frequencies: lambda dim, base: (pairs_of(dim) == 0).to(pairs_of(dim).dtype)},
)

half_width = Mutant(
    "SIN-half-width",
    story="2i is divided by d // 2",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="divide 2i by d, or i by d / 2",
    replace={sinusoidal.frequencies: lambda dim, base: base ** (-2 * pairs_of(dim) / (dim // 2))},
    source="kornia#4165",
)

# Ways to write 10000^(±2i/d) in float32, whose last digits angles of thousands of radians tell apart.
POWERS = (
    lambda dim, base, sign: torch.pow(base, sign * torch.arange(0, dim, 2).float() / dim),
    lambda dim, base, sign: torch.exp(torch.arange(0, dim, 2).float() * (sign * math.log(base) / dim)),
    lambda dim, base, sign: torch.pow(base, torch.arange(0, dim, 2).float() / dim) ** sign,
    lambda dim, base, sign: (base ** (sign * 2 * pairs_of(dim) / dim)).float(),
)


def times_power(power):
    return {
        sinusoidal.frequencies: lambda dim, base: power(dim, base, 1),
        sinusoidal.angles: lambda positions, omega: (positions.float()[..., None] * omega).double(),
    }


def over_inverse(power):
    return {
        sinusoidal.frequencies: lambda dim, base: power(dim, base, -1),
        sinusoidal.angles: lambda positions, omega: (positions.float()[..., None] / omega).double(),
    }


multiplied_by_power = Mutant(
    "SIN-multiplied-by-power",
    story="the position is multiplied by 10000^(2i/d) instead of divided",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="the exponent is negative: p·base^(-2i/d)",
    replace={sinusoidal.frequencies: lambda dim, base: base ** (2 * pairs_of(dim) / dim)},
    variants=[times_power(power) for power in POWERS],
    source="annotated-transformer#131",
)

inverted_twice = Mutant(
    "SIN-inverted-twice",
    story="the position is divided by the frequency, which had been inverted already",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="multiply by 1/10000^(2i/d), or divide by 10000^(2i/d), not both",
    replace=over_inverse(POWERS[-1]),
    variants=[over_inverse(power) for power in POWERS[:-1]],
    source="system 3a",
)

undeclared_endpoint = Mutant(
    "SIN-undeclared-endpoint",
    story="the exponents run to 1 inclusive, and nobody says so",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint='declare sinusoidal-frequencies = "endpoint", or divide by d / 2 instead of d / 2 - 1',
    replace={sinusoidal.frequencies: lambda dim, base: base ** (-pairs_of(dim) / max((dim + 1) // 2 - 1, 1))},
    source="tensor2tensor; fairseq",
)

integer_exponent = Mutant(
    "SIN-integer-exponent",
    story="all frequencies are 1: the exponent is 0, by whole-number division (2i // d), or there is none",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="divide with /",
    replace={sinusoidal.frequencies: lambda dim, base: base ** -(2 * pairs_of(dim) // dim)},
)

backwards = Mutant(
    "SIN-backwards",
    story="pairs turn the other way round: the angle is -p·ω",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="sin(p·ω), cos(p·ω)",
    replace={sinusoidal.angles: lambda positions, omega: sinusoidal.angles(positions, -omega)},
)

in_turns = Mutant(
    "SIN-in-turns",
    story="the angle is 2π·p·ω",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="frequencies are in radians per token",
    replace={sinusoidal.angles: lambda positions, omega: sinusoidal.angles(positions, 6.283185307179586 * omega)},
)

in_degrees = Mutant(
    "SIN-in-degrees",
    story="the angles are taken for degrees",
    breaks={"SIN-ORDER-1", "SIN-GRID-5"},
    hint="p·ω is in radians already: no deg2rad, no π / 180",
    replace={sinusoidal.angles: lambda positions, omega: sinusoidal.angles(positions, omega * math.pi / 180)},
)

base_1000 = Mutant(
    "SIN-base-1000",
    story="the base is 1000 where it should be 10000",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="the base is 10000: count the zeros",
    replace={sinusoidal.frequencies: lambda dim, base: sinusoidal.frequencies(dim, base / 10)},
)

base_ignored = Mutant(
    "SIN-base-ignored",
    story="the base is always 10000, whatever the configuration says",
    breaks={"SIN-BASE-1", "SIN-GRID-6"},
    hint="use config.base; a table that is kept for later calls belongs to its base as well",
    replace={sinusoidal.frequencies: lambda dim, base: sinusoidal.frequencies(dim, 10000.0)},
)


def with_length_for_base(config, weights):
    def forward(x, *, positions=None):
        return sinusoidal.sinusoidal(x, positions, float(config.max_len), adapter.active_dropout(config))

    return forward


base_is_max_len = Mutant(
    "SIN-base-is-max-len",
    story="the base is max_len, the number of rows of the table, where it should be 10000",
    breaks={"SIN-FREQ-1", "SIN-MAXLEN-1"},
    hint="the base is 10000 however long the table is: math.log(10000.0), not math.log(max_len)",
    replace={adapter.sinusoidal: with_length_for_base},
)


def odd_last_zero(theta, dim):
    encoded = sinusoidal.interleave(theta, dim)
    return torch.cat([encoded[..., :-1], 0 * encoded[..., -1:]], dim=-1) if dim % 2 else encoded


odd_feature_left_zero = Mutant(
    "SIN-odd-feature-left-zero",
    story="with an odd width the last feature stays zero",
    breaks={"SIN-ODD-1"},
    hint="the last feature is the sine of the last pair; only its cosine has no place",
    replace={sinusoidal.interleave: odd_last_zero},
    source="pyaptamer#607; BERT-pytorch#78",
)

odd_width_rounded = Mutant(
    "SIN-odd-width-rounded",
    story="with an odd width the exponents are those of the next even one",
    breaks={"SIN-ODD-1"},
    hint="divide by the width that there is",
    replace={sinusoidal.frequencies: lambda dim, base: sinusoidal.frequencies(dim + dim % 2, base)},
)
