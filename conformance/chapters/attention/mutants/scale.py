"""Ways to get scaled dot-product attention wrong: the scale."""

import math

from attnconf.conformance.chapters.attention.mutants.shared import products
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention

unscaled = Mutant(
    "ATT-unscaled",
    story="the scores are not divided by √E",
    breaks={"ATT-SCALE-1"},
    hint="divide the scores by math.sqrt(head_dim) before the softmax",
    replace={attention.default_scale: lambda q: 1.0},
    source="system 1a; tiny-transformers#71",
)

scaled_by_model_width = Mutant(
    "ATT-scaled-by-model-width",
    story="the scores are divided by √(H·E), from the width of the model instead of one head",
    breaks={"ATT-SCALE-1"},
    hint="divide by math.sqrt(head_dim), not by math.sqrt(embed_dim)",
    replace={attention.default_scale: lambda q: (q.shape[1] * q.shape[-1]) ** -0.5},
    source="karpathy/ng-video-lecture#6; vit-pytorch#65; DL4Proteins#12",
)

scaled_by_heads = Mutant(
    "ATT-scaled-by-heads",
    story="the scores are divided by √H, from the number of heads",
    breaks={"ATT-SCALE-1"},
    hint="divide by math.sqrt(head_dim), not by math.sqrt(num_heads)",
    replace={attention.default_scale: lambda q: q.shape[1] ** -0.5},
    source="tenstorrent/tt-metal#56789",
    heads=2,
)

scaled_by_e = Mutant(
    "ATT-scaled-by-E",
    story="the scores are divided by E instead of √E",
    breaks={"ATT-SCALE-1"},
    hint="take the square root: scores / math.sqrt(head_dim)",
    replace={attention.default_scale: lambda q: 1 / q.shape[-1]},
    source="kornia#4165",
)

multiplied_by_root = Mutant(
    "ATT-multiplied-by-root",
    story="the scores are multiplied by √E instead of divided",
    breaks={"ATT-SCALE-1"},
    hint="divide the scores by math.sqrt(head_dim)",
    replace={attention.default_scale: lambda q: math.sqrt(q.shape[-1])},
)

scaled_twice = Mutant(
    "ATT-scaled-twice",
    story="both the queries and the scores are scaled",
    breaks={"ATT-SCALE-1", "ATT-SCALE-2"},
    hint="scale once: either q or the scores, not both",
    replace={attention.score: lambda q, k, scale: products(q * scale, k) * scale},
    source="transformers#38290; maxtext#3138",
)


def attend_scaled_by_value_width(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    return attention.attend(q, k, v, mask, bias, v.shape[-1] ** -0.5 if scale is None else scale, dropout)


scaled_by_value_width = Mutant(
    "ATT-scaled-by-value-width",
    story="the scores are divided by √F, from the width of the values",
    breaks={"ATT-SCALE-1"},
    hint="take the width of a query, q.shape[-1]",
    replace={attention.attend: attend_scaled_by_value_width},
    silent_on={"multi_head_attention": "the values are as wide as the keys there"},
)


def attend_scaled_by_keys(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    return attention.attend(q, k, v, mask, bias, k.shape[-2] ** -0.5 if scale is None else scale, dropout)


scaled_by_keys = Mutant(
    "ATT-scaled-by-keys",
    story="the scores are divided by √S, from the number of keys",
    breaks={"ATT-DUPL-1"},
    hint="take the width of a query, q.shape[-1], not the length of the sequence",
    replace={attention.attend: attend_scaled_by_keys},
)


def fixed_scale(width):
    return {attention.default_scale: lambda q: width**-0.5}


scale_for_eight = Mutant(
    "ATT-scale-for-eight",
    story="the scale is the same whatever the width: 1/√8 say, a constant or that of an earlier call",
    breaks={"ATT-SCALE-1"},
    hint="compute the scale from q.shape[-1], in every call",
    replace=fixed_scale(8),
    variants=[fixed_scale(width) for width in (2, 3, 4, 5, 6, 7, 10, 16, 32, 64, 96, 100, 128, 256, 512)],
    source="survives ONNX's Attention cases",
)


def times(factor):
    return {attention.default_scale: lambda q: factor * q.shape[-1] ** -0.5}


scaled_besides = Mutant(
    "ATT-scaled-besides",
    story="the scores are multiplied by a number besides 1/√E: 3, 2 or 1/2 say",
    breaks={"ATT-SCALE-1"},
    hint="1/√E alone: a temperature is none of attention's business",
    replace=times(3.0),
    variants=[
        times(c) for c in (2.0, 4.0, 5.0, 8.0, 10.0, 100.0, 1.5, 0.5, 0.25, 0.2, 0.1, 0.01, math.sqrt(2), 0.5**0.5)
    ],
)


def power(exponent):
    return {attention.default_scale: lambda q: q.shape[-1] ** exponent}


other_power = Mutant(
    "ATT-other-power",
    story="the scores are divided by another power of E than its root: E^(1/4) or E² say",
    breaks={"ATT-SCALE-1"},
    hint="divide by math.sqrt(head_dim), once, and queries or keys by nothing",
    replace=power(-0.25),
    variants=[power(exponent) for exponent in (-1 / 3, -0.75, -1.5, -2.0, 1.0)],
)


def rounded_root(round_to):
    return {attention.default_scale: lambda q: 1 / max(1, round_to(math.sqrt(q.shape[-1])))}


root_rounded = Mutant(
    "ATT-root-rounded",
    story="the scores are divided by √E rounded to an integer",
    breaks={"ATT-SCALE-1"},
    hint="math.sqrt(head_dim) without int() or //: it is an integer only for widths like 16 and 64",
    replace=rounded_root(int),
    variants=[rounded_root(round), rounded_root(math.ceil)],
)

scale_rounded_up = Mutant(
    "ATT-scale-rounded-up",
    story="the scale is taken from E rounded up to a multiple of 8",
    breaks={"ATT-SCALE-1"},
    hint="scale by the true width of a query, not by the padded one",
    replace={attention.default_scale: lambda q: (8 * math.ceil(q.shape[-1] / 8)) ** -0.5},
    source="survives ONNX's Attention cases",
)

base_two = Mutant(
    "ATT-base-two",
    story="the softmax uses powers of 2 instead of e",
    breaks={"ATT-SCALE-1"},
    hint="multiply the scores by log2(e) where exp2 replaces exp",
    replace={attention.weigh: lambda scores: attention.weigh(scores * math.log(2))},
)


def attend_ignoring_scale(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    return attention.attend(q, k, v, mask, bias, None, dropout)


scale_ignored = Mutant(
    "ATT-scale-ignored",
    story="the scale argument is ignored",
    breaks={"ATT-SCALE-2"},
    hint="use the scale that was given, and the default only where none was",
    replace={attention.attend: attend_ignoring_scale},
    silent_on={"multi_head_attention": "it takes no scale"},
)

scale_unsigned = Mutant(
    "ATT-scale-unsigned",
    story="the sign of the scale argument is lost",
    breaks={"ATT-SCALE-2"},
    hint="multiply by the scale itself, not by √|scale| twice",
    replace={attention.score: lambda q, k, scale: attention.score(q, k, abs(scale))},
    silent_on={"multi_head_attention": "it takes no scale"},
    source="tt-metal#33304",
)


def attend_taking_zero_for_none(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    return attention.attend(q, k, v, mask, bias, scale or None, dropout)


zero_scale_is_none = Mutant(
    "ATT-zero-scale-is-none",
    story="a scale of 0 counts as none given",
    breaks={"ATT-SCALE-2"},
    hint="ask whether the scale is None: `scale or …` takes 0 for nothing",
    replace={attention.attend: attend_taking_zero_for_none},
    silent_on={"multi_head_attention": "it takes no scale"},
)


def attend_with_both_scales(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    default = q.shape[-1] ** -0.5
    return attention.attend(q, k, v, mask, bias, default if scale is None else default * scale, dropout)


scale_on_top = Mutant(
    "ATT-scale-on-top",
    story="the scale argument multiplies the default scale instead of replacing it",
    breaks={"ATT-SCALE-3"},
    hint="use either the given scale or 1/√E",
    replace={attention.attend: attend_with_both_scales},
    silent_on={"multi_head_attention": "it takes no scale"},
)
