"""The cases of the chapter spec/attention.md."""

import torch

from attnconf.conformance.engine.case import Shape

# -- the cases

SHAPE = Shape(
    "B H L E F S",
    "q({B}, {H}, {L}, {E}) k({B}, {H}, {S}, {E}) v({B}, {H}, {S}, {F})",
    heads="H",
    keys="E",
    values="F",
)


DISTINCT = (
    SHAPE.case("uniform-1", B=2, H=3, L=5, E=7, F=13, S=11, regime="uniform"),
    SHAPE.case("moderate-2", B=3, H=2, L=11, E=5, F=4, S=6),
    SHAPE.case("peaked-3", B=2, H=5, L=3, E=11, F=7, S=13, regime="peaked"),
)
# S ≤ E and S ≤ F: with V = I the output shows the weights
READABLE = (
    SHAPE.case("readable-1", B=2, H=3, L=5, E=7, F=8, S=4),
    SHAPE.case("readable-2", B=3, H=2, L=4, E=11, F=13, S=5),
)
ONE = DISTINCT[1:2]
MANY_ROWS = (SHAPE.case("square-many-rows-1", B=3, H=2, L=61, E=8, F=9, S=61),)
SMALL = (SHAPE.case("small-1", B=2, H=3, L=4, E=7, F=6, S=5),)
# more samples than anything else has, and as many samples as queries or keys
BATCHES = (
    SHAPE.case("batches-1", B=5, H=2, L=3, E=7, F=6, S=4),
    SHAPE.case("batch-is-L-2", B=4, H=3, L=4, E=7, F=6, S=5),
    SHAPE.case("batch-is-S-3", B=5, H=3, L=4, E=7, F=6, S=5),
)
# one sample, and one head, under masks: where there is one of something, a branch of its own may be taken
MASKED_ONES = (
    SHAPE.case("masked-one-sample-1", B=1, H=3, L=4, E=7, F=6, S=5),
    SHAPE.case("masked-one-head-2", B=2, H=1, L=4, E=7, F=6, S=5),
)
BATCH_IS_H = (SHAPE.case("batch-is-H-1", B=3, H=3, L=4, E=7, F=6, S=5),)
# values as wide as keys, at sizes that fused kernels like
FUSED = (SHAPE.case("fused-1", B=2, H=4, L=6, E=8, F=8, S=10),)
EDGES = (
    SHAPE.case("one-query-1", B=2, H=3, L=1, E=7, F=4, S=5),
    SHAPE.case("one-key-2", B=2, H=3, L=5, E=7, F=4, S=1),
    SHAPE.case("one-sample-3", B=1, H=2, L=5, E=7, F=4, S=3),
    SHAPE.case("one-head-4", B=2, H=1, L=5, E=7, F=4, S=3),
    SHAPE.case("narrow-5", B=2, H=3, L=5, E=1, F=7, S=4),
)
# off every tile size, longer than 64 and 128
LONG = (SHAPE.case("long-1", B=1, H=2, L=67, E=5, F=3, S=131),)
# one more than 2048, in float32 so that it costs little
LONGER = (
    SHAPE.case("longer-keys-1", B=1, H=2, L=4, E=5, F=3, S=2049, dtype=torch.float32),
    SHAPE.case("longer-queries-2", B=1, H=2, L=2049, E=5, F=4, S=3, dtype=torch.float32),
)
# a width and lengths that blocked kernels are written for, and one more
REAL = (SHAPE.case("real-1", B=1, H=2, L=9, E=64, F=64, S=257),)
# widths of a head as models have them
WIDE = tuple(
    SHAPE.case(f"wide-{width}", B=1, H=2, L=3, E=width, F=width, S=5, dtype=torch.float32)
    for width in (32, 64, 80, 128, 256)
)
