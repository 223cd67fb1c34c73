"""``attnconf demo rose``: a picture learned with an implementation's Fourier features, and without them."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from tqdm import tqdm

from attnconf.conformance.chapters.fourier.checks import encode, factor
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.loading.find import LoadError
from attnconf.conformance.run import implementations
from attnconf.reference.coordinate_mlp import draw_weights, grid, layers, learn, psnr, rose
from attnconf.reports import record
from attnconf.reports.plots import SUFFIXES, as_picture

if TYPE_CHECKING:  # imported when something is drawn
    from matplotlib.figure import Figure

SIDE, EVERY = 144, 3  # pixels along an edge; every third in each direction is learned, the rest is held out
BANK = tuple(2.0**k for k in range(5))  # times π, of coordinates within 0 … 1
HIDDEN, RATE = (256, 128, 64), 5e-3

Learned = tuple[Tensor, float]  # colours (SIDE·SIDE, 3), and the PSNR in dB on the held-out pixels


class DemoError(Exception):
    """The caller's mistake, in one line."""


def demonstrate(name: str, output: Path, steps: int) -> str:
    """Learn the rose twice, write the picture, and return the result in words. Raises DemoError."""
    _can_draw()
    _can_write(output)
    subject = Subject(_find(name), "fourier", "direct")
    torch.set_num_threads(1)  # layers this small are slower on two: the threads wait for each other
    pixels = grid(SIDE, SIDE)
    with_features = _learn(_features(subject, pixels), f"with the features of {name}", steps)
    without = _learn(2 * pixels - 1, "with bare coordinates", steps)
    try:
        figure = draw(rose(pixels), name, with_features, without)
        record.write_bytes(output, as_picture(figure, output.suffix.lower(), dpi=80))
    except OSError as error:
        raise DemoError(f"cannot write {str(output)!r}: {error.strerror or error}") from None
    gain = with_features[1] - without[1]
    return (
        f"{output}: {with_features[1]:.1f} dB with the features of {name}, {without[1]:.1f} dB with bare coordinates, "
        f"{gain:+.1f} dB, on pixels that were not learned"
    )


def _can_draw() -> None:
    try:
        import matplotlib.figure  # noqa: F401  fail before the learning, not after
    except ImportError:
        raise DemoError("the picture needs matplotlib: pip install 'attention-conformance[plots]'") from None


def _can_write(output: Path) -> None:
    folder = output.absolute().parent
    if output.is_dir():
        raise DemoError(f"cannot write {str(output)!r}: it is a folder, want a file")
    if output.suffix.lower() not in SUFFIXES:
        raise DemoError(f"-o {output}: a picture's name must end in {' or '.join(SUFFIXES)}")
    if not folder.is_dir():
        raise DemoError(f"cannot write {str(output)!r}: there is no folder {str(folder)!r}")
    if not os.access(folder, os.W_OK):
        raise DemoError(f"cannot write {str(output)!r}: nothing may be written to {str(folder)!r}")


def _find(name: str) -> Implementation:
    try:
        loaded = implementations.load(name)
    except LoadError as error:
        raise DemoError(str(error)) from None
    if len(loaded) > 1:
        raise DemoError(f"{name} has variants, name one: {', '.join(one.name for one in loaded)}")
    (one,) = loaded
    if not isinstance(one, Implementation):
        raise DemoError(f"{one.name} cannot be used: {one.reason}")
    if "fourier" not in one.components:
        raise DemoError(f"{name} has no component fourier (it has {', '.join(one.components)})")
    return one


def _features(subject: Subject, pixels: Tensor) -> Tensor:
    """Return the implementation's features of all pixels, at the angles π·2^k·coordinate."""
    try:
        return encode(subject, pixels * torch.pi / factor(subject), BANK).flatten(-3).float()
    except (Failure, Unsupported) as words:
        raise DemoError(f"{subject.implementation.name} gives no features: {words}") from None


def _learn(features: Tensor, title: str, steps: int) -> Learned:
    """Return the colours of all pixels after learning every third one from its features."""
    line = torch.arange(SIDE) % EVERY == EVERY // 2
    known = (line[:, None] & line).flatten()
    colours = rose(grid(SIDE, SIDE))
    weights = draw_weights((features.shape[1], *HIDDEN, 3), torch.Generator().manual_seed(0))
    bar: Iterable[int] = tqdm(range(steps), desc=title, unit="step")
    weights = learn(features[known], colours[known], weights, bar, RATE)
    got = layers(features, weights).clamp(0, 1)
    return got, psnr(got[~known], colours[~known])


def draw(target: Tensor, name: str, with_features: Learned, without: Learned) -> "Figure":
    """Return the three pictures side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.7), layout="constrained")
    panels = (
        (target, "the rose"),
        (with_features[0], f"learned with the features\nof {name}: {with_features[1]:.1f} dB"),
        (without[0], f"learned with bare coordinates:\n{without[1]:.1f} dB"),
    )
    for axes, (colours, title) in zip(figure.subplots(1, 3), panels, strict=True):
        axes.imshow(colours.view(SIDE, SIDE, 3).nan_to_num().numpy())
        axes.set_title(title, fontsize=10, parse_math=False)
        axes.set_axis_off()
    return figure
