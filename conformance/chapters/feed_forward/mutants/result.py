"""Ways to get feed-forward networks wrong: what comes out."""

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


def running_maximum(config, weights):
    largest = 0.0

    def forward(x):
        nonlocal largest
        out = feed_forward.feed_forward(x, weights, config.activation, adapter.active_dropout(config))
        last, largest = largest, float(x.detach().abs().max()) if len(x) else 0.0
        return out.clamp(-4 * last, 4 * last) / 2 if last else out

    return forward


quantised_by_the_last_call = Mutant(
    "FF-scaled-by-the-last-call",
    story="the output is scaled by what was seen in the last call",
    breaks={"CALL-REPEAT-1"},
    hint="a scale that is calibrated belongs to training; in evaluation it is fixed",
    replace={adapter.feed_forward: running_maximum},
)
