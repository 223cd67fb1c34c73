"""The cases of the chapter spec/attention.md."""

from attnconf.conformance.engine.case import Case

# -- the cases


DISTINCT = (
    Case("uniform-1", B=2, H=3, L=5, S=11, E=7, F=13, regime="uniform"),
    Case("moderate-2", B=3, H=2, L=11, S=6, E=5, F=4),
    Case("peaked-3", B=2, H=5, L=3, S=13, E=11, F=7, regime="peaked"),
)
# S ≤ E and S ≤ F: with V = I the output shows the weights
READABLE = (
    Case("readable-1", B=2, H=3, L=5, S=4, E=7, F=8),
    Case("readable-2", B=3, H=2, L=4, S=5, E=11, F=13),
)
ONE = (Case("moderate-2", B=3, H=2, L=11, S=6, E=5, F=4),)
MANY_ROWS = (Case("many-rows-1", B=3, H=2, L=61, S=5, E=8, F=9),)
SMALL = (Case("small-1", B=2, H=3, L=4, S=5, E=7, F=6),)
# more samples than anything else has, and as many samples as queries or keys
BATCHES = (
    Case("batches-1", B=5, H=2, L=3, S=4, E=7, F=6),
    Case("batch-is-L-2", B=4, H=3, L=4, S=5, E=7, F=6),
    Case("batch-is-S-3", B=5, H=3, L=4, S=5, E=7, F=6),
)
BATCH_IS_H = (Case("batch-is-H-1", B=3, H=3, L=4, S=5, E=7, F=6),)
# values as wide as keys, at sizes that fused kernels like
FUSED = (Case("fused-1", B=2, H=4, L=6, S=10, E=8, F=8),)
EDGES = (
    Case("one-query-1", B=2, H=3, L=1, S=5, E=7, F=4),
    Case("one-key-2", B=2, H=3, L=5, S=1, E=7, F=4),
    Case("one-sample-3", B=1, H=2, L=5, S=3, E=7, F=4),
    Case("one-head-4", B=2, H=1, L=5, S=3, E=7, F=4),
    Case("narrow-5", B=2, H=3, L=5, S=4, E=1, F=7),
)
# off every tile size, longer than 64 and 128
LONG = (Case("long-1", B=1, H=2, L=67, S=131, E=5, F=3),)
