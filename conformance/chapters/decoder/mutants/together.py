"""Ways to get decoder layers, and stacks of them, wrong: everything at once."""

import math

from attnconf.conformance.chapters.decoder.mutants.shared import look
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import feed_forward
from attnconf.reference import multi_head_attention as mha


def look_unscaled(x, memory, weights, style, mask):
    width = x.shape[-1] // style.num_heads
    part = {n: w * math.sqrt(width) if n.startswith("cross.q.") else w for n, w in weights.items()}
    return look(x, memory, part, style, mask)


cross_unscaled = Mutant(
    "DEC-cross-unscaled",
    story="the scores of the memory are not divided by √(E / heads)",
    breaks={"DEC-ORACLE-1", "DEC-ORACLE-2"},
    hint='scale both attentions, or declare attention-scale = "none"',
    replace={look: look_unscaled},
)


def exchanged(weights):
    keys, values = weights["cross.k.weight"], weights["cross.v.weight"]
    return {**weights, "cross.k.weight": values, "cross.v.weight": keys}


keys_for_values = Mutant(
    "DEC-keys-for-values",
    story="the projections to keys and to values of the memory are exchanged",
    breaks={"DEC-ORACLE-1", "DEC-ORACLE-2"},
    hint="in a fused projection of the memory, keys come first",
    replace={look: lambda x, memory, weights, style, mask: look(x, memory, exchanged(weights), style, mask)},
)

another_activation = Mutant(
    "DEC-undeclared-gelu",
    story="the activation is GELU, and nobody says so",
    breaks={"DEC-ORACLE-1", "DEC-ORACLE-2"},
    hint='use what the configuration says, or declare activation = "gelu"',
    replace={feed_forward.relu: feed_forward.gelu},
)

memory_gradient_halved = Mutant(
    "DEC-memory-gradient-halved",
    story="only half of the gradient reaches the memory",
    breaks={"DEC-ORACLE-1", "DEC-ORACLE-2"},
    hint="leave the gradient to autograd",
    replace={
        look: lambda x, memory, weights, style, mask: look(x, 0.5 * (memory + memory.detach()), weights, style, mask)
    },
)


def project_wide_coarsely(x, weight, bias):
    return mha.project(x if weight.shape[0] % 32 else x.bfloat16().to(x), weight, bias)


wide_in_half = Mutant(
    "DEC-wide-in-half",
    story="projections whose width is a multiple of 32 round their inputs to bfloat16",
    breaks={"DEC-TORCH-1"},
    hint="the fast matrix product must not lower the precision of float32 and float64",
    replace={mha.project: project_wide_coarsely},
)
