"""Ways to get feed-forward networks wrong: gradients."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import feed_forward

first_layer_frozen = Mutant(
    "FF-first-layer-frozen",
    story="no gradient reaches the first layer",
    breaks={"FF-ORACLE-1"},
    hint="no detach, no .data, no no_grad between the layers",
    replace={
        feed_forward.narrow: lambda features, weights: feed_forward.linear(
            features.detach() + 0 * features, weights, "down"
        )
    },
)


class StraightThrough(torch.autograd.Function):
    """ReLU whose backward pass lets everything through."""

    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad):
        return grad


def relu_straight_through(x):
    return StraightThrough.apply(x)


straight_through = Mutant(
    "FF-straight-through",
    story="the backward pass of ReLU lets everything through",
    breaks={"FF-ORACLE-1"},
    hint="the gradient is 0 where the unit is off",
    replace={feed_forward.relu: relu_straight_through},
)

sparsified = Mutant(
    "FF-sparsified",
    story="hidden features below 0.2 are set to 0, to save work in the second layer",
    breaks={"FF-ORACLE-1"},
    hint="a threshold is another activation: say so",
    replace={feed_forward.relu: lambda x: x * (x > 0.2)},
)

gate_frozen = Mutant(
    "FF-gate-frozen",
    story="no gradient reaches the gate",
    breaks={"FF-ORACLE-2"},
    hint="the gate learns, too",
    replace={
        feed_forward.open_gate: lambda x, weights: feed_forward.linear(
            x, {**weights, "gate.weight": weights["gate.weight"].detach()}, "gate"
        ),
    },
)
