"""Ways to get masks wrong: rows without keys."""

import torch

from attnconf.conformance.chapters.masks.mutants.shared import INF
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, masks


def empty_rows(scores):
    return torch.isneginf(scores).all(dim=-1, keepdim=True)


empty_nan = Mutant(
    "MASK-empty-nan",
    story="a query without allowed keys gets NaN, though zeros are declared",
    breaks={"MASK-EMPTY-1"},
    hint="set the weights of such rows to 0 before the softmax divides 0 by 0, or declare nan",
    replace={attention.weigh: lambda scores: torch.softmax(scores, dim=-1)},
    source="pytorch#41508; pytorch#103749",
)

empty_mean = Mutant(
    "MASK-empty-mean",
    story="a query without allowed keys gets the mean of all values, though zeros are declared",
    breaks={"MASK-EMPTY-1"},
    hint="set the weights of such rows to 0, or declare mean",
    replace={attention.weigh: lambda scores: attention.weigh(scores.masked_fill(empty_rows(scores), 0.0))},
)

empty_first = Mutant(
    "MASK-empty-first",
    story="a query without allowed keys gets the first key's value",
    breaks={"MASK-EMPTY-1"},
    hint="set the weights of such rows to 0",
    replace={
        attention.weigh: lambda scores: torch.where(
            empty_rows(scores) & (torch.arange(scores.shape[-1]) == 0), 1.0, attention.weigh(scores)
        )
    },
)


def weigh_by_mode(scores):
    return attention.weigh(scores) if torch.is_grad_enabled() else torch.softmax(scores, dim=-1)


empty_nan_without_grad = Mutant(
    "MASK-empty-nan-without-grad",
    story="a second path, taken without gradients, gives NaN for a query without allowed keys",
    breaks={"MASK-EMPTY-2"},
    hint="the same masked softmax on every path",
    replace={attention.weigh: weigh_by_mode},
    source="pytorch#160064; pytorch#110213",
)


def weigh_whole_sample(scores):
    spoilt = empty_rows(scores).flatten(-3).any(dim=-1)[..., None, None, None]
    return attention.weigh(scores).masked_fill(spoilt, 0.0)


empty_spreads = Mutant(
    "MASK-empty-spreads",
    story="one query without allowed keys blanks the whole sample",
    breaks={"MASK-EMPTY-3"},
    hint="handle such rows one by one",
    replace={attention.weigh: weigh_whole_sample},
    source="pytorch#41508; OLMo#322",
)


def add_minus_infinity(scores, mask):
    return scores if mask is None else scores + torch.zeros(mask.shape).masked_fill(~mask, -INF).to(scores)


def weigh_repaired_afterwards(scores):
    return torch.softmax(scores, dim=-1).masked_fill(empty_rows(scores), 0.0)


empty_nan_gradient = Mutant(
    "MASK-empty-nan-gradient",
    story="NaN in rows without keys is replaced after the softmax: the output is right, its gradient NaN",
    breaks={"MASK-EMPTY-4"},
    hint="keep NaN from arising: fill such rows before the softmax",
    replace={masks.hide: add_minus_infinity, attention.weigh: weigh_repaired_afterwards},
    source="brevitas#1591; OLMo#322",
)


def attend_blanking_by_mask(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    out, weights = attention.attend(q, k, v, mask, bias, scale, dropout)
    if bias is None:
        return out, weights
    unseen = torch.isneginf(bias).all(dim=-1, keepdim=True)
    return out.masked_fill(unseen, float("nan")), weights


empty_by_bias = Mutant(
    "MASK-empty-by-bias",
    story="rows without keys are set to zero by the mask alone: a bias of -inf for all keys gives NaN",
    breaks={"MASK-EMPTY-5"},
    hint="look for rows of -inf in the scores, after bias and mask",
    replace={attention.attend: attend_blanking_by_mask},
)
