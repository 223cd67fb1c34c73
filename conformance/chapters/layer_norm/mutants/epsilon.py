"""Ways to get LayerNorm wrong: ε."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm


def of_what_is_not_zero(x, axes, eps):
    used = (x != 0).to(x.dtype)
    count = used.sum(dim=axes, keepdim=True).clamp(min=1)
    centred = (x - x.sum(dim=axes, keepdim=True) / count) * used
    return centred / torch.sqrt(centred.square().sum(dim=axes, keepdim=True) / count + eps)


zeros_left_out = Mutant(
    "LN-zeros-left-out",
    story="features that are 0 are taken for padding: they are left out of mean and variance, and stay 0",
    breaks={"LN-LINE-1"},
    hint="padding is along the sequence; a feature of 0 is a number like others",
    replace={layer_norm.normalize: of_what_is_not_zero},
)

eps_outside = Mutant(
    "LN-eps-outside",
    story="ε is added to the standard deviation, outside the root",
    breaks={"LN-EPS-1"},
    hint="torch.sqrt(variance + eps)",
    replace={layer_norm.spread: lambda x, axes, eps: torch.sqrt(layer_norm.variance(x, axes)) + eps},
    source="hkproj/pytorch-transformer#31, hyunwoongko/transformer#7, burn#2185",
)

eps_as_floor = Mutant(
    "LN-eps-as-floor",
    story="ε is a floor under the variance instead of being added",
    breaks={"LN-EPS-1"},
    hint="variance + eps, not variance.clamp(min=eps)",
    replace={layer_norm.spread: lambda x, axes, eps: torch.sqrt(layer_norm.variance(x, axes).clamp(min=eps))},
)

eps_fixed = Mutant(
    "LN-eps-fixed",
    story="ε is 10⁻⁵, whatever the configuration says",
    breaks={"LN-EPS-2"},
    hint="hand config.eps on",
    replace={layer_norm.spread: lambda x, axes, eps: layer_norm.spread(x, axes, 1e-5)},
    source="keras-hub#728",
)

eps_of_others = Mutant(
    "LN-eps-of-others",
    story="ε is never less than 10⁻⁶",
    breaks={"LN-EPS-2"},
    hint="hand config.eps on, as it is",
    replace={layer_norm.spread: lambda x, axes, eps: layer_norm.spread(x, axes, max(eps, 1e-6))},
)

eps_squared = Mutant(
    "LN-eps-squared",
    story="ε is squared before it is added",
    breaks={"LN-EPS-2"},
    hint="ε is added to the variance as it is",
    replace={layer_norm.spread: lambda x, axes, eps: layer_norm.spread(x, axes, eps**2)},
)

eps_missing = Mutant(
    "LN-eps-missing",
    story="there is no ε: rows of equal features are 0/0",
    breaks={"LN-EPS-2"},
    hint="torch.sqrt(variance + eps)",
    replace={layer_norm.spread: lambda x, axes, eps: torch.sqrt(layer_norm.variance(x, axes))},
    source="TIM-VX#589",
)


def unless_constant(x, axes, eps):
    return torch.where(layer_norm.variance(x, axes) == 0, x, layer_norm.normalize(x, axes, eps))


constant_rows_kept = Mutant(
    "LN-constant-rows-kept",
    story="a row without variance is left as it is",
    breaks={"LN-CONST-1"},
    hint="with ε it needs no exception: x - mean is 0",
    replace={layer_norm.normalize: unless_constant},
)

root_first = Mutant(
    "LN-root-first",
    story="the standard deviation is squared again before ε is added: √σ² has no slope at 0",
    breaks={"LN-CONST-2"},
    hint="take one root, after ε is added",
    replace={
        layer_norm.spread: lambda x, axes, eps: torch.sqrt(torch.sqrt(layer_norm.variance(x, axes)).square() + eps)
    },
)
