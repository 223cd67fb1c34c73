"""Ways to get scaled dot-product attention wrong: dropout."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention

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
    source="deepspeedai/Megatron-DeepSpeed#295",
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
