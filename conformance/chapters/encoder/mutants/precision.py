"""Ways to get the encoder wrong: precision."""

import torch

from attnconf.conformance.chapters.encoder.mutants.shared import position_wise
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder
from attnconf.reference import multi_head_attention as mha


def project_wide_coarsely(x, weight, bias):
    if weight.shape[0] % 64:
        return mha.project(x, weight, bias)
    return mha.project(x.bfloat16().to(x), weight, bias)


wide_in_half = Mutant(
    "ENC-wide-in-half",
    story="projections whose width is a multiple of 64 round their inputs to bfloat16",
    breaks={"ENC-TORCH-1"},
    hint="the fast matrix product must not lower the precision of float32 and float64",
    replace={mha.project: project_wide_coarsely},
)


def position_wise_in_bfloat16(x, weights, style):
    if x.dtype != torch.float32:
        return position_wise(x, weights, style)
    return position_wise(x.bfloat16(), {name: w.bfloat16() for name, w in weights.items()}, style).float()


def position_wise_in_steps(x, weights, style):
    out = position_wise(x, weights, style)
    return out if out.dtype in (torch.float32, torch.float64) else (out * 2).round() / 2


autocast_left_on = Mutant(
    "ENC-autocast-left-on",
    story="the feed-forward network runs in bfloat16 where float32 is asked for",
    breaks={"CALL-FLOAT-1"},
    hint="autocast is the caller's choice",
    replace={encoder.position_wise: position_wise_in_bfloat16},
)

quantised = Mutant(
    "ENC-quantised-in-half",
    story="in half precision the feed-forward network's output is kept in steps of a half",
    breaks={"ENC-HALF-1"},
    hint="in the dtype of the input; quantisation is another model",
    replace={encoder.position_wise: position_wise_in_steps},
)
