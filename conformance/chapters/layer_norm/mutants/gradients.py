"""Ways to get LayerNorm wrong: gradients."""

import torch

from attnconf.conformance.chapters.layer_norm.mutants.shared import with_gain, with_shift
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm


def averaged_slope(w):
    """The same numbers, with a gradient that is a tenth."""
    return w.detach() + 0.1 * (w - w.detach())


shift_slope_averaged = Mutant(
    "LN-shift-slope-averaged",
    story="the gradient of the shift is averaged over tokens instead of summed",
    breaks={"LN-GRAD-1"},
    hint="sum over all axes before the features",
    replace={layer_norm.scale_and_shift: with_shift(averaged_slope)},
)

shift_detached = Mutant(
    "LN-shift-detached",
    story="the shift is never trained",
    breaks={"LN-GRAD-1"},
    hint="the bias is a parameter: use it itself, not its .data",
    replace={layer_norm.scale_and_shift: with_shift(torch.detach)},
)

gain_slope_averaged = Mutant(
    "LN-gain-slope-averaged",
    story="the gradient of the gain is averaged over tokens instead of summed",
    breaks={"LN-GRAD-2"},
    hint="sum over all axes before the features",
    replace={layer_norm.scale_and_shift: with_gain(averaged_slope)},
)


def gain_slope_of_x(x, weight, bias):
    if weight is None:
        return layer_norm.scale_and_shift(x, weight, bias)
    return layer_norm.scale_and_shift(x, weight.detach(), bias) + (weight - weight.detach()) * x.bfloat16().to(x.dtype)


gain_slope_in_bfloat16 = Mutant(
    "LN-gain-slope-in-bfloat16",
    story="the gradient of the gain is gathered from numbers in bfloat16",
    breaks={"LN-GRAD-2"},
    hint="sum it in float32",
    replace={layer_norm.scale_and_shift: gain_slope_of_x},
    source="Liger#950",
)

mean_detached = Mutant(
    "LN-mean-detached",
    story="the mean counts as a constant: the gradient of x does not go through it",
    breaks={"LN-GRAD-3"},
    hint="no detach(), no .item(): the mean depends on x",
    replace={
        layer_norm.mean: lambda x, axes: (
            layer_norm.mean(x, axes).detach() if not x.grad_fn else (layer_norm.mean(x, axes))
        )
    },
)

spread_detached = Mutant(
    "LN-spread-detached",
    story="the standard deviation counts as a constant: the gradient of x does not go through it",
    breaks={"LN-GRAD-4"},
    hint="no detach(), no torch.no_grad() around the statistics",
    replace={layer_norm.spread: lambda x, axes, eps, how: layer_norm.spread(x, axes, eps, how).detach()},
)


def slope_without_gain(x, weight, bias):
    if weight is None:
        return layer_norm.scale_and_shift(x, weight, bias)
    return layer_norm.scale_and_shift(x.detach(), weight, bias) + (x - x.detach())


backward_without_gain = Mutant(
    "LN-backward-without-gain",
    story="a backward pass written by hand forgets the gain",
    breaks={"LN-GRAD-5"},
    hint="the gradient of x̂ is that of the output times γ",
    replace={layer_norm.scale_and_shift: slope_without_gain},
)


def slope_of(factor):
    def normalize(x, axes, eps, how):
        out = layer_norm.normalize(x, axes, eps, how)
        return out.detach() + factor(x, axes, eps, how) * (out - out.detach())

    return normalize


backward_without_spread = Mutant(
    "LN-backward-without-spread",
    story="a backward pass written by hand does not divide by the standard deviation",
    breaks={"LN-GRAD-5"},
    hint="every term of the gradient is divided by √(σ² + ε)",
    replace={layer_norm.normalize: slope_of(lambda x, axes, eps, how: layer_norm.spread(x, axes, eps, how).detach())},
)
