"""The cases of the chapter spec/layer_norm.md."""

from attnconf.conformance.engine.case import Shape

# -- the cases

SHAPE = Shape("B groups L features", "x({B}, {L}, {features})", normed="features")
_AXES = Shape("B rows L features columns", "x({B}, {L}, {rows}, {columns}, {features})")


# few features, or the variance's divisor could not be told
# rows and columns: further axes that are normalized with the features
USUAL = (
    SHAPE.case("layer-norm-1", B=2, groups=6, L=5, features=3),
    SHAPE.case("layer-norm-2", B=3, groups=2, L=7, features=5),
)
ONE = USUAL[1:]
EDGES = (
    SHAPE.case("layer-norm-one-token-1", B=3, groups=2, L=1, features=5),
    SHAPE.case("layer-norm-one-sample-2", B=1, groups=2, L=7, features=4),
)
NARROW = (
    SHAPE.case("layer-norm-two-features-1", B=3, groups=4, L=5, features=2),
    SHAPE.case("layer-norm-one-feature-2", B=3, groups=2, L=5, features=1),
)
BATCHES = (
    SHAPE.case("layer-norm-batch-is-L-1", B=4, groups=3, L=4, features=5),
    SHAPE.case("layer-norm-batches-2", B=7, groups=4, L=2, features=5),
)
AXES = (
    _AXES.case("layer-norm-axes-1", B=5, rows=2, L=7, features=4, columns=3),
    _AXES.case("layer-norm-axes-2", B=2, rows=3, L=4, features=5, columns=6),
)
WIDE = (SHAPE.case("layer-norm-wide-1", B=2, groups=4, L=3, features=1043),)
LONG = (SHAPE.case("layer-norm-long-1", B=1, groups=4, L=3, features=4099),)
