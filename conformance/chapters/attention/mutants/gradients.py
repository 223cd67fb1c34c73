"""Ways to get scaled dot-product attention wrong: gradients."""

import torch
from torch import einsum

from attnconf.conformance.chapters.attention.mutants.shared import products
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
