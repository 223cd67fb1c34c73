"""Ways to get RMSNorm wrong: all together."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm, rms_norm


def folded(x, weight, eps=1e-6, place="inside"):
    rms_norm.refuse_misfits(x, weight)
    wide = layer_norm.widened(x)
    square = rms_norm.mean_square(wide) / weight.square()
    divisor = torch.sqrt(square + eps) if place == "inside" else torch.sqrt(square) + eps
    return (wide * weight.sign() / divisor).to(x.dtype)


gain_under_the_root = Mutant(
    "RMS-gain-under-the-root",
    story="the gain is taken into the root before ε is added",
    breaks={"RMS-ORACLE-1"},
    hint="first √(mean square + ε), then the gain",
    replace={rms_norm.rms_norm: folded},
)
