"""Ways to get feed-forward networks wrong: dropout."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import feed_forward

dropout_in_evaluation = Mutant(
    "FF-dropout-in-evaluation",
    story="dropout goes on in evaluation",
    breaks={"FF-DROP-1"},
    hint="nn.Dropout and eval(), or F.dropout(h, p, training=self.training)",
    replace={adapter.active_dropout: lambda config: config.dropout},
    source="nanoGPT#240, pytorch#124464, torchvision#7103: functional dropout trains unless told otherwise",
)


def not_divided(features, probability):
    return features * (torch.rand_like(features) >= probability)


dropout_not_rescaled = Mutant(
    "FF-dropout-not-rescaled",
    story="what is kept in training is not divided by 1 - p",
    breaks={"FF-DROP-2"},
    hint="use nn.Dropout",
    replace={feed_forward.drop_hidden: not_divided},
)


def whole_features(features, probability):
    return features * torch.dropout(torch.ones_like(features[:, :1]), probability, train=probability > 0)


features_dropped_alike = Mutant(
    "FF-dropped-alike",
    story="in a sample the same hidden features are dropped at every token",
    breaks={"FF-DROP-2"},
    hint="each token's features by themselves: nn.Dropout, not Dropout1d over the tokens",
    replace={feed_forward.drop_hidden: whole_features},
)

kept_for_dropped = Mutant(
    "FF-kept-for-dropped",
    story="the probability is taken for that of keeping",
    breaks={"FF-DROP-2", "FF-DROP-3"},
    hint="dropout is the probability of zero",
    replace={
        feed_forward.drop_hidden: lambda features, probability: (
            torch.dropout(features, 1 - probability, train=True) if probability else features
        ),
    },
)


def dropping_behind(x, weights, activation, dropout):
    out = feed_forward.narrow(feed_forward.hidden(x, weights, activation), weights)
    return torch.dropout(out, dropout, train=dropout > 0)


dropout_behind = Mutant(
    "FF-dropout-behind",
    story="the output is dropped, with the hidden features or instead of them",
    breaks={"FF-DROP-3"},
    hint="between activation and second layer; the layer around drops what it adds to the residual",
    replace={feed_forward.feed_forward: dropping_behind},
)

no_dropout = Mutant(
    "FF-no-dropout",
    story="nothing is dropped in training",
    breaks={"FF-DROP-3"},
    hint="dropout between activation and second layer",
    replace={feed_forward.drop_hidden: lambda features, probability: features},
)

input_dropped = Mutant(
    "FF-input-dropped",
    story="x is dropped instead of the hidden features",
    breaks={"FF-DROP-2", "FF-DROP-3"},
    hint="between activation and second layer",
    replace={
        feed_forward.feed_forward: lambda x, weights, activation, dropout: feed_forward.narrow(
            feed_forward.hidden(torch.dropout(x, dropout, train=dropout > 0), weights, activation), weights
        ),
    },
)
