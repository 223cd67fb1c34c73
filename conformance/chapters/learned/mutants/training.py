"""Ways to get learned positions wrong: training."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import learned

dropout_in_evaluation = Mutant(
    "LRN-dropout-in-evaluation",
    story="dropout goes on in evaluation",
    breaks={"LRN-DROP-1"},
    hint="use nn.Dropout, and call eval()",
    replace={adapter.active_dropout: lambda config: config.dropout},
)

dropout_not_rescaled = Mutant(
    "LRN-dropout-not-rescaled",
    story="what is kept in training is not divided by 1 - p",
    breaks={"LRN-DROP-2"},
    hint="use nn.Dropout",
    replace={
        learned.drop: lambda out, probability: (
            torch.dropout(out, probability, train=probability > 0) * (1 - probability)
        ),
    },
)
