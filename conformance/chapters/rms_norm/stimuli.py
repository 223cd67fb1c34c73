"""The cases of the chapter spec/rms_norm.md."""

from attnconf.conformance.engine.case import Shape

# -- the cases

SHAPE = Shape("B groups L features", "x({B}, {L}, {features})")


USUAL = (
    SHAPE.case("rms-norm-1", B=2, groups=6, L=5, features=3),
    SHAPE.case("rms-norm-2", B=3, groups=2, L=7, features=5),
)
ONE = USUAL[1:]
EDGES = (
    SHAPE.case("rms-norm-one-token-1", B=3, groups=2, L=1, features=5),
    SHAPE.case("rms-norm-one-sample-2", B=1, groups=2, L=7, features=4),
)
NARROW = (
    SHAPE.case("rms-norm-two-features-1", B=3, groups=4, L=5, features=2),
    SHAPE.case("rms-norm-one-feature-2", B=3, groups=2, L=5, features=1),
)
BATCHES = (
    SHAPE.case("rms-norm-batch-is-L-1", B=4, groups=3, L=4, features=5),
    SHAPE.case("rms-norm-batches-2", B=7, groups=4, L=2, features=5),
)
WIDE = (SHAPE.case("rms-norm-wide-1", B=2, groups=4, L=3, features=1043),)
LONG = (SHAPE.case("rms-norm-long-1", B=1, groups=4, L=3, features=4099),)
