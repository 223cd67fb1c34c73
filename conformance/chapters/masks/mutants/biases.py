"""Ways to get masks wrong: biases."""

import torch

from attnconf.conformance.chapters.masks.mutants.shared import INF, first_of
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, masks


def with_bias(change):
    return lambda scores, bias: scores if bias is None else masks.add_bias(scores, change(bias))


bias_ignored = Mutant(
    "MASK-bias-ignored",
    story="the bias is ignored",
    breaks={"MASK-BIAS-1"},
    hint="add it to the scores",
    replace={masks.add_bias: lambda scores, bias: scores},
)

bias_multiplied = Mutant(
    "MASK-bias-multiplied",
    story="the scores are multiplied by the bias",
    breaks={"MASK-BIAS-1"},
    hint="add it",
    replace={masks.add_bias: lambda scores, bias: scores if bias is None else scores * bias},
)

bias_subtracted = Mutant(
    "MASK-bias-subtracted",
    story="the bias is subtracted",
    breaks={"MASK-BIAS-1"},
    hint="add it; a penalty is a negative bias",
    replace={masks.add_bias: with_bias(torch.neg)},
)

additive_subtracted = Mutant(
    "MASK-additive-subtracted",
    story="the mask is subtracted from the scores: what its -inf should hide gets +inf, and the softmax is NaN",
    breaks={"MASK-ROWS-1", "MASK-BIAS-1"},
    hint="add it: 0 where attention is allowed, -inf where it is not",
    replace={
        masks.hide: lambda scores, mask: scores if mask is None else scores.masked_fill(~mask, INF),
        masks.add_bias: with_bias(torch.neg),
    },
)


def attend_biased_before_scaling(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    by = attention.default_scale(q) if scale is None else scale
    return attention.attend(q, k, v, mask, None if bias is None else bias * by, scale, dropout)


bias_before_scaling = Mutant(
    "MASK-bias-before-scaling",
    story="the bias is added before the scores are scaled, and scaled with them",
    breaks={"MASK-BIAS-1"},
    hint="scale first, then add",
    replace={attention.attend: attend_biased_before_scaling},
)


def attend_biasing_weights(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    out, weights = attention.attend(q, k, v, mask, None, scale, dropout)
    if bias is None:
        return out, weights
    weights = weights + torch.exp(bias)
    return attention.mix(weights, v), weights


bias_after_softmax = Mutant(
    "MASK-bias-after-softmax",
    story="the bias is added to the weights, after the softmax",
    breaks={"MASK-BIAS-1"},
    hint="add it to the scores",
    replace={attention.attend: attend_biasing_weights},
)

bias_of_first_head = Mutant(
    "MASK-bias-of-first-head",
    story="the first head's bias is used for all heads",
    breaks={"MASK-BIAS-4"},
    hint="keep the axis of the heads",
    replace={masks.add_bias: with_bias(first_of(-3))},
)

bias_clamped = Mutant(
    "MASK-bias-clamped",
    story="the bias is clamped to ±10",
    breaks={"MASK-BIAS-2"},
    hint="add it as it is: -inf hides",
    replace={masks.add_bias: with_bias(lambda bias: bias.clamp(-10, 10))},
)

bias_finite = Mutant(
    "MASK-bias-finite",
    story="a bias of -inf becomes -1e4",
    breaks={"MASK-EMPTY-5"},
    hint="add it as it is: -inf hides",
    replace={masks.add_bias: with_bias(lambda bias: bias.clamp_min(-1e4))},
)

bias_detached = Mutant(
    "MASK-bias-detached",
    story="no gradient reaches the bias",
    breaks={"MASK-BIAS-3"},
    hint="no detach() on the way from the bias",
    replace={masks.add_bias: with_bias(torch.detach)},
)


def attend_mask_or_bias(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    return attention.attend(q, k, v, mask, None if mask is not None else bias, scale, dropout)


bias_dropped = Mutant(
    "MASK-bias-dropped",
    story="the bias is dropped where there is a mask",
    breaks={"MASK-ORACLE-1"},
    hint="add the bias, then hide",
    replace={attention.attend: attend_mask_or_bias},
)
