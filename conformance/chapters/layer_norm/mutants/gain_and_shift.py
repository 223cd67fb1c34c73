"""Ways to get LayerNorm wrong: gain and shift."""

import torch

from attnconf.conformance.chapters.layer_norm.mutants.shared import otherwise, with_gain, with_shift
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm


def first_of_all(weight):
    """As of a parameter of one number: (D,) to (1,)."""
    return None if weight is None else weight[..., :1]


gain_forgotten = Mutant(
    "LN-gain-forgotten",
    story="there is no gain",
    breaks={"LN-GAIN-1"},
    hint="multiply by the weight",
    replace={layer_norm.scale_and_shift: with_gain(lambda weight: weight * 0 + 1)},
)

gain_of_one_number = Mutant(
    "LN-gain-of-one-number",
    story="one gain for all features",
    breaks={"LN-GAIN-1"},
    hint="a gain of the shape of the features",
    replace={layer_norm.scale_and_shift: with_gain(first_of_all)},
)

gain_one_plus = Mutant(
    "LN-gain-one-plus",
    story="multiplied by 1 + weight",
    breaks={"LN-GAIN-1"},
    hint='the weight is the gain, and begins at 1; or declare layer-norm-weight = "one-plus"',
    replace={layer_norm.scale_and_shift: with_gain(lambda weight: 1 + weight)},
)

gain_squared = Mutant(
    "LN-gain-squared",
    story="the gain is multiplied twice",
    breaks={"LN-GAIN-1"},
    hint="once",
    replace={layer_norm.scale_and_shift: with_gain(torch.square)},
)

gain_positive = Mutant(
    "LN-gain-positive",
    story="the gain loses its sign",
    breaks={"LN-GAIN-1"},
    hint="a gain may be negative",
    replace={layer_norm.scale_and_shift: with_gain(torch.abs)},
)


def gain_before(x, shape, weight=None, bias=None, eps=1e-5, how=None):
    layer_norm.refuse_misfits(x, shape)
    return layer_norm.layer_norm(x if weight is None else x * weight, shape, None, bias, eps, how)


gain_first = Mutant(
    "LN-gain-first",
    story="x is multiplied by the gain before it is normalized",
    breaks={"LN-GAIN-1"},
    hint="normalize first",
    replace={layer_norm.layer_norm: gain_before},
)

shift_forgotten = Mutant(
    "LN-shift-forgotten",
    story="there is no shift",
    breaks={"LN-BIAS-1"},
    hint="add the bias",
    replace={layer_norm.scale_and_shift: with_shift(lambda bias: bias * 0)},
)

shift_of_one_number = Mutant(
    "LN-shift-of-one-number",
    story="one shift for all features",
    breaks={"LN-BIAS-1"},
    hint="a shift of the shape of the features",
    replace={layer_norm.scale_and_shift: with_shift(first_of_all)},
)


def with_one_number_each(x, weight, bias):
    return layer_norm.scale_and_shift(x, first_of_all(weight), first_of_all(bias))


one_number_each = Mutant(
    "LN-one-number-each",
    story="one gain and one shift for all features, which fit every width: nn.Parameter(torch.ones(1))",
    breaks={"LN-GAIN-1", "LN-BIAS-1", "LN-MISFIT-1"},
    hint="a gain and a shift of the shape of the features: nn.Parameter(torch.ones(dim))",
    replace={layer_norm.scale_and_shift: with_one_number_each, layer_norm.refuse_misfits: lambda x, shape: None},
)

one_number_each_and_std = Mutant(
    "LN-one-number-each-and-std",
    story="one gain and one shift for all features, and x.std() + eps: divided by D - 1, and ε outside the root",
    breaks={"LN-GAIN-1", "LN-BIAS-1", "LN-MISFIT-1"},
    hint="nn.Parameter(torch.ones(dim)), and torch.sqrt(x.var(-1, unbiased=False) + eps)",
    replace={
        layer_norm.scale_and_shift: with_one_number_each,
        layer_norm.refuse_misfits: lambda x, shape: None,
        layer_norm.spread: otherwise(variance="unbiased", eps="outside"),
    },
)

shift_subtracted = Mutant(
    "LN-shift-subtracted",
    story="the shift is subtracted",
    breaks={"LN-BIAS-1"},
    hint="add the bias",
    replace={layer_norm.scale_and_shift: with_shift(torch.neg)},
)


def shifted_first(x, weight, bias):
    return layer_norm.scale_and_shift(x if bias is None else x + bias, weight, None)


shift_first = Mutant(
    "LN-shift-first",
    story="the shift is added before the gain multiplies, (x̂ + β)·γ",
    breaks={"LN-BIAS-1"},
    hint="first the gain, then the shift",
    replace={layer_norm.scale_and_shift: shifted_first},
)


def not_without_weights(x, shape, weight=None, bias=None, eps=1e-5, how=None):
    return x if weight is None else layer_norm.layer_norm(x, shape, weight, bias, eps, how)


plain_is_nothing = Mutant(
    "LN-plain-is-nothing",
    story="a norm without weights does nothing",
    breaks={"LN-PLAIN-1"},
    hint="affine=False leaves gain and shift out, not the norm",
    replace={layer_norm.layer_norm: not_without_weights},
)


def both_or_none(x, weight, bias):
    return x if weight is None or bias is None else layer_norm.scale_and_shift(x, weight, bias)


gain_needs_shift = Mutant(
    "LN-gain-needs-shift",
    story="without a shift the gain is left out too",
    breaks={"LN-NOBIAS-1"},
    hint="each of the two may be missing by itself",
    replace={layer_norm.scale_and_shift: both_or_none},
)
