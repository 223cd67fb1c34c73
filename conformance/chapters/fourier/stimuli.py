"""The cases of the chapter spec/fourier.md."""

from attnconf.conformance.engine.case import Case

# -- the cases

_ENCODED = "x({L}, {E}), {S} frequencies"

USUAL = (
    Case("fourier-1", B=4, H=6, L=7, S=5, E=3, F=9, reads=_ENCODED),
    Case("fourier-two-by-six-2", B=3, H=4, L=5, S=6, E=2, F=7, reads=_ENCODED),
    Case("fourier-one-of-one-3", B=3, H=4, L=6, S=5, E=1, F=7, reads=_ENCODED),
    Case("fourier-one-point-4", B=3, H=4, L=1, S=2, E=5, F=7, reads=_ENCODED),
)
HIGH = (Case("fourier-high-1", B=3, H=4, L=11, S=10, E=2, F=7, reads=_ENCODED),)
LEARN = (Case("fourier-learn-1", B=3, H=4, L=11, S=5, E=2, F=7, fixed=True, reads="x(800, {E}), {S} frequencies"),)
RANDOM = (
    Case("random-fourier-1", B=2, H=5, L=7, S=4, E=3, F=9, reads="x({L}, {E}), {H} directions"),
    Case("random-fourier-one-coordinate-2", B=4, H=3, L=5, S=2, E=1, F=9, reads="x({L}, {E}), {H} directions"),
)
