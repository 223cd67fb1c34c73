"""``attnconf show``: pictures of an implementation's encoding or weights, of the reference's, and of their difference.

Both answer the same request. The reference is first translated into the declared conventions, so that these make no
difference.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attnconf import attention_maps
from attnconf.adapters.contract import (
    AlibiConfig,
    FourierConfig,
    LearnedConfig,
    RandomFourierConfig,
    RelativeBiasConfig,
    RotaryConfig,
    Sinusoidal2dConfig,
    SinusoidalConfig,
)
from attnconf.conformance.chapters.fourier.checks import frequencies
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.loading.find import LoadError
from attnconf.conformance.run.implementations import load
from attnconf.reports import record
from attnconf.reports.plots import SUFFIXES, as_picture

if TYPE_CHECKING:  # imported when something is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Maps = dict[str, Tensor]  # by name, each (rows, columns)
FLOAT = torch.float64
BASE = 10000.0
COORDINATE = torch.linspace(-1, 1, 256, dtype=FLOAT)[:, None]


@dataclass(frozen=True)
class Shown:
    """How to request an encoding, and the labels of its maps."""

    ask: Callable[[Subject], Tensor | Maps]  # subject -> maps (N, rows, columns), NaN for no number; or by their names
    title: str
    down: str  # what the rows are
    across: str
    names: tuple[str, ...] = ("",)  # of the N maps
    abreast: int = 1  # maps side by side
    logarithmic: bool = False  # colours tell powers apart
    span: tuple[float, float] | None = None  # labels of the first and last column, in place of numbers


@dataclass(frozen=True)
class Picture:
    """Maps of numbers, all of the same size: the implementation's and the reference's."""

    shown: Shown
    got: Tensor
    want: Tensor
    names: tuple[str, ...] = ("",)

    @property
    def difference(self) -> Tensor:
        return self.got - self.want

    @property
    def largest(self) -> float:
        """Return max|difference|; NaN where the implementation gives NaN and the reference does not."""
        off = self.difference[~self.want.isnan()].abs()
        return math.nan if off.isnan().any() else float(off.max())


# -- the encodings


def sinusoidal(of: Subject) -> Tensor:
    """Return the encoding: the output for embeddings of 0."""
    x = torch.zeros(1, 100, 512, dtype=FLOAT)
    return of.ask(SinusoidalConfig(512, max_len=100, base=BASE, dtype=FLOAT), {"x": x}, tuple(x.shape)).out


def sinusoidal_2d(of: Subject) -> Tensor:
    """Return a map of the grid for every feature."""
    size = {"height": 14, "width": 18}
    return of.ask(Sinusoidal2dConfig(32, dtype=FLOAT), size, (14, 18, 32)).out.permute(2, 0, 1)


def learned(of: Subject) -> Tensor:
    """Return the encoding: the output for embeddings of 0, with a table of random numbers."""
    x, offset = torch.zeros(1, 40, 64, dtype=FLOAT), int(of.choice("learned-offset"))
    table = torch.cat([torch.zeros(offset, 64, dtype=FLOAT), random(40, 64)])
    return of.ask(LearnedConfig(64, 40), {"x": x}, tuple(x.shape), {"table.weight": table}).out


def rotary(of: Subject) -> Tensor:
    """Return the vector of pairs (1, 0), turned to every position: cosines and sines of the angles."""
    vector = torch.tensor([1.0, 0.0], dtype=FLOAT).repeat(32)
    if of.choice("rope-pairing") == "half":
        vector = vector.sort(descending=True).values
    x = vector.expand(1, 1, 100, 64)
    return of.ask(RotaryConfig(64, 64, BASE, max_len=100, dtype=FLOAT), {"x": x}, tuple(x.shape)).out[0]


def alibi(of: Subject) -> Tensor:
    """Return the bias of keys up to the query's own, less the own key's bias, as a constant of a row has no effect."""
    later = torch.ones(32, 32, dtype=torch.bool).triu(1)
    lengths = {"query_length": 32, "key_length": 32}
    out = of.ask(AlibiConfig(8, dtype=FLOAT), lengths, (8, 32, 32)).out
    return (out - out.diagonal(dim1=-2, dim2=-1)[..., None]).masked_fill(later, math.nan)


def relative_bias(of: Subject) -> Tensor:
    """Return the bias; the table is of random numbers, so that every bucket has a colour."""
    lengths = {"query_length": 160, "key_length": 160}
    return of.ask(RelativeBiasConfig(4), lengths, (4, 160, 160), {"table.weight": random(32, 4)}).out


def fourier(of: Subject) -> Tensor:
    """Return the features of one coordinate, for five frequencies of the declared kind."""
    config = FourierConfig(1, frequencies(of, 5), dtype=FLOAT)
    width = 10 + (of.choice("fourier-input") != "dropped")
    return of.ask(config, {"x": COORDINATE}, (len(COORDINATE), width)).out.T[None]


def random_fourier(of: Subject) -> Tensor:
    """Return the features of one coordinate, for random frequencies, the lowest first."""
    drawn = 2 * random(16, 1).abs().sort(dim=0).values
    asked = {"x": COORDINATE}
    return of.ask(RandomFourierConfig(1, 16), asked, (len(COORDINATE), 32), {"projection": drawn}).out.T[None]


def random(*shape: int) -> Tensor:
    """Return normal numbers, always the same."""
    return torch.randn(*shape, dtype=FLOAT, generator=torch.Generator().manual_seed(0))


HEADS = tuple(f"head {h}" for h in range(8))
OF_HEADS = ("query (tokens)", "key (tokens)")
POSITIONS = ("position (tokens)", "feature")
COORDINATES = ("feature", "coordinate x")
ENCODINGS: Mapping[str, Shown] = {
    **dict.fromkeys(
        attention_maps.THROUGH,
        Shown(attention_maps.weights, "the weight of each key, for random queries and keys", *OF_HEADS, abreast=2),
    ),
    "sinusoidal": Shown(sinusoidal, "added to each position", *POSITIONS),
    "sinusoidal_2d": Shown(
        sinusoidal_2d, "a grid of 14 rows and 18 columns, feature by feature", "row of the grid", "column of the grid",
        tuple(map(str, range(32))), 8,
    ),
    "learned": Shown(learned, "a random table, added to each position", *POSITIONS),
    "rotary": Shown(rotary, "the unit vector of every pair, turned", *POSITIONS),
    "alibi": Shown(
        alibi, "added to the scores of keys that are not later (colours logarithmic)", *OF_HEADS, HEADS, 4, True
    ),
    "relative_bias": Shown(
        relative_bias, "a random number for every bucket, added to the scores", *OF_HEADS, HEADS[:4], 2
    ),
    "fourier": Shown(fourier, "one coordinate, five frequencies", *COORDINATES, span=(-1.0, 1.0)),
    "random_fourier": Shown(random_fourier, "one coordinate, random frequencies", *COORDINATES, span=(-1.0, 1.0)),
}  # fmt: skip


def compare(encoding: str, implementation: Implementation) -> Picture:
    """Return the maps of the implementation and of the reference. Raises Failure and Unsupported."""
    (reference,) = load("reference")
    assert isinstance(reference, Implementation)
    laid_out = in_conventions(reference, implementation.declared(encoding))
    shown = ENCODINGS[encoding]
    lens = attention_maps.lens(encoding, implementation)
    got, want = (shown.ask(Subject(of, encoding, lens)) for of in (implementation, laid_out))
    if isinstance(got, Tensor) or isinstance(want, Tensor):
        return Picture(shown, torch.as_tensor(got), torch.as_tensor(want), shown.names)
    return Picture(shown, torch.stack([*got.values()]), torch.stack([want[name] for name in got]), tuple(got))


# -- drawing


def tiled(maps: Tensor, abreast: int) -> Tensor:
    """Return the maps (N, rows, columns) as one, ``abreast`` of them side by side, with NaN between them."""
    gap = max(1, maps.shape[-1] // 24)
    framed = torch.nn.functional.pad(maps, (0, gap, 0, gap), value=math.nan)
    rows = [torch.cat(list(row), dim=-1) for row in framed.split(abreast)]
    return torch.cat(rows)[:-gap, :-gap]


def draw(picture: Picture, name: str, encoding: str) -> "Figure":
    """Return implementation, reference, difference side by side. Raises ImportError without matplotlib."""
    from matplotlib.colors import SymLogNorm
    from matplotlib.figure import Figure

    figure = Figure(figsize=(16, 4.6), layout="constrained")
    figure.suptitle(f"{encoding}: {picture.shown.title}")
    left, middle, right = figure.subplots(1, 3, sharex=True, sharey=True)
    both = torch.stack([picture.got, picture.want])
    colours = scale(both[both.isfinite()], signed=bool((picture.want < 0).any() and (picture.want > 0).any()))
    if picture.shown.logarithmic:
        low, high = colours.pop("vmin"), colours.pop("vmax")
        colours["norm"] = SymLogNorm(linthresh=(high - low) / 1000, vmin=low, vmax=high)
    for axes, maps, says in ((left, picture.got, name), (middle, picture.want, "reference")):
        image = paint(axes, picture, maps, says, colours)
    figure.colorbar(image, ax=[left, middle], pad=0.01)
    off = picture.difference
    floor = 1e-6 * float(picture.want.nan_to_num().abs().max())  # rounding is not to look like a mistake
    colours = scale(torch.cat([off[off.isfinite()], torch.tensor([floor])]), signed=True)
    image = paint(right, picture, off, f"max|difference| {picture.largest:.3g}", colours)
    figure.colorbar(image, ax=right, pad=0.01)
    return figure


def scale(numbers: Tensor, signed: bool) -> dict[str, Any]:
    """Return the colours for these numbers: white at 0 and two hues where they are signed, else one run of hues."""
    if signed:
        most = float(numbers.abs().max())
        return {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
    return {"cmap": "viridis", "vmin": float(numbers.min()), "vmax": float(numbers.max())}


def paint(axes: "Axes", picture: Picture, maps: Tensor, title: str, colours: dict[str, Any]) -> Any:
    """Return the image of the maps, drawn into the axes with labels."""
    rows, columns = maps.shape[1:]
    extent = None if picture.shown.span is None else (*picture.shown.span, rows - 0.5, -0.5)
    axes.set_facecolor("0.85")  # where there is no number
    image = axes.imshow(
        tiled(maps, picture.shown.abreast).numpy(), aspect="auto", interpolation="nearest", extent=extent, **colours
    )
    axes.set(title=title, xlabel=picture.shown.across)
    axes.locator_params(axis="x", nbins=6)
    if axes.get_subplotspec().is_first_col():  # type: ignore[union-attr] # axes of a grid have one
        axes.set_ylabel(picture.shown.down + (f", 0 … {rows - 1} in each map" if len(maps) > 1 else ""))
    if len(maps) > 1:
        axes.set(xticks=[], yticks=[], xlabel=f"{picture.shown.across}, 0 … {columns - 1} in each map")
        gap = max(1, columns // 24)
        for i, name in enumerate(picture.names):
            down, across = divmod(i, picture.shown.abreast)
            x, y = across * (columns + gap), down * (rows + gap)
            axes.text(x, y, name, va="top", fontsize=7, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    return image


def show(encoding: str, name: str, path: Path) -> str:
    """Draw the encoding into a file, PNG or SVG; return its distance from the reference, below the maps in shades.

    Raises ValueError, in words, if there is nothing to draw; OSError if the file cannot be written.
    """
    implementation = one(name, encoding)
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"-o {path}: a picture's name must end in {' or '.join(SUFFIXES)}")
    try:
        picture = compare(encoding, implementation)
    except Unsupported as words:
        raise ValueError(f"{implementation.name} does not support what is shown of {encoding}: {words}") from None
    except Failure as failure:
        raise ValueError(f"{implementation.name} {encoding}: {failure.message}") from None
    try:
        drawn = as_picture(draw(picture, implementation.name, encoding), path.suffix.lower())
    except ImportError:
        raise ValueError("pictures need matplotlib: pip install 'attention-conformance[plots]'") from None
    record.write_bytes(path, drawn)
    line = f"{path}: {implementation.name} {encoding}, max|difference| from the reference {picture.largest:.3g}"
    maps = [(implementation.name, picture.got), ("reference", picture.want), ("|difference|", picture.difference)]
    return "\n".join([*attention_maps.in_shades(picture.names, maps, picture.shown.down, picture.shown.across), line])


def one(name: str, encoding: str) -> Implementation:
    """Return the implementation of a name. Raises ValueError if there are several, or if it lacks the component."""
    try:
        loaded = load(name)
    except LoadError as error:
        raise ValueError(str(error)) from None
    if len(loaded) > 1:
        raise ValueError(f"{name} has variants, name one: {', '.join(x.name for x in loaded)}")
    (only,) = loaded
    if isinstance(only, Unjudgeable):
        raise ValueError(f"{name}: {only.reason}")
    if encoding not in only.components:
        raise ValueError(f"{name} has no {encoding}; it has {', '.join(only.components)}")
    return only
