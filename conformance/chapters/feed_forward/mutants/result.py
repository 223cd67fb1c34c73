"""Ways to get feed-forward networks wrong: what comes out."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import feed_forward

not_narrowed = Mutant(
    "FF-not-narrowed",
    story="the hidden features come out: the second layer is missing",
    breaks={"CALL-SHAPE-1"},
    hint="two layers: back to embed_dim with down.weight",
    replace={feed_forward.narrow: lambda features, weights: features},
)

float32_out = Mutant(
    "FF-float32-out",
    story="the output is float32, whatever the input is",
    breaks={"CALL-DTYPE-1"},
    hint="convert back to the dtype of x",
    replace={feed_forward.narrow: lambda features, weights: feed_forward.linear(features, weights, "down").float()},
)


def over_the_input(config, weights):
    def forward(x):
        out = feed_forward.feed_forward(x, weights, config.activation, adapter.active_dropout(config))
        return out if out.requires_grad else x.copy_(out)

    return forward


in_place = Mutant(
    "FF-in-place",
    story="the output is written over the input",
    breaks={"CALL-IMMUT-1"},
    hint="no out=x and no x.copy_: the residual still needs x",
    replace={adapter.feed_forward: over_the_input},
)


def remembering(config, weights):
    kept = {}

    def forward(x):
        features = feed_forward.hidden(x, weights, config.activation)
        features = kept.setdefault(tuple(x.shape), features)
        return feed_forward.narrow(feed_forward.drop_hidden(features, adapter.active_dropout(config)), weights)

    return forward


hidden_remembered = Mutant(
    "FF-hidden-remembered",
    story="hidden features are kept by the shape of x, and used again for the next x of that shape",
    breaks={"CALL-REPEAT-1"},
    hint="keep nothing between calls",
    replace={adapter.feed_forward: remembering},
)


def running_maximum(config, weights):
    largest = 0.0

    def forward(x):
        nonlocal largest
        out = feed_forward.feed_forward(x, weights, config.activation, adapter.active_dropout(config))
        last, largest = largest, float(x.detach().abs().max())
        return out.clamp(-4 * last, 4 * last) / 2 if last else out

    return forward


quantised_by_the_last_call = Mutant(
    "FF-scaled-by-the-last-call",
    story="the output is scaled by what was seen in the last call",
    breaks={"CALL-REPEAT-1"},
    hint="a scale that is calibrated belongs to training; in evaluation it is fixed",
    replace={adapter.feed_forward: running_maximum},
)


def flattened(x, weights):
    rows = x.view(-1, x.shape[-1])
    return feed_forward.linear(rows, weights, "up").view(*x.shape[:-1], -1)


viewed = Mutant(
    "FF-viewed",
    story="x.view(-1, E) raises where x is a transposed view",
    breaks={"CALL-LAYOUT-1"},
    hint="no view is needed: a linear layer takes any leading axes; else reshape",
    replace={feed_forward.widen: flattened},
    raises={"CALL-LAYOUT-1"},
)


def as_strided(x, weights):
    rows = torch.as_strided(x, (x.numel() // x.shape[-1], x.shape[-1]), (x.shape[-1], 1))
    return feed_forward.linear(rows, weights, "up").view(*x.shape[:-1], -1)


strides_ignored = Mutant(
    "FF-strides-ignored",
    story="memory is read as if x were contiguous",
    breaks={"CALL-LAYOUT-1"},
    hint="call x.contiguous() before a kernel that wants it, or pass the strides",
    replace={feed_forward.widen: as_strided},
)
