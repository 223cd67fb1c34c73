"""The cases of the chapter spec/fourier.md."""

from attnconf.conformance.engine.case import Shape

# -- the cases

SHAPE = Shape("rows points coordinates frequencies", "x({points}, {coordinates}), {frequencies} frequencies")
_LEARNT = Shape("coordinates frequencies", "x(800, {coordinates}), {frequencies} frequencies")
_RANDOM = Shape("rows directions points coordinates", "x({points}, {coordinates}), {directions} directions")


USUAL = (
    SHAPE.case("fourier-1", rows=4, points=7, coordinates=3, frequencies=5),
    SHAPE.case("fourier-two-by-six-2", rows=3, points=5, coordinates=2, frequencies=6),
    SHAPE.case("fourier-one-of-one-3", rows=3, points=6, coordinates=1, frequencies=5),
    SHAPE.case("fourier-one-point-4", rows=3, points=1, coordinates=5, frequencies=2),
)
HIGH = (SHAPE.case("fourier-high-1", rows=3, points=11, coordinates=2, frequencies=10),)
LEARN = (_LEARNT.case("fourier-learn-1", coordinates=2, frequencies=5, fixed=True),)
RANDOM = (
    _RANDOM.case("random-fourier-1", rows=2, directions=5, points=7, coordinates=3),
    _RANDOM.case("random-fourier-one-coordinate-2", rows=4, directions=3, points=5, coordinates=1),
)
