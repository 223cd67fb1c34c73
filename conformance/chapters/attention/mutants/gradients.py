"""Ways to get scaled dot-product attention wrong: gradients."""

import torch
from torch import einsum

from attnconf.conformance.chapters.attention.mutants.shared import products
from attnconf.conformance.chapters.shared.backward import right_alone_in
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention

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


gradients_of_half = Mutant(
    "ATT-gradients-wrong-in-half",
    story="a hand-written backward pass is wrong in bfloat16 and float16",
    breaks={"ATT-HALF-2"},
    hint="compare the gradients in half precision with those of float32, too",
    replace={
        attention.score: lambda q, k, scale: right_alone_in(attention.score(q, k, scale), torch.float32, torch.float64)
    },
    source="TransformerEngine#3216",
)


gradients_of_float32 = Mutant(
    "ATT-gradients-wrong-in-float32",
    story="a hand-written backward pass is right in float64 alone, in which it was tested",
    breaks={"CALL-FLOAT-1"},
    hint="compare the gradients in float32 with those of float64",
    replace={attention.mix: lambda weights, v: right_alone_in(attention.mix(weights, v), torch.float64)},
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
)
