"""The cases of the chapter spec/relative_bias.md."""

from dataclasses import replace

from attnconf.conformance.engine.case import Shape

# -- the cases

SHAPE = Shape("B H L E S", "{H} heads, {S} tokens", heads="H")
_UNEVEN = replace(SHAPE, shown="{H} heads, {L} queries, {S} keys")


USUAL = (
    SHAPE.case("relative-1", B=3, H=2, L=5, E=13, S=11),
    SHAPE.case("relative-2", B=2, H=5, L=3, E=14, S=12),
)
ONE = USUAL[:1]
EDGES = (
    SHAPE.case("relative-one-token-1", B=3, H=2, L=6, E=7, S=1),
    SHAPE.case("relative-one-head-2", B=3, H=1, L=6, E=7, S=5),
)
LONG = (SHAPE.case("relative-long-1", B=3, H=2, L=127, E=141, S=140),)
SIZES = (SHAPE.case("relative-sizes-1", B=3, H=2, L=5, E=17, S=15),)
UNEVEN = (
    _UNEVEN.case("relative-uneven-1", B=3, H=2, L=4, E=13, S=11),
    _UNEVEN.case("relative-uneven-2", B=3, H=2, L=11, E=13, S=5),
    _UNEVEN.case("relative-uneven-3", B=3, H=2, L=1, E=13, S=9),
)
