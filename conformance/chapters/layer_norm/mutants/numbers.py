"""Ways to get LayerNorm wrong: numbers."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm

HALF = (torch.bfloat16, torch.float16)


def one_pass(x, axes):
    return layer_norm.mean(x.square(), axes) - layer_norm.mean(x, axes).square()


cancelling = Mutant(
    "LN-cancelling",
    story="the variance is the mean of the squares less the square of the mean, which cancels",
    breaks={"LN-OFFSET-1"},
    hint="subtract the mean first, then square",
    replace={layer_norm.variance: one_pass},
    source="flax, use_fast_variance",
)

cancelling_clamped = Mutant(
    "LN-cancelling-clamped",
    story="the variance is the difference of two means of squares, and set to 0 where that comes out negative",
    breaks={"LN-OFFSET-1"},
    hint="subtract the mean first, then square",
    replace={layer_norm.variance: lambda x, axes: one_pass(x, axes).clamp(min=0)},
    source="flax, use_fast_variance",
)


def narrowed(x):
    return x.bfloat16().float() if x.dtype == torch.float32 else layer_norm.widened(x)


float32_in_bfloat16 = Mutant(
    "LN-float32-in-bfloat16",
    story="float32 is rounded to bfloat16 before the norm, as under autocast",
    breaks={"CALL-FLOAT-1", "LN-PREC-1"},
    hint="norms run in float32",
    replace={layer_norm.widened: narrowed},
)


def guessed_root(x, axes, eps, how):
    """The root from the inverse that is guessed from the bits of a float32 number, as in Quake."""
    square = layer_norm.variance(x, axes) + eps
    if x.dtype != torch.float32:
        return torch.sqrt(square)
    guess = (0x5F3759DF - (square.detach().contiguous().view(torch.int32) >> 1)).view(torch.float32)
    return 1 / guess


root_guessed = Mutant(
    "LN-root-guessed",
    story="the root of float32 is guessed from the bits of the number, and not refined",
    breaks={"CALL-FLOAT-1", "LN-PREC-1"},
    hint="torch.sqrt or torch.rsqrt",
    replace={layer_norm.spread: guessed_root},
)

float32_inside = Mutant(
    "LN-float32-inside",
    story="float64 is normalized in float32",
    breaks={"LN-PREC-2"},
    hint="widen to float32, but do not narrow to it",
    replace={layer_norm.widened: lambda x: x.float()},
)

own_dtype = Mutant(
    "LN-own-dtype",
    story="half precision is normalized in half precision: squares of float16 overflow",
    breaks={"LN-HALF-3"},
    hint="x.float() before the norm",
    replace={layer_norm.widened: lambda x: x},
    source="tiny-llm#288 and llama#1048, of RMSNorm",
)


def stagnating(x, axes):
    """The mean of x, summed term by term in bfloat16, in which 256 + 1 is 256."""
    if x.dtype != torch.float32 or x.shape[-1] < 4096:
        return layer_norm.mean(x, axes)
    total = torch.zeros_like(x[..., :1], dtype=torch.bfloat16)
    for part in x.split(4, dim=-1):
        total = total + part.sum(dim=-1, keepdim=True).bfloat16()
    return total.float() / x.shape[-1]


sums_stagnate = Mutant(
    "LN-sums-stagnate",
    story="the sums over a long row run in bfloat16, and stop growing",
    breaks={"LN-HALF-1"},
    hint="sum in float32",
    replace={layer_norm.mean: stagnating},
)


def rounding_the_mean(x, shape, weight=None, bias=None, eps=1e-5, how=None):
    if x.dtype not in HALF:
        return layer_norm.layer_norm(x, shape, weight, bias, eps, how)
    return layer_norm.layer_norm(x, shape, weight, bias, eps, how) - (
        (x.mean(dim=-1, keepdim=True).float() - x.float().mean(dim=-1, keepdim=True))
        / layer_norm.spread(x.float(), (-1,), eps, how)
        * (1 if weight is None else weight)
    ).to(x.dtype)


mean_in_half = Mutant(
    "LN-mean-in-half",
    story="the mean of half precision is rounded to half precision before it is subtracted",
    breaks={"LN-HALF-2"},
    hint="keep mean and variance in float32",
    replace={layer_norm.layer_norm: rounding_the_mean},
)
