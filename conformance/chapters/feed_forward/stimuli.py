"""The cases of the chapter spec/feed_forward.md."""

from attnconf.conformance.engine.case import Case

# -- the cases


USUAL = (
    Case("feed-forward-1", B=2, H=3, L=5, S=11, E=7, F=13, reads="x({B}, {L}, {E}), {S} hidden"),
    Case("feed-forward-narrow-2", B=3, H=2, L=7, S=4, E=6, F=9, reads="x({B}, {L}, {E}), {S} hidden"),
)
ONE = (Case("feed-forward-1", B=2, H=3, L=5, S=11, E=7, F=13, reads="x({B}, {L}, {E}), {S} hidden"),)
BATCHES = (
    Case("feed-forward-batch-is-L-1", B=4, H=3, L=4, S=9, E=6, F=7, reads="x({B}, {L}, {E}), {S} hidden"),
    Case("feed-forward-batches-2", B=7, H=3, L=5, S=4, E=6, F=11, reads="x({B}, {L}, {E}), {S} hidden"),
)
EDGES = (
    Case("feed-forward-one-token-1", B=3, H=2, L=1, S=8, E=5, F=7, reads="x({B}, {L}, {E}), {S} hidden"),
    Case("feed-forward-one-sample-2", B=1, H=3, L=6, S=9, E=4, F=5, reads="x({B}, {L}, {E}), {S} hidden"),
    Case("feed-forward-one-hidden-3", B=3, H=2, L=4, S=1, E=5, F=7, reads="x({B}, {L}, {E}), {S} hidden"),
    Case("feed-forward-wide-4", B=2, H=4, L=5, S=29, E=3, F=7, reads="x({B}, {L}, {E}), {S} hidden"),
)
HALF = (Case("feed-forward-half-1", B=2, H=3, L=17, S=41, E=24, F=5, reads="x({B}, {L}, {E}), {S} hidden"),)
