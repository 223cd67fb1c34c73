"""The cases of the chapter spec/learned.md."""

from attnconf.conformance.engine.case import Case

# -- the cases


# S is the number of positions that the table has rows for
USUAL = (
    Case("learned-1", B=2, H=3, L=7, S=11, E=5, F=13, reads="x({B}, {L}, {E}), {S} positions"),
    Case("learned-2", B=3, H=2, L=5, S=13, E=8, F=7, reads="x({B}, {L}, {E}), {S} positions"),
)
ONE = (Case("learned-1", B=2, H=3, L=7, S=11, E=5, F=13, reads="x({B}, {L}, {E}), {S} positions"),)
BATCHES = (
    Case("learned-batch-is-L-1", B=5, H=3, L=5, S=9, E=8, F=11, reads="x({B}, {L}, {E}), {S} positions"),
    Case("learned-batches-2", B=7, H=3, L=5, S=9, E=6, F=11, reads="x({B}, {L}, {E}), {S} positions"),
)
EDGES = (
    Case("learned-one-token-1", B=3, H=2, L=1, S=7, E=8, F=5, reads="x({B}, {L}, {E}), {S} positions"),
    Case("learned-one-sample-2", B=1, H=3, L=7, S=11, E=6, F=5, reads="x({B}, {L}, {E}), {S} positions"),
    Case("learned-narrow-3", B=2, H=3, L=7, S=11, E=1, F=5, reads="x({B}, {L}, {E}), {S} positions"),
)
# more rows than eight bits count
LONG = (Case("learned-long-1", B=2, H=3, L=300, S=311, E=5, F=7, reads="x({B}, {L}, {E}), {S} positions"),)
WIDE = (Case("learned-wide-1", B=2, H=3, L=101, S=109, E=66, F=7, reads="x({B}, {L}, {E}), {S} positions"),)
