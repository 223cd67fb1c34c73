"""Functions that turn by tables of angles which nothing in their file makes: they get those of the textbook."""

from collections.abc import Iterator, Mapping, Sequence
from inspect import Parameter

from attnconf.conformance.inference.trials.angles import AXES
from attnconf.conformance.inference.trials.filling import Input
from attnconf.conformance.inference.words.angle_names import kind_of

LINES = ("cos, sin = rotations(x, config.rotary_dim)", "cos, sin = rotations(x, config.rotary_dim, -1)")
# One column for each pair, or one for each feature: of halves, of neighbours.
COLUMNS = ("{}", "torch.cat([{0}, {0}], -1)", "{}.repeat_interleave(2, -1)")
BACKWARDS = (
    "it turns by minus the angles, unless it is meant to be given tables whose sines are negative: nothing in its file "
    "makes them"
)


def wanted(parameters: Sequence[Parameter]) -> list[str]:
    """Return the parameters that have to be given and are tables of angles, where cosines and sines are both there."""
    names = [p.name for p in parameters if p.default is p.empty and kind_of(p.name)]
    kinds = {kind_of(name) for name in names}
    return names if kinds in ({"cos", "sin"}, {"both"}) else []


def handed(names: Sequence[str]) -> Iterator[Mapping[str, Input]]:
    """Yield what these parameters get, in every shape that code may want."""
    for axes in AXES:
        for columns in COLUMNS:
            cos, sin = (columns.format(one) + axes for one in ("cos", "sin"))
            yield _inputs(names, {"cos": cos, "sin": sin, "both": f"({cos}, {sin})"})
        for both in (f"torch.complex(cos, sin){axes}", f"torch.stack([cos, sin], -1){axes}"):
            if all(kind_of(name) == "both" for name in names):
                yield _inputs(names, {"both": both})


def _inputs(names: Sequence[str], texts: Mapping[str, str]) -> dict[str, Input]:
    return {name: Input(name.lower().strip("_"), (texts[kind_of(name)],)) for name in names}
