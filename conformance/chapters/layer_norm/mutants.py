"""Ways to get layer_norm wrong: the reference with one function replaced."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, Vacuous
from attnconf.reference import layer_norm

HALF = (torch.bfloat16, torch.float16)


def over(axes_of):
    """Return last_axes with other axes: what ``axes_of(x, shape)`` gives."""
    return lambda x, shape: axes_of(x, shape)


# -- the call


def gain_in_place(x, weight, bias):
    if weight is not None and not weight.requires_grad:
        x = x * weight.clone()
        weight.mul_(0.5)
        return x if bias is None else x + bias
    return layer_norm.scale_and_shift(x, weight, bias)


gain_changed = Mutant(
    "LN-gain-changed",
    story="the gain decays with every call",
    breaks={"CALL-IMMUT-1", "CALL-REPEAT-1"},
    hint="weights are changed by the optimiser only",
    replace={layer_norm.scale_and_shift: gain_in_place},
)


def with_running_mean(config, weights):
    running = []

    def forward(x):
        axes = tuple(range(x.ndim - 1))
        if not running:
            running.append(torch.zeros_like(x.mean(dim=axes)))
            return adapter.layer_norm(config, weights)(x)
        return adapter.layer_norm(config, weights)(x - running[0])

    def remembering(x):
        out = forward(x)
        running[0] = 0.9 * running[0] + 0.1 * x.detach().mean(dim=tuple(range(x.ndim - 1)))
        return out

    return remembering


running_statistics = Mutant(
    "LN-running-statistics",
    story="a running mean of earlier calls is subtracted, as in batch normalization",
    breaks={"CALL-REPEAT-1"},
    hint="use the statistics of this token; keep nothing",
    replace={adapter.layer_norm: with_running_mean},
)


def kept_spread(config, weights):
    known = []

    def forward(x):
        layer_norm.refuse_misfits(x, config.shape)
        axes = layer_norm.last_axes(x, config.shape)
        wide = layer_norm.widened(x)
        if not known or known[0].shape != x.shape[: x.ndim - len(config.shape)] + (1,) * len(config.shape):
            known[:] = [layer_norm.spread(wide, axes, config.eps)]
        normalized = (wide - layer_norm.mean(wide, axes)) / known[0]
        return layer_norm.scale_and_shift(normalized, weights.get("weight"), weights.get("bias")).to(x.dtype)

    return forward


cached_statistics = Mutant(
    "LN-cached-statistics",
    story="the standard deviation of the first call is used in all later ones",
    breaks={"CALL-REPEAT-1"},
    hint="compute it anew in every call",
    replace={adapter.layer_norm: kept_spread},
)


def without_eps_unless_tracked(x, axes, eps):
    tracked = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    return torch.sqrt(layer_norm.variance(x, axes) + (eps if tracked else 0.0))


fast_path_without_eps = Mutant(
    "LN-fast-path-without-eps",
    story="a fast path for inference leaves ε out",
    breaks={"CALL-MODE-1"},
    hint="both paths need the same ε",
    replace={layer_norm.spread: without_eps_unless_tracked},
)


axes_from_two_on = Mutant(
    "LN-axes-from-two-on",
    story="all axes but the first two are normalized together: right for (B, L, D) alone",
    breaks={"LN-LEAD-1"},
    hint="count from the end: dim=-1",
    replace={layer_norm.last_axes: over(lambda x, shape: tuple(range(2, x.ndim)))},
    source="OpenNMT-tf#6",
)

axis_two = Mutant(
    "LN-axis-two",
    story="dim=2 instead of dim=-1: right for (B, L, D), a wrong axis or an error elsewhere",
    breaks={"LN-LEAD-1"},
    hint="count from the end: dim=-1",
    replace={
        layer_norm.last_axes: over(
            lambda x, shape: (2,) if len(shape) == 1 and x.ndim > 2 else layer_norm.last_axes(x, shape)
        ),
    },
)


def three_axes_only(x, shape):
    if x.ndim < 3:
        raise ValueError(f"expected (batch, length, features), found {tuple(x.shape)}")
    layer_norm.refuse_misfits(x, shape)


batched_only = Mutant(
    "LN-batched-only",
    story="a token, or a sentence, without a batch around it is refused",
    breaks={"LN-LEAD-1"},
    raises={"LN-LEAD-1"},
    hint="the last axes are all that matters",
    replace={layer_norm.refuse_misfits: three_axes_only},
)


def fitted(x, shape, weight=None, bias=None, eps=1e-5):
    width = x.shape[-1]
    if len(shape) > 1 or weight is None or width == shape[0]:
        return layer_norm.layer_norm(x, shape, weight, bias, eps)
    pick = torch.arange(width) % shape[0]
    return layer_norm.layer_norm(x, (width,), weight[pick], None if bias is None else bias[pick], eps)


weights_cut_to_fit = Mutant(
    "LN-weights-cut-to-fit",
    story="gain and shift are cut, or repeated, until they are as wide as x",
    breaks={"LN-MISFIT-1"},
    hint="compare the last axes of x with the shape, and raise",
    replace={layer_norm.layer_norm: fitted},
)


def differing_unless_one(x, shape):
    if len(shape) > 1 or 1 not in (x.shape[-1], shape[0]):
        layer_norm.refuse_misfits(x, shape)


broadcast = Mutant(
    "LN-broadcast",
    story="nothing compares the widths: a single feature is broadcast over the gain",
    breaks={"LN-MISFIT-2"},
    hint="compare the last axes of x with the shape, and raise",
    replace={layer_norm.refuse_misfits: differing_unless_one},
)

# -- what is normalized


def all_but_last(x, shape):
    return tuple(range(x.ndim - len(shape)))


over_the_batch = Mutant(
    "LN-over-the-batch",
    story="each feature is normalized over all tokens of the batch, as in batch normalization",
    breaks={"LN-TOKEN-1"},
    hint="statistics over the features: dim=-1",
    replace={layer_norm.last_axes: over(all_but_last)},
    source="tf-addons#2142",
)

over_the_sequence = Mutant(
    "LN-over-the-sequence",
    story="each feature is normalized over the tokens of its sample",
    breaks={"LN-TOKEN-1"},
    hint="statistics over the features: dim=-1",
    replace={layer_norm.last_axes: over(lambda x, shape: (max(-2, -x.ndim),))},
    source="GATr#8",
)

over_all_but_the_first = Mutant(
    "LN-over-all-but-the-first",
    story="one mean and one variance for a whole sample",
    breaks={"LN-TOKEN-1"},
    hint="statistics over the features: dim=-1",
    replace={layer_norm.last_axes: over(lambda x, shape: tuple(range(1, x.ndim)) or (-1,))},
    source="OpenNMT-tf#6",
)

over_everything = Mutant(
    "LN-over-everything",
    story="x.mean() without an axis: one mean and one variance for all that comes in",
    breaks={"LN-TOKEN-1"},
    hint="statistics over the features: dim=-1, keepdim=True",
    replace={layer_norm.last_axes: over(lambda x, shape: tuple(range(x.ndim)))},
)


def mean_of_tokens(x, axes, eps):
    if x.ndim < 3:
        return layer_norm.normalize(x, axes, eps)
    centre = x.mean(dim=tuple(range(1, x.ndim)), keepdim=True)
    return (x - centre) / layer_norm.spread(x, axes, eps)


mean_of_the_sample = Mutant(
    "LN-mean-of-the-sample",
    story="the variance is that of the token, the mean that of the whole sample",
    breaks={"LN-TOKEN-1"},
    hint="both over the features",
    replace={layer_norm.normalize: mean_of_tokens},
)

not_centred = Mutant(
    "LN-not-centred",
    story="divided by the standard deviation, and no mean subtracted",
    breaks={"LN-MEAN-1"},
    hint="subtract the mean first",
    replace={layer_norm.normalize: lambda x, axes, eps: x / layer_norm.spread(x, axes, eps)},
)

root_mean_square = Mutant(
    "LN-root-mean-square",
    story="RMSNorm in the place of LayerNorm: neither output nor variance know a mean",
    breaks={"LN-MEAN-1"},
    hint="subtract the mean, in the variance too",
    replace={layer_norm.normalize: lambda x, axes, eps: x / torch.sqrt(layer_norm.mean(x.square(), axes) + eps)},
)

smallest_subtracted = Mutant(
    "LN-smallest-subtracted",
    story="the smallest feature is subtracted instead of the mean",
    breaks={"LN-MEAN-1"},
    hint="subtract the mean",
    replace={
        layer_norm.normalize: lambda x, axes, eps: (
            (x - x.amin(dim=axes, keepdim=True)) / layer_norm.spread(x, axes, eps)
        ),
    },
)


def bessel(x, axes):
    return x.var(dim=axes, keepdim=True, unbiased=True) if x.shape[-1] > 1 else layer_norm.variance(x, axes)


unbiased = Mutant(
    "LN-unbiased",
    story="the sum of squares is divided by D - 1: x.var() or x.std() as they come",
    breaks={"LN-VAR-1"},
    hint="x.var(-1, unbiased=False)",
    replace={layer_norm.variance: bessel},
    source="allennlp#953, annotated-transformer#119",
)


def annotated(x, axes, eps):
    return torch.sqrt(bessel(x, axes)) + eps


annotated_transformer = Mutant(
    "LN-annotated-transformer",
    story="x.std() + eps: divided by D - 1, and ε outside the root",
    breaks={"LN-VAR-1"},
    hint="torch.sqrt(x.var(-1, unbiased=False) + eps)",
    replace={layer_norm.spread: annotated},
    source="annotated-transformer#119, BERT-pytorch#30",
)

no_root = Mutant(
    "LN-no-root",
    story="divided by the variance instead of its root",
    breaks={"LN-VAR-1"},
    hint="divide by torch.sqrt(variance + eps)",
    replace={layer_norm.spread: lambda x, axes, eps: layer_norm.variance(x, axes) + eps},
)

squared_again = Mutant(
    "LN-squared-again",
    story="divided by (variance + eps) ** 2, where ** 0.5 was meant",
    breaks={"LN-VAR-1"},
    hint="the power is 0.5, or torch.sqrt",
    replace={layer_norm.spread: lambda x, axes, eps: (layer_norm.variance(x, axes) + eps) ** 2},
    source="TPlinker-joint-extraction#37",
)

sum_of_squares = Mutant(
    "LN-sum-of-squares",
    story="divided by the length of the deviations: the sum of squares, not their mean",
    breaks={"LN-VAR-1"},
    hint="the mean of the squares",
    replace={layer_norm.variance: lambda x, axes: (x - layer_norm.mean(x, axes)).square().sum(dim=axes, keepdim=True)},
)

mean_deviation = Mutant(
    "LN-mean-deviation",
    story="divided by the mean absolute deviation",
    breaks={"LN-VAR-1"},
    hint="the root of the mean square deviation",
    replace={layer_norm.variance: lambda x, axes: layer_norm.mean((x - layer_norm.mean(x, axes)).abs(), axes).square()},
)

square_not_centred = Mutant(
    "LN-square-not-centred",
    story="the mean is subtracted, but the squares are those of x itself",
    breaks={"LN-SHIFT-1"},
    hint="the variance is the mean of (x - mean)²",
    replace={layer_norm.variance: lambda x, axes: layer_norm.mean(x.square(), axes)},
)


def by_groups(x, axes, eps):
    if x.shape[-1] < 4:
        return layer_norm.normalize(x, axes, eps)
    return torch.cat([layer_norm.normalize(part, axes, eps) for part in x.chunk(2, dim=-1)], dim=-1)


grouped = Mutant(
    "LN-grouped",
    story="each half of the features is normalized by itself, as in group normalization",
    breaks={"LN-LINE-1"},
    hint="one mean and one variance for all features of a token",
    replace={layer_norm.normalize: by_groups},
)

squashed = Mutant(
    "LN-squashed",
    story="what is normalized is squashed to ±1",
    breaks={"LN-VAR-1", "LN-MEAN-1", "LN-LINE-1"},
    hint="no tanh: a norm has no ceiling",
    replace={layer_norm.normalize: lambda x, axes, eps: torch.tanh(layer_norm.normalize(x, axes, eps))},
)

magnitudes = Mutant(
    "LN-magnitudes",
    story="deviations lose their signs before they are centred again",
    breaks={"LN-LINE-1"},
    hint="the signs belong to the output",
    replace={
        layer_norm.normalize: lambda x, axes, eps: layer_norm.normalize(
            (x - layer_norm.mean(x, axes)).abs() if x.shape[-1] > 2 else x, axes, eps
        ),
    },
)

sign_turned = Mutant(
    "LN-sign-turned",
    story="mean - x instead of x - mean: every sign is turned",
    breaks={"LN-LINE-1"},
    hint="x - mean",
    replace={layer_norm.normalize: lambda x, axes, eps: -layer_norm.normalize(x, axes, eps)},
)

clamped_to_half = Mutant(
    "LN-clamped-to-half",
    story="inputs are clamped to what float16 holds, in every dtype",
    breaks={"LN-SCALE-1"},
    hint="no clamp, or in float16 only",
    replace={layer_norm.widened: lambda x: layer_norm.widened(x).clamp(-65504, 65504)},
    source="the T5 of transformers, of hidden states in float16",
)

spread_capped = Mutant(
    "LN-spread-capped",
    story="the standard deviation is clamped at 10⁴",
    breaks={"LN-SCALE-1"},
    hint="no clamp: a large row is divided by much",
    replace={layer_norm.spread: lambda x, axes, eps: layer_norm.spread(x, axes, eps).clamp(max=1e4)},
)


def in_blocks(x, axes, eps):
    return torch.cat([layer_norm.normalize(part, axes, eps) for part in x.split(512, dim=-1)], dim=-1)


blocks_of_512 = Mutant(
    "LN-blocks-of-512",
    story="a kernel takes 512 features at a time, and each block gets its own statistics",
    breaks={"LN-WIDE-1"},
    hint="combine the statistics of the blocks of a row",
    replace={layer_norm.normalize: in_blocks},
)

first_1024 = Mutant(
    "LN-first-1024",
    story="mean and variance stop at the 1024th feature, where the kernel's block ends",
    breaks={"LN-WIDE-1"},
    hint="loop over the row, and mask the end of the last block",
    replace={
        layer_norm.normalize: lambda x, axes, eps: (
            (x - layer_norm.mean(x[..., :1024], axes)) / layer_norm.spread(x[..., :1024], axes, eps)
        ),
    },
)

# -- ε


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

# -- gain and shift


def with_gain(change):
    return lambda x, weight, bias: layer_norm.scale_and_shift(x, None if weight is None else change(weight), bias)


def with_shift(change):
    return lambda x, weight, bias: layer_norm.scale_and_shift(x, weight, None if bias is None else change(bias))


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
    hint="the weight is the gain: it begins at 1",
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


def gain_before(x, shape, weight=None, bias=None, eps=1e-5):
    layer_norm.refuse_misfits(x, shape)
    return layer_norm.layer_norm(x if weight is None else x * weight, shape, None, bias, eps)


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
        layer_norm.spread: annotated,
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


def not_without_weights(x, shape, weight=None, bias=None, eps=1e-5):
    return x if weight is None else layer_norm.layer_norm(x, shape, weight, bias, eps)


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

# -- several axes

last_axis_only = Mutant(
    "LN-last-axis-only",
    story="of several axes only the last one is normalized",
    breaks={"LN-AXES-1"},
    hint="mean and variance over as many axes as the shape has",
    replace={layer_norm.last_axes: over(lambda x, shape: (-1,))},
)

first_of_the_axes = Mutant(
    "LN-first-of-the-axes",
    story="of several axes only the first one is normalized",
    breaks={"LN-AXES-1"},
    hint="mean and variance over as many axes as the shape has",
    replace={layer_norm.last_axes: over(lambda x, shape: (-len(shape),))},
)


def first_row(weight):
    return weight[(0,) * (weight.ndim - 1)].expand_as(weight)


gain_of_the_last_axis = Mutant(
    "LN-gain-of-the-last-axis",
    story="of a gain over several axes only the first row is used, for all",
    breaks={"LN-AXES-2"},
    hint="a gain for each place",
    replace={layer_norm.scale_and_shift: with_gain(first_row)},
)

shift_reversed = Mutant(
    "LN-shift-reversed",
    story="the places of a shift over several axes are read in column order",
    breaks={"LN-AXES-2"},
    hint="the bias has the shape of the axes, in their order",
    replace={
        layer_norm.scale_and_shift: with_shift(
            lambda bias: bias.permute(*reversed(range(bias.ndim))).reshape(bias.shape)
        ),
    },
)

# -- numbers


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
    breaks={"LN-PREC-1"},
    hint="norms run in float32",
    replace={layer_norm.widened: narrowed},
)


def guessed_root(x, axes, eps):
    """The root from the inverse that is guessed from the bits of a float32 number, as in Quake."""
    square = layer_norm.variance(x, axes) + eps
    if x.dtype != torch.float32:
        return torch.sqrt(square)
    guess = (0x5F3759DF - (square.detach().contiguous().view(torch.int32) >> 1)).view(torch.float32)
    return 1 / guess


root_guessed = Mutant(
    "LN-root-guessed",
    story="the root of float32 is guessed from the bits of the number, and not refined",
    breaks={"LN-PREC-1"},
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


def rounding_the_mean(x, shape, weight=None, bias=None, eps=1e-5):
    if x.dtype not in HALF:
        return layer_norm.layer_norm(x, shape, weight, bias, eps)
    return layer_norm.layer_norm(x, shape, weight, bias, eps) - (
        (x.mean(dim=-1, keepdim=True).float() - x.float().mean(dim=-1, keepdim=True))
        / layer_norm.spread(x.float(), (-1,), eps)
        * (1 if weight is None else weight)
    ).to(x.dtype)


mean_in_half = Mutant(
    "LN-mean-in-half",
    story="the mean of half precision is rounded to half precision before it is subtracted",
    breaks={"LN-HALF-2"},
    hint="keep mean and variance in float32",
    replace={layer_norm.layer_norm: rounding_the_mean},
)

# -- gradients


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
    replace={layer_norm.spread: lambda x, axes, eps: layer_norm.spread(x, axes, eps).detach()},
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
    def normalize(x, axes, eps):
        out = layer_norm.normalize(x, axes, eps)
        return out.detach() + factor(x, axes, eps) * (out - out.detach())

    return normalize


backward_without_spread = Mutant(
    "LN-backward-without-spread",
    story="a backward pass written by hand does not divide by the standard deviation",
    breaks={"LN-GRAD-5"},
    hint="every term of the gradient is divided by √(σ² + ε)",
    replace={layer_norm.normalize: slope_of(lambda x, axes, eps: layer_norm.spread(x, axes, eps).detach())},
)

# -- all together


def folded(x, shape, weight=None, bias=None, eps=1e-5):
    if weight is None:
        return layer_norm.layer_norm(x, shape, weight, bias, eps)
    axes, wide = layer_norm.last_axes(x, shape), layer_norm.widened(x)
    layer_norm.refuse_misfits(x, shape)
    inverse = torch.sign(weight) * torch.rsqrt(layer_norm.variance(wide, axes) / weight.square() + eps)
    return layer_norm.scale_and_shift((wide - layer_norm.mean(wide, axes)) * inverse, None, bias).to(x.dtype)


gain_under_the_root = Mutant(
    "LN-gain-under-the-root",
    story="the gain is taken into the root before ε is added",
    breaks={"LN-ORACLE-1"},
    hint="first √(σ² + ε), then the gain",
    replace={layer_norm.layer_norm: folded},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(
        NUMBERS, "LN-TOKEN-1 LN-LEAD-1 LN-WIDE-1", "an output depends on the input in its own place, or on nothing"
    ),
    Vacuous(NUMBERS, "LN-PLAIN-1 LN-NOBIAS-1 LN-AXES-1", "no weight is read, and the shape is that of x"),
    Vacuous(CONSTANT, "LN-SHIFT-1", "what does not depend on x does not depend on its mean"),
    Vacuous(("zeros",), "LN-MEAN-1 LN-GAIN-1 LN-SCALE-1", "0 has mean 0, and is 0 times any gain and any sign"),
    Vacuous(("echo",), "LN-LINE-1", "x is in line with x, and 0 with 0"),
    Vacuous(("echo",), "LN-CONST-2 LN-GRAD-5", "autograd differentiates what was computed"),
)
