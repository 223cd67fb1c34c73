"""The cases of the chapter spec/layer_norm.md."""

from attnconf.conformance.engine.case import Case

# -- the cases


# few features, or the variance's divisor could not be told; S and H are further axes that are normalized with E
USUAL = (
    Case("layer-norm-1", B=2, H=6, L=5, S=7, E=3, F=8, reads="x({B}, {L}, {E})"),
    Case("layer-norm-2", B=3, H=2, L=7, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),
)
ONE = (Case("layer-norm-2", B=3, H=2, L=7, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),)
EDGES = (
    Case("layer-norm-one-token-1", B=3, H=2, L=1, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),
    Case("layer-norm-one-sample-2", B=1, H=2, L=7, S=6, E=4, F=5, reads="x({B}, {L}, {E})"),
)
NARROW = (
    Case("layer-norm-two-features-1", B=3, H=4, L=5, S=7, E=2, F=6, reads="x({B}, {L}, {E})"),
    Case("layer-norm-one-feature-2", B=3, H=2, L=5, S=7, E=1, F=4, reads="x({B}, {L}, {E})"),
)
BATCHES = (
    Case("layer-norm-batch-is-L-1", B=4, H=3, L=4, S=7, E=5, F=6, reads="x({B}, {L}, {E})"),
    Case("layer-norm-batches-2", B=7, H=4, L=2, S=6, E=5, F=3, reads="x({B}, {L}, {E})"),
)
AXES = (
    Case("layer-norm-axes-1", B=5, H=2, L=7, S=3, E=4, F=6, reads="x({B}, {L}, {H}, {S}, {E})"),
    Case("layer-norm-axes-2", B=2, H=3, L=4, S=6, E=5, F=7, reads="x({B}, {L}, {H}, {S}, {E})"),
)
WIDE = (Case("layer-norm-wide-1", B=2, H=4, L=3, S=5, E=1043, F=7, reads="x({B}, {L}, {E})"),)
LONG = (Case("layer-norm-long-1", B=1, H=4, L=3, S=5, E=4099, F=7, reads="x({B}, {L}, {E})"),)
