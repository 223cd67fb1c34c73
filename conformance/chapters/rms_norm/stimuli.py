"""The cases of the chapter spec/rms_norm.md."""

from attnconf.conformance.engine.case import Case

# -- the cases


USUAL = (
    Case("rms-norm-1", B=2, H=6, L=5, S=7, E=3, F=8, reads="x({B}, {L}, {E})"),
    Case("rms-norm-2", B=3, H=2, L=7, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),
)
ONE = (Case("rms-norm-2", B=3, H=2, L=7, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),)
EDGES = (
    Case("rms-norm-one-token-1", B=3, H=2, L=1, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),
    Case("rms-norm-one-sample-2", B=1, H=2, L=7, S=6, E=4, F=5, reads="x({B}, {L}, {E})"),
)
NARROW = (
    Case("rms-norm-two-features-1", B=3, H=4, L=5, S=7, E=2, F=6, reads="x({B}, {L}, {E})"),
    Case("rms-norm-one-feature-2", B=3, H=2, L=5, S=7, E=1, F=4, reads="x({B}, {L}, {E})"),
)
BATCHES = (
    Case("rms-norm-batch-is-L-1", B=4, H=3, L=4, S=7, E=5, F=6, reads="x({B}, {L}, {E})"),
    Case("rms-norm-batches-2", B=7, H=4, L=2, S=6, E=5, F=3, reads="x({B}, {L}, {E})"),
)
WIDE = (Case("rms-norm-wide-1", B=2, H=4, L=3, S=5, E=1043, F=7, reads="x({B}, {L}, {E})"),)
LONG = (Case("rms-norm-long-1", B=1, H=4, L=3, S=5, E=4099, F=7, reads="x({B}, {L}, {E})"),)
