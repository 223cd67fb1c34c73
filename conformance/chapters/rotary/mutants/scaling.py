"""Ways to get rotary positions wrong: longer than trained."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary

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
