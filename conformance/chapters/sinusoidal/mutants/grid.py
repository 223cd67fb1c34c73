"""Ways to get sinusoidal positions wrong: on a grid."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal

height_first = Mutant(
    "SIN-grid-height-first",
    story="the first half of the features encodes the row, and nobody says so",
    breaks={"SIN-GRID-3"},
    hint='declare grid-axes = "height-first", or put the column first',
    replace={
        sinusoidal.lay_out: lambda columns, rows: torch.cat(
            [rows[:, None].expand(-1, len(columns), -1), columns.expand(len(rows), -1, -1)], dim=-1
        ),
    },
    source="multidim-positional-encoding#22",
)

transposed = Mutant(
    "SIN-grid-transposed",
    story="height and width are mixed up: the grid comes out transposed",
    breaks={"CALL-SHAPE-1"},
    hint="the output is (height, width, dim); try a grid that is not square",
    replace={sinusoidal.lay_out: lambda columns, rows: sinusoidal.lay_out(columns, rows).transpose(0, 1)},
)

flattened = Mutant(
    "SIN-grid-flattened",
    story="the cells come out in one row",
    breaks={"CALL-SHAPE-1"},
    hint="the output is (height, width, dim)",
    replace={sinusoidal.lay_out: lambda columns, rows: sinusoidal.lay_out(columns, rows).flatten(0, 1)},
)

flattened_by_columns = Mutant(
    "SIN-grid-by-columns",
    story="cells are listed column by column and folded row by row",
    breaks={"SIN-GRID-3"},
    hint="the column runs fastest in a list of cells that is folded to (height, width)",
    replace={
        sinusoidal.lay_out: lambda columns, rows: (
            sinusoidal.lay_out(columns, rows).transpose(0, 1).reshape(len(rows), len(columns), -1)
        ),
    },
)

same_axis_twice = Mutant(
    "SIN-grid-same-axis-twice",
    story="both halves of the features encode the column",
    breaks={"SIN-GRID-3"},
    hint="one half for each axis",
    replace={
        sinusoidal.lay_out: lambda columns, rows: torch.cat([columns, columns], dim=-1).expand(len(rows), -1, -1),
    },
)

summed_axes = Mutant(
    "SIN-grid-summed",
    story="the encodings of row and column are added instead of concatenated",
    breaks={"SIN-GRID-3"},
    hint="half of the features for each axis: a sum does not tell (1, 2) from (2, 1)",
    replace={
        sinusoidal.lay_out: lambda columns, rows: (columns + rows[:, None]).repeat(1, 1, 2),
    },
)


def whole_width(positions, dim, base):
    """The exponent is divided by the width of both axes together."""
    theta = sinusoidal.angles(positions, sinusoidal.frequencies(2 * dim, base)[: dim // 2])
    return torch.cat([theta.sin(), theta.cos()], dim=-1)


width_of_both = Mutant(
    "SIN-grid-width-of-both",
    story="the exponent is divided by dim where each axis has dim / 2 features",
    breaks={"SIN-GRID-5"},
    hint="ω_i = base^(-2i/(dim/2))",
    replace={sinusoidal.halves: whole_width},
)

unit_square = Mutant(
    "SIN-grid-unit-square",
    story="positions are divided by the length of their axis",
    breaks={"SIN-GRID-5"},
    hint="positions are in cells: 0, 1, 2, …",
    replace={
        sinusoidal.halves: lambda positions, dim, base: sinusoidal.halves(
            positions.double() / len(positions), dim, base
        ),
    },
    source="DETR with normalize=True",
)

grid_interleaved = Mutant(
    "SIN-grid-interleaved",
    story="sines and cosines alternate within an axis, and nobody says so",
    breaks={"SIN-GRID-4"},
    hint='declare grid-layout = "interleaved", or put all sines of an axis first',
    replace={
        sinusoidal.halves: lambda positions, dim, base: sinusoidal.interleave(
            sinusoidal.angles(positions, sinusoidal.frequencies(dim, base)), dim
        ),
    },
    source="DETR",
)


def cosines_first(positions, dim, base):
    theta = sinusoidal.angles(positions, sinusoidal.frequencies(dim, base))
    return torch.cat([theta.cos(), theta.sin()], dim=-1)


grid_cosines_first = Mutant(
    "SIN-grid-cosines-first",
    story="cosines stand where sines belong",
    breaks={"SIN-GRID-8"},
    hint="sines first: cell (0, 0) begins with zeros",
    replace={sinusoidal.halves: cosines_first},
)

grid_from_one = Mutant(
    "SIN-grid-from-one",
    story="rows and columns are counted from 1",
    breaks={"SIN-GRID-8"},
    hint="the first is 0; a cumulative sum of ones begins at 1",
    replace={sinusoidal.halves: lambda positions, dim, base: sinusoidal.halves(positions + 1, dim, base)},
    source="DETR",
)


def rows_of_another_scale(height, width, dim, base=10000.0):
    sinusoidal.refuse_width(dim)
    columns = sinusoidal.halves(torch.arange(width), dim // 2, base)
    rows = sinusoidal.halves(torch.arange(height) * (width + 1) / (height + 2), dim // 2, base)
    return sinusoidal.lay_out(columns, rows)


rows_stretched = Mutant(
    "SIN-grid-rows-stretched",
    story="rows are stretched as if the grid were square",
    breaks={"SIN-GRID-7"},
    hint="a step is 1 along both axes",
    replace={sinusoidal.grid: rows_of_another_scale},
)

rows_left_out = Mutant(
    "SIN-grid-rows-left-out",
    story="features that two axes cannot share evenly all go to the column",
    breaks={"SIN-GRID-9"},
    hint="raise an error unless dim is a multiple of 4",
    replace={
        sinusoidal.grid: lambda height, width, dim, base=10000.0: (
            sinusoidal.halves(torch.arange(width), dim + dim % 2, base)[:, :dim].expand(height, -1, -1)
            if dim % 4
            else sinusoidal.grid(height, width, dim, base)
        ),
    },
)

other_width = Mutant(
    "SIN-grid-other-width",
    story="a dim that is no multiple of 4 is rounded up without a word",
    breaks={"SIN-GRID-9"},
    hint="raise an error unless dim is a multiple of 4",
    replace={sinusoidal.refuse_width: lambda dim: None},
)


def cached_by_cells(config, weights):
    tables = {}

    def forward(height, width):
        if height * width not in tables:
            table = sinusoidal.grid(height, width, config.dim, config.base)
            tables[height * width] = table.to(config.device, config.dtype)
        return tables[height * width].reshape(height, width, -1)

    return forward


grid_cached = Mutant(
    "SIN-grid-cached",
    story="a grid is kept by its number of cells, and serves the next of another shape",
    breaks={"CALL-REPEAT-1"},
    hint="keep it by height and width",
    replace={adapter.sinusoidal_2d: cached_by_cells},
)


def remembering_positions(config, weights):
    known = {}

    def forward(x, *, positions=None):
        positions = known.setdefault(x.shape[1], sinusoidal.count(x) if positions is None else positions)
        return adapter.sinusoidal(config, weights)(x, positions=positions)

    return forward


cached_by_length = Mutant(
    "SIN-cached-by-length",
    story="tables are cached by the number of tokens, whatever their positions",
    breaks={"SIN-POS-6"},
    hint="put the positions into the key of the cache",
    replace={adapter.sinusoidal: remembering_positions},
    source="rotary-embedding-torch#11, of rotary positions",
)

positions_not_taken = Mutant(
    "SIN-positions-not-taken",
    story="forward has no keyword for positions, and does not say so in words",
    breaks={"SIN-POS-1"},
    hint='take positions=None, and raise NotImplementedError("explicit positions") where they are given',
    replace={adapter.sinusoidal: lambda config, weights: lambda x: adapter.sinusoidal(config, weights)(x)},
)
