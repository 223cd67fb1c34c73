"""Ways to get ALiBi wrong: in attention."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import alibi, attention, masks


def attending(scores, bias_as=lambda bias, q: bias.to(q), after=lambda weights, bias: weights):
    """Return alibi_attention with scores(q, k, bias), and weights changed after the softmax."""

    def alibi_attention(q, k, v, causal=True):
        L, S = q.shape[-2], k.shape[-2]
        bias = bias_as(alibi.bias(q.shape[1], L, S), q)
        hidden = masks.hide(scores(q, k, bias), masks.causal(L, S) if causal else None)
        weights = after(attention.weigh(hidden), bias)
        return attention.mix(weights, v.to(weights))

    return alibi_attention


def product(q, k, scale=None):
    return attention.score(q, k, q.shape[-1] ** -0.5 if scale is None else scale)


bias_scaled = Mutant(
    "ALIBI-bias-scaled",
    story="the bias is added before the scores are scaled",
    breaks={"ALIBI-WIDTH-1"},
    hint="scale the scores first, then add the bias",
    source="Falcon in transformers",
    replace={alibi.alibi_attention: attending(lambda q, k, bias: product(q, k) + bias * q.shape[-1] ** -0.5)},
)

unscaled = Mutant(
    "ALIBI-unscaled",
    story="the scores are not scaled, as if the bias took the scale's place",
    breaks={"ALIBI-SCALE-1"},
    hint="the scores are q·k/√E, with ALiBi as without",
    replace={alibi.alibi_attention: attending(lambda q, k, bias: product(q, k, 1.0) + bias)},
)

scaled_by_width = Mutant(
    "ALIBI-scaled-by-model",
    story="the scores are divided by the root of all heads' widths",
    breaks={"ALIBI-SCALE-1"},
    hint="E is the width of one head",
    replace={
        alibi.alibi_attention: attending(lambda q, k, bias: product(q, k, (q.shape[1] * q.shape[-1]) ** -0.5) + bias)
    },
)

multiplied = Mutant(
    "ALIBI-multiplied",
    story="the scores are multiplied by the bias",
    breaks={"ALIBI-ADD-1"},
    hint="add the bias to the scores",
    replace={alibi.alibi_attention: attending(lambda q, k, bias: product(q, k) * bias)},
)

after_softmax = Mutant(
    "ALIBI-after-softmax",
    story="the bias is added to the weights, after the softmax",
    breaks={"ALIBI-ADD-1"},
    hint="add the bias to the scores, before the softmax",
    replace={
        alibi.alibi_attention: attending(
            lambda q, k, bias: product(q, k), after=lambda weights, bias: weights + bias * (weights > 0)
        )
    },
)

weights_multiplied = Mutant(
    "ALIBI-weights-multiplied",
    story="the weights are multiplied by e^bias after the softmax, and no longer sum to 1",
    breaks={"ALIBI-ADD-1"},
    hint="add the bias to the scores, before the softmax",
    replace={
        alibi.alibi_attention: attending(
            lambda q, k, bias: product(q, k), after=lambda weights, bias: weights * bias.exp()
        )
    },
)

causality_ignored = Mutant(
    "ALIBI-not-causal",
    story="the bias is taken for the causal mask: later keys are penalised, but seen",
    breaks={"ALIBI-CAUSAL-1"},
    hint="a penalty hides nothing: the causal mask is needed as well",
    replace={alibi.alibi_attention: lambda q, k, v, causal=True: alibi.alibi_attention(q, k, v, False)},
)


def by_sample(q, k, bias):
    """The heads of all samples on one axis, head by head instead of sample by sample."""
    B, H = q.shape[:2]
    return product(q, k) + bias.repeat_interleave(B, dim=0).unflatten(0, (B, H))


slopes_by_sample = Mutant(
    "ALIBI-slopes-by-sample",
    story="the slopes are repeated for an axis of B·H in the wrong order: samples have different slopes",
    breaks={"ALIBI-SAMPLE-1"},
    hint="where samples and heads share an axis the heads run fastest: repeat, not repeat_interleave",
    replace={alibi.alibi_attention: attending(by_sample)},
)

promoted = Mutant(
    "ALIBI-promoted",
    story="a bias in float32 turns the output of half precision into float32",
    breaks={"CALL-DTYPE-2"},
    hint="cast the weights to the dtype of the values before the sum",
    replace={
        alibi.alibi_attention: attending(
            lambda q, k, bias: product(q, k) + bias,
            bias_as=lambda bias, q: bias.to(torch.promote_types(q.dtype, torch.float32)),
        )
    },
)

cut_off = Mutant(
    "ALIBI-cut-off",
    story="the scores are cut off from the gradient where the bias is added in place",
    breaks={"ALIBI-ORACLE-1"},
    hint="add the bias without .data, .detach() or no_grad",
    replace={alibi.alibi_attention: attending(lambda q, k, bias: (product(q, k) + bias).detach())},
)
