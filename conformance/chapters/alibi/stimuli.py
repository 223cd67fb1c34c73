"""The cases of the chapter spec/alibi.md."""

from attnconf.conformance.engine.case import Case

# -- the cases


USUAL = (
    Case("alibi-1", B=3, H=4, L=5, S=9, E=11, F=7, reads="{H} heads, {S} tokens"),
    Case("alibi-2", B=2, H=8, L=3, S=7, E=13, F=5, reads="{H} heads, {S} tokens"),
)
POWERS = tuple(
    Case(f"alibi-powers-{H}", B=3, H=H, L=5, S=9, E=11, F=7, reads="{H} heads, {S} tokens")
    for H in (1, 2, 4, 8, 16, 32)
)
OTHERS = tuple(
    Case(f"alibi-others-{H}", B=4, H=H, L=2, S=9, E=13, F=7, reads="{H} heads, {S} tokens")
    for H in (3, 5, 6, 12, 24, 40)
)
EDGES = (
    Case("alibi-one-token-1", B=3, H=2, L=6, S=1, E=7, F=5, reads="{H} heads, {S} tokens"),
    Case("alibi-one-head-2", B=3, H=1, L=6, S=5, E=7, F=8, reads="{H} heads, {S} tokens"),
    Case("alibi-other-heads-3", B=2, H=6, L=3, S=7, E=8, F=5, reads="{H} heads, {S} tokens"),
)
LONG = (Case("alibi-long-1", B=3, H=2, L=5, S=300, E=301, F=7, reads="{H} heads, {S} tokens"),)
CACHED = (
    Case("alibi-cached-1", B=3, H=4, L=2, S=9, E=11, F=7, reads="{H} heads, {L} queries, {S} keys"),
    Case("alibi-cached-2", B=3, H=2, L=1, S=6, E=7, F=5, reads="{H} heads, {L} queries, {S} keys"),
    Case("alibi-cached-3", B=3, H=8, L=6, S=7, E=11, F=5, reads="{H} heads, {L} queries, {S} keys"),
)
