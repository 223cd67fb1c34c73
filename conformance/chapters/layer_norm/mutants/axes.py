"""Ways to get LayerNorm wrong: what is normalized."""

from math import prod

import torch

from attnconf.conformance.chapters.layer_norm.mutants.shared import otherwise, over
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm


def all_but_last(x, shape):
    return tuple(range(x.ndim - len(shape)))


over_the_batch = Mutant(
    "LN-over-the-batch",
    story="each feature is normalized over all tokens of the batch, as in batch normalization",
    breaks={"LN-TOKEN-1"},
    hint="statistics over the features: dim=-1",
    replace={layer_norm.last_axes: over(all_but_last)},
    source="tensorflow/addons#2142",
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


def mean_of_tokens(x, axes, eps, how):
    if x.ndim < 3:
        return layer_norm.normalize(x, axes, eps, how)
    centre = x.mean(dim=tuple(range(1, x.ndim)), keepdim=True)
    return (x - centre) / layer_norm.spread(x, axes, eps, how)


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
    replace={layer_norm.normalize: lambda x, axes, eps, how: x / layer_norm.spread(x, axes, eps, how)},
)

root_mean_square = Mutant(
    "LN-root-mean-square",
    story="RMSNorm in the place of LayerNorm: neither output nor variance know a mean",
    breaks={"LN-MEAN-1"},
    hint="subtract the mean, in the variance too",
    replace={layer_norm.normalize: lambda x, axes, eps, how: x / torch.sqrt(layer_norm.mean(x.square(), axes) + eps)},
)

smallest_subtracted = Mutant(
    "LN-smallest-subtracted",
    story="the smallest feature is subtracted instead of the mean",
    breaks={"LN-MEAN-1"},
    hint="subtract the mean",
    replace={
        layer_norm.normalize: lambda x, axes, eps, how: (
            (x - x.amin(dim=axes, keepdim=True)) / layer_norm.spread(x, axes, eps, how)
        ),
    },
)

unbiased = Mutant(
    "LN-unbiased",
    story="the sum of squares is divided by D - 1: x.var() or x.std() as they come",
    breaks={"LN-VAR-1"},
    hint="x.var(-1, unbiased=False); if it is meant, declare layer-norm-variance",
    replace={layer_norm.spread: otherwise(variance="unbiased")},
    source="allennlp#953, annotated-transformer#119",
)

annotated_transformer = Mutant(
    "LN-annotated-transformer",
    story="x.std() + eps: divided by D - 1, and ε outside the root",
    breaks={"LN-VAR-1"},
    hint="torch.sqrt(x.var(-1, unbiased=False) + eps); if it is meant, declare layer-norm-variance and layer-norm-eps",
    replace={layer_norm.spread: otherwise(variance="unbiased", eps="outside")},
    source="annotated-transformer#119, BERT-pytorch#30",
)


def unbiased_variance(x, axes, eps, how):
    kind = "unbiased" if prod(x.shape[axis] for axis in axes) > 1 else "biased"
    return layer_norm.variance(x, axes) * layer_norm.correction(x, axes, layer_norm.Divisor(kind)) + eps


no_root = Mutant(
    "LN-no-root",
    story="divided by the variance instead of its root",
    breaks={"LN-VAR-1"},
    hint="divide by torch.sqrt(variance + eps)",
    replace={layer_norm.spread: lambda x, axes, eps, how: layer_norm.variance(x, axes) + eps},
    variants=({layer_norm.spread: unbiased_variance},),
)

squared_again = Mutant(
    "LN-squared-again",
    story="divided by (variance + eps) ** 2, where ** 0.5 was meant",
    breaks={"LN-VAR-1"},
    hint="the power is 0.5, or torch.sqrt",
    replace={layer_norm.spread: lambda x, axes, eps, how: (layer_norm.variance(x, axes) + eps) ** 2},
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


def by_groups(x, axes, eps, how):
    if x.shape[-1] < 4:
        return layer_norm.normalize(x, axes, eps, how)
    return torch.cat([layer_norm.normalize(part, axes, eps, how) for part in x.chunk(2, dim=-1)], dim=-1)


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
    replace={layer_norm.normalize: lambda x, axes, eps, how: torch.tanh(layer_norm.normalize(x, axes, eps, how))},
)

magnitudes = Mutant(
    "LN-magnitudes",
    story="deviations lose their signs before they are centred again",
    breaks={"LN-LINE-1"},
    hint="the signs belong to the output",
    replace={
        layer_norm.normalize: lambda x, axes, eps, how: layer_norm.normalize(
            (x - layer_norm.mean(x, axes)).abs() if x.shape[-1] > 2 else x, axes, eps, how
        ),
    },
)

sign_turned = Mutant(
    "LN-sign-turned",
    story="mean - x instead of x - mean: every sign is turned",
    breaks={"LN-LINE-1"},
    hint="x - mean",
    replace={layer_norm.normalize: lambda x, axes, eps, how: -layer_norm.normalize(x, axes, eps, how)},
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
    replace={layer_norm.spread: lambda x, axes, eps, how: layer_norm.spread(x, axes, eps, how).clamp(max=1e4)},
)


def in_blocks(x, axes, eps, how):
    return torch.cat([layer_norm.normalize(part, axes, eps, how) for part in x.split(512, dim=-1)], dim=-1)


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
        layer_norm.normalize: lambda x, axes, eps, how: (
            (x - layer_norm.mean(x[..., :1024], axes)) / layer_norm.spread(x[..., :1024], axes, eps, how)
        ),
    },
)
