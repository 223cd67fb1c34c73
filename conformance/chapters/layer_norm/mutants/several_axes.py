"""Ways to get LayerNorm wrong: several axes."""

from attnconf.conformance.chapters.layer_norm.mutants.shared import over, with_gain, with_shift
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm

last_axis_only = Mutant(
    "LN-last-axis-only",
    story="of several axes only the last one is normalized",
    breaks={"LN-AXES-1"},
    hint="mean and variance over as many axes as the shape has",
    replace={layer_norm.last_axes: over(lambda x, shape: (-1,))},
)

first_of_the_axes = Mutant(
    "LN-first-of-the-axes",
    story="of several axes only the first one is normalized",
    breaks={"LN-AXES-1"},
    hint="mean and variance over as many axes as the shape has",
    replace={layer_norm.last_axes: over(lambda x, shape: (-len(shape),))},
)


def first_row(weight):
    return weight[(0,) * (weight.ndim - 1)].expand_as(weight)


gain_of_the_last_axis = Mutant(
    "LN-gain-of-the-last-axis",
    story="of a gain over several axes only the first row is used, for all",
    breaks={"LN-AXES-2"},
    hint="a gain for each place",
    replace={layer_norm.scale_and_shift: with_gain(first_row)},
)

shift_reversed = Mutant(
    "LN-shift-reversed",
    story="the places of a shift over several axes are read in column order",
    breaks={"LN-AXES-2"},
    hint="the bias has the shape of the axes, in their order",
    replace={
        layer_norm.scale_and_shift: with_shift(
            lambda bias: bias.permute(*reversed(range(bias.ndim))).reshape(bias.shape)
        ),
    },
)
