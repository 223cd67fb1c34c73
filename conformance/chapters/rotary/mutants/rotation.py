"""Ways to get rotary positions wrong: the rotation."""

import torch

from attnconf.conformance.chapters.rotary.mutants.shared import repeated, rotate_every_two, turn_with
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary


def doubled(theta):
    full = torch.cat([theta, theta], dim=-1)
    return full.cos(), full.sin()


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


table_of_halves = Mutant(
    "ROPE-table-of-halves",
    story="the table is laid out for halves (θ, θ), and the rotation is that of neighbours",
    breaks={"ROPE-NORM-1", "ROPE-REL-2"},
    hint="neighbours need repeat_interleave(θ, 2); cat([θ, θ]) goes with rotate_half",
    replace={rotary.turn: turn_with(doubled, rotate_every_two)},
    source="transformers#40462; LLMs-from-scratch#838",
)

table_of_neighbours = Mutant(
    "ROPE-table-of-neighbours",
    story="the table is laid out for neighbours, and the rotation is that of halves",
    breaks={"ROPE-NORM-1", "ROPE-REL-2"},
    hint="rotate_half needs cat([θ, θ]); repeat_interleave(θ, 2) goes with neighbours",
    replace={rotary.turn: turn_with(repeated, rotate_half)},
    source="transformers#40462; tiny-vllm#4",
)

sine_of_the_next = Mutant(
    "ROPE-sine-of-the-next",
    story="the sine has the frequency of the next pair",
    breaks={"ROPE-NORM-1", "ROPE-REL-2"},
    hint="both elements of a pair, and both cos and sin, have one frequency",
    replace={
        rotary.turn: turn_with(
            lambda theta: (repeated(theta)[0], repeated(theta.roll(-1, dims=-1))[1]), rotate_every_two
        )
    },
    source="the same mistake for sinusoidal positions: PapersReimplementations#9",
)


def turn_one_after_the_other(x, theta):
    cos, sin = theta.cos().to(x.dtype), theta.sin().to(x.dtype)
    first = x[..., 0::2] * cos - x[..., 1::2] * sin
    return torch.stack([first, first * sin + x[..., 1::2] * cos], dim=-1).flatten(-2)


first_overwritten = Mutant(
    "ROPE-first-overwritten",
    story="the second element is computed from the first as it has become",
    breaks={"ROPE-NORM-1", "ROPE-REL-2"},
    hint="keep the old first element until the second is done",
    replace={rotary.turn: turn_one_after_the_other},
)


def turn_the_first(x, theta):
    return torch.stack([rotary.turn(x, theta)[..., 0::2], x[..., 1::2]], dim=-1).flatten(-2)


second_passes = Mutant(
    "ROPE-second-passes",
    story="of each pair only the first element is turned: cos and sin of the second are left at 1 and 0",
    breaks={"ROPE-NORM-1", "ROPE-REL-2"},
    hint="the table is as wide as the features: repeat the angles for the second elements, torch.cat([θ, θ])",
    replace={rotary.turn: turn_the_first},
)

sign_lost = Mutant(
    "ROPE-sign-lost",
    story="the minus is lost: both elements get + sin",
    breaks={"ROPE-NORM-1", "ROPE-REL-2"},
    hint="a·cos - b·sin for the first element, a·sin + b·cos for the second",
    replace={rotary.turn: turn_with(repeated, lambda x: torch.stack([x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2))},
)

lengthened = Mutant(
    "ROPE-lengthened",
    story="YaRN's attention factor is applied where nothing is scaled",
    breaks={"ROPE-NORM-1"},
    hint="without scaling cos and sin are multiplied by nothing",
    replace={rotary.magnitude: lambda scaling: rotary.magnitude(scaling) if scaling else 1.1},
)

half_table = Mutant(
    "ROPE-bfloat16-table",
    story="the table of cos and sin is kept in bfloat16, for features of every dtype",
    breaks={"ROPE-NORM-1", "ROPE-REL-2"},
    hint="keep the table in float32, and round what comes out",
    replace={
        rotary.turn: turn_with(
            lambda theta: tuple(part.bfloat16().double() for part in repeated(theta)), rotate_every_two
        )
    },
    source="xformers#779; transformers#29496",
)

from_one = Mutant(
    "ROPE-from-one",
    story="positions start at 1",
    breaks={"ROPE-ZERO-1"},
    hint="the first token is at position 0",
    replace={rotary.count: lambda x: torch.arange(1, x.shape[-2] + 1, device=x.device)},
)

swapped = Mutant(
    "ROPE-cos-sin-swapped",
    story="cos and sin are swapped",
    breaks={"ROPE-ZERO-1", "ROPE-DIR-2"},
    hint="a·cos - b·sin and a·sin + b·cos: position 0 changes nothing",
    replace={rotary.turn: turn_with(lambda theta: repeated(theta)[::-1], rotate_every_two)},
)

squared = Mutant(
    "ROPE-positions-squared",
    story="angles grow with the square of the position",
    breaks={"ROPE-REL-1", "ROPE-REL-2"},
    hint="multiply the frequencies by the positions once",
    replace={rotary.angles: lambda positions, omega: rotary.angles(positions * positions, omega)},
)

declared_wrong = Mutant(
    "ROPE-pairing-undeclared",
    story="pairs are (x_i, x_i+R/2), which is not the declared pairing",
    breaks={"ROPE-PAIR-1", "ROPE-FREQ-2"},
    hint='declare "rope-pairing": "half", or permute the features when weights are loaded',
    replace={rotary.turn: turn_with(doubled, rotate_half)},
    source="transformers#25199; LLMs-from-scratch#747; llama.cpp#7481",
)


def turn_mirrored(x, theta):
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:].flip(-1)
    cos, sin = theta.cos().to(x.dtype), theta.sin().to(x.dtype)
    return torch.cat([first * cos - second * sin, (first * sin + second * cos).flip(-1)], dim=-1)


mirrored = Mutant(
    "ROPE-mirrored",
    story="the first feature is paired with the last, the second with the last but one, …",
    breaks={"ROPE-PAIR-1", "ROPE-FREQ-2"},
    hint="pairs are neighbours, or R/2 apart",
    replace={rotary.turn: turn_mirrored},
)

reversed_rotation = Mutant(
    "ROPE-reversed",
    story="pairs turn backwards, from the second element towards the first",
    breaks={"ROPE-DIR-1", "ROPE-DIR-2"},
    hint="a·cos - b·sin for the first element: rotate_half gives (-b, a), not (b, -a)",
    replace={rotary.turn: lambda x, theta: rotary.turn(x, -theta)},
    source="kornia#4165, where 21 tests pass",
)
