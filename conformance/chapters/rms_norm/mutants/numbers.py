"""Ways to get RMSNorm wrong: numbers."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm, rms_norm


def guessed_root(x, eps, place):
    """The root from the inverse that is guessed from the bits of a float32 number, as in Quake."""
    root = rms_norm.spread(x, eps, place)
    if x.dtype != torch.float32:
        return root
    guess = (0x5F3759DF - (root.detach().square().contiguous().view(torch.int32) >> 1)).view(torch.float32)
    return 1 / guess


root_guessed = Mutant(
    "RMS-root-guessed",
    story="the root of float32 is guessed from the bits of the number, and not refined",
    breaks={"CALL-FLOAT-1", "RMS-PREC-1"},
    hint="torch.sqrt or torch.rsqrt",
    replace={rms_norm.spread: guessed_root},
)


def narrowed(x):
    return x.bfloat16().float() if x.dtype == torch.float32 else layer_norm.widened(x)


float32_in_bfloat16 = Mutant(
    "RMS-float32-in-bfloat16",
    story="float32 is rounded to bfloat16 before the norm, as under autocast",
    breaks={"CALL-FLOAT-1", "RMS-PREC-1"},
    hint="norms run in float32",
    replace={layer_norm.widened: narrowed},
)

float32_inside = Mutant(
    "RMS-float32-inside",
    story="float64 is normalized in float32",
    breaks={"RMS-PREC-2"},
    hint="widen to float32, but do not narrow to it",
    replace={layer_norm.widened: lambda x: x.float()},
)

own_dtype = Mutant(
    "RMS-own-dtype",
    story="half precision is normalized in half precision: squares of float16 overflow",
    breaks={"RMS-HALF-3"},
    hint="x.float() before the norm",
    replace={layer_norm.widened: lambda x: x},
    source="llama#1048",
)


def stagnating(x):
    """The mean of x², summed term by term in bfloat16, in which 256 + 1 is 256."""
    if x.dtype != torch.float32 or x.shape[-1] < 4096:
        return rms_norm.mean_square(x)
    total = torch.zeros_like(x[..., :1], dtype=torch.bfloat16)
    for part in x.square().split(4, dim=-1):
        total = total + part.sum(dim=-1, keepdim=True).bfloat16()
    return total.float() / x.shape[-1]


sums_stagnate = Mutant(
    "RMS-sums-stagnate",
    story="the sum over a long row runs in bfloat16, and stops growing",
    breaks={"RMS-HALF-1"},
    hint="sum in float32",
    replace={rms_norm.mean_square: stagnating},
)


def by_way_of_bfloat16(x, weight, eps=1e-6, place="inside"):
    if x.dtype != torch.float16:
        return rms_norm.rms_norm(x, weight, eps, place)
    return rms_norm.rms_norm(x.bfloat16(), weight.bfloat16(), eps, place).to(x.dtype)


float16_in_bfloat16 = Mutant(
    "RMS-float16-in-bfloat16",
    story="float16 is normalized in bfloat16, for its range: three digits become two",
    breaks={"RMS-HALF-2"},
    hint="float32 has the range, and the digits",
    replace={rms_norm.rms_norm: by_way_of_bfloat16},
)


def cast_before(x, weight, eps=1e-6, place="inside"):
    rms_norm.refuse_misfits(x, weight)
    return rms_norm.scale(rms_norm.normalize(layer_norm.widened(x), eps, place).to(x.dtype), weight)


cast_first = Mutant(
    "RMS-cast-first",
    story="x̂ is cast to half precision before the gain multiplies, and the opposite is declared",
    breaks={"RMS-CAST-1"},
    hint='declare rms-norm-cast = "before", or cast last',
    replace={rms_norm.rms_norm: cast_before},
    source="gemma_pytorch#67, transformers#29402, pytorch#147203",
)
