"""Bind what encodes coordinates: Fourier features, random ones, and the network behind them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from attnconf.adapters.contract import CoordinateMlpConfig, FourierConfig, RandomFourierConfig
from attnconf.conformance.chapters.contents import appearances
from attnconf.conformance.chapters.fourier.binding import BANKS, OF_EVEN
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.drafts.drafts import Choice, Family, tensors_in
from attnconf.conformance.inference.drafts.seeking import seek
from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal
from attnconf.conformance.inference.trials.filling import Input
from attnconf.conformance.inference.trials.slots import refuse
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.inference.words.vocabulary import SIZES, meanings
from attnconf.conformance.source.signatures import parameters_of

FREQUENCIES = SIZES["frequencies"] + r"|(?!max|top|nyquist).*freq.*|.*band.*|.*octave.*|.*level.*"
POINTS = r"x|xy|p|v|pts?|points?|coords?|coordinates?|inputs?|pos(itions?)?|xyz|uv|pixels?|tensor|inp|z"
X: Mapping[str, Input] = {"x": Input(POINTS, ("{x}",))}
KEPT: tuple[Choice, ...] = ({"fourier-input": "dropped"}, {"fourier-input": "kept"}, {"fourier-input": "kept-last"})


def kept(fixed: Choice, d: int) -> int:
    return 0 if fixed["fourier-input"] == "dropped" else d


def readers(raw: Any, request: Request) -> list[str]:
    """Return what has the width of the features."""
    found = []
    for text, array in tensors_in(raw):
        if tuple(array.shape) == tuple(request.out_shape):
            found.append(text if isinstance(raw, torch.Tensor) else f"{text}.to(x.device, x.dtype)")
        elif tuple(array.shape) == (1, request.out_shape[-1], len(request.inputs["x"]), 1):  # an image of the points
            found.append(text)
        elif array.ndim > len(request.out_shape) and array.numel() == torch.Size(request.out_shape).numel():
            listed = tuple(array.shape[:2]) == (1, len(request.inputs["x"]))  # as one list of the points
            found.append(text if listed else f"{text}.flatten({len(request.out_shape) - 1})")
    return found


# What takes no list of points: an image, channels first or last, or a batch of lists.
IMAGES = (
    ("image(x)", "pixels({r}, x)"),
    ("x.reshape(1, -1, x.shape[-1])", "{r}.reshape(*x.shape[:-1], -1)"),
    ("x.reshape(1, -1, 1, x.shape[-1])", "{r}[:, :, 0].reshape(*x.shape[:-1], -1)"),
)


def also_of_images(family: Family) -> tuple[Family, Family]:
    """Return a family, and it again for what does not run on a list of points."""
    return family, replace(family, layouts=IMAGES, unless=frozenset(("",)))


# -- Fourier features

FOURIER_TABLE = appearances()["fourier"].sizes
FOURIER_INPUTS: Mapping[str, Input] = {
    **X,
    "frequencies": Input(FREQUENCIES, BANKS, optional=True, whole=BANKS[0]),
    "in_dim": Input(SIZES["in_dim"], ("config.in_dim",), free=False, optional=True),
}


def fourier_requests(fixed: Choice, way: str) -> list[Request]:
    found = []
    for points, d, K in ((7, 2, 3), (5, 3, 4)):
        bank = tuple(1.0 + 2.5 * k if "fourier-bank" in fixed else 2.0**k for k in range(K))
        config = FourierConfig(d, bank, torch.float64)
        x = {"x": drawn(f"points {points}", points, d) / 2}
        found.append(Request("fourier", config, {}, x, (points, 2 * d * K + kept(fixed, d))))
    return found


def one_bank(given: frozenset[str]) -> list[str]:
    """Return the refusal of other frequencies than powers of two, where these are no argument."""
    return [] if "frequencies" in given else refuse("len(config.frequencies) >= 0", "an argument for the frequencies")


FOURIER = Family(
    "fourier", FOURIER_TABLE, FOURIER_INPUTS, readers, fourier_requests, one_bank, fixed=KEPT
)  # fmt: skip
EVEN = replace(
    FOURIER,
    sizes={**FOURIER_TABLE, **OF_EVEN},
    inputs={
        **FOURIER_INPUTS,
        "frequencies": Input(FREQUENCIES, OF_EVEN["frequencies"]),
        "max_frequency": Input(SIZES["max_frequency"], OF_EVEN["max_frequency"]),
    },
    fixed=tuple({**one, "fourier-bank": "even"} for one in KEPT),
)


def families_of(thing: Any) -> tuple[Family, ...]:
    """Return what Fourier features may be: with evenly spaced frequencies where they are told the highest."""
    told = any("max_frequency" in meanings(p.name) for p in parameters_of(thing))
    return (*also_of_images(FOURIER), *(also_of_images(EVEN) if told else ()))


# -- random ones

RANDOM_TABLE = appearances()["random_fourier"].sizes
PROJECTION = ('weights["projection"]', 'weights["projection"].T')
RANDOM_INPUTS: Mapping[str, Input] = {
    **X,
    "projection": Input(r"b|.*proj.*|w|.*weights?|.*matrix|basis|omegas?|freq.*|gaussian.*|directions?", PROJECTION),
    "deviation": Input(SIZES["deviation"], ("1.0",), free=False, optional=True),
}


def random_requests(fixed: Choice, way: str) -> list[Request]:
    found = []
    for points, d, M in ((7, 2, 5), (6, 3, 4)):
        weights = {"projection": drawn(f"projection {M}", M, d)}
        x = {"x": drawn(f"points {points}", points, d) / 2}
        found.append(Request("random_fourier", RandomFourierConfig(d, M), weights, x, (points, 2 * M)))
    return found


FOLDED = (2.5, 16.0)  # the spread of a projection of spread 1 that is kept times 2π, as its few numbers show it


def projection_states(thing: Any, request: Request) -> list[tuple[str, ...]]:
    """Return where the projection stands: in a parameter, a buffer or another tensor; nowhere, if it is not kept."""
    M, d = request.weights["projection"].shape
    turned: dict[tuple[int, ...], str] = {(M, d): "", (d, M): ".T"}
    found: list[tuple[str, ...]] = []
    if isinstance(thing, nn.Module):
        for name, p in thing.named_parameters():
            if tuple(p.shape) in turned:
                found.append((f'"{name}": weights["projection"]{turned[tuple(p.shape)]}',))
        named = list(thing.named_buffers())
    else:
        named = []
    named += [(name, x) for name, x in vars(thing).items() if isinstance(x, torch.Tensor)]
    for name, x in named:
        if tuple(x.shape) in turned:
            text = f'weights["projection"]{turned[tuple(x.shape)]}'
            folded = [f"2 * math.pi * {text}"] if FOLDED[0] < float(x.double().std()) < FOLDED[1] else []
            found += [(f"call = written(module, {name!r}, {words})",) for words in (text, *folded)]
    return found or [()]


RANDOM = Family(
    "random_fourier", RANDOM_TABLE, RANDOM_INPUTS, readers, random_requests, states=projection_states
)  # fmt: skip


# -- the network

MLP_TABLE = appearances()["coordinate_mlp"].sizes
# The widths of the hidden layers in two trials: whatever they are, all alike, and alike and so many; never as many
# as coordinates, which one number would say then.
HIDDEN = {
    "any widths": ((9, 7, 8), (5, 6)),
    "one width": ((9, 9, 9), (5, 5)),
    **{f"{n} of one width": ((9,) * n, (5,) * n) for n in (1, 2, 3, 4)},
}


def mlp_requests(fixed: Choice, way: str) -> list[Request]:
    found = []
    for (points, d, K, out), hidden in zip(((6, 2, 3, 4), (5, 3, 2, 1)), HIDDEN[way], strict=True):
        widths = [2 * d * K + kept(fixed, d), *hidden, out]
        weights = {}
        for i, (wide, narrow) in enumerate(pairwise(widths)):
            weights[f"{i}.weight"] = drawn(f"{i} {widths}", narrow, wide) * (2 / wide) ** 0.5
            weights[f"{i}.bias"] = drawn(f"{i} bias {widths}", narrow) / 2
        config = CoordinateMlpConfig(d, tuple(2.0**k for k in range(K)), tuple(hidden), out)
        x = {"x": drawn(f"points {points} {d}", points, d) / 2}
        found.append(Request("coordinate_mlp", config, weights, x, (points, out)))
    return found


def layers_in_order(thing: Any, request: Request) -> list[tuple[str, ...]]:
    """Return that the parameters are the layers', in order, if they are as many."""
    known = isinstance(thing, nn.Module) and len(list(thing.named_parameters())) == len(request.weights)
    return [("call = bind(module, in_order(module, weights))",)] if known else []


def mlp_refusals(given: frozenset[str], way: str) -> list[str]:
    lines = one_bank(given)
    if way != "any widths":
        lines += refuse("len(set(config.hidden)) > 1", "hidden layers of different widths")
    if "of one width" in way:
        lines += refuse(f"len(config.hidden) != {way[0]}", f"another number of hidden layers than {way[0]}")
    return lines


def coordinate_mlp(place: Place) -> Bound | Refusal:
    """Return the binding of a network with layers of any widths, else of one width, else of a fixed number of them."""
    found = seek(
        place,
        *(
            Family(
                "coordinate_mlp", MLP_TABLE, X, readers, mlp_requests, partial(mlp_refusals, way=way),
                states=layers_in_order, fixed=KEPT, ways=(way,), unless=frozenset(() if way == "any widths" else ("",)),
            )
            for way in HIDDEN
        ),
    )  # fmt: skip
    skips = re.search(r"(\w+)=\(\)", found.draft.body) if isinstance(found, Bound) else None
    return replace(found, untried=(*found.untried, skips[1])) if isinstance(found, Bound) and skips else found


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function of coordinates."""
    if place.component == "coordinate_mlp":
        return coordinate_mlp(place)
    families = families_of(place.thing) if place.component == "fourier" else also_of_images(RANDOM)
    return seek(place, *families)
