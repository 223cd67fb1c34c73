"""Ways to get rotary positions wrong: gradients."""

import torch

from attnconf.conformance.chapters.rotary.mutants.shared import repeated, rotate_every_two, turn_with
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary

no_gradient = Mutant(
    "ROPE-no-gradient",
    story="the rotation is computed without gradients",
    breaks={"ROPE-GRAD-1", "ROPE-ORACLE-1"},
    hint="the table needs no gradient, the features do: no torch.no_grad() around them",
    replace={rotary.turn: lambda x, theta: rotary.turn(x.detach(), theta)},
)

partner_detached = Mutant(
    "ROPE-partner-detached",
    story="gradients pass through the cosines only",
    breaks={"ROPE-GRAD-1", "ROPE-ORACLE-1"},
    hint="both terms depend on x: a·cos and b·sin",
    replace={rotary.turn: turn_with(repeated, lambda x: rotate_every_two(x.detach()))},
)


class TurnedOn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, theta):
        ctx.save_for_backward(theta)
        return rotary.turn(x, theta)

    @staticmethod
    def backward(ctx, upstream):
        return rotary.turn(upstream, ctx.saved_tensors[0]), None


gradient_turned_on = Mutant(
    "ROPE-gradient-turned-on",
    story="a hand-written backward pass turns gradients forwards, not back",
    breaks={"ROPE-GRAD-1", "ROPE-ORACLE-1"},
    hint="the transpose of a rotation is its inverse: use -sin in the backward pass",
    replace={rotary.turn: lambda x, theta: TurnedOn.apply(x, theta)},
)
