"""Weights as several arguments, some nested, that no function of a file makes: which shapes run."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.inference.building.building import Construction, Meanings
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.weights.naming import role_of
from attnconf.conformance.inference.weights.nested_arguments import OF_WEIGHTS, Nested, nested_arguments
from attnconf.conformance.inference.weights.watched_keys import (
    Asked,
    input_of,
    shapes_that_run,
    sizes_in,
    text_of_zeros,
    told_of,
)

Shapes = Mapping[str, tuple[str, ...]]
FEW, LONG = 7, 9  # ids, and tokens of a text: a table for ids is too short for its positions


@dataclass(eq=False)
class Held(Mapping[str, Any]):
    """Stands in for a dict inside of the weights: what it is asked for has the shape that its path has."""

    asked: Asked
    path: str
    entries: dict[str, Nested]
    arrays: bool

    def __getitem__(self, name: str) -> Any:
        return stand_in(self.asked, f"{self.path}.{name}", self.entries[name], self.arrays)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def stand_in(asked: Asked, path: str, held: Nested, arrays: bool) -> Any:
    """Return what stands in for weights: a tensor or an array of the shape that is tried now, a dict, or a list."""
    if isinstance(held, dict):
        return Held(asked, path, held, arrays)
    if isinstance(held, list):
        return [stand_in(asked, f"{path}.{{n}}", held[0], arrays) for _ in range(asked.sizes.get("layers", 1))]
    return _as(asked.tried(path), arrays)


def _as(x: Tensor, arrays: bool) -> Any:
    return x.numpy() if arrays else x


def watched_arguments(place: Place, table: Meanings, words: str) -> Iterator[Construction]:
    """Yield dicts of the arguments of a function that are weights; ``words``: what else it is told."""
    held = nested_arguments(place.thing)
    sizes = sizes_in(table) | ({"vocab": FEW} if table.get("vocab") else {})
    told = told_of(place, table, words, sizes)
    if not held or told is None:
        return
    function, arrays = inspect.unwrap(place.thing), hasattr(place.module, "__lent_by__")
    given = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    tables = [n for n, one in held.items() if one is None and not re.fullmatch(OF_WEIGHTS, n) and not role_of(n)]
    x = torch.arange(2 * LONG).reshape(2, LONG) % FEW if "vocab" in sizes else input_of(sizes)

    def call(asked: Asked, batch: bool) -> Any:
        inputs = {n: _as(x if batch else x[0], arrays) for n in given if n not in {*held, *told}}
        return function(**{n: stand_in(asked, n, one, arrays) for n, one in held.items()}, **told, **inputs)

    for batch in (False, True):
        if found := shapes_that_run(Asked(sizes, (), tables), lambda asked, batch=batch: call(asked, batch)):
            meant = {m for shape in found.values() for m in shape if m in table}
            layers = {"layers"} if any("{n}" in path for path in found) and "layers" in table else set()
            yield Construction(_dict(held, "", found, table), (), frozenset(meant | layers))
            return


def _dict(held: Mapping[str, Nested], path: str, shapes: Shapes, table: Meanings) -> str:
    """Return the text of a dict, without what nothing asked for."""
    texts = {name: _text(one, f"{path}{name}", shapes, table) for name, one in held.items()}
    entries = ", ".join(f'"{name}": {text}' for name, text in texts.items() if text)
    return f"{{{entries}}}"


def _text(held: Nested, path: str, shapes: Shapes, table: Meanings) -> str:
    if isinstance(held, dict):
        return _dict(held, f"{path}.", shapes, table)
    if isinstance(held, list):
        layers = table["layers"][0] if "layers" in table else "1"
        return f"[{_text(held[0], f'{path}.{{n}}', shapes, table)} for _ in range({layers})]"
    return text_of_zeros(shapes[path], table) if path in shapes else ""
