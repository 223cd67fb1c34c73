"""Ways to get LayerNorm wrong: all together."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm


def folded(x, shape, weight=None, bias=None, eps=1e-5, how=None):
    if weight is None:
        return layer_norm.layer_norm(x, shape, weight, bias, eps, how)
    axes, wide, how = layer_norm.last_axes(x, shape), layer_norm.widened(x), how or layer_norm.Divisor()
    layer_norm.refuse_misfits(x, shape)
    square = layer_norm.variance(wide, axes) * layer_norm.correction(wide, axes, how) / weight.square()
    divisor = torch.sqrt(square + eps) if how.eps == "inside" else torch.sqrt(square) + eps
    normalized = torch.sign(weight) * (wide - layer_norm.mean(wide, axes)) / divisor
    return layer_norm.scale_and_shift(normalized, None, bias).to(x.dtype)


gain_under_the_root = Mutant(
    "LN-gain-under-the-root",
    story="the gain is taken into the root before ε is added",
    breaks={"LN-ORACLE-1"},
    hint="first √(σ² + ε), then the gain",
    replace={layer_norm.layer_norm: folded},
)
