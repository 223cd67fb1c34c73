"""Bind what encodes the positions of tokens: sinusoidal ones, on a line and on a grid, and learned ones."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from attnconf.adapters.contract import LearnedConfig, Sinusoidal2dConfig, SinusoidalConfig
from attnconf.conformance.chapters.contents import appearances
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.drafts.drafts import Choice, Family, tensors_in
from attnconf.conformance.inference.drafts.seeking import seek
from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.positions.positions_options import GIVEN, with_options
from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal
from attnconf.conformance.inference.trials.claims import claims_batch_first, claims_sequence_first
from attnconf.conformance.inference.trials.filling import Input
from attnconf.conformance.inference.trials.proving import Trial
from attnconf.conformance.inference.trials.slots import refuse
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.inference.words.vocabulary import SIZES
from attnconf.conformance.source.source_text import code_reached

POSITIONS = GIVEN + r"|idx|time_?steps?|times?|t|steps"
AT = "counted(x.shape[1], positions, x)"
IDS = "torch.full(x.shape[:2], 3, device=x.device)"
LENGTH = SIZES["max_len"] + r"|n|laenge|count|num|seq|slen|size|rows"
WAYS = ("distinct", "one sample", "square")
SHAPES = {"distinct": ((2, 7, 6), (3, 5, 8)), "one sample": ((1, 7, 6), (1, 5, 8)), "square": ((6, 6, 8), (5, 5, 6))}
INPUTS: Mapping[str, Input] = {
    "x": Input(
        r"x|inputs?|src|tgt|h|emb.*|tokens?|seq.*|hidden.*|vectors?|words?|features?|z|stream|data|batch|tensor|y|.*embed.*",
        ("x", "x.transpose(0, 1)"),
    ),
    "length": Input(LENGTH, ("x.shape[1]",), optional=True),
    "embed": Input(SIZES["embed"] + r"|n_?feats?|breite", ("config.dim",), optional=True),
    "base": Input(SIZES["base"], ("config.base",), free=False),
    "positions": Input(POSITIONS, (AT, f"{AT}.expand(x.shape[:2])", f"{AT}[:, None]")),
    "ids": Input(r"(input_)?ids?|tokens?|x|src|words?|inputs?|token_ids", (IDS, IDS.replace("[:2]", "[1::-1]"))),
    "device": Input("device", ("x.device",), free=False, optional=True),
    "dtype": Input("dtype", ("x.dtype",), free=False, optional=True),
}
# What runs along the batch, which a file of one row for all samples is where x is turned and there is one sample.
ONE_ROW = frozenset({"SIN-same-everywhere", "SIN-cut-by-the-batch", "SIN-along-the-batch"} |
                    {"LRN-same-everywhere", "LRN-along-the-batch"})  # fmt: skip
TABLE = appearances()["sinusoidal"].sizes


def readers(raw: Any, request: Request) -> list[str]:
    """Return expressions of ``result`` that are an encoding for x (B, L, D), by the shapes of what came back."""
    B, L, D = request.out_shape
    found, x = [], request.inputs["x"]
    if _cosines_and_sines(raw):
        return []
    for text, array in tensors_in(raw):
        shape = tuple(array.shape)
        if len(shape) == 3 and shape[1] > L and shape == (len(x), shape[1], D) and torch.equal(array[:, :L], x):
            continue  # the tokens, and more behind them: no table of rows
        if shape == (B, L, D):
            found.append(text if isinstance(raw, torch.Tensor) else f"rows({text}, x)")
        if shape == (L, B, D):
            found.append(f"{text}.transpose(0, 1)")
        if shape in ((L, D), (1, L, D)):
            found.append(f"rows({text}, x)")
        elif shape == (L, 1, D):
            found.append(f"rows({text}[:, 0], x)")
        elif shape == (D, L):
            found.append(f"rows({text}.T, x)")
        elif len(shape) == 2 and shape[1] == D and shape[0] > L:
            found.append(f"rows({text}[: x.shape[1]], x)")
        elif len(shape) == 3 and shape[0] == 1 and shape[2] == D and shape[1] > L:
            found.append(f"rows({text}[:, : x.shape[1]], x)")
        elif len(shape) == 3 and shape[1] == 1 and shape[2] == D and shape[0] > L:
            found.append(f"rows({text}[: x.shape[1], 0], x)")
    return list(dict.fromkeys(found))


def _cosines_and_sines(raw: Any) -> bool:
    """Return whether two tables came back that are cosines and sines of the same angles: those of a rotation."""
    arrays = [array for _, array in tensors_in(raw)]
    if len(arrays) != 2 or arrays[0].shape != arrays[1].shape or not all(x.is_floating_point() for x in arrays):
        return False
    squares = arrays[0].square() + arrays[1].square()
    return torch.allclose(squares, torch.ones_like(squares), atol=1e-3)


def without(given: frozenset[str]) -> list[str]:
    """Return the refusals of what neither the constructor nor the call has an argument for."""
    lines = [] if "base" in given else refuse("config.base != 10000.0", "an argument for the base")
    return [*lines, *undropped(given)]


def undropped(given: frozenset[str]) -> list[str]:
    return [] if "dropout" in given else refuse("config.dropout and config.training", "dropout")


def unplaced(given: frozenset[str]) -> list[str]:
    return [] if "positions" in given else refuse("positions is not None", "an argument for positions")


# -- sinusoidal


def sinusoidal_requests(fixed: Choice, way: str) -> list[Request]:
    requests = []
    for size in SHAPES[way]:
        config = SinusoidalConfig(size[2], max_len=11, dtype=torch.float64)
        requests.append(Request("sinusoidal", config, {}, {"x": drawn(f"x {size}", *size)}, size))
    last = requests[-1]
    return [*requests, replace(last, inputs={"x": torch.zeros_like(last.inputs["x"])})]


def as_it_is_added(readings: Sequence[Trial[Text]]) -> Sequence[Trial[Text]]:
    """Return the readings, those first under which x is added as it seems to be: the last two calls differ in x."""
    x = sinusoidal_requests({}, "distinct")[-2].inputs["x"]
    last, silent = readings[0].replies[-2:]
    if isinstance(last, Failure) or isinstance(silent, Failure) or silent.out.shape != x.shape:
        return readings
    factor = float(((last.out - silent.out) * x).sum() / x.square().sum())
    sizes = {"add": 1.0, "table": 0.0, "scaled-add": x.shape[-1] ** 0.5}
    fits = [name for name, size in sizes.items() if abs(factor - size) < 0.01]
    likely = [r for r in readings if r.hypothesis.declares.get("sinusoidal-output", "add") in fits]
    return [*likely, *(r for r in readings if r not in likely and (len(r.hypothesis.declares) < 2 or not likely))]


SINUSOIDAL = Family(
    "sinusoidal", TABLE, INPUTS, readers, sinusoidal_requests, without, unplaced, ways=WAYS,
    plausible=as_it_is_added, turned=ONE_ROW,
    after=partial(with_options, request=sinusoidal_requests({}, "distinct")[0]),
)  # fmt: skip


# -- sinusoidal on a grid


def grid_readers(raw: Any, request: Request) -> list[str]:
    H, W, D = request.out_shape
    n, cut = max(H, W), "[:height, :width]"  # what knows squares only: the grid is cut out of one
    square = "max(height, width)"
    shapes = {
        (n, n, D): f"{{r}}{cut}", (1, n, n, D): f"{{r}}[0]{cut}", (1, D, n, n): f"{{r}}[0].permute(1, 2, 0){cut}",
        (D, n, n): f"{{r}}.permute(1, 2, 0){cut}", (n * n, D): f"{{r}}.unflatten(0, ({square}, {square})){cut}",
        (1, n * n, D): f"{{r}}[0].unflatten(0, ({square}, {square})){cut}",
        (H, W, D): "{r}", (W, H, D): "{r}.transpose(0, 1)", (1, H, W, D): "{r}[0]",
        (1, D, H, W): "{r}[0].permute(1, 2, 0)",
        (D, H, W): "{r}.permute(1, 2, 0)", (H * W, D): "{r}.unflatten(0, (height, width))",
        (1, H * W, D): "{r}[0].unflatten(0, (height, width))",
    }  # fmt: skip
    return [
        f"{shapes[tuple(array.shape)].format(r=text)}.to(config.device, config.dtype)"
        for text, array in tensors_in(raw)
        if tuple(array.shape) in shapes
    ]


def grid_requests(fixed: Choice, way: str) -> list[Request]:
    requests = []
    for h, w, d in ((3, 5, 8), (4, 2, 12)):
        config = Sinusoidal2dConfig(d, dtype=torch.float64)
        requests.append(Request("sinusoidal_2d", config, {}, {"height": h, "width": w}, (h, w, d)))
    return requests


GRID_INPUTS = {
    "height": Input(r"h|height|rows|n_?rows|grid_?h(eight)?|ny|y", ("height",), optional=True),
    "width": Input(r"w|columns|cols|n_?cols|grid_?w(idth)?|nx|x|width", ("width",), optional=True),
    "embed": Input(SIZES["embed"] + "|width", ("config.dim",), optional=True),
    "size": Input(
        r"grid|grid_?size|shape|size|hw|side|n", ("(height, width)", "max(height, width)"), optional=True
    ),
    "cells": Input(r"n(um)?_?(patches|cells|tokens)", ("max(height, width) ** 2",), free=False, optional=True),
    "x": Input("x|img|image|tensor|features|mask", (
        "torch.zeros(1, config.dim, height, width, dtype=config.dtype, device=config.device)",
        "torch.zeros(1, height, width, config.dim, dtype=config.dtype, device=config.device)",
    )),
    "base": Input(SIZES["base"], ("config.base",), free=False),
    "device": Input("device", ("config.device",), free=False, optional=True),
    "dtype": Input("dtype", ("config.dtype",), free=False, optional=True),
}  # fmt: skip
GRID = Family(
    "sinusoidal_2d", TABLE, GRID_INPUTS, grid_readers, grid_requests,
    lambda given: [] if "base" in given else refuse("config.base != 10000.0", "an argument for the base"),
)  # fmt: skip


# -- learned


def learned_requests(fixed: Choice, way: str) -> list[Request]:
    requests, first = [], int(fixed["learned-offset"])
    for i, size in enumerate(SHAPES[way]):
        D, N = size[2], (11, 13)[i]
        weights = {"table.weight": drawn(f"table {size} {first}", N + first, D)}
        x = {"x": drawn(f"x {size}", *size)}
        requests.append(Request("learned", LearnedConfig(D, N), weights, x, size))
    return requests


def table_states(thing: Any, request: Request) -> list[tuple[str, ...]]:
    """Return which parameter is the table, by its size: the only one, or the one that has as many numbers."""
    table = request.weights["table.weight"]
    found: list[tuple[str, ...]] = []
    for name, p in thing.named_parameters() if isinstance(thing, nn.Module) else ():
        if p.numel() == table.numel():
            turned = ".T" if [n for n in p.shape if n > 1] == list(table.T.shape) else ""
            found.append((f'"{name}": weights["table.weight"]{turned}',))
    return found


def larger_states(thing: Any, request: Request) -> list[tuple[str, ...]]:
    """Return which parameter is the table where its rows are divided by √dim before they come out."""
    return [(f"{entry} * config.dim ** 0.5",) for (entry,) in table_states(thing, request)]


def learned_families(scale: str = "one") -> Iterator[Family]:
    """Yield the families of tables with no row, one or two before that of the first position."""
    states = table_states if scale == "one" else larger_states
    scaled = {} if scale == "one" else {"learned-scale": scale}
    inputs = {name: i for name, i in INPUTS.items() if name not in ("base", "embed")}
    sizes = appearances()["learned"].sizes
    for offset in ("0", "1", "2"):
        fixed = {"learned-offset": offset, **scaled}
        for most in dict.fromkeys(("config.max_len", f"config.max_len + {offset}".removesuffix(" + 0"))):
            yield Family(
                "learned", {**sizes, "max_len": (most,)}, inputs, readers, learned_requests, undropped, unplaced,
                states, (fixed,), ways=WAYS if offset == "0" else WAYS[:1],
                turned=ONE_ROW, after=partial(with_options, request=learned_requests(fixed, "distinct")[0]),
            )  # fmt: skip


NOTHING_ADDED = "SIN-never-assigned"  # which numbers of positions are, too, that come back for vectors
SINES = r"sin|cos|polar|exp|pow|\*\*"


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function as an encoding of positions."""
    if place.component == "sinusoidal_2d":
        return seek(place, GRID)
    if place.component == "sinusoidal":
        found = seek(place, *_in_order(place, [SINUSOIDAL]))
        empty = isinstance(found, Bound) and found.certified == NOTHING_ADDED
        return Refusal("it computes no sines") if empty and not re.search(SINES, code_reached(place.thing)) else found
    if _is_computed(place):
        return Refusal("its table is computed of sines and cosines, and nothing says that it is learned")
    found = seek(place, *_in_order(place, learned_families()))
    if isinstance(found, Bound) and found.certified is None:
        other = seek(place, *_in_order(place, learned_families("inverse-root")))
        found = other if isinstance(other, Bound) and other.certified == "reference" else found
    return found


def _is_computed(place: Place) -> bool:
    """Return whether a table of arrays, where nothing tells parameters from others, is one of sines and cosines."""
    code = code_reached(place.thing)
    waves = re.search(r"\bsin\b", code) and re.search(r"\bcos\b", code)
    return place.lent_by.endswith("in_arrays") and bool(waves) and not re.search(r"(?i)learn|train", code)


def _in_order(place: Place, families: Iterable[Family]) -> list[Family]:
    """Return families in the order of axes that something says of itself, if it says one."""
    if claims_batch_first(place.thing):
        return [told_order(family, "x") for family in families]
    if claims_sequence_first(place.thing):
        return [told_order(family, "x.transpose(0, 1)") for family in families]
    return list(families)


def told_order(family: Family, x: str) -> Family:
    """Return the family for what says which axis of its input comes first: no other order is tried."""
    ids = [text for text in family.inputs["ids"].texts if ("[1::-1]" in text) == ("transpose" in x)]
    inputs = {"x": replace(family.inputs["x"], texts=(x,)), "ids": replace(family.inputs["ids"], texts=tuple(ids))}
    return replace(family, inputs={**family.inputs, **inputs}, turned=frozenset())
