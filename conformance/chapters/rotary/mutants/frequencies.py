"""Ways to get rotary positions wrong: frequencies."""

import math

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary


def even(R):
    return torch.arange(0, R, 2, dtype=torch.float64)


def at_exponents(exponents):
    """Return frequencies with base^(-exponents(R))."""
    return lambda rotary_dim, base: base ** -exponents(rotary_dim)


exponent_single = Mutant(
    "ROPE-exponent-i",
    story="the exponent is i/R for pair i, without the 2",
    breaks={"ROPE-FREQ-1", "ROPE-FREQ-2"},
    hint="base ** (-torch.arange(0, R, 2) / R)",
    replace={rotary.frequencies: at_exponents(lambda R: even(R) / (2 * R))},
    source="the same mistake for sinusoidal positions: slippi-ai#24",
)

exponent_double = Mutant(
    "ROPE-exponent-4i",
    story="the exponent is 4i/R: a 2 times an arange that steps by 2 already",
    breaks={"ROPE-FREQ-1", "ROPE-FREQ-2"},
    hint="base ** (-torch.arange(0, R, 2) / R)",
    replace={rotary.frequencies: at_exponents(lambda R: 2 * even(R) / R)},
    source="kornia#4165; for sinusoidal positions: SamLynnEvans/Transformer#25",
)

exponent_positive = Mutant(
    "ROPE-exponent-positive",
    story="positions are multiplied by base^(2i/R) instead of divided",
    breaks={"ROPE-FREQ-1", "ROPE-FREQ-2"},
    hint="later pairs turn more slowly: 1 / base ** (2i/R)",
    replace={rotary.frequencies: at_exponents(lambda R: -even(R) / R)},
    source="the same mistake for sinusoidal positions: annotated-transformer#131",
)

exponent_endpoint = Mutant(
    "ROPE-exponent-endpoint",
    story="the last pair turns by exactly 1/base: the exponent is i/(R/2 - 1)",
    breaks={"ROPE-FREQ-1", "ROPE-FREQ-2"},
    hint="the exponent is 2i/R, and stops short of 1",
    replace={rotary.frequencies: at_exponents(lambda R: even(R) / max(R - 2, 1))},
)

exponent_from_one = Mutant(
    "ROPE-exponent-from-one",
    story="pairs are counted from 1: the first turns by base^(-2/R)",
    breaks={"ROPE-FREQ-1", "ROPE-FREQ-2"},
    hint="the first pair turns by one radian a token",
    replace={rotary.frequencies: at_exponents(lambda R: (even(R) + 2) / R)},
)

flipped = Mutant(
    "ROPE-frequencies-flipped",
    story="the first pair has the lowest frequency",
    breaks={"ROPE-FREQ-1", "ROPE-FREQ-2"},
    hint="the first pair turns by one radian a token, the last one slowest",
    replace={rotary.frequencies: lambda rotary_dim, base: rotary.frequencies(rotary_dim, base).flip(0)},
)

turns_for_radians = Mutant(
    "ROPE-full-turns",
    story="frequencies are full turns a token: there is a factor of 2π",
    breaks={"ROPE-FREQ-1", "ROPE-FREQ-2"},
    hint="angles are in radians: p · base ** (-2i/R)",
    replace={rotary.frequencies: lambda rotary_dim, base: 2 * math.pi * rotary.frequencies(rotary_dim, base)},
)


def first_half_only(rotary_dim, base):
    omega = rotary.frequencies(rotary_dim, base)
    omega[(len(omega) + 1) // 2 :] = 0.0
    return omega


second_half_still = Mutant(
    "ROPE-second-half-still",
    story="the second half of the pairs does not turn: the table is half as wide as the features",
    breaks={"ROPE-FREQ-1", "ROPE-FREQ-2"},
    hint="there are R/2 frequencies, each for two features",
    replace={rotary.frequencies: first_half_only},
    source="OpenArch#13; ncnn#6833",
)

twice = Mutant(
    "ROPE-twice",
    story="the rotation is applied twice",
    breaks={"ROPE-FREQ-1", "ROPE-FREQ-2"},
    hint="rotate in the layer or in the attention, not in both",
    replace={rotary.turn: lambda x, theta: rotary.turn(rotary.turn(x, theta), theta)},
)

not_at_all = Mutant(
    "ROPE-missing",
    story="nothing turns",
    breaks={"ROPE-FREQ-1", "ROPE-ORDER-1"},
    hint="rotate queries and keys before their product",
    replace={rotary.turn: lambda x, theta: x},
    source="vllm#30413",
)

relative_to_length = Mutant(
    "ROPE-positions-normalised",
    story="positions are divided by the number of tokens",
    breaks={"ROPE-FREQ-1", "ROPE-FREQ-2"},
    hint="positions are in tokens: 0, 1, 2, …",
    replace={rotary.count: lambda x: torch.arange(x.shape[-2], device=x.device) / x.shape[-2]},
)

base_fixed = Mutant(
    "ROPE-base-fixed",
    story="the base is 10000 whatever is configured",
    breaks={"ROPE-BASE-1", "ROPE-FREQ-2"},
    hint="hand the configured base on to the frequencies",
    replace={rotary.frequencies: lambda rotary_dim, base: rotary.frequencies(rotary_dim, 10000.0)},
)

base_mistyped = Mutant(
    "ROPE-base-1000",
    story="the base is a tenth of what it should be",
    breaks={"ROPE-FREQ-1", "ROPE-FREQ-2"},
    hint="the base is 10000 where nothing else is said",
    replace={rotary.frequencies: lambda rotary_dim, base: rotary.frequencies(rotary_dim, base / 10)},
)
