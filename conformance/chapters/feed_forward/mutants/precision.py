"""Ways to get feed-forward networks wrong: precision."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import feed_forward


def in_bfloat16(x, weights):
    if x.dtype != torch.float32:
        return feed_forward.linear(x, weights, "up")
    return feed_forward.linear(x.bfloat16(), {name: w.bfloat16() for name, w in weights.items()}, "up").float()


autocast = Mutant(
    "FF-autocast",
    story="float32 goes through bfloat16, as under an autocast that was left on",
    breaks={"CALL-FLOAT-1"},
    hint="leave autocast to the caller",
    replace={feed_forward.widen: in_bfloat16},
)


def in_eight_bits(features, probability):
    if features.dtype not in (torch.bfloat16, torch.float16):
        return torch.dropout(features, probability, train=probability > 0)
    return features.to(torch.float8_e5m2).to(features.dtype)


eight_bits = Mutant(
    "FF-eight-bits",
    story="in half precision hidden features are kept in eight bits",
    breaks={"FF-HALF-1"},
    hint="in the dtype of the input; quantisation is another model",
    replace={feed_forward.drop_hidden: in_eight_bits},
)
