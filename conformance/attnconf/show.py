"""``attnconf show``: what an encoding looks like, what the reference's looks like, and where they differ.

Both are asked the same through the door. What differs by convention only is taken out first: the reference is laid out
as the implementation declares.
"""

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

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
from attnconf.conformance.door import Implementation
from attnconf.conformance.evidence import Failure, Unsupported
from attnconf.conformance.loading import LoadError, Unjudgeable, load
from attnconf.conformance.subject import Subject

if TYPE_CHECKING:  # imported when something is drawn
    from matplotlib.axes import Axes

FLOAT = torch.float64
BASE = 10000.0
OF_HEADS = ("query (tokens)", "key (tokens)")


@dataclass(frozen=True)
class Picture:
    """Maps of numbers, all of the same size: the implementation's and the reference's. NaN where nothing is said."""

    title: str
    got: Tensor  # (N, rows, columns)
    want: Tensor
    down: str  # what the rows are
    across: str
    names: tuple[str, ...] = ("",)  # of the N maps
    abreast: int = 1  # so many maps stand side by side
    span: tuple[float, float] | None = None  # the first and the last column, where columns are not counted
    logarithmic: bool = False  # colours tell powers apart

    @property
    def difference(self) -> Tensor:
        return self.got - self.want

    @property
    def largest(self) -> float:
        """Return max|difference|; NaN where the implementation gives NaN and the reference does not."""
        off = self.difference[~self.want.isnan()].abs()
        return math.nan if off.isnan().any() else float(off.max())


# -- what is shown: a function of the implementation's and the reference's component for each encoding


def order(layout: str, width: int) -> Sequence[int]:
    """Return which feature of pairs side by side stands in each place of another layout."""
    first, second = range(0, width, 2), range(1, width, 2)
    return {
        "interleaved": range(width), "half": [*first, *second], "halves": [*first, *second],
        "halves-cos-first": [*second, *first],
    }[layout]  # fmt: skip


def sinusoidal(subject: Subject, reference: Subject, length: int = 100, width: int = 512) -> Picture:
    """Return what is added to embeddings of 0."""

    first = int(subject.choice("sinusoidal-offset"))

    def table(of: Subject, base: float, rows: int = length) -> Tensor:
        config = SinusoidalConfig(width, max_len=rows, base=base, dtype=FLOAT)
        return of.ask(config, {"x": torch.zeros(1, rows, width, dtype=FLOAT)}, (1, rows, width)).out

    half = width // 2  # base^(-i/(half - 1)) is the paper's frequency for another base
    base = BASE ** (half / (half - 1)) if subject.choice("sinusoidal-frequencies") == "endpoint" else BASE
    want = table(reference, base, first + length)[:, first:, order(subject.choice("sinusoidal-layout"), width)]
    return Picture("added to each position", table(subject, BASE), want, "position (tokens)", "feature")


def sinusoidal_2d(subject: Subject, reference: Subject, height: int = 14, width: int = 18, dim: int = 32) -> Picture:
    """Return a map of the grid for every feature."""

    first = int(subject.choice("sinusoidal-offset"))

    def maps(of: Subject, skipped: int = 0) -> Tensor:
        size = {"height": skipped + height, "width": skipped + width}
        out = of.ask(Sinusoidal2dConfig(dim, dtype=FLOAT), size, (*size.values(), dim)).out
        return out[skipped:, skipped:].permute(2, 0, 1)

    columns, rows = maps(reference, first).split(dim // 2)
    if subject.choice("grid-layout") == "interleaved":  # from all sines, then all cosines
        columns, rows = (x.unflatten(0, (2, -1)).transpose(0, 1).flatten(0, 1) for x in (columns, rows))
    halves = (columns, rows) if subject.choice("grid-axes") == "width-first" else (rows, columns)
    title, names = f"a grid of {height} rows and {width} columns, feature by feature", tuple(map(str, range(dim)))
    return Picture(title, maps(subject), torch.cat(halves), "row of the grid", "column of the grid", names, dim // 4)


def learned(subject: Subject, reference: Subject, length: int = 40, width: int = 64) -> Picture:
    """Return what is added to embeddings of 0; the table is of random numbers."""

    def table(of: Subject, weight: Tensor) -> Tensor:
        x = torch.zeros(1, length, width, dtype=FLOAT)
        return of.ask(LearnedConfig(width, length), {"x": x}, (1, length, width), {"table.weight": weight}).out

    offset = int(subject.choice("learned-offset"))
    weight = random(length + offset, width)
    got, want = table(subject, weight), table(reference, weight[offset:])
    return Picture("a random table, added to each position", got, want, "position (tokens)", "feature")


def rotary(subject: Subject, reference: Subject, length: int = 100, width: int = 64) -> Picture:
    """Return the vector whose pairs are all (1, 0) turned to every position: cosines and sines of the angles."""

    def turned(of: Subject, x: Tensor) -> Tensor:
        config = RotaryConfig(width, width, BASE, max_len=length, dtype=FLOAT)
        return of.ask(config, {"x": x.expand(1, 1, length, width)}, (1, 1, length, width)).out[0]

    pairs = torch.tensor([1.0, 0.0], dtype=FLOAT).repeat(width // 2)
    laid = order(subject.choice("rope-pairing"), width)
    got, want = turned(subject, pairs[laid]), turned(reference, pairs)[..., laid]
    return Picture("the unit vector of every pair, turned", got, want, "position (tokens)", "feature")


def alibi(subject: Subject, reference: Subject, length: int = 32, heads: int = 8) -> Picture:
    """Return the bias of keys that are not later, less that of the query's own key: a constant of a row cancels."""
    later = torch.ones(length, length, dtype=torch.bool).triu(1)

    def bias(of: Subject) -> Tensor:
        lengths = {"query_length": length, "key_length": length}
        out = of.ask(AlibiConfig(heads, dtype=FLOAT), lengths, (heads, length, length)).out
        return (out - out.diagonal(dim1=-2, dim2=-1)[..., None]).masked_fill(later, math.nan)

    title = "added to the scores of keys that are not later (colours logarithmic)"
    names = tuple(f"head {h}" for h in range(heads))
    got, want = bias(subject), bias(reference)
    return Picture(title, got, want, *OF_HEADS, names, heads // 2, logarithmic=True)


def relative_bias(subject: Subject, reference: Subject, length: int = 160, heads: int = 4) -> Picture:
    """Return the bias; the table is of random numbers, so that every bucket has a colour."""
    table = {"table.weight": random(32, heads)}

    def bias(of: Subject) -> Tensor:
        lengths = {"query_length": length, "key_length": length}
        return of.ask(RelativeBiasConfig(heads), lengths, (heads, length, length), table).out

    names = tuple(f"head {h}" for h in range(heads))
    title = "a random number for every bucket, added to the scores"
    return Picture(title, bias(subject), bias(reference), *OF_HEADS, names, heads // 2)


def fourier(subject: Subject, reference: Subject, points: int = 256) -> Picture:
    """Return the features of one coordinate, for five octaves of frequencies."""
    x, octaves = torch.linspace(-1, 1, points, dtype=FLOAT)[:, None], (1.0, 2.0, 4.0, 8.0, 16.0)
    kept = subject.choice("fourier-input") == "kept"

    def features(of: Subject, factor: float, width: int) -> Tensor:
        config = FourierConfig(1, tuple(factor * f for f in octaves), dtype=FLOAT)
        return of.ask(config, {"x": x}, (points, width)).out

    width = 2 * len(octaves)
    want = features(reference, {"1": 1.0, "pi": math.pi, "2pi": 2 * math.pi}[subject.choice("fourier-factor")], width)
    if subject.choice("fourier-order") == "frequency":  # from all sines, then all cosines
        want = want.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)
    want = torch.cat([x, want], dim=-1) if kept else want
    got = features(subject, 1.0, width + kept)
    title = "one coordinate, five octaves"
    return Picture(title, got.T[None], want.T[None], "feature", "coordinate x", span=(-1.0, 1.0))


def random_fourier(subject: Subject, reference: Subject, points: int = 256, directions: int = 16) -> Picture:
    """Return the features of one coordinate, for random frequencies, the lowest first."""
    x, drawn = torch.linspace(-1, 1, points, dtype=FLOAT)[:, None], 2 * random(directions, 1).abs().sort(dim=0).values

    def features(of: Subject) -> Tensor:
        config = RandomFourierConfig(1, directions)
        return of.ask(config, {"x": x}, (points, 2 * directions), {"projection": drawn}).out

    want = features(reference)
    want = want if subject.choice("random-fourier-order") == "cos-first" else want.roll(directions, dims=-1)
    title = "one coordinate, random frequencies"
    return Picture(title, features(subject).T[None], want.T[None], "feature", "coordinate x", span=(-1.0, 1.0))


def random(*shape: int) -> Tensor:
    """Return normal numbers, always the same."""
    return torch.randn(*shape, dtype=FLOAT, generator=torch.Generator().manual_seed(0))


ENCODINGS: Mapping[str, Callable[[Subject, Subject], Picture]] = {
    "sinusoidal": sinusoidal,
    "sinusoidal_2d": sinusoidal_2d,
    "learned": learned,
    "rotary": rotary,
    "alibi": alibi,
    "relative_bias": relative_bias,
    "fourier": fourier,
    "random_fourier": random_fourier,
}


def compare(encoding: str, implementation: Implementation) -> Picture:
    """Return what the implementation and the reference compute. Raises Failure and Unsupported."""
    (reference,) = load("reference")
    assert isinstance(reference, Implementation)
    return ENCODINGS[encoding](*(Subject(of, encoding, "direct") for of in (implementation, reference)))


# -- drawing


def tiled(maps: Tensor, abreast: int) -> Tensor:
    """Return the maps (N, rows, columns) as one, so many side by side, with NaN between them."""
    gap = max(1, maps.shape[-1] // 24)
    framed = torch.nn.functional.pad(maps, (0, gap, 0, gap), value=math.nan)
    rows = [torch.cat(list(row), dim=-1) for row in framed.split(abreast)]
    return torch.cat(rows)[:-gap, :-gap]


def draw(picture: Picture, name: str, encoding: str) -> bytes:
    """Return a PNG: implementation, reference, difference. Raises ImportError without matplotlib."""
    from matplotlib.colors import SymLogNorm
    from matplotlib.figure import Figure

    figure = Figure(figsize=(16, 4.6), layout="constrained")
    figure.suptitle(f"{encoding}: {picture.title}")
    left, middle, right = figure.subplots(1, 3, sharex=True, sharey=True)
    both = torch.stack([picture.got, picture.want])
    colours = scale(both[both.isfinite()], signed=bool((picture.want < 0).any() and (picture.want > 0).any()))
    if picture.logarithmic:
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
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=120)
    return png.getvalue()


def scale(numbers: Tensor, signed: bool) -> dict[str, Any]:
    """Return the colours for these numbers: white at 0 and two hues where they are signed, else one run of hues."""
    if signed:
        most = float(numbers.abs().max())
        return {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
    return {"cmap": "viridis", "vmin": float(numbers.min()), "vmax": float(numbers.max())}


def paint(axes: "Axes", picture: Picture, maps: Tensor, title: str, colours: dict[str, Any]) -> Any:
    """Return the image of the maps, drawn into the axes with labels."""
    rows, columns = maps.shape[1:]
    extent = None if picture.span is None else (*picture.span, rows - 0.5, -0.5)
    axes.set_facecolor("0.85")  # where there is no number
    image = axes.imshow(
        tiled(maps, picture.abreast).numpy(), aspect="auto", interpolation="nearest", extent=extent, **colours
    )
    axes.set(title=title, xlabel=picture.across)
    axes.locator_params(axis="x", nbins=6)
    if axes.get_subplotspec().is_first_col():  # type: ignore[union-attr] # axes of a grid have one
        axes.set_ylabel(picture.down + (f", 0 … {rows - 1} in each map" if len(maps) > 1 else ""))
    if len(maps) > 1:
        axes.set(xticks=[], yticks=[], xlabel=f"{picture.across}, 0 … {columns - 1} in each map")
        gap = max(1, columns // 24)
        for i, name in enumerate(picture.names):
            down, across = divmod(i, picture.abreast)
            x, y = across * (columns + gap), down * (rows + gap)
            axes.text(x, y, name, va="top", fontsize=7, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    return image


def show(encoding: str, name: str, path: Path) -> str:
    """Draw the encoding into a PNG file and return a line that says how far it is from the reference.

    Raises ValueError where there is nothing to draw, in words; OSError where the file cannot be written.
    """
    implementation = one(name, encoding)
    if path.suffix != ".png":
        raise ValueError(f"-o {path}: a picture is a PNG file, its name must end in .png")
    try:
        picture = compare(encoding, implementation)
    except Unsupported as words:
        raise ValueError(f"{implementation.name} does not support what is shown of {encoding}: {words}") from None
    except Failure as failure:
        raise ValueError(f"{implementation.name} {encoding}: {failure.message}") from None
    try:
        png = draw(picture, implementation.name, encoding)
    except ImportError:
        raise ValueError("pictures need matplotlib: pip install 'attention-conformance[plots]'") from None
    path.write_bytes(png)
    return f"{path}: {implementation.name} {encoding}, max|difference| from the reference {picture.largest:.3g}"


def one(name: str, encoding: str) -> Implementation:
    """Return the one implementation of that name. Raises ValueError if it is not one, or has no such component."""
    try:
        found = load(name)
    except LoadError as error:
        raise ValueError(str(error)) from None
    if len(found) > 1:
        raise ValueError(f"{name} has variants, name one: {', '.join(x.name for x in found)}")
    (only,) = found
    if isinstance(only, Unjudgeable):
        raise ValueError(f"{name}: {only.reason}")
    if encoding not in only.components:
        raise ValueError(f"{name} has no {encoding}; it has {', '.join(only.components)}")
    return only
