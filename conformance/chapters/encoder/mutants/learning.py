"""Ways to get the encoder wrong: learning."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder


def attention_cut_in_single(x, weights, style, mask):
    out = encoder.self_attention(x, weights, style, mask)
    return out.detach() if x.dtype == torch.float32 else out


attention_cut = Mutant(
    "ENC-attention-cut",
    story="in float32 attention passes no gradient on, and is never trained",
    breaks={"CALL-FLOAT-1", "ENC-LEARN-1", "ENC-LEARN-2"},
    hint="a fused kernel needs a backward pass in every dtype that it has a forward pass for",
    replace={encoder.self_attention: attention_cut_in_single},
)
