"""The cases of the chapter spec/coordinate_mlp.md."""

from attnconf.conformance.engine.case import Shape

# -- the cases

_ENCODED = "x({points}, {coordinates}), {frequencies} frequencies, "
SHAPE = Shape(
    "next_hidden hidden points coordinates frequencies colours",
    _ENCODED + "layers of {hidden}, {next_hidden}, {colours}",
)
_DEEP = Shape("hidden points coordinates frequencies colours", _ENCODED + "11 layers of {hidden}, then {colours}")


USUAL = (
    SHAPE.case("coordinate-1", next_hidden=7, hidden=9, points=6, coordinates=2, frequencies=4, colours=3),
    SHAPE.case("coordinate-two-2", next_hidden=5, hidden=4, points=9, coordinates=3, frequencies=2, colours=1),
)
DEEP = (_DEEP.case("coordinate-deep-1", hidden=5, points=6, coordinates=2, frequencies=4, colours=3),)
