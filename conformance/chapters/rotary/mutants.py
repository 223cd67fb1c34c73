"""Ways to get rotary wrong: the reference with one function replaced."""

import math
from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import NUMBERS, ZERO_APART, Vacuous
from attnconf.reference import rotary
from attnconf.reference.attention import attend
from attnconf.reference.masks import causal as causal_mask


def called(change):
    """Return the component that, when called, does change(x, positions, rotate) with the right rotate(x, positions)."""

    def component(config, weights):
        rotate = adapter.rotary(config, weights)
        return lambda x, *, positions=None: change(x, positions, lambda y, at: rotate(y, positions=at))

    return component


def rotating(change):
    """Return rotate with change(x, positions, turned), where turned(x, positions) is the right one, in its place."""

    def rotate(x, positions, omega, rotary_dim, size=1.0):
        return change(x, positions, lambda y, at: rotary.rotate(y, at, omega, rotary_dim, size))

    return rotate


def built(change):
    """Return the component built with change(config) instead of config."""
    return lambda config, weights: adapter.rotary(change(config), weights)


def placed(change):
    """Return the component with change(positions, config), where it counts them too, in the place of positions."""

    def component(config, weights):
        rotate = adapter.rotary(config, weights)

        def forward(x, *, positions=None):
            positions = rotary.count(x) if positions is None else positions
            return rotate(x, positions=change(positions, config))

        return forward

    return component


# -- the call

squeezed = Mutant(
    "ROPE-squeezed",
    story="axes of size 1 are squeezed away, and with them the one token of a decoding step",
    breaks={"ROPE-EDGE-1"},
    hint="name the axis that is squeezed, or squeeze none",
    replace={adapter.rotary: called(lambda x, at, rotate: rotate(x, at).squeeze(2))},
)


axes_swapped = Mutant(
    "ROPE-axes-swapped",
    story="the output is (B, L, H, E): heads and tokens are not swapped back",
    breaks={"CALL-SHAPE-1"},
    hint="return the axes in the order in which they came",
    replace={
        adapter.rotary: called(lambda x, at, rotate: rotate(x, at).transpose(1, 2)),
        rotary.rotary_attention: lambda q, k, v, positions, omega, causal=False: rotary.rotary_attention(
            q, k, v, positions, omega, causal
        ).transpose(1, 2),
    },
)

promoted = Mutant(
    "ROPE-promoted",
    story="features in half precision times a float32 table stay float32",
    breaks={"CALL-DTYPE-1"},
    hint="convert the output back: .type_as(x)",
    replace={
        adapter.rotary: called(lambda x, at, rotate: rotate(x.to(torch.promote_types(x.dtype, torch.float32)), at))
    },
    source="transformers#25681",
)


def rotate_in_place(x, positions, omega, rotary_dim, size=1.0):
    x[..., :rotary_dim] = rotary.rotate(x, positions, omega, rotary_dim, size)[..., :rotary_dim]
    return x


in_place = Mutant(
    "ROPE-in-place",
    story="the input is turned in place",
    breaks={"CALL-IMMUT-1"},
    hint="write to a new tensor: the caller may still need the old one",
    replace={rotary.rotate: rotate_in_place},
)


def counting(config, weights):
    seen = 0

    def forward(x, *, positions=None):
        nonlocal seen
        at = rotary.count(x) + seen if positions is None else positions
        seen += x.shape[-2]
        return adapter.rotary(config, weights)(x, positions=at)

    return forward


counter_kept = Mutant(
    "ROPE-counter-kept",
    story="positions go on where the last call ended",
    breaks={"CALL-REPEAT-1"},
    hint="take the offset as an argument instead of counting calls",
    replace={adapter.rotary: counting},
)


def attend_evenly(q, k, v, positions, omega, causal=False):
    even = q.shape[-1] // 2
    mask = causal_mask(q.shape[-2], k.shape[-2]).to(q.device) if causal else None
    q, k = (rotary.rotate(x, positions, omega[:even], 2 * even) for x in (q, k))
    return attend(q, k, v, mask)[0]


odd_floored = Mutant(
    "ROPE-odd-floored",
    story="of an odd number of features the last is left over, silently",
    breaks={"ROPE-ODD-1"},
    hint="raise an error where the width is odd",
    replace={
        adapter.rotary: built(lambda config: replace(config, rotary_dim=config.rotary_dim // 2 * 2)),
        rotary.rotary_attention: attend_evenly,
    },
)

too_wide_clipped = Mutant(
    "ROPE-width-clipped",
    story="a rotary_dim larger than the head is taken for all of it, silently",
    breaks={"ROPE-WIDTH-1"},
    hint="raise an error where rotary_dim > head_dim",
    replace={adapter.rotary: built(lambda config: replace(config, rotary_dim=min(config.rotary_dim, config.head_dim)))},
)

# -- which axis

normalised = Mutant(
    "ROPE-normalised-inside",
    story="the features are normalised while they are turned",
    breaks={"ROPE-LINEAR-1"},
    hint="normalise queries and keys before, outside of the rotation",
    replace={
        adapter.rotary: called(lambda x, at, rotate: rotate(x / x.square().mean(dim=-1, keepdim=True).sqrt(), at))
    },
    source="tiny-llm#287 (the order of the two)",
)

added = Mutant(
    "ROPE-added",
    story="sines and cosines are added to the features instead of turning them",
    breaks={"ROPE-LINEAR-1"},
    hint="multiply: a·cos - b·sin and a·sin + b·cos",
    replace={adapter.rotary: called(lambda x, at, rotate: x + rotate(torch.ones_like(x), at))},
)


def along(axis):
    """Return the change by which positions run along another axis where none are given."""

    def change(x, positions, turned):
        if positions is not None:
            return turned(x, positions)
        return turned(x.transpose(axis, 2), None).transpose(axis, 2)

    return change


along_heads = Mutant(
    "ROPE-along-heads",
    story="positions run along the heads instead of the tokens",
    breaks={"ROPE-HEAD-1", "ROPE-ORDER-1"},
    hint="tokens are the third of (B, H, L, E): look at the order of the axes",
    replace={rotary.rotate: rotating(along(1))},
)

along_batch = Mutant(
    "ROPE-along-batch",
    story="positions run along the samples instead of the tokens",
    breaks={"ROPE-BATCH-1", "ROPE-ORDER-1"},
    hint="tokens are the third of (B, H, L, E): look at the order of the axes",
    replace={rotary.rotate: rotating(along(0))},
)


def misread(x, positions, turned):
    if positions is not None:
        return turned(x, positions)
    B, H, L, E = x.shape
    return turned(x.reshape(B, L, H, E).transpose(1, 2), None).transpose(1, 2).reshape(B, H, L, E)


heads_reshaped = Mutant(
    "ROPE-heads-reshaped",
    story="heads and tokens are swapped by a reshape, which deals the features out anew",
    breaks={"ROPE-HEAD-1", "ROPE-REL-2"},
    hint="swap axes with transpose; reshape does not",
    replace={rotary.rotate: rotating(misread)},
)

# -- the rotation


def turn_with(cos_sin, partner):
    """Return turn as x·cos + partner(x)·sin with tables (…, R), as most code has it."""

    def turn(x, theta):
        cos, sin = cos_sin(theta)
        return x * cos.to(x.dtype) + partner(x) * sin.to(x.dtype)

    return turn


def doubled(theta):
    full = torch.cat([theta, theta], dim=-1)
    return full.cos(), full.sin()


def repeated(theta):
    full = theta.repeat_interleave(2, dim=-1)
    return full.cos(), full.sin()


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def rotate_every_two(x):
    return torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)


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

# -- frequencies


def at_exponents(exponents):
    """Return frequencies with base^(-exponents(R))."""
    return lambda rotary_dim, base: base ** -exponents(rotary_dim)


def even(R):
    return torch.arange(0, R, 2, dtype=torch.float64)


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

# -- gradients

no_gradient = Mutant(
    "ROPE-no-gradient",
    story="the rotation is computed without gradients",
    breaks={"ROPE-GRAD-1", "ROPE-ORACLE-1"},
    hint="the table needs no gradient, the features do: no torch.no_grad() around them",
    replace={rotary.turn: lambda x, theta: rotary.turn(x.detach(), theta)},
)

partner_detached = Mutant(
    "ROPE-partner-detached",
    story="gradients pass through the cosines only",
    breaks={"ROPE-GRAD-1", "ROPE-ORACLE-1"},
    hint="both terms depend on x: a·cos and b·sin",
    replace={rotary.turn: turn_with(repeated, lambda x: rotate_every_two(x.detach()))},
)


class TurnedOn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, theta):
        ctx.save_for_backward(theta)
        return rotary.turn(x, theta)

    @staticmethod
    def backward(ctx, upstream):
        return rotary.turn(upstream, ctx.saved_tensors[0]), None


gradient_turned_on = Mutant(
    "ROPE-gradient-turned-on",
    story="a hand-written backward pass turns gradients forwards, not back",
    breaks={"ROPE-GRAD-1", "ROPE-ORACLE-1"},
    hint="the transpose of a rotation is its inverse: use -sin in the backward pass",
    replace={rotary.turn: lambda x, theta: TurnedOn.apply(x, theta)},
)

# -- precision


def positions_in(dtype):
    return lambda positions, omega: rotary.angles(positions.to(dtype), omega)


float16_positions = Mutant(
    "ROPE-float16-positions",
    story="positions are rounded to float16, for features of every dtype",
    breaks={"ROPE-LONG-1"},
    hint="keep positions as integers or in float32: float16 counts to 2048",
    replace={rotary.angles: positions_in(torch.float16)},
    source="transformers#28837",
)

bfloat16_positions = Mutant(
    "ROPE-bfloat16-positions",
    story="positions are rounded to bfloat16, for features of every dtype",
    breaks={"ROPE-LONG-1"},
    hint="keep positions as integers or in float32: bfloat16 counts to 256",
    replace={rotary.angles: positions_in(torch.bfloat16)},
    source="Megatron-LM#744",
)

wrapped_2048 = Mutant(
    "ROPE-wrapped-2048",
    story="positions start anew after 2048 tokens",
    breaks={"ROPE-LONG-1"},
    hint="positions have no end",
    replace={
        rotary.angles: lambda positions, omega: rotary.angles(
            torch.where(positions < 2048, positions, positions % 2048), omega
        )
    },
)


def kept(y, x):
    return y


def converted(y, x):
    return y.to(x.dtype).double()


def rotate_rounding(omega_as, theta_as):
    """Return rotate with frequencies omega_as(ω, x) and angles theta_as(θ, x)."""

    def rotate(x, positions, omega, rotary_dim, size=1.0):
        rotary.refuse_width(x.shape[-1], rotary_dim)
        positions = rotary.count(x) if positions is None else positions
        rotary.refuse_positions(x, positions)
        theta = theta_as(rotary.angles(rotary.spread(positions), omega_as(omega, x)), x)
        return torch.cat([size * rotary.turn(x[..., :rotary_dim], theta), x[..., rotary_dim:]], dim=-1)

    return rotate


def built_on(rotate):
    """Return the component that turns by rotate(x, positions, omega, rotary_dim, size)."""

    def component(config, weights):
        omega = rotary.scaled(rotary.frequencies(config.rotary_dim, config.base), config.base, config.scaling)
        size = rotary.magnitude(config.scaling)
        return lambda x, *, positions=None: rotate(x, positions, omega, config.rotary_dim, size)

    return component


angles_rounded = Mutant(
    "ROPE-bfloat16-angles",
    story="angles are computed in bfloat16, for features of every dtype",
    breaks={"ROPE-REL-1"},
    hint="compute angles in float32: an angle is large, and its rounding error with it",
    replace={adapter.rotary: built_on(rotate_rounding(kept, lambda theta, x: theta.bfloat16().double()))},
    source="transformers#29285",
)

frequencies_converted = Mutant(
    "ROPE-frequencies-converted",
    story="the frequencies are converted with the module, to bfloat16 or float16",
    breaks={"ROPE-HALF-1"},
    hint="keep the frequencies in float32, out of the reach of module.to(dtype)",
    replace={rotary.rotate: rotate_rounding(converted, kept)},
    source="gpt-neox#1003; transformers#25681; keras-hub#1508",
)

angles_converted = Mutant(
    "ROPE-angles-converted",
    story="angles are computed in the dtype of the features",
    breaks={"ROPE-HALF-1"},
    hint="compute angles in float32 and convert cos and sin",
    replace={rotary.rotate: rotate_rounding(kept, converted)},
    source="transformers#29285",
)

positions_converted = Mutant(
    "ROPE-positions-converted",
    story="positions are converted to the dtype of the module",
    breaks={"ROPE-HALF-1"},
    hint="keep positions as integers or in float32",
    replace={adapter.rotary: placed(lambda positions, config: positions.to(config.dtype))},
    source="Megatron-LM#744",
)

# -- what was asked before


def table_of_the_first_call(config, weights):
    rotate, longest = adapter.rotary(config, weights), None

    def forward(x, *, positions=None):
        nonlocal longest
        longest = longest or x.shape[-2]
        return rotate(x, positions=rotary.count(x).clamp(max=longest - 1) if positions is None else positions)

    return forward


def too_short_a_table(config, weights):
    rotate, longest = adapter.rotary(config, weights), None

    def forward(x, *, positions=None):
        nonlocal longest
        longest = longest or x.shape[-2]
        if positions is None and longest < x.shape[-2] and longest > 1:
            raise RuntimeError(f"a table of {longest} rows is multiplied with {x.shape[-2]} tokens")
        return rotate(x, positions=positions)

    return forward


first_length_kept = Mutant(
    "ROPE-first-length-kept",
    story="the table is made for the length of the first call, and a longer one later raises",
    breaks={"ROPE-CACHE-1"},
    raises={"ROPE-CACHE-1"},
    hint="make a new table when a call is longer than it: if L > len(table), not if table is None",
    replace={adapter.rotary: too_short_a_table},
)

stale_table = Mutant(
    "ROPE-table-never-grows",
    story="the table is made for the length of the first call, and longer calls get its last row",
    breaks={"ROPE-CACHE-1"},
    hint="make a new table when a call is longer than it",
    replace={adapter.rotary: table_of_the_first_call},
)


def stretched_for_good(config, weights):
    longest = 0

    def forward(x, *, positions=None):
        nonlocal longest
        earlier, longest = longest, max(longest, x.shape[-2])
        base = config.base * (2.0 if earlier > x.shape[-2] else 1.0)
        return adapter.rotary(replace(config, base=base), weights)(x, positions=positions)

    return forward


base_sticks = Mutant(
    "ROPE-base-sticks",
    story="frequencies that a long sequence changed stay changed for the short ones after it",
    breaks={"ROPE-CACHE-1"},
    hint="compute frequencies for this call, and do not keep them",
    replace={adapter.rotary: stretched_for_good},
)


def cached_by_length(config, weights):
    rotate, cache = adapter.rotary(config, weights), {}

    def forward(x, *, positions=None):
        at = rotary.count(x) if positions is None else positions
        return rotate(x, positions=cache.setdefault(x.shape[-2], at))

    return forward


offset_cached = Mutant(
    "ROPE-cached-by-length",
    story="tables are cached by the number of tokens, whatever their positions",
    breaks={"ROPE-CACHE-2"},
    hint="put the positions into the key of the cache",
    replace={adapter.rotary: cached_by_length},
    source="rotary-embedding-torch#11",
)

clamped = Mutant(
    "ROPE-clamped",
    story="tokens beyond max_len get the last position",
    breaks={"ROPE-MAX-1"},
    hint="make the table longer, or raise an error",
    replace={adapter.rotary: placed(lambda positions, config: positions.clamp(max=config.max_len - 1))},
)

wrapped = Mutant(
    "ROPE-wrapped",
    story="beyond max_len positions start anew at 0",
    breaks={"ROPE-MAX-1"},
    hint="make the table longer, or raise an error",
    replace={adapter.rotary: placed(lambda at, config: torch.where(at < config.max_len, at, at % config.max_len))},
)


def one_row_too_few(positions, config):
    if len(positions) > config.max_len - 1:
        raise IndexError(f"position {config.max_len - 1} is out of range")
    return positions


too_short = Mutant(
    "ROPE-one-row-too-few",
    story="the table has a row less than max_len",
    breaks={"ROPE-MAX-1"},
    hint="positions 0 … max_len - 1 are max_len rows",
    replace={adapter.rotary: placed(one_row_too_few)},
    raises={"ROPE-MAX-1"},
)

# -- explicit positions

positions_ignored = Mutant(
    "ROPE-positions-ignored",
    story="positions that are given are ignored: every call starts at 0",
    breaks={"ROPE-POS-1", "ROPE-POS-5"},
    hint="turn by the positions that are given; a decoding step does not start at 0",
    replace={rotary.rotate: rotating(lambda x, positions, turned: turned(x, None))},
    source="survives Stanford CS336's public tests",
)


def from_the_first(x, positions, turned):
    return turned(x, None if positions is None else positions[..., :1] + rotary.count(x))


first_position_only = Mutant(
    "ROPE-offset-only",
    story="of the positions only the first is used, and the others are counted from it",
    breaks={"ROPE-POS-1", "ROPE-POS-5"},
    hint="look every position up: packed sequences and permuted tokens have gaps",
    replace={rotary.rotate: rotating(from_the_first)},
)

positions_sorted = Mutant(
    "ROPE-positions-sorted",
    story="positions are sorted before they are used",
    breaks={"ROPE-POS-1", "ROPE-POS-5"},
    hint="the position of token i is positions[i], in whatever order",
    replace={rotary.rotate: rotating(lambda x, at, turned: turned(x, None if at is None else at.sort(dim=-1).values))},
)

sample_0 = Mutant(
    "ROPE-positions-of-sample-0",
    story="all samples get the positions of the first",
    breaks={"ROPE-POS-2", "ROPE-POS-5"},
    hint="positions (B, L) are for each sample: give the table a batch axis",
    replace={rotary.spread: lambda positions: positions if positions.ndim == 1 else positions[:1, None]},
)

positions_cut = Mutant(
    "ROPE-positions-cut",
    story="more positions than tokens are cut off, silently",
    breaks={"ROPE-POS-3"},
    hint="raise an error where the number of positions is not the number of tokens",
    replace={rotary.rotate: rotating(lambda x, at, turned: turned(x, None if at is None else at[..., : x.shape[-2]]))},
)


def looked_up(positions, omega):
    return rotary.angles(torch.arange(4096, device=positions.device), omega)[positions.long()]


from_the_end = Mutant(
    "ROPE-negative-wraps",
    story="a negative position is looked up from the end of the table",
    breaks={"ROPE-POS-4"},
    hint="refuse negative positions, or compute their angles",
    replace={rotary.angles: looked_up},
)

negative_at_0 = Mutant(
    "ROPE-negative-at-0",
    story="negative positions are taken for 0",
    breaks={"ROPE-POS-4"},
    hint="refuse negative positions, or compute their angles",
    replace={rotary.angles: lambda positions, omega: rotary.angles(positions.clamp(min=0), omega)},
)

# -- some features only


def rotate_last(x, positions, omega, rotary_dim, size=1.0):
    if rotary_dim % 2 or rotary_dim > x.shape[-1]:
        raise ValueError(f"rotary_dim {rotary_dim}")
    turned = rotary.rotate(x[..., x.shape[-1] - rotary_dim :], positions, omega, rotary_dim, size)
    return torch.cat([x[..., : x.shape[-1] - rotary_dim], turned], dim=-1)


wrong_slice = Mutant(
    "ROPE-last-features",
    story="the last R features turn instead of the first",
    breaks={"ROPE-REST-1"},
    hint="x[..., :R] turns, x[..., R:] passes",
    replace={rotary.rotate: rotate_last},
    source="lattice#371",
)

all_turn = Mutant(
    "ROPE-all-features",
    story="rotary_dim is ignored: all features turn",
    breaks={"ROPE-REST-1"},
    hint="x[..., :R] turns, x[..., R:] passes",
    replace={adapter.rotary: built(lambda config: replace(config, rotary_dim=config.head_dim))},
)


def without_the_rest(x, positions, omega, rotary_dim, size=1.0):
    out = rotary.rotate(x, positions, omega, rotary_dim, size)
    return torch.cat([out[..., :rotary_dim], torch.zeros_like(out[..., rotary_dim:])], dim=-1)


rest_lost = Mutant(
    "ROPE-rest-lost",
    story="features that do not turn become 0",
    breaks={"ROPE-REST-1"},
    hint="append x[..., R:] to what was turned",
    replace={rotary.rotate: without_the_rest},
)


def with_the_rest_scaled(x, positions, omega, rotary_dim, size=1.0):
    out = rotary.rotate(x, positions, omega, rotary_dim, size)
    rest = out[..., rotary_dim:] * math.sqrt(rotary_dim / x.shape[-1])
    return torch.cat([out[..., :rotary_dim], rest], dim=-1)


rest_scaled = Mutant(
    "ROPE-rest-scaled",
    story="features that do not turn are scaled",
    breaks={"ROPE-REST-1"},
    hint="append x[..., R:] as it is to what was turned",
    replace={rotary.rotate: with_the_rest_scaled},
)


def with_frequencies(change):
    """Return the component with the frequencies change(config)."""

    def component(config, weights):
        omega = rotary.scaled(change(config), config.base, config.scaling)
        size = rotary.magnitude(config.scaling)
        return lambda x, *, positions=None: rotary.rotate(x, positions, omega, config.rotary_dim, size)

    return component


exponent_of_head = Mutant(
    "ROPE-partial-exponent",
    story="the exponent has the width of the head, although fewer features turn",
    breaks={"ROPE-PART-1"},
    hint="base ** (-2i/R) with the R features that turn",
    replace={
        adapter.rotary: with_frequencies(
            lambda config: rotary.frequencies(config.head_dim, config.base)[: config.rotary_dim // 2]
        )
    },
)


def half_of_them(config):
    half = config.rotary_dim // 4 * 2 if config.rotary_dim < config.head_dim and config.rotary_dim % 2 == 0 else 0
    return replace(config, rotary_dim=half or config.rotary_dim)


half_turn = Mutant(
    "ROPE-partial-half",
    story="of the R features that are to turn half do",
    breaks={"ROPE-PART-1"},
    hint="rotary_dim counts features, not pairs",
    replace={adapter.rotary: built(half_of_them)},
)

# -- longer than trained

interpolation_inverted = Mutant(
    "ROPE-interpolation-inverted",
    story="frequencies are multiplied by the factor instead of divided",
    breaks={"ROPE-SCALING-1", "ROPE-SCALING-3", "ROPE-SCALING-4"},
    hint="positions are squeezed: divide frequencies by the factor",
    replace={rotary.interpolate: lambda omega, factor: omega * factor},
)

scaling_ignored = Mutant(
    "ROPE-scaling-ignored",
    story="the scaling is ignored",
    breaks={"ROPE-SCALING-1", "ROPE-SCALING-2", "ROPE-SCALING-3", "ROPE-SCALING-4"},
    hint="change the frequencies as config.scaling says, or raise NotImplementedError",
    replace={rotary.scaled: lambda omega, base, scaling: omega},
)

ntk_exponent = Mutant(
    "ROPE-ntk-exponent",
    story="the base is multiplied by s instead of s^(R/(R-2))",
    breaks={"ROPE-SCALING-2"},
    hint="base * s ** (R / (R - 2)): then the last pair turns exactly s times slower",
    replace={rotary.stretch: lambda omega, factor: omega * factor ** (-torch.arange(len(omega)).double() / len(omega))},
)

yarn_short = Mutant(
    "ROPE-yarn-length",
    story="YaRN's attention factor is left out",
    breaks={"ROPE-SCALING-3"},
    hint="multiply cos and sin by 0.1·ln(s) + 1",
    replace={rotary.magnitude: lambda scaling: 1.0},
)

yarn_reversed = Mutant(
    "ROPE-yarn-reversed",
    story="YaRN keeps the slow pairs and interpolates the fast ones",
    breaks={"ROPE-SCALING-3"},
    hint="pairs that turn often in the trained length stay: the ramp falls with the index",
    replace={
        rotary.yarn: lambda omega, base, factor, fast, slow, length: (
            rotary.interpolate(omega, factor) + omega - rotary.yarn(omega, base, factor, fast, slow, length)
        )
    },
)

lengths_confused = Mutant(
    "ROPE-extended-length",
    story="where frequencies are blended is reckoned from the extended length",
    breaks={"ROPE-SCALING-3", "ROPE-SCALING-4"},
    hint="count turns in the length that the model was trained with, not in factor times as much",
    replace={
        rotary.yarn: lambda omega, base, factor, fast, slow, length: rotary.yarn(
            omega, base, factor, fast, slow, factor * length
        ),
        rotary.llama3: lambda omega, factor, low, high, length: rotary.llama3(
            omega, factor, low, high, factor * length
        ),
    },
)

llama3_stepped = Mutant(
    "ROPE-llama3-stepped",
    story="Llama 3.1's scaling jumps where it should blend",
    breaks={"ROPE-SCALING-4"},
    hint="between low and high, blend by (L₀/λ - low) / (high - low)",
    replace={
        rotary.llama3: lambda omega, factor, low, high, length: rotary.blend(
            omega, factor, (rotary.turns(omega, length) > high).double()
        )
    },
)

llama3_reversed = Mutant(
    "ROPE-llama3-reversed",
    story="Llama 3.1's scaling keeps the slow pairs and divides the fast ones",
    breaks={"ROPE-SCALING-4"},
    hint="a short wavelength stays, a long one is divided by the factor",
    replace={
        rotary.llama3: lambda omega, factor, low, high, length: (
            rotary.interpolate(omega, factor) + omega - rotary.llama3(omega, factor, low, high, length)
        )
    },
)

# -- attention with rotary positions


def attending(change):
    """Return rotary_attention on change(q, k, v, rotate): turned queries, turned keys, values."""

    def rotary_attention(q, k, v, positions, omega, causal=False):
        mask = causal_mask(q.shape[-2], k.shape[-2]).to(q.device) if causal else None

        def rotate(x, by=omega, at=positions):
            return rotary.rotate(x, at, by, 2 * len(omega))

        rotate(q)  # refuses what is to be refused
        return attend(*change(q, k, v, rotate), mask)[0]

    return rotary_attention


values_too = Mutant(
    "ROPE-values-turned",
    story="values are turned too",
    breaks={"ROPE-VALUE-1"},
    hint="turn queries and keys only",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q), rotate(k), rotate(v)))},
)

queries_only = Mutant(
    "ROPE-queries-only",
    story="only the queries are turned",
    breaks={"ROPE-REL-2"},
    hint="turn the keys too, by the same table",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q), k, v))},
)


def turned_by_halves(x, rotate):
    """Return x turned in pairs (x_i, x_i+R/2), whatever pairs the other side has."""
    return rotary.to_half(rotate(torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)))


two_pairings = Mutant(
    "ROPE-two-pairings",
    story="queries are turned in pairs of neighbours, keys in pairs of halves",
    breaks={"ROPE-REL-2"},
    hint="use one function for both: their products depend on the distance only where the pairs are the same",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q), turned_by_halves(k, rotate), v))},
    variants=[
        {rotary.rotary_attention: attending(lambda q, k, v, rotate: (turned_by_halves(q, rotate), rotate(k), v))},
    ],
)

keys_only = Mutant(
    "ROPE-keys-only",
    story="only the keys are turned",
    breaks={"ROPE-REL-2"},
    hint="turn the queries too, by the same table",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (q, rotate(k), v))},
)

two_bases = Mutant(
    "ROPE-two-bases",
    story="queries and keys are turned by different frequencies",
    breaks={"ROPE-REL-2"},
    hint="one table for both",
    replace={
        rotary.rotary_attention: attending(
            lambda q, k, v, rotate: (rotate(q), rotate(k, rotary.frequencies(k.shape[-1], 500.0)), v)
        )
    },
)

keys_backwards = Mutant(
    "ROPE-keys-backwards",
    story="keys are turned backwards: scores depend on the sum of the positions",
    breaks={"ROPE-REL-2"},
    hint="turn queries and keys alike; the product takes care of the difference",
    replace={
        rotary.rotary_attention: attending(
            lambda q, k, v, rotate: (rotate(q), rotate(k, -rotary.frequencies(k.shape[-1], 10000.0)), v)
        )
    },
)

query_ahead = Mutant(
    "ROPE-query-ahead",
    story="a query stands one position ahead of the key of the same token",
    breaks={"ROPE-REL-2"},
    hint="a token has one position, for its query and for its key",
    replace={
        rotary.rotary_attention: attending(
            lambda q, k, v, rotate: (rotate(q, at=rotary.count(q) + 1), rotate(k, at=rotary.count(k)), v)
        )
    },
)

unscaled = Mutant(
    "ROPE-unscaled",
    story="the scores are not divided by √E",
    breaks={"ROPE-SCALE-1"},
    hint="the rotation changes no lengths: keep the scale",
    replace={
        rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q) * math.sqrt(q.shape[-1]), rotate(k), v))
    },
)

scaled_by_model = Mutant(
    "ROPE-scaled-by-model",
    story="the scores are divided by the root of the model's width",
    breaks={"ROPE-SCALE-1"},
    hint="divide by the root of one head's width",
    replace={
        rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q) / math.sqrt(q.shape[1]), rotate(k), v))
    },
)


def attend_after_turning_the_model(q, k, v, positions, omega, causal=False):
    pairs, heads = len(omega), []
    base = omega[-1] ** (-pairs / max(pairs - 1, 1))
    for h in range(q.shape[1]):
        dealt = base ** (-(h + torch.arange(pairs) / pairs) / q.shape[1])
        one = (x[:, h : h + 1] for x in (q, k, v))
        heads.append(rotary.rotary_attention(*one, positions=positions, omega=dealt, causal=causal))
    return torch.cat(heads, dim=1)


before_the_split = Mutant(
    "ROPE-before-the-split",
    story="the model is turned before it is split into heads: every head gets other frequencies",
    breaks={"ROPE-FREQ-2"},
    hint="split into heads first; the exponent has the width of one head",
    replace={rotary.rotary_attention: attend_after_turning_the_model},
)

twice_in_attention = Mutant(
    "ROPE-attention-twice",
    story="the layer turns queries and keys, and attention turns them again",
    breaks={"ROPE-FREQ-2"},
    hint="rotate in one place",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(rotate(q)), rotate(rotate(k)), v))},
)

causality_lost = Mutant(
    "ROPE-causality-lost",
    story="the causal mask is left out",
    breaks={"ROPE-CAUSAL-1"},
    hint="rotary positions hide nothing: keep the mask",
    replace={
        rotary.rotary_attention: lambda q, k, v, positions, omega, causal=False: rotary.rotary_attention(
            q, k, v, positions, omega, False
        )
    },
)


def attend_to_the_past(q, k, v, positions, omega, causal=False):
    mask = causal_mask(q.shape[-2], k.shape[-2], -1).to(q.device) if causal else None
    q, k = (rotary.rotate(x, positions, omega, 2 * len(omega)) for x in (q, k))
    return attend(q, k, v, mask)[0]


itself_hidden = Mutant(
    "ROPE-itself-hidden",
    story="a token does not attend to itself",
    breaks={"ROPE-CAUSAL-1"},
    hint="the diagonal of the causal mask is True",
    replace={rotary.rotary_attention: attend_to_the_past},
)

keys_detached = Mutant(
    "ROPE-keys-detached",
    story="keys are turned without gradients, as if they came from a cache",
    breaks={"ROPE-ORACLE-1"},
    hint="only keys of earlier calls are without gradients",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q), rotate(k).detach(), v))},
)

# -- what shows only where two things come together

default_base_where_partial = Mutant(
    "ROPE-partial-default-base",
    story="where fewer features turn than the head has, the base is 10000 whatever is configured",
    breaks={"ROPE-PART-1"},
    hint="hand the configured base on, to the branch for partial rotation too",
    replace={
        adapter.rotary: built(
            lambda config: config if config.rotary_dim == config.head_dim else replace(config, base=10000.0)
        )
    },
)

counted_from_the_first = Mutant(
    "ROPE-counted-from-the-first",
    story="positions (B, L) are counted from the smallest of them",
    breaks={"ROPE-POS-2"},
    hint="use positions as they are given; a batch need not begin at 0",
    replace={
        adapter.rotary: called(lambda x, at, rotate: rotate(x, at if at is None or at.ndim == 1 else at - at.min()))
    },
)

positions_in_float16 = Mutant(
    "ROPE-positions-in-float16",
    story="positions have the dtype of the features where that is float16, which has no odd numbers beyond 2048",
    breaks={"ROPE-HALF-1"},
    hint="keep positions as integers or in float32: float16 counts to 2048",
    replace={
        rotary.rotate: rotating(
            lambda x, at, turned: turned(
                x, (rotary.count(x) if at is None else at).half() if x.dtype == torch.float16 else at
            )
        )
    },
    source="transformers#28837",
)

positions_not_taken = Mutant(
    "ROPE-positions-not-taken",
    story="forward has no keyword for positions, and does not say so in words",
    breaks={"ROPE-POS-1"},
    hint='take positions=None, and raise NotImplementedError("explicit positions") where they are given',
    replace={adapter.rotary: lambda config, weights: lambda x: adapter.rotary(config, weights)(x)},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(
        NUMBERS,
        "ROPE-CACHE-1 ROPE-CACHE-2 ROPE-MAX-1",
        "the same sizes and values give the same output, whatever the settings or earlier calls",
    ),
    Vacuous(
        NUMBERS,
        "ROPE-BATCH-1 ROPE-HEAD-1 ROPE-PART-1",
        "an output depends on the input in its own place, or on nothing",
    ),
    Vacuous(NUMBERS, "ROPE-POS-5", "queries and keys are not read, and so no position is"),
    Vacuous(("zeros", "echo"), "ROPE-LINEAR-1", "0 and the input are linear in the input"),
    Vacuous(ZERO_APART, "ROPE-REL-2", "equal weights depend on nothing, so on distances only"),
    Vacuous(
        ("echo",),
        "ROPE-NORM-1 ROPE-ZERO-1 ROPE-REL-1 ROPE-PAIR-1 ROPE-POS-1 ROPE-POS-2 ROPE-POS-4 ROPE-REST-1",
        "the identity is a rotation by 0",
    ),
    Vacuous(("echo",), "ROPE-GRAD-1", "autograd differentiates what was computed", components=("rotary",)),
)
