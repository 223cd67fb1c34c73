"""The cases of the chapter spec/alibi.md."""

from dataclasses import replace

from attnconf.conformance.engine.case import Shape

# -- the cases

SHAPE = Shape("B H L E S", "{H} heads, {S} tokens", heads="H")
_UNEVEN = replace(SHAPE, shown="{H} heads, {L} queries, {S} keys")


USUAL = (
    SHAPE.case("alibi-1", B=3, H=4, L=5, E=11, S=9),
    SHAPE.case("alibi-2", B=2, H=8, L=3, E=13, S=7),
)
POWERS = tuple(SHAPE.case(f"alibi-powers-{H}", B=3, H=H, L=5, E=11, S=9) for H in (1, 2, 4, 8, 16, 32))
OTHERS = tuple(SHAPE.case(f"alibi-others-{H}", B=4, H=H, L=2, E=13, S=9) for H in (3, 5, 6, 12, 24, 40))
EDGES = (
    SHAPE.case("alibi-one-token-1", B=3, H=2, L=6, E=7, S=1),
    SHAPE.case("alibi-one-head-2", B=3, H=1, L=6, E=7, S=5),
    SHAPE.case("alibi-other-heads-3", B=2, H=6, L=3, E=8, S=7),
)
LONG = (SHAPE.case("alibi-long-1", B=3, H=2, L=5, E=301, S=300),)
CACHED = (
    _UNEVEN.case("alibi-cached-1", B=3, H=4, L=2, E=11, S=9),
    _UNEVEN.case("alibi-cached-2", B=3, H=2, L=1, E=7, S=6),
    _UNEVEN.case("alibi-cached-3", B=3, H=8, L=6, E=11, S=7),
)
