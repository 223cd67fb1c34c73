"""Ways to get masks wrong: after the softmax."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, masks


def attend_masking_weights(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    _, weights = attention.attend(q, k, v, None, bias, scale, dropout)
    weights = weights if mask is None else weights * mask
    return attention.mix(weights, v), weights


masked_after = Mutant(
    "MASK-after-softmax",
    story="the mask multiplies the weights after the softmax: what is left sums to less than 1",
    breaks={"MASK-ROWS-1"},
    hint="hide the scores before the softmax",
    replace={attention.attend: attend_masking_weights},
)


def renormalise(small):
    def attend(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
        if mask is None:
            return attention.attend(q, k, v, mask, bias, scale, dropout)
        scores = masks.add_bias(attention.score(q, k, attention.default_scale(q) if scale is None else scale), bias)
        left = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * mask
        weights = attention.drop(left / (left.sum(dim=-1, keepdim=True) + small), dropout)
        return attention.mix(weights, v), weights

    return {attention.attend: attend}


renormalised = Mutant(
    "MASK-renormalised",
    story="hidden keys take part in the maximum, and what is left is divided by its sum: it may be 0 / 0",
    breaks={"MASK-NAN-1", "MASK-POISON-1"},
    hint="hide the scores first, then subtract the maximum of what is left",
    replace=renormalise(0.0),
    variants=[renormalise(10.0**-n) for n in range(3, 13)],
)


class ValuesLeak(torch.autograd.Function):
    """Mixes as it should, and sends every key's value a little of every query's gradient."""

    @staticmethod
    def forward(ctx, weights, v):
        ctx.save_for_backward(weights, v)
        return attention.mix(weights, v)

    @staticmethod
    def backward(ctx, g):
        weights, v = ctx.saved_tensors
        hidden = (weights == 0).to(g)
        return g @ v.transpose(-1, -2), (weights + 0.1 * hidden).transpose(-1, -2) @ g


gradient_leaks = Mutant(
    "MASK-gradient-leaks",
    story="a hand-written backward pass sends gradients to hidden values",
    breaks={"MASK-ZEROGRAD-1"},
    hint="mask in the backward pass too",
    replace={attention.mix: lambda weights, v: ValuesLeak.apply(weights, v)},
)

nan_through = Mutant(
    "MASK-nan-through",
    story="NaN in a hidden value goes through the weight 0, as 0·NaN is NaN",
    breaks={"MASK-NAN-1"},
    hint="blank the values that no query may see",
    replace={masks.blank: lambda x, mask: x},
    source="pytorch#101967; flash-attention#1745",
)


def run_unmasked_weights(config, query, key, value, mask, bias, need_weights):
    out = adapter.run_attention(config, query, key, value, mask, bias, False)
    return (out, attention.attend(query, key, value, None, bias, config.scale)[1]) if need_weights else out


unmasked_weights = Mutant(
    "MASK-weights-unmasked",
    story="the weights are returned as they were before masking",
    breaks={"MASK-WEIGHTS-1"},
    hint="return what multiplies the values",
    replace={adapter.run_attention: run_unmasked_weights},
    silent_on={"multi_head_attention": "the replaced function is that of the bare component"},
)
