"""The cases of the chapter spec/learned.md."""

from attnconf.conformance.engine.case import Shape

# -- the cases

SHAPE = Shape("B L features positions", "x({B}, {L}, {features}), {positions} positions")


# positions: those that the table has rows for
USUAL = (
    SHAPE.case("learned-1", B=2, L=7, features=5, positions=11),
    SHAPE.case("learned-2", B=3, L=5, features=8, positions=13),
)
ONE = USUAL[:1]
BATCHES = (
    SHAPE.case("learned-batch-is-L-1", B=5, L=5, features=8, positions=9),
    SHAPE.case("learned-batches-2", B=7, L=5, features=6, positions=9),
)
EDGES = (
    SHAPE.case("learned-one-token-1", B=3, L=1, features=8, positions=7),
    SHAPE.case("learned-one-sample-2", B=1, L=7, features=6, positions=11),
    SHAPE.case("learned-narrow-3", B=2, L=7, features=1, positions=11),
)
# more rows than eight bits count
LONG = (SHAPE.case("learned-long-1", B=2, L=300, features=5, positions=311),)
WIDE = (SHAPE.case("learned-wide-1", B=2, L=101, features=66, positions=109),)
