"""Ways to get sinusoidal positions wrong: precision."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal

counted_in_float16 = Mutant(
    "SIN-counted-in-float16",
    story="positions are counted in float16, which has no odd numbers beyond 2048",
    breaks={"SIN-LONG-1"},
    hint="count in integers, or in float32",
    replace={sinusoidal.angles: lambda positions, omega: sinusoidal.angles(positions.half(), omega)},
    source="transformers#28837",
)


def in_dtype_of_x(x, positions=None, base=10000.0, dropout=0.0):
    positions = sinusoidal.count(x) if positions is None else positions
    sinusoidal.refuse_positions(positions, x)
    omega = sinusoidal.frequencies(x.shape[-1], base)
    if x.dtype in (torch.bfloat16, torch.float16):
        positions, omega = positions.to(x.dtype), omega.to(x.dtype)
        theta = (positions[..., None] * omega).double()  # the product is rounded too
    else:
        theta = sinusoidal.angles(positions, omega)
    return sinusoidal.drop(sinusoidal.add(x, sinusoidal.interleave(theta, x.shape[-1])), dropout)


table_in_half = Mutant(
    "SIN-table-in-half",
    story="the table is computed in the dtype of the module: in bfloat16 positions coincide from 257 on",
    breaks={"SIN-HALF-1"},
    hint="compute in float32 and convert the finished table",
    replace={sinusoidal.sinusoidal: in_dtype_of_x},
    source="transformers#29496 and gpt-neox#1003, of rotary positions",
)


def with_rounded_frequencies(x, positions=None, base=10000.0, dropout=0.0):
    positions = sinusoidal.count(x) if positions is None else positions
    sinusoidal.refuse_positions(positions, x)
    omega = sinusoidal.frequencies(x.shape[-1], base)
    if x.dtype in (torch.bfloat16, torch.float16):
        omega = omega.to(x.dtype).double()
    theta = sinusoidal.angles(positions, omega)
    return sinusoidal.drop(sinusoidal.add(x, sinusoidal.interleave(theta, x.shape[-1])), dropout)


frequencies_in_half = Mutant(
    "SIN-frequencies-in-half",
    story="the frequencies are a buffer that is cast with the module",
    breaks={"SIN-HALF-1"},
    hint="keep them in float32, or compute them when they are used",
    replace={sinusoidal.sinusoidal: with_rounded_frequencies},
    source="transformers#25681, of rotary positions",
)


def in_float16(x, positions=None, base=10000.0, dropout=0.0):
    positions = sinusoidal.count(x) if positions is None else positions
    return sinusoidal.sinusoidal(x, positions.half() if x.dtype == torch.float16 else positions, base, dropout)


positions_in_float16 = Mutant(
    "SIN-positions-in-float16",
    story="positions have the dtype of x where that is float16, which has no odd numbers beyond 2048",
    breaks={"SIN-HALF-1"},
    hint="count in integers, or in float32",
    replace={sinusoidal.sinusoidal: in_float16},
    source="transformers#28837, of rotary positions",
)
