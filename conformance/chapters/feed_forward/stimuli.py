"""The cases of the chapter spec/feed_forward.md."""

from attnconf.conformance.engine.case import Shape

# -- the cases

SHAPE = Shape("B L width hidden", "x({B}, {L}, {width}), {hidden} hidden", model="width", hidden="hidden")


USUAL = (
    SHAPE.case("feed-forward-1", B=2, L=5, width=7, hidden=11),
    SHAPE.case("feed-forward-narrow-2", B=3, L=7, width=6, hidden=4),
)
ONE = USUAL[:1]
BATCHES = (
    SHAPE.case("feed-forward-batch-is-L-1", B=4, L=4, width=6, hidden=9),
    SHAPE.case("feed-forward-batches-2", B=7, L=5, width=6, hidden=4),
)
EDGES = (
    SHAPE.case("feed-forward-one-token-1", B=3, L=1, width=5, hidden=8),
    SHAPE.case("feed-forward-one-sample-2", B=1, L=6, width=4, hidden=9),
    SHAPE.case("feed-forward-one-hidden-3", B=3, L=4, width=5, hidden=1),
    SHAPE.case("feed-forward-wide-4", B=2, L=5, width=3, hidden=29),
)
HALF = (SHAPE.case("feed-forward-half-1", B=2, L=17, width=24, hidden=41),)
