"""Ways to get rms_norm wrong: the reference with one function replaced."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import NUMBERS, Vacuous
from attnconf.reference import layer_norm, rms_norm

# -- the call


def left_in_float32(x, weight, eps=1e-6):
    rms_norm.refuse_misfits(x, weight)
    return rms_norm.scale(rms_norm.normalize(rms_norm.widened(x), eps), weight)


float32_out = Mutant(
    "RMS-float32-out",
    story="the output of a half precision input stays float32",
    breaks={"CALL-DTYPE-1"},
    hint="cast back at the end: out.to(x.dtype)",
    replace={rms_norm.rms_norm: left_in_float32},
    source="transformers#23535",
)


def kept_spread(config, weights):
    known = []

    def forward(x):
        rms_norm.refuse_misfits(x, weights["weight"])
        wide = layer_norm.widened(x)
        if not known or known[0].shape != (*x.shape[:-1], 1):
            known[:] = [rms_norm.spread(wide, config.eps)]
        return rms_norm.scale(wide / known[0], weights["weight"]).to(x.dtype)

    return forward


cached_statistics = Mutant(
    "RMS-cached-statistics",
    story="the root mean square of the first call is used in all later ones",
    breaks={"CALL-REPEAT-1"},
    hint="compute it anew in every call",
    replace={adapter.rms_norm: kept_spread},
)


def without_eps_unless_tracked(x, eps):
    tracked = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    return torch.sqrt(rms_norm.mean_square(x) + (eps if tracked else 0.0))


fast_path_without_eps = Mutant(
    "RMS-fast-path-without-eps",
    story="a fast path for inference leaves ε out",
    breaks={"CALL-MODE-1"},
    hint="both paths need the same ε",
    replace={rms_norm.spread: without_eps_unless_tracked},
)


all_axes_but_two = Mutant(
    "RMS-all-axes-but-two",
    story="all axes but the first two are normalized together: right for (B, L, D) alone",
    breaks={"RMS-LEAD-1"},
    hint="count from the end: dim=-1",
    replace={rms_norm.mean_square: lambda x: x.square().mean(dim=tuple(range(2, x.ndim)), keepdim=True)},
    source="OpenNMT-tf#6, of layer normalization",
)


def three_axes_only(x, weight):
    if x.ndim < 3:
        raise ValueError(f"expected (batch, length, features), found {tuple(x.shape)}")
    rms_norm.refuse_misfits(x, weight)


batched_only = Mutant(
    "RMS-batched-only",
    story="a token, or a sentence, without a batch around it is refused",
    breaks={"RMS-LEAD-1"},
    raises={"RMS-LEAD-1"},
    hint="the last axis is all that matters",
    replace={rms_norm.refuse_misfits: three_axes_only},
)


def fitted(x, weight, eps=1e-6):
    pick = torch.arange(x.shape[-1]) % len(weight)
    return rms_norm.rms_norm(x, weight[pick] if len(pick) != len(weight) else weight, eps)


weight_cut_to_fit = Mutant(
    "RMS-weight-cut-to-fit",
    story="the weight is cut, or repeated, until it is as wide as x",
    breaks={"RMS-MISFIT-1"},
    hint="compare the last axis of x with the weight, and raise",
    replace={rms_norm.rms_norm: fitted},
)


def differing_unless_one(x, weight):
    if 1 not in (x.shape[-1], len(weight)):
        rms_norm.refuse_misfits(x, weight)


broadcast = Mutant(
    "RMS-broadcast",
    story="nothing compares the widths: a single feature is broadcast over the weight",
    breaks={"RMS-MISFIT-2"},
    hint="compare the last axis of x with the weight, and raise",
    replace={rms_norm.refuse_misfits: differing_unless_one},
)

# -- what is normalized

over_the_sequence = Mutant(
    "RMS-over-the-sequence",
    story="each feature is normalized over the tokens of its sample",
    breaks={"RMS-TOKEN-1"},
    hint="the mean square over the features: dim=-1",
    replace={rms_norm.mean_square: lambda x: x.square().mean(dim=max(-2, -x.ndim), keepdim=True)},
)

over_everything = Mutant(
    "RMS-over-everything",
    story="x.square().mean() without an axis: one number for all that comes in",
    breaks={"RMS-TOKEN-1"},
    hint="the mean square over the features: dim=-1, keepdim=True",
    replace={rms_norm.mean_square: lambda x: x.square().mean()},
)

over_a_sample = Mutant(
    "RMS-over-a-sample",
    story="one mean square for a whole sample",
    breaks={"RMS-TOKEN-1"},
    hint="the mean square over the features: dim=-1",
    replace={rms_norm.mean_square: lambda x: x.square().mean(dim=tuple(range(1, x.ndim)) or -1, keepdim=True)},
)

over_the_batch = Mutant(
    "RMS-over-the-batch",
    story="the mean square is taken over the batch too",
    breaks={"RMS-TOKEN-1"},
    hint="the mean square over the features: dim=-1",
    replace={rms_norm.mean_square: lambda x: x.square().mean(dim=(0, -1), keepdim=True)},
)


def centred(x):
    return x - x.mean(dim=-1, keepdim=True)


mean_subtracted = Mutant(
    "RMS-mean-subtracted",
    story="LayerNorm in the place of RMSNorm: the mean is subtracted",
    breaks={"RMS-LINE-1"},
    hint="subtract nothing",
    replace={rms_norm.normalize: lambda x, eps: rms_norm.normalize(centred(x), eps)},
)

mean_subtracted_above = Mutant(
    "RMS-mean-subtracted-above",
    story="the mean is subtracted, and the mean square is that of x",
    breaks={"RMS-LINE-1"},
    hint="subtract nothing",
    replace={rms_norm.normalize: lambda x, eps: centred(x) / rms_norm.spread(x, eps)},
)

by_halves = Mutant(
    "RMS-by-halves",
    story="each half of the features is normalized by itself",
    breaks={"RMS-LINE-1"},
    hint="one mean square for all features of a token; for each head only where heads are normalized",
    replace={
        rms_norm.normalize: lambda x, eps: torch.cat(
            [rms_norm.normalize(part, eps) for part in x.chunk(2, dim=-1)], dim=-1
        ),
    },
)

sign_turned = Mutant(
    "RMS-sign-turned",
    story="the negative root: every sign is turned",
    breaks={"RMS-LINE-1"},
    hint="the positive root",
    replace={rms_norm.normalize: lambda x, eps: -rms_norm.normalize(x, eps)},
)

standard_deviation = Mutant(
    "RMS-standard-deviation",
    story="x is divided by its standard deviation",
    breaks={"RMS-SQUARE-1"},
    hint="the mean of x², not of (x - mean)²",
    replace={rms_norm.mean_square: lambda x: centred(x).square().mean(dim=-1, keepdim=True) + 1e-20},
)

length = Mutant(
    "RMS-length",
    story="x is divided by its length, √D times what it should be: F.normalize as it comes",
    breaks={"RMS-SQUARE-1"},
    hint="the mean of the squares, or F.normalize(x, dim=-1) * math.sqrt(dim)",
    replace={rms_norm.mean_square: lambda x: x.square().sum(dim=-1, keepdim=True)},
)

divided_by_one_less = Mutant(
    "RMS-divided-by-one-less",
    story="the sum of squares is divided by D - 1",
    breaks={"RMS-SQUARE-1"},
    hint="the mean of the squares",
    replace={rms_norm.mean_square: lambda x: x.square().sum(dim=-1, keepdim=True) / max(1, x.shape[-1] - 1)},
)

no_root = Mutant(
    "RMS-no-root",
    story="divided by the mean square instead of its root",
    breaks={"RMS-SQUARE-1"},
    hint="multiply by torch.rsqrt(mean square + eps)",
    replace={rms_norm.spread: lambda x, eps: rms_norm.mean_square(x) + eps},
)

mean_magnitude = Mutant(
    "RMS-mean-magnitude",
    story="divided by the mean absolute value",
    breaks={"RMS-SQUARE-1"},
    hint="the root of the mean square",
    replace={rms_norm.mean_square: lambda x: x.abs().mean(dim=-1, keepdim=True).square()},
)

spread_capped = Mutant(
    "RMS-spread-capped",
    story="the root mean square is clamped at 10⁴",
    breaks={"RMS-SCALE-1"},
    hint="no clamp: a large row is divided by much",
    replace={rms_norm.spread: lambda x, eps: rms_norm.spread(x, eps).clamp(max=1e4)},
)

clamped_to_half = Mutant(
    "RMS-clamped-to-half",
    story="inputs are clamped to what float16 holds, in every dtype",
    breaks={"RMS-SCALE-1"},
    hint="no clamp, or in float16 only",
    replace={layer_norm.widened: lambda x: layer_norm.widened(x).clamp(-65504, 65504)},
    source="the T5 of transformers, of hidden states in float16",
)

blocks_of_512 = Mutant(
    "RMS-blocks-of-512",
    story="a kernel takes 512 features at a time, and each block gets its own mean square",
    breaks={"RMS-WIDE-1"},
    hint="combine the sums of the blocks of a row",
    replace={
        rms_norm.normalize: lambda x, eps: torch.cat(
            [rms_norm.normalize(part, eps) for part in x.split(512, dim=-1)], dim=-1
        ),
    },
)

first_1024 = Mutant(
    "RMS-first-1024",
    story="the mean square stops at the 1024th feature, where the kernel's block ends",
    breaks={"RMS-WIDE-1"},
    hint="loop over the row, and mask the end of the last block",
    replace={rms_norm.mean_square: lambda x: rms_norm.mean_square(x[..., :1024])},
)

part_of_the_features = Mutant(
    "RMS-part-of-the-features",
    story="the mean square is that of the first half of the features",
    breaks={"RMS-SQUARE-1", "RMS-WIDE-1"},
    hint="all features: a part of them is an estimate",
    replace={rms_norm.mean_square: lambda x: rms_norm.mean_square(x[..., : max(1, x.shape[-1] // 2)])},
    source="pRMSNorm, Zhang and Sennrich 2019, section 4",
)

# -- ε

eps_outside = Mutant(
    "RMS-eps-outside",
    story="ε is added to the root mean square, outside the root",
    breaks={"RMS-EPS-1"},
    hint="torch.rsqrt(mean square + eps)",
    replace={rms_norm.spread: lambda x, eps: torch.sqrt(rms_norm.mean_square(x)) + eps},
    source="happy-llm#58",
)

eps_as_floor = Mutant(
    "RMS-eps-as-floor",
    story="ε is a floor under the root mean square, as in F.normalize",
    breaks={"RMS-EPS-1"},
    hint="mean square + eps",
    replace={rms_norm.spread: lambda x, eps: torch.sqrt(rms_norm.mean_square(x)).clamp(min=eps)},
)

eps_fixed = Mutant(
    "RMS-eps-fixed",
    story="ε is 10⁻⁶, whatever the configuration says",
    breaks={"RMS-EPS-2"},
    hint="hand config.eps on",
    replace={rms_norm.spread: lambda x, eps: rms_norm.spread(x, 1e-6)},
    source="keras-hub#728",
)

eps_of_the_dtype = Mutant(
    "RMS-eps-of-the-dtype",
    story="ε is that of the dtype, as where torch.nn.RMSNorm is given none",
    breaks={"RMS-EPS-2"},
    hint="hand config.eps on",
    replace={rms_norm.spread: lambda x, eps: rms_norm.spread(x, torch.finfo(x.dtype).eps)},
)

eps_missing = Mutant(
    "RMS-eps-missing",
    story="there is no ε: a row of zeros is 0/0",
    breaks={"RMS-EPS-2"},
    hint="torch.rsqrt(mean square + eps)",
    replace={rms_norm.spread: lambda x, eps: torch.sqrt(rms_norm.mean_square(x))},
    source="TIM-VX#589",
)

zeros_become_ones = Mutant(
    "RMS-zeros-become-ones",
    story="a row of zeros becomes a row of ones",
    breaks={"RMS-ZERO-1"},
    hint="with ε it needs no exception: 0/√ε is 0",
    replace={
        rms_norm.normalize: lambda x, eps: torch.where(
            rms_norm.mean_square(x) == 0, torch.ones_like(x), rms_norm.normalize(x, eps)
        ),
    },
)

root_first = Mutant(
    "RMS-root-first",
    story="the root is squared again before ε is added: √x² has no slope at 0",
    breaks={"RMS-ZERO-2"},
    hint="take one root, after ε is added",
    replace={rms_norm.spread: lambda x, eps: torch.sqrt(torch.sqrt(rms_norm.mean_square(x)).square() + eps)},
)

# -- gain


def with_gain(change):
    return lambda x, weight: rms_norm.scale(x, change(weight))


gain_forgotten = Mutant(
    "RMS-gain-forgotten",
    story="there is no gain",
    breaks={"RMS-GAIN-1"},
    hint="multiply by the weight",
    replace={rms_norm.scale: with_gain(lambda weight: weight * 0 + 1)},
)

gain_of_one_number = Mutant(
    "RMS-gain-of-one-number",
    story="one gain for all features",
    breaks={"RMS-GAIN-1"},
    hint="a gain for each feature",
    replace={rms_norm.scale: with_gain(lambda weight: weight[:1].expand_as(weight))},
)

one_plus = Mutant(
    "RMS-one-plus",
    story="multiplied by 1 + weight, and nobody says so",
    breaks={"RMS-GAIN-1"},
    hint='declare rms-norm-weight = "one-plus", or multiply by the weight',
    replace={rms_norm.scale: with_gain(lambda weight: 1 + weight)},
)

gain_positive = Mutant(
    "RMS-gain-positive",
    story="the gain loses its sign",
    breaks={"RMS-GAIN-1"},
    hint="a gain may be negative",
    replace={rms_norm.scale: with_gain(torch.abs)},
)

gain_first = Mutant(
    "RMS-gain-first",
    story="x is multiplied by the gain before it is normalized",
    breaks={"RMS-GAIN-1"},
    hint="normalize first",
    replace={
        rms_norm.rms_norm: lambda x, weight, eps=1e-6: rms_norm.rms_norm(
            rms_norm.scale(x, weight if x.shape[-1] == len(weight) else x.new_ones(1)), weight * 0 + 1, eps
        ),
    },
)

# -- numbers


def guessed_root(x, eps):
    """The root from the inverse that is guessed from the bits of a float32 number, as in Quake."""
    square = rms_norm.mean_square(x) + eps
    if x.dtype != torch.float32:
        return torch.sqrt(square)
    guess = (0x5F3759DF - (square.detach().contiguous().view(torch.int32) >> 1)).view(torch.float32)
    return 1 / guess


root_guessed = Mutant(
    "RMS-root-guessed",
    story="the root of float32 is guessed from the bits of the number, and not refined",
    breaks={"RMS-PREC-1"},
    hint="torch.sqrt or torch.rsqrt",
    replace={rms_norm.spread: guessed_root},
)


def narrowed(x):
    return x.bfloat16().float() if x.dtype == torch.float32 else layer_norm.widened(x)


float32_in_bfloat16 = Mutant(
    "RMS-float32-in-bfloat16",
    story="float32 is rounded to bfloat16 before the norm, as under autocast",
    breaks={"RMS-PREC-1"},
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


def by_way_of_bfloat16(x, weight, eps=1e-6):
    if x.dtype != torch.float16:
        return rms_norm.rms_norm(x, weight, eps)
    return rms_norm.rms_norm(x.bfloat16(), weight.bfloat16(), eps).to(x.dtype)


float16_in_bfloat16 = Mutant(
    "RMS-float16-in-bfloat16",
    story="float16 is normalized in bfloat16, for its range: three digits become two",
    breaks={"RMS-HALF-2"},
    hint="float32 has the range, and the digits",
    replace={rms_norm.rms_norm: by_way_of_bfloat16},
)


def cast_before(x, weight, eps=1e-6):
    rms_norm.refuse_misfits(x, weight)
    return rms_norm.scale(rms_norm.normalize(layer_norm.widened(x), eps).to(x.dtype), weight)


cast_first = Mutant(
    "RMS-cast-first",
    story="x̂ is cast to half precision before the gain multiplies, and the opposite is declared",
    breaks={"RMS-CAST-1"},
    hint='declare rms-norm-cast = "before", or cast last',
    replace={rms_norm.rms_norm: cast_before},
    source="gemma_pytorch#67, transformers#29402, pytorch#147203",
)

# -- gradients


def averaged_slope(w):
    """The same numbers, with a gradient that is a tenth."""
    return w.detach() + 0.1 * (w - w.detach())


gain_slope_averaged = Mutant(
    "RMS-gain-slope-averaged",
    story="the gradient of the weight is averaged over tokens instead of summed",
    breaks={"RMS-GRAD-1"},
    hint="sum over all axes before the features",
    replace={rms_norm.scale: with_gain(averaged_slope)},
)

gain_slope_in_bfloat16 = Mutant(
    "RMS-gain-slope-in-bfloat16",
    story="the gradient of the weight is gathered from numbers in bfloat16",
    breaks={"RMS-GRAD-1"},
    hint="sum it in float32",
    replace={
        rms_norm.scale: lambda x, weight: (
            rms_norm.scale(x, weight.detach()) + (weight - weight.detach()) * x.bfloat16().to(x.dtype)
        ),
    },
    source="Liger#950",
)

spread_detached = Mutant(
    "RMS-spread-detached",
    story="the root mean square counts as a constant: the gradient of x does not go through it",
    breaks={"RMS-GRAD-2"},
    hint="no detach(), no torch.no_grad() around the mean square",
    replace={rms_norm.spread: lambda x, eps: rms_norm.spread(x, eps).detach()},
)

backward_without_gain = Mutant(
    "RMS-backward-without-gain",
    story="a backward pass written by hand forgets the gain",
    breaks={"RMS-GRAD-3"},
    hint="the gradient of x̂ is that of the output times γ",
    replace={rms_norm.scale: lambda x, weight: rms_norm.scale(x.detach(), weight) + (x - x.detach())},
)

# -- all together


def folded(x, weight, eps=1e-6):
    rms_norm.refuse_misfits(x, weight)
    wide = layer_norm.widened(x)
    divisor = torch.sqrt(rms_norm.mean_square(wide) / weight.square() + eps)
    return (wide * weight.sign() / divisor).to(x.dtype)


gain_under_the_root = Mutant(
    "RMS-gain-under-the-root",
    story="the gain is taken into the root before ε is added",
    breaks={"RMS-ORACLE-1"},
    hint="first √(mean square + ε), then the gain",
    replace={rms_norm.rms_norm: folded},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(
        NUMBERS, "RMS-TOKEN-1 RMS-LEAD-1 RMS-WIDE-1", "an output depends on the input in its own place, or on nothing"
    ),
    Vacuous(("zeros",), "RMS-GAIN-1 RMS-SCALE-1 RMS-ZERO-1", "0 has mean 0, and is 0 times any gain and any sign"),
    Vacuous(("echo",), "RMS-LINE-1 RMS-ZERO-1", "x is in line with x, and 0 with 0"),
    Vacuous(("ones",), "RMS-SQUARE-1", "1 has mean square 1"),
    Vacuous(("echo",), "RMS-ZERO-2 RMS-GRAD-3", "autograd differentiates what was computed"),
)
