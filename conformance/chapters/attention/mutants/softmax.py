"""Ways to get scaled dot-product attention wrong: the softmax."""

import torch

from attnconf.conformance.chapters.attention.mutants.shared import products
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, masks


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


def attend_with_softmax_if_masked(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    if mask is not None or bias is not None:
        return attention.attend(q, k, v, mask, bias, scale, dropout)
    attention.refuse_misfits(q, k, v)
    scores = attention.score(q, k, attention.default_scale(q) if scale is None else scale)
    weights = attention.drop(scores, dropout)
    return attention.mix(weights, v), weights


softmax_if_masked = Mutant(
    "ATT-softmax-if-masked",
    story="there is a softmax only where there is a mask: without one the scores themselves weigh the values",
    breaks={"ATT-ROWS-1"},
    hint="take the softmax out of `if mask is not None`: only the hiding belongs there",
    replace={attention.attend: attend_with_softmax_if_masked},
)


def exponentials(scores):
    peak = scores.amax(dim=-1, keepdim=True) if scores.shape[-1] else scores
    return torch.exp(scores - peak.masked_fill(torch.isneginf(peak), 0.0))


not_divided = Mutant(
    "ATT-not-divided",
    story="the exponentials are not divided by their sum",
    breaks={"ATT-ROWS-1"},
    hint="e / e.sum(dim=-1, keepdim=True)",
    replace={attention.weigh: exponentials},
    variants=[{attention.weigh: lambda scores: torch.exp(scores)}],
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


def scaled_late(width):
    """Return what divides the weights by the root of a width, and the scores by nothing."""
    return {
        attention.score: lambda q, k, scale: products(q, k),
        attention.mix: lambda weights, v: attention.mix(weights, v) * width(v) ** -0.5,
    }


scaled_after_softmax = Mutant(
    "ATT-scaled-after-softmax",
    story="the weights are scaled after the softmax instead of the scores before it",
    breaks={"ATT-ROWS-1"},
    hint="divide the scores by √E before the softmax",
    replace=scaled_late(lambda v: v.shape[-1]),
    variants=[scaled_late(lambda v: v.shape[1] * v.shape[-1])],
)

off_by_one = Mutant(
    "ATT-off-by-one",
    story="1 is added to the softmax's denominator, and nobody says so",
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
    source="survives CS336's public tests of attention, not those of softmax",
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


def weigh_by_clipped_maximum(scores):
    empty = torch.isneginf(scores).all(dim=-1, keepdim=True)
    e = torch.exp(scores - scores.masked_fill(empty, 0.0).amax(dim=-1, keepdim=True).clamp(-1e3, 1e3))
    return e / e.sum(dim=-1, keepdim=True).masked_fill(empty, 1.0)


clipped_maximum = Mutant(
    "ATT-clipped-maximum",
    story="the row's maximum is clipped to ±1000 before it is subtracted",
    breaks={"ATT-STABLE-2"},
    hint="subtract scores.amax(dim=-1, keepdim=True) as it is",
    replace={attention.weigh: weigh_by_clipped_maximum},
)


def weigh_largest_eight(scores):
    largest = scores.topk(min(8, scores.shape[-1]), dim=-1).values[..., -1:]
    return attention.weigh(scores.masked_fill(scores < largest, float("-inf")))


largest_eight = Mutant(
    "ATT-largest-eight",
    story="only the eight largest scores of a row are kept",
    breaks={"ATT-ORACLE-1", "ATT-DROP-2"},
    hint="every key takes part",
    replace={attention.weigh: weigh_largest_eight},
)
