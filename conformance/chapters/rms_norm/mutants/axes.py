"""Ways to get RMSNorm wrong: what is normalized."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm, rms_norm

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
    replace={rms_norm.normalize: lambda x, eps, place: rms_norm.normalize(centred(x), eps, place)},
)

mean_subtracted_above = Mutant(
    "RMS-mean-subtracted-above",
    story="the mean is subtracted, and the mean square is that of x",
    breaks={"RMS-LINE-1"},
    hint="subtract nothing",
    replace={rms_norm.normalize: lambda x, eps, place: centred(x) / rms_norm.spread(x, eps, place)},
)

by_halves = Mutant(
    "RMS-by-halves",
    story="each half of the features is normalized by itself",
    breaks={"RMS-LINE-1"},
    hint="one mean square for all features of a token; for each head only where heads are normalized",
    replace={
        rms_norm.normalize: lambda x, eps, place: torch.cat(
            [rms_norm.normalize(part, eps, place) for part in x.chunk(2, dim=-1)], dim=-1
        ),
    },
)

sign_turned = Mutant(
    "RMS-sign-turned",
    story="the negative root: every sign is turned",
    breaks={"RMS-LINE-1"},
    hint="the positive root",
    replace={rms_norm.normalize: lambda x, eps, place: -rms_norm.normalize(x, eps, place)},
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
    variants=[
        {rms_norm.spread: lambda x, eps, place: x.norm(dim=-1, keepdim=True).clamp_min(1e-12)},  # F.normalize itself
        {rms_norm.spread: lambda x, eps, place: x.norm(dim=-1, keepdim=True) + eps},
    ],
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
    replace={rms_norm.spread: lambda x, eps, place: rms_norm.mean_square(x) + eps},
)

mean_magnitude = Mutant(
    "RMS-mean-magnitude",
    story="divided by the mean absolute value",
    breaks={"RMS-SQUARE-1"},
    hint="the root of the mean square",
    replace={rms_norm.mean_square: lambda x: x.abs().mean(dim=-1, keepdim=True).square()},
    variants=[{rms_norm.spread: lambda x, eps, place: torch.sqrt(x.square() + eps).mean(dim=-1, keepdim=True)}],
)

spread_capped = Mutant(
    "RMS-spread-capped",
    story="the root mean square is clamped at 10⁴",
    breaks={"RMS-SCALE-1"},
    hint="no clamp: a large row is divided by much",
    replace={rms_norm.spread: lambda x, eps, place: rms_norm.spread(x, eps, place).clamp(max=1e4)},
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
        rms_norm.normalize: lambda x, eps, place: torch.cat(
            [rms_norm.normalize(part, eps, place) for part in x.split(512, dim=-1)], dim=-1
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
