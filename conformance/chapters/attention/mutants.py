"""Ways to get scaled dot-product attention wrong: the reference with one function replaced."""

import math
from dataclasses import replace

import torch
from torch import einsum
from torch.nn.functional import normalize

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import AVERAGES, NUMBERS, Vacuous
from attnconf.reference import attention, masks


def products(q, k):
    return einsum("...le,...se->...ls", q, k)


# -- the scale

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
    source="timm#2385",
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

# -- the scores

relu_on_queries = Mutant(
    "ATT-relu-on-queries",
    story="the queries go through a ReLU",
    breaks={"ATT-SCORE-1"},
    hint="no activation between the projection and the scores",
    replace={attention.score: lambda q, k, scale: attention.score(q.relu(), k, scale)},
    source="survives ONNX's Attention cases",
)

relu_on_keys = Mutant(
    "ATT-relu-on-keys",
    story="the keys go through a ReLU",
    breaks={"ATT-SHIFT-1"},
    hint="no activation between the projection and the scores",
    replace={attention.score: lambda q, k, scale: attention.score(q, k.relu(), scale)},
    source="survives ONNX's Attention cases",
)

relu_on_values = Mutant(
    "ATT-relu-on-values",
    story="the values go through a ReLU",
    breaks={"ATT-LINEAR-1"},
    hint="no activation between the projection and the weighted sum",
    replace={attention.mix: lambda weights, v: attention.mix(weights, v.relu())},
    source="survives ONNX's Attention cases",
)


def attend_on_magnitudes(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    return attention.attend(q.abs(), k.abs(), v.abs(), mask, bias, scale, dropout)


magnitudes = Mutant(
    "ATT-magnitudes",
    story="queries, keys and values lose their sign",
    breaks={"ATT-LINEAR-1", "ATT-SHIFT-1"},
    hint="keep the signs of q, k and v",
    replace={attention.attend: attend_on_magnitudes},
    source="survives ONNX's Attention cases",
)


def attend_on_rectified(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    return attention.attend(q.relu(), k.relu(), v.relu(), mask, bias, scale, dropout)


rectified = Mutant(
    "ATT-relu-on-projections",
    story="queries, keys and values go through a ReLU",
    breaks={"ATT-LINEAR-1", "ATT-SHIFT-1"},
    hint="the projections are linear: no activation behind them",
    replace={attention.attend: attend_on_rectified},
    source="CyberZHG/keras-multi-head, whose activation is relu unless told otherwise",
)

negated = Mutant(
    "ATT-negated",
    story="the scores have the wrong sign: the key that fits best weighs least",
    breaks={"ATT-SCORE-1"},
    hint="softmax of +q·k",
    replace={attention.score: lambda q, k, scale: -attention.score(q, k, scale)},
)

queries_normalised = Mutant(
    "ATT-queries-normalised",
    story="every query is divided by its length",
    breaks={"ATT-SCORE-1"},
    hint="use q as it is; its length is how sure it is",
    replace={attention.score: lambda q, k, scale: attention.score(normalize(q, dim=-1), k, scale)},
)

cosine = Mutant(
    "ATT-cosine",
    story="the scores are cosines: keys and queries are divided by their lengths",
    breaks={"ATT-SHIFT-1"},
    hint="use the plain dot product",
    replace={attention.score: lambda q, k, scale: products(normalize(q, dim=-1), normalize(k, dim=-1))},
    variants=[
        {attention.score: lambda q, k, scale: scale * products(normalize(q, dim=-1), normalize(k, dim=-1))},
        {attention.score: lambda q, k, scale: products(normalize(q, dim=-1), normalize(k, dim=-1)) / scale},
    ],
)

distances = Mutant(
    "ATT-distances",
    story="the scores are negative squared distances between query and key",
    breaks={"ATT-SHIFT-1"},
    hint="use the plain dot product",
    replace={
        attention.score: lambda q, k, scale: -scale / 2 * (q[..., :, None, :] - k[..., None, :, :]).square().sum(-1)
    },
)


def clamp_to(limit):
    return {attention.score: lambda q, k, scale: attention.score(q, k, scale).clamp(-limit, limit)}


clamped = Mutant(
    "ATT-clamped",
    story="the scores are clamped, to ±7 say",
    breaks={"ATT-RETR-1"},
    hint="subtract the row's maximum for stability; do not clamp",
    replace=clamp_to(7),
    variants=[clamp_to(limit) for limit in (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 64, 80, 88, 100)],
)

# -- the softmax


def softmax_over(dim):
    def weigh(scores):
        return torch.softmax(scores, dim=dim)

    return weigh


def softmax_over_rows_of_all(scores):
    """As where heads and samples are one axis."""
    return scores.flatten(0, 1).softmax(0).view_as(scores)


def hide_finitely(scores, mask):
    """As most people do; it shows where all that a softmax along a wrong axis sees is hidden."""
    return scores if mask is None else scores.masked_fill(~mask, torch.finfo(scores.dtype).min)


softmax_over_queries = Mutant(
    "ATT-softmax-over-queries",
    story="the softmax runs over the queries instead of the keys",
    breaks={"ATT-QUERY-1"},
    hint="softmax(scores, dim=-1)",
    replace={attention.weigh: softmax_over(-2)},
    variants=[{attention.weigh: softmax_over(-2), masks.hide: hide_finitely}],
    source="labmlai#146",
)

softmax_over_heads = Mutant(
    "ATT-softmax-over-heads",
    story="the softmax runs over the heads instead of the keys",
    breaks={"ATT-HEAD-1"},
    hint="softmax(scores, dim=-1)",
    replace={attention.weigh: softmax_over(1)},
    variants=[{attention.weigh: softmax_over(1), masks.hide: hide_finitely}],
    source="PyTorch-NLP#2",
)

softmax_over_batch = Mutant(
    "ATT-softmax-over-batch",
    story="the softmax runs over the batch instead of the keys",
    breaks={"ATT-BATCH-1"},
    hint="softmax(scores, dim=-1)",
    replace={attention.weigh: softmax_over(0)},
    variants=[
        {attention.weigh: softmax_over(0), masks.hide: hide_finitely},
        {attention.weigh: softmax_over_rows_of_all},
        {attention.weigh: softmax_over_rows_of_all, masks.hide: hide_finitely},
    ],
    source="fastNLP#254",
)

no_softmax = Mutant(
    "ATT-no-softmax",
    story="there is no softmax: the scores themselves weigh the values",
    breaks={"ATT-ROWS-1"},
    hint="weights = softmax(scores, dim=-1)",
    replace={attention.weigh: lambda scores: scores.masked_fill(torch.isneginf(scores), 0.0)},
    source="flexflow#467",
)

softmax_twice = Mutant(
    "ATT-softmax-twice",
    story="the softmax is taken twice: the second one, of weights between 0 and 1, is nearly uniform",
    breaks={"ATT-DUPL-1", "ATT-SCALE-2", "ATT-SCORE-1"},
    hint="look for softmax both in a helper and where it is called",
    replace={attention.weigh: lambda scores: attention.weigh(attention.weigh(scores))},
)

sigmoid = Mutant(
    "ATT-sigmoid",
    story="every score goes through a sigmoid by itself instead of a softmax over the keys",
    breaks={"ATT-ROWS-1"},
    hint="weights = softmax(scores, dim=-1)",
    replace={attention.weigh: lambda scores: torch.sigmoid(scores)},
)

scaled_after_softmax = Mutant(
    "ATT-scaled-after-softmax",
    story="the weights are scaled after the softmax instead of the scores before it",
    breaks={"ATT-ROWS-1"},
    hint="divide the scores by √E before the softmax",
    replace={
        attention.score: lambda q, k, scale: products(q, k),
        attention.mix: lambda weights, v: attention.mix(weights, v) * v.shape[-1] ** -0.5,
    },
)

off_by_one = Mutant(
    "ATT-off-by-one",
    story="1 is added to the softmax's denominator",
    breaks={"ATT-ROWS-1"},
    hint="divide by the sum of the exponentials alone",
    replace={attention.weigh: lambda scores: torch.softmax(torch.nn.functional.pad(scores, (0, 1)), -1)[..., :-1]},
)


def added_to_denominator(small):
    return {attention.weigh: lambda scores: attention.weigh(scores) / (1 + small / sum_of_exponentials(scores))}


def sum_of_exponentials(scores):
    peak = scores.amax(dim=-1, keepdim=True)
    return torch.exp(scores - peak.masked_fill(torch.isneginf(peak), 0.0)).sum(-1, keepdim=True).clamp_min(1e-300)


epsilon = Mutant(
    "ATT-epsilon",
    story="a small number is added to the softmax's denominator",
    breaks={"ATT-SINGLE-1"},
    hint="after subtracting the maximum the denominator is at least 1: nothing needs adding",
    replace=added_to_denominator(1e-9),
    variants=[added_to_denominator(10.0**-n) for n in (2, 3, 4, 5, 6, 7, 8, 10)],
)

contrast = Mutant(
    "ATT-contrast",
    story="the weights are pushed away from the mean, 2·softmax - 1/S, and some turn negative",
    breaks={"ATT-CONVEX-1"},
    hint="the softmax itself is the weight",
    replace={attention.weigh: lambda scores: 2 * attention.weigh(scores) - 1 / scores.shape[-1]},
)

no_maximum = Mutant(
    "ATT-no-maximum",
    story="the row's maximum is not subtracted before the exponential",
    breaks={"ATT-STABLE-1"},
    hint="subtract scores.max(dim=-1) first, or call softmax",
    replace={attention.weigh: lambda scores: torch.exp(scores) / torch.exp(scores).sum(-1, keepdim=True)},
    source="survives CS336's public tests",
)


def weigh_by_one_maximum(scores):
    if not scores.numel():
        return scores
    empty = torch.isneginf(scores).all(dim=-1, keepdim=True)
    e = torch.exp(scores - scores.masked_fill(empty, 0.0).max())
    return e / e.sum(dim=-1, keepdim=True).masked_fill(empty, 1.0)


one_maximum = Mutant(
    "ATT-one-maximum",
    story="the largest of all scores is subtracted, instead of the row's: rows far below it become 0 / 0",
    breaks={"ATT-STABLE-1"},
    hint="subtract scores.amax(dim=-1, keepdim=True), the maximum of each row",
    replace={attention.weigh: weigh_by_one_maximum},
)


def weigh_largest_eight(scores):
    largest = scores.topk(min(8, scores.shape[-1]), dim=-1).values[..., -1:]
    return attention.weigh(scores.masked_fill(scores < largest, float("-inf")))


largest_eight = Mutant(
    "ATT-largest-eight",
    story="only the eight largest scores of a row are kept",
    breaks={"ATT-ORACLE-1"},
    hint="every key takes part",
    replace={attention.weigh: weigh_largest_eight},
)

# -- which keys and queries take part


def keep_first(n):
    def score(q, k, scale):
        scores = attention.score(q, k, scale)
        return torch.cat([scores[..., :n], torch.full_like(scores[..., n:], float("-inf"))], dim=-1)

    return score


keys_past_32 = Mutant(
    "ATT-keys-past-32",
    story="keys past the 32nd are dropped",
    breaks={"ATT-LONG-1"},
    hint="loop over all tiles of keys",
    replace={attention.score: keep_first(32)},
    source="survives ONNX's Attention cases",
)

keys_past_64 = Mutant(
    "ATT-keys-past-64",
    story="keys past the 64th are dropped",
    breaks={"ATT-LONG-1"},
    hint="loop over all tiles of keys",
    replace={attention.score: keep_first(64)},
    source="survives ONNX's Attention cases",
)


def keep_whole_tiles(size):
    def score(q, k, scale):
        return keep_first(max(1, k.shape[-2] // size) * size)(q, k, scale)

    return {attention.score: score}


last_tile_of_keys = Mutant(
    "ATT-last-tile-dropped",
    story="keys are read in tiles, of 16 say, and the last, shorter tile is dropped",
    breaks={"ATT-LONG-1"},
    hint="round the number of tiles up: range(0, S, size), not range(S // size)",
    replace=keep_whole_tiles(16),
    variants=[keep_whole_tiles(size) for size in (2, 3, 4, 5, 8, 10, 32, 64, 128)],
)


def exponentials_in_tiles(scores, size):
    """Return the exponentials of the scores less the largest so far, and of the scores less the largest of all."""
    peak = scores.cummax(dim=-1).values
    last = (torch.arange(scores.shape[-1]) // size * size + size - 1).clamp_max(scores.shape[-1] - 1)
    so_far = peak[..., last]
    so_far, peak = (x.masked_fill(torch.isneginf(x), 0.0) for x in (so_far, peak[..., -1:]))
    return torch.exp(scores - so_far), torch.exp(scores - peak)


def tiles_not_rescaled(size, mixed=True, summed=False):
    def weigh(scores):
        stale, right = exponentials_in_tiles(scores, size)
        total = (stale if summed else right).sum(-1, keepdim=True)
        return (stale if mixed else right) / total.masked_fill(total == 0, 1.0)

    return {attention.weigh: weigh}


not_rescaled_in_tiles = Mutant(
    "ATT-tiles-not-rescaled",
    story="a softmax over tiles of keys, 8 each say, does not rescale what it has summed when the maximum grows",
    breaks={"ATT-KEYS-1", "ATT-ROWS-1"},
    hint="multiply both the sum and the output so far by exp(old maximum - new maximum)",
    replace=tiles_not_rescaled(8),
    variants=[
        tiles_not_rescaled(size, *stale)
        for size in (8, 1, 2, 4, 16, 32, 64)
        for stale in ((True, False), (True, True), (False, True))
    ][1:],
)

last_tile_of_queries = Mutant(
    "ATT-queries-past-64",
    story="rows past the 64th query stay zero",
    breaks={"ATT-LONG-1"},
    hint="the last tile of queries may be shorter than the others",
    replace={
        attention.mix: lambda weights, v: (
            attention.mix(weights, v) * (torch.arange(weights.shape[-2]) < 64)[:, None].to(v)
        )
    },
)

last_key_dropped = Mutant(
    "ATT-last-key-dropped",
    story="the last key is left out",
    breaks={"ATT-KEYS-1"},
    hint="the range over the keys ends one too early",
    replace={attention.score: lambda q, k, scale: keep_first(max(1, k.shape[-2] - 1))(q, k, scale)},
)


def weigh_from_second(scores):
    if scores.shape[-1] < 2:
        return attention.weigh(scores)
    return torch.cat([torch.zeros_like(scores[..., :1]), attention.weigh(scores[..., 1:])], dim=-1)


first_key_dropped = Mutant(
    "ATT-first-key-dropped",
    story="the softmax runs over a slice, scores[..., 1:]: the first key is left out",
    breaks={"ATT-KEYS-1", "MASK-BOOL-1"},
    hint="the softmax runs over all keys",
    replace={attention.weigh: weigh_from_second},
)


def score_with_recency(q, k, scale):
    return attention.score(q, k, scale) + 0.3 * torch.arange(k.shape[-2]).to(q)


recency = Mutant(
    "ATT-recency",
    story="later keys get a bonus that nobody asked for",
    breaks={"ATT-KEYS-1"},
    hint="positions are the business of a positional encoding",
    replace={attention.score: score_with_recency},
)

queries_centred = Mutant(
    "ATT-queries-centred",
    story="the mean over all queries is subtracted from each",
    breaks={"ATT-QUERY-1"},
    hint="a row depends on its own query alone",
    replace={attention.score: lambda q, k, scale: attention.score(q - q.mean(dim=-2, keepdim=True), k, scale)},
)


def zero_from_third(weights, v):
    return attention.mix(weights, v) * (torch.arange(len(v)) < 3)[:, None, None, None].to(v)


samples_past_3 = Mutant(
    "ATT-samples-past-3",
    story="samples past the third come out as zeros",
    breaks={"ATT-BATCH-1"},
    hint="loop over the whole batch",
    replace={attention.mix: zero_from_third},
    source="survives ONNX's Attention cases",
)

heads_averaged = Mutant(
    "ATT-heads-averaged",
    story="the heads are averaged, each gets the mean",
    breaks={"ATT-HEAD-1"},
    hint="concatenate the heads, do not average them",
    replace={
        attention.mix: lambda weights, v: attention.mix(weights, v).mean(1, keepdim=True).expand(-1, v.shape[1], -1, -1)
    },
    source="llm-first-principles",
)

# -- shapes, dtypes, memory and state


def attend_returning_weights(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    _, weights = attention.attend(q, k, v, mask, bias, scale, dropout)
    return weights, weights


weights_returned = Mutant(
    "ATT-weights-returned",
    story="the weights are returned instead of the output",
    breaks={"CALL-SHAPE-1"},
    hint="return weights @ value first",
    replace={attention.attend: attend_returning_weights},
    raises={"CALL-SHAPE-1"},  # where an output projection follows
)


def score_of_equal_lengths(q, k, scale):
    return attention.score(q, k, scale) + torch.zeros(q.shape[-2], q.shape[-2])


def score_viewed_alike(q, k, scale):
    return attention.score(q, k.view(q.shape), scale)


equal_lengths = Mutant(
    "ATT-equal-lengths",
    story="it works only where there are as many queries as keys",
    breaks={"CALL-SHAPE-1"},
    hint="take the number of keys from k, the number of queries from q",
    replace={attention.score: score_of_equal_lengths},
    variants=[{attention.score: score_viewed_alike}],
    raises={"CALL-SHAPE-1"},
)


def attend_in(dtype):
    def attend(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
        if q.dtype not in (torch.float32, torch.float64):
            return attention.attend(q, k, v, mask, bias, scale, dropout)
        low_bias = None if bias is None else bias.to(dtype)
        low = attention.attend(q.to(dtype), k.to(dtype), v.to(dtype), mask, low_bias, scale, dropout)
        return low[0].to(q.dtype), low[1].to(q.dtype)

    return attend


half_inside = Mutant(
    "ATT-half-inside",
    story="the inputs are silently cast to half precision",
    breaks={"ATT-PREC-1"},
    hint="compute in the dtype of the inputs",
    replace={attention.attend: attend_in(torch.float16)},
    variants=[{attention.attend: attend_in(torch.bfloat16)}],
    rounding=3e-2,
    source="survives ONNX's Attention cases",
)

single_softmax = Mutant(
    "ATT-single-softmax",
    story="the softmax is always computed in float32",
    breaks={"ATT-PREC-2"},
    hint="upcast half precision, but leave float64 alone",
    replace={attention.weigh: lambda scores: attention.weigh(scores.float()).to(scores.dtype)},
)


def weigh_coarsely(scores):
    weights = attention.weigh(scores)
    return weights if scores.dtype in (torch.float32, torch.float64) else (weights * 64).round() / 64


coarse_in_half = Mutant(
    "ATT-coarse-in-half",
    story="in half precision the weights are rounded to 1/64",
    breaks={"ATT-HALF-1"},
    hint="keep the weights in float32, or at least in the inputs' dtype",
    replace={attention.weigh: weigh_coarsely},
)


def score_in_tf32(q, k, scale):
    if q.dtype == torch.float32:
        q, k = ((x.view(torch.int32) & ~0x1FFF).view(torch.float32) for x in (q, k))  # ten bits of the mantissa stay
    return attention.score(q, k, scale)


tf32 = Mutant(
    "ATT-tf32",
    story="in float32 the scores are computed in TF32, with ten bits",
    breaks={"ATT-FLOAT-1"},
    hint='torch.set_float32_matmul_precision("highest") where float32 is wanted',
    replace={attention.score: score_in_tf32},
)

product_before_scale = Mutant(
    "ATT-product-before-scale",
    story="q·k is computed before it is scaled, and overflows in float16",
    breaks={"ATT-RANGE-1"},
    hint="scale q first, or accumulate the product in float32",
    replace={attention.score: lambda q, k, scale: products(q, k) * scale},
)


def run_attention_scaling_in_place(config, query, key, value, mask, bias, need_weights):
    scale = query.shape[-1] ** -0.5 if config.scale is None else config.scale
    with torch.no_grad():
        query.mul_(scale)
    return adapter.run_attention(replace(config, scale=1.0), query, key, value, mask, bias, need_weights)


query_overwritten = Mutant(
    "ATT-query-overwritten",
    story="the caller's query is scaled in place",
    breaks={"CALL-IMMUT-1"},
    hint="write q = q * scale, not q *= scale",
    replace={adapter.run_attention: run_attention_scaling_in_place},
    silent_on={"multi_head_attention": "the replaced function is that of the bare component"},
    source="survives ONNX's Attention cases",
)


def attention_with_cache(config, weights):
    forward = adapter.attention(config, weights)
    seen = {}

    def cached(query, key, value, **options):
        k = seen.setdefault(key.shape, key)
        return forward(query, k, value, **options)

    return cached


stale_cache = Mutant(
    "ATT-stale-cache",
    story="keys are cached by their shape, and later calls get the first ones",
    breaks={"CALL-REPEAT-1"},
    hint="a cache needs a key that changes with its contents",
    replace={adapter.attention: attention_with_cache},
    silent_on={"multi_head_attention": "the replaced function is that of the bare component"},
)


def default_scale_in_training_only(q):
    return q.shape[-1] ** -0.5 if torch.is_grad_enabled() else 1.0


unscaled_without_grad = Mutant(
    "ATT-unscaled-without-grad",
    story="a second path, taken without gradients, forgets the scale",
    breaks={"CALL-MODE-1"},
    hint="test the inference path against the training path",
    replace={attention.default_scale: default_scale_in_training_only},
)

# -- what comes back besides the output


def attend_returning(change):
    """Return an attend that returns, instead of the weights, what it makes of the scores."""

    def attend(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
        scores = attention.score(q, k, attention.default_scale(q) if scale is None else scale)
        scores = masks.hide(masks.add_bias(scores, bias), mask)
        return attention.attend(q, k, v, mask, bias, scale, dropout)[0], change(scores)

    return attend


scores_returned = Mutant(
    "ATT-scores-returned",
    story="the scores are returned as if they were the weights",
    breaks={"ATT-WEIGHTS-1"},
    hint="return what multiplies the values",
    replace={attention.attend: attend_returning(lambda scores: scores)},
)

returned_over_queries = Mutant(
    "ATT-returned-over-queries",
    story="the weights that are returned are a softmax over the queries, unlike those that multiply the values",
    breaks={"ATT-WEIGHTS-1"},
    hint="return what multiplies the values",
    replace={attention.attend: attend_returning(lambda scores: scores.softmax(dim=-2))},
)


def run_attention_unscaled_with_weights(config, query, key, value, mask, bias, need_weights):
    if need_weights:
        return attention.attend(query, key, value, mask, bias, 1.0)
    return adapter.run_attention(config, query, key, value, mask, bias, need_weights)


unscaled_with_weights = Mutant(
    "ATT-unscaled-with-weights",
    story="a second path, taken when the weights are wanted, forgets the scale",
    breaks={"ATT-WEIGHTS-2"},
    hint="compute both from one place",
    replace={adapter.run_attention: run_attention_unscaled_with_weights},
    silent_on={"multi_head_attention": "the replaced function is that of the bare component"},
)

# -- gradients

weights_detached = Mutant(
    "ATT-weights-detached",
    story="no gradient flows through the weights: queries and keys never learn",
    breaks={"ATT-GRAD-1"},
    hint="no detach(), .data, .item() or NumPy between inputs and output",
    replace={attention.weigh: lambda scores: attention.weigh(scores.detach())},
)

query_detached = Mutant(
    "ATT-query-detached",
    story="no gradient reaches the queries",
    breaks={"ATT-GRAD-1"},
    hint="no detach() or torch.tensor(...) on the way from the query",
    replace={attention.score: lambda q, k, scale: attention.score(q.detach(), k, scale)},
)


class ForgetsScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, scale):
        ctx.save_for_backward(q, k)
        return products(q * scale, k)

    @staticmethod
    def backward(ctx, g):
        q, k = ctx.saved_tensors
        return einsum("...ls,...se->...le", g, k), einsum("...ls,...le->...se", g, q), None


backward_unscaled = Mutant(
    "ATT-backward-unscaled",
    story="a hand-written backward pass forgets the scale",
    breaks={"ATT-GRAD-1"},
    hint="multiply the gradients of q and k by the scale",
    replace={attention.score: lambda q, k, scale: ForgetsScale.apply(q, k, scale)},
    source="flash-attention#443 and others",
)

# -- dropout

always_dropping = Mutant(
    "ATT-always-dropping",
    story="dropout stays on in evaluation",
    breaks={"ATT-DROP-1"},
    hint="pass dropout_p=0 unless self.training",
    replace={adapter.active_dropout: lambda config: config.dropout},
    source="pytorch#124464; timm#1978; nanoGPT#240",
)

never_dropping = Mutant(
    "ATT-never-dropping",
    story="dropout is never applied",
    breaks={"ATT-DROP-2"},
    hint="apply dropout to the weights in training",
    replace={adapter.active_dropout: lambda config: 0.0},
    source="Megatron#411",
)

keeping_instead = Mutant(
    "ATT-keeping-instead",
    story="p is taken as the probability of keeping a weight",
    breaks={"ATT-DROP-2"},
    hint="keep with probability 1 - p",
    replace={
        attention.drop: lambda weights, probability: (
            attention.drop(weights, 1 - probability) if probability else weights
        )
    },
)


def drop_whole_keys(weights, probability):
    kept = attention.drop(torch.ones_like(weights[:1, :1, :1]), probability)
    return weights * kept


whole_keys_dropped = Mutant(
    "ATT-whole-keys-dropped",
    story="the same keys are dropped for every query",
    breaks={"ATT-DROP-2"},
    hint="draw the mask in the shape of the weights",
    replace={attention.drop: drop_whole_keys},
)


def attend_dropping_output(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    out, weights = attention.attend(q, k, v, mask, bias, scale)
    return attention.drop(out, dropout), weights


output_dropped = Mutant(
    "ATT-output-dropped",
    story="dropout is applied to the output instead of the weights",
    breaks={"ATT-DROP-2"},
    hint="drop the weights, before they multiply the values",
    replace={attention.attend: attend_dropping_output},
)

not_rescaled = Mutant(
    "ATT-not-rescaled",
    story="the weights that are kept are not divided by 1 - p",
    breaks={"ATT-DROP-3"},
    hint="divide by 1 - p, so that the expectation stays",
    replace={attention.drop: lambda weights, probability: attention.drop(weights, probability) * (1 - probability)},
    variants=[  # drawn by hand
        {attention.drop: lambda weights, probability: weights * (torch.rand_like(weights) >= probability)},
        {attention.drop: lambda weights, probability: weights * (torch.rand_like(weights) < 1 - probability)},
    ],
)


def drop_and_renormalise(weights, probability):
    kept = attention.drop(weights, probability)
    return kept / kept.sum(-1, keepdim=True).clamp_min(1e-12) if probability else kept


renormalised = Mutant(
    "ATT-renormalised",
    story="rows are normalised again after dropping",
    breaks={"ATT-DROP-3"},
    hint="divide by 1 - p, not by what is left of the row",
    replace={attention.drop: drop_and_renormalise},
)

# -- errors and edges


def attend_on_common_keys(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    n = min(k.shape[-2], v.shape[-2])
    return attention.attend(q, k[..., :n, :], v[..., :n, :], mask, bias, scale, dropout)


lengths_cut = Mutant(
    "ATT-lengths-cut",
    story="surplus keys without values are dropped silently",
    breaks={"ATT-ERROR-1"},
    hint="raise an error where keys and values differ in number",
    replace={attention.attend: attend_on_common_keys},
)


sizes_stretched = Mutant(
    "ATT-sizes-stretched",
    story="an axis of size 1 is stretched to fit: one value serves all keys",
    breaks={"ATT-ERROR-2"},
    hint="compare the sizes before an einsum or a product that broadcasts",
    replace={attention.refuse_misfits: lambda q, k, v: None},
)


# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(NUMBERS, "ATT-WEIGHTS-2 ATT-DROP-1", "the same values give the same output, whatever else is asked for"),
    Vacuous(
        NUMBERS,
        "ATT-BATCH-1 ATT-HEAD-1 ATT-QUERY-1 ATT-KEYS-1",
        "an output row depends on its own query, the mean of its values, or nothing",
    ),
    Vacuous(NUMBERS, "ATT-PREC-1", "a constant, and a linear function of one input, is smooth"),
    Vacuous(NUMBERS, "ATT-SHIFT-1 ATT-DUPL-1", "no control reads the keys, and the mean of repeated values is theirs"),
    Vacuous(("echo", *AVERAGES), "ATT-GRAD-1", "autograd differentiates whatever was computed"),
    Vacuous(("zeros", *AVERAGES), "ATT-LINEAR-1", "0 and the mean are linear in the values"),
    Vacuous(("ones", *AVERAGES), "ATT-ROWS-1", "V = 1 gives 1"),
    Vacuous(AVERAGES, "ATT-CONVEX-1 ATT-SINGLE-1 ATT-LONG-1", "a mean is an average with equal weights"),
    Vacuous(
        ("ones", "constant", "mean", "uniform"),
        "ATT-SCALE-2 ATT-SCALE-3",
        "where no score has an effect, neither has their scale",
        components=("attention",),
    ),
    Vacuous(("zeros", "uniform"), "ATT-WEIGHTS-1", "the returned weights times V are the output: 0·V, and the mean"),
    Vacuous(("zeros",), "ATT-DROP-3", "no weight is kept"),
    Vacuous(("uniform",), "ATT-DROP-2 ATT-DROP-3 ATT-ERROR-1 ATT-ERROR-2", "all but the scores is the reference's"),
    Vacuous(
        ("zeros",),
        "ATT-CONVEX-1",
        "11 signed values have 0 among them",
        cases=(
            "uniform-1",
            "peaked-3",
        ),
    ),
    Vacuous(("constant",), "ATT-CONVEX-1", "13 signed values have 0.7 among them", cases=("peaked-3",)),
    Vacuous(
        ("constant",),
        "ATT-CONVEX-1",
        "these 11 have 0.7 among them",
        components=("multi_head_attention",),
        cases=("uniform-1",),
    ),
    Vacuous(("echo",), "ATT-CONVEX-1", "near-uniform scores come from queries near 0", cases=("uniform-1",)),
    Vacuous(AVERAGES, "ATT-ORACLE-1", "with one key the mean of the values is the answer", cases=("one-key-2",)),
)
