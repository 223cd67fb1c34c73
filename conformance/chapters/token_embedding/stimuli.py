"""The cases of the chapter spec/token_embedding.md."""

from attnconf.conformance.engine.case import Case

# -- the cases

_IDS = "ids({B}, {L}) of {S}, {H} heads of {E}"

USUAL = (
    Case("token-1", B=2, H=3, L=5, S=11, E=4, F=7, multiple=2, reads=_IDS),
    Case("token-2", B=3, H=2, L=7, S=13, E=8, F=5, multiple=2, reads=_IDS),
)
ONE = (Case("token-1", B=2, H=3, L=5, S=11, E=4, F=7, multiple=2, reads=_IDS),)
BATCHES = (
    Case("token-batch-is-L-1", B=5, H=2, L=5, S=11, E=4, F=7, multiple=2, reads=_IDS),
    Case("token-batches-2", B=7, H=3, L=5, S=9, E=4, F=2, multiple=2, reads=_IDS),
)
EDGES = (
    Case("token-one-token-1", B=3, H=2, L=1, S=9, E=6, F=7, multiple=2, reads=_IDS),
    Case("token-one-sample-2", B=1, H=2, L=7, S=11, E=4, F=5, multiple=2, reads=_IDS),
    Case("token-one-head-3", B=3, H=1, L=5, S=9, E=8, F=7, multiple=2, reads=_IDS),
)
# more ids than eight bits count
MANY = (Case("token-many-1", B=2, H=3, L=5, S=311, E=4, F=7, multiple=2, reads=_IDS),)
