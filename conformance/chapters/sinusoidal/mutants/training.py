"""Ways to get sinusoidal positions wrong: training."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.sinusoidal.mutants.shared import add_to
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal

detached = Mutant(
    "SIN-detached",
    story="the gradient does not reach x",
    breaks={"SIN-GRAD-1"},
    hint="only the table needs no gradient: no detach, no no_grad around the sum",
    replace={sinusoidal.add: lambda x, encoded: add_to(x.detach(), encoded)},
)

gradient_scaled = Mutant(
    "SIN-gradient-scaled",
    story="the gradient of x is scaled, the output is not",
    breaks={"SIN-GRAD-1"},
    hint="what is added is a constant: the gradient passes as it is",
    replace={sinusoidal.add: lambda x, encoded: add_to(2 * x - x.detach(), encoded)},
)

trained = Mutant(
    "SIN-trained",
    story="the table is a parameter that is trained",
    breaks={"SIN-FIXED-1"},
    hint="register_buffer, or nn.Parameter(…, requires_grad=False)",
    replace={
        sinusoidal.encode: lambda positions, dim, base=10000.0: sinusoidal.interleave(
            sinusoidal.angles(positions, sinusoidal.frequencies(dim, base)), dim
        ).requires_grad_(),
    },
)

dropout_in_evaluation = Mutant(
    "SIN-dropout-in-evaluation",
    story="dropout goes on in evaluation",
    breaks={"SIN-DROP-1"},
    hint="use nn.Dropout, and call eval()",
    replace={adapter.active_dropout: lambda config: config.dropout},
)

dropout_not_rescaled = Mutant(
    "SIN-dropout-not-rescaled",
    story="what is kept in training is not divided by 1 - p",
    breaks={"SIN-DROP-2"},
    hint="use nn.Dropout",
    replace={
        sinusoidal.drop: lambda out, probability: (
            torch.dropout(out, probability, train=probability > 0) * (1 - probability)
        ),
    },
)

dropout_of_tokens = Mutant(
    "SIN-dropout-of-tokens",
    story="whole tokens are dropped",
    breaks={"SIN-DROP-2"},
    hint="drop elements one by one",
    replace={
        sinusoidal.drop: lambda out, probability: (
            out * torch.dropout(torch.ones_like(out[..., :1]), probability, train=probability > 0)
        ),
    },
)
