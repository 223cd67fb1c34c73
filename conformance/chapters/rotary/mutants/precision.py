"""Ways to get rotary positions wrong: precision."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.rotary.mutants.shared import placed
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary


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
