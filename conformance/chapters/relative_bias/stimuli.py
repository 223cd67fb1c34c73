"""The cases of the chapter spec/relative_bias.md."""

from attnconf.conformance.engine.case import Case

# -- the cases


USUAL = (
    Case("relative-1", B=3, H=2, L=5, S=11, E=13, F=7, reads="{H} heads, {S} tokens"),
    Case("relative-2", B=2, H=5, L=3, S=12, E=14, F=7, reads="{H} heads, {S} tokens"),
)
ONE = (Case("relative-1", B=3, H=2, L=5, S=11, E=13, F=7, reads="{H} heads, {S} tokens"),)
EDGES = (
    Case("relative-one-token-1", B=3, H=2, L=6, S=1, E=7, F=5, reads="{H} heads, {S} tokens"),
    Case("relative-one-head-2", B=3, H=1, L=6, S=5, E=7, F=8, reads="{H} heads, {S} tokens"),
)
LONG = (Case("relative-long-1", B=3, H=2, L=127, S=140, E=141, F=7, reads="{H} heads, {S} tokens"),)
SIZES = (Case("relative-sizes-1", B=3, H=2, L=5, S=15, E=17, F=7, reads="{H} heads, {S} tokens"),)
UNEVEN = (
    Case("relative-uneven-1", B=3, H=2, L=4, S=11, E=13, F=7, reads="{H} heads, {L} queries, {S} keys"),
    Case("relative-uneven-2", B=3, H=2, L=11, S=5, E=13, F=7, reads="{H} heads, {L} queries, {S} keys"),
    Case("relative-uneven-3", B=3, H=2, L=1, S=9, E=13, F=7, reads="{H} heads, {L} queries, {S} keys"),
)
