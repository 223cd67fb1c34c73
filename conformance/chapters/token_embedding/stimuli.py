"""The cases of the chapter spec/token_embedding.md."""

from attnconf.conformance.engine.case import Shape

# -- the cases

SHAPE = Shape(
    "B heads L head_width vocabulary",
    "ids({B}, {L}) of {vocabulary}, {heads} heads of {head_width}",
    products={"width": "heads head_width"},
    multiples={"head_width": 2},
    heads="heads",
)


USUAL = (
    SHAPE.case("token-1", B=2, heads=3, L=5, head_width=4, vocabulary=11),
    SHAPE.case("token-2", B=3, heads=2, L=7, head_width=8, vocabulary=13),
)
ONE = USUAL[:1]
BATCHES = (
    SHAPE.case("token-batch-is-L-1", B=5, heads=2, L=5, head_width=4, vocabulary=11),
    SHAPE.case("token-batches-2", B=7, heads=3, L=5, head_width=4, vocabulary=9),
)
EDGES = (
    SHAPE.case("token-one-token-1", B=3, heads=2, L=1, head_width=6, vocabulary=9),
    SHAPE.case("token-one-sample-2", B=1, heads=2, L=7, head_width=4, vocabulary=11),
    SHAPE.case("token-one-head-3", B=3, heads=1, L=5, head_width=8, vocabulary=9),
)
# more ids than eight bits count
MANY = (SHAPE.case("token-many-1", B=2, heads=3, L=5, head_width=4, vocabulary=311),)
