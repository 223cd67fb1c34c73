"""Ways to get LayerNorm wrong: ε."""

import torch

from attnconf.conformance.chapters.layer_norm.mutants.shared import otherwise
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm


def of_what_is_not_zero(x, axes, eps, how):
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
    hint="torch.sqrt(variance + eps); if it is meant, declare layer-norm-eps",
    replace={layer_norm.spread: otherwise(eps="outside")},
    source="hkproj/pytorch-transformer#31, hyunwoongko/transformer#7, burn#2185",
)

eps_as_floor = Mutant(
    "LN-eps-as-floor",
    story="ε is a floor under the variance instead of being added",
    breaks={"LN-EPS-1"},
    hint="variance + eps, not variance.clamp(min=eps)",
    replace={layer_norm.spread: lambda x, axes, eps, how: torch.sqrt(layer_norm.variance(x, axes).clamp(min=eps))},
)

eps_fixed = Mutant(
    "LN-eps-fixed",
    story="ε is 10⁻⁵, whatever the configuration says",
    breaks={"LN-EPS-2"},
    hint="hand config.eps on",
    replace={layer_norm.spread: lambda x, axes, eps, how: layer_norm.spread(x, axes, 1e-5, how)},
    source="keras-hub#728",
)

eps_of_others = Mutant(
    "LN-eps-of-others",
    story="ε is never less than 10⁻⁶",
    breaks={"LN-EPS-2"},
    hint="hand config.eps on, as it is",
    replace={layer_norm.spread: lambda x, axes, eps, how: layer_norm.spread(x, axes, max(eps, 1e-6), how)},
)

eps_squared = Mutant(
    "LN-eps-squared",
    story="ε is squared before it is added",
    breaks={"LN-EPS-2"},
    hint="ε is added to the variance as it is",
    replace={layer_norm.spread: lambda x, axes, eps, how: layer_norm.spread(x, axes, eps**2, how)},
)

eps_missing = Mutant(
    "LN-eps-missing",
    story="there is no ε: rows of equal features are 0/0",
    breaks={"LN-EPS-2"},
    hint="torch.sqrt(variance + eps)",
    replace={layer_norm.spread: lambda x, axes, eps, how: layer_norm.spread(x, axes, 0.0, how)},
    source="TIM-VX#589",
)


def unless_constant(x, axes, eps, how):
    return torch.where(layer_norm.variance(x, axes) == 0, x, layer_norm.normalize(x, axes, eps, how))


constant_rows_kept = Mutant(
    "LN-constant-rows-kept",
    story="a row without variance is left as it is",
    breaks={"LN-CONST-1"},
    hint="with ε it needs no exception: x - mean is 0",
    replace={layer_norm.normalize: unless_constant},
)


def with_root_first(x, axes, eps, how):
    deviation = torch.sqrt(layer_norm.variance(x, axes) * layer_norm.correction(x, axes, how))
    return torch.sqrt(deviation.square() + eps) if how.eps == "inside" else deviation + eps


root_first = Mutant(
    "LN-root-first",
    story="the root is taken before ε is added: √σ² has no slope at 0",
    breaks={"LN-CONST-2"},
    hint="take one root, after ε is added; x.std() has a slope at 0",
    replace={layer_norm.spread: with_root_first},
)


def deviation_less_eps(x, axes, eps, how):
    return layer_norm.root(layer_norm.variance(x, axes) * layer_norm.correction(x, axes, how)) - eps


eps_subtracted = Mutant(
    "LN-eps-subtracted",
    story="ε is subtracted: the divisor is too small, and 0 or less on rows that hardly vary",
    breaks={"LN-EPS-1"},
    hint="add ε: torch.sqrt(variance + eps)",
    replace={layer_norm.spread: deviation_less_eps},
    variants=[{layer_norm.spread: lambda x, axes, eps, how: layer_norm.spread(x, axes, -eps, how)}],
)
