"""Ways to get RMSNorm wrong: gradients."""

from attnconf.conformance.chapters.rms_norm.mutants.shared import with_gain
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rms_norm


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
    replace={rms_norm.spread: lambda x, eps, place: rms_norm.spread(x, eps, place).detach()},
)

backward_without_gain = Mutant(
    "RMS-backward-without-gain",
    story="a backward pass written by hand forgets the gain",
    breaks={"RMS-GRAD-3"},
    hint="the gradient of x̂ is that of the output times γ",
    replace={rms_norm.scale: lambda x, weight: rms_norm.scale(x.detach(), weight) + (x - x.detach())},
)
