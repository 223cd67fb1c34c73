"""Weights that no function of a file makes: which keys it asks a dict for, and which shapes run."""

import inspect
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.inference.building.building import Construction, Meanings, space_for
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.words.cut_dicts import CUTS, Counted, Cuts, Probe, learn
from attnconf.conformance.source.source_text import code_reached

NUMBERS = {"embed": 24, "heads": 4, "head_dim": 6, "hidden": 40, "layers": 2, "vocab": 50, "max_len": 26}
OTHERS = {"eps": 1e-5, "dropout": 0.0}  # what else a function may be told
RUNS = 300  # of the function, each with one more shape
THREE = "3 * embed"  # queries, keys and values in one
VECTORS = [("embed",), ("hidden",), ("vocab",), (THREE,)]
MATRICES = [("embed", "embed"), ("hidden", "embed"), ("embed", "hidden"), ("vocab", "embed"), ("embed", "vocab")]
PACKED = [(THREE,), ("embed", THREE), (THREE, "embed")]
TABLES = [("vocab", "embed"), ("max_len", "embed"), ("2", "embed")]
# What the names of keys say of shapes: those are tried first.
NAMED: Sequence[tuple[str, Sequence[tuple[str, ...]]]] = (
    (r"norm|(^|[._])ln", VECTORS[:1]),
    (r"rel(ative)?_?(att|pos|bias)", [("32", "heads")]),
    (r"qkv|c_attn|in_proj", PACKED),
    (r"(intermediate|c_fc|(lin(ear)?|fc|w|dense|ff)_?1|[._]up\w*).*(bias|b)$|(^|[._])b_?1$", [("hidden",), *VECTORS]),
    (r"(bias|beta|[._]b\d?)$", VECTORS),
    (r"type|segment", TABLES[2:]),
    (r"pos|wpe", TABLES[1:2]),
    (r"emb|wte|tok|vocab|shared", TABLES[:1]),
    (
        r"intermediate|mlp|ffn?[._]|feed|fc|lin(ear)?_?\d|dense_?re|w_?i|w\d|up",
        [("hidden", "embed"), ("embed", "hidden")],
    ),
)
OPTIONAL = r"bias$|(^|[._])b\d?$"  # what is there where code asks whether it is


@dataclass(eq=False)
class Asked(dict[str, Any]):
    """Stands in for a dict of weights, whatever is asked for: ``shapes`` by key, of which a number is any layer's."""

    sizes: Mapping[str, int]
    prefixes: Sequence[str]
    tables: Collection[str] = ()  # of these, what is indexed by ids or positions
    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    keys_of: dict[str, set[str]] = field(default_factory=dict)  # by the name that they are known by
    arrays: bool = False  # of NumPy
    counted: bool = False  # it is asked how many there are of what has no layers
    cuts: Cuts | None = None  # what is cut out of it, where that is looked at

    def __getitem__(self, key: str) -> Any:
        if isinstance(key, Counted):
            return torch.zeros(0)
        name = of_any_layer(key)
        self.keys_of.setdefault(name, set()).add(key)
        return self.tried(name)

    def of_one_layer(self) -> dict[str, str]:
        """Return what is asked for in one layer alone, where others are in each, by its name for any layer."""
        several = any(len(keys) > 1 for keys in self.keys_of.values())
        alone = {name: keys for name, keys in self.keys_of.items() if several and len(keys) == 1}
        return {name: key for name, (key,) in alone.items()}

    def tried(self, name: str) -> Any:
        """Return a tensor of the shape that is tried now for a key of any layer."""
        if name not in self.shapes:
            self.shapes[name] = shapes_for(name, self.sizes, name in self.tables)[0]
        x = torch.ones([self.sizes[s] for s in self.shapes[name]], dtype=torch.float64) / 8
        return x.numpy() if self.arrays else x

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if self.__contains__(key) else default

    def __contains__(self, key: object) -> bool:
        number = re.search(r"\d+", str(key))
        layered = number is not None and int(number[0]) < self.sizes.get("layers", 1)
        self.counted |= number is not None and not layered and "layers" not in self.sizes
        return layered or (number is None and bool(re.search(OPTIONAL, str(key))))

    def __iter__(self) -> Iterator[str]:
        numbers = range(self.sizes.get("layers", 1))
        yield from (Counted(f"{prefix}{n}.weight") for prefix in self.prefixes for n in numbers)
        if self.cuts is not None:
            yield from dict.fromkeys(name.replace("{n}", str(n)) for name in self.shapes for n in numbers)
            yield Probe(self.cuts)

    def keys(self) -> Any:
        return list(self)

    def items(self) -> Any:
        return [(key, self[key]) for key in self]

    def misses(self, failed: Failed) -> bool:
        """Return whether a call failed at a key of what it had cut out; it is there in the next one."""
        error, cuts = failed.__context__, self.cuts
        if cuts is None or not (isinstance(error, KeyError) and error.args and isinstance(error.args[0], str)):
            return False
        name = learn(self.shapes, [of_any_layer(name) for name in cuts.names_of(error.args[0])])
        cuts.starts.clear()
        return bool(name) and self.tried(name) is not None


def of_any_layer(key: str) -> str:
    """Return a key with {n} in place of its first number that stands alone, which is that of a layer."""
    return re.sub(r"(?<=[._/])\d+(?=[._/])|^\d+(?=[._/])", "{n}", key, count=1)


def shapes_for(name: str, sizes: Mapping[str, int], table: bool = False) -> list[tuple[str, ...]]:
    """Return the shapes that a weight may have, those first that its name speaks of, or those of a ``table``."""
    said = [shape for pattern, shapes in NAMED if re.search(pattern, name.lower()) for shape in shapes]
    said += TABLES if table else []
    rest = [] if re.search(OPTIONAL, name) else [*MATRICES, *PACKED, *VECTORS, *TABLES]
    return [shape for shape in dict.fromkeys([*said, *rest]) if all(s in sizes for s in shape)]


def watched(place: Place, table: Meanings, takes: str, words: str) -> Iterator[Construction]:
    """Yield a dict of weights with all keys that a function asks for; ``words``: what else it is told."""
    sizes, told = sizes_in(table), told_of(place, table, words, NUMBERS)
    if told is None:
        return
    prefixes = re.findall(r"[\"']((?:\w+\.)+)[\"'{]", code_reached(place.thing))
    given = [p.name for p in parameters(place.thing) if p.default is p.empty and p.name not in {takes, *told}]
    found = _shapes(place, Asked(sizes, prefixes), takes, told, given)
    if found:
        layered = any("{n}" in name for name in found)
        meant = {m for shape in found.values() for m in shape if m in sizes} | ({"layers"} if layered else set())
        yield Construction(_text(found, table), (), frozenset(meant & {*table}))


def _shapes(
    place: Place, asked: Asked, takes: str, told: Mapping[str, Any], given: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the shapes of all that a function asks for, of which it may be given samples, or one alone.

    Where it counts what has no layers, as one matrix for each head, nothing says how many there are.
    """
    arrays = getattr(place.module, "__lent_by__", "") == "numpy_arrays.in_arrays"
    function, x = inspect.unwrap(place.thing) if arrays else place.thing, input_of(asked.sizes)
    cuts = (None, Cuts()) if re.search(CUTS, code_reached(place.thing)) else (None,)
    for one, cut in product((x, x[0]), cuts):
        asked = Asked(asked.sizes, asked.prefixes, arrays=arrays, cuts=cut)
        call = partial(function, **told, **dict.fromkeys(given, one.numpy() if arrays else one))
        found = shapes_that_run(asked, lambda held, call=call: call(**{takes: held}))
        if found and not asked.counted:
            alone = asked.of_one_layer()
            return {alone.get(name, name): shape for name, shape in found.items()}
    return {}


def sizes_in(table: Meanings) -> dict[str, int]:
    """Return the sizes that are tried, each of what something is in a shape."""
    sizes = {m: n for m, n in NUMBERS.items() if table.get(m)} | {"2": 2, "32": 32}
    return sizes | ({THREE: 3 * sizes["embed"]} if "embed" in sizes else {})


def told_of(place: Place, table: Meanings, words: str, sizes: Mapping[str, int]) -> dict[str, Any] | None:
    """Return what a function is told besides its weights where ``sizes`` are these; None where that fails."""
    named = {re.sub(r"^config\.", "", table[m][0]): n for m, n in sizes.items() if table.get(m)}
    numbers = OTHERS | {name: n for name, n in named.items() if name.isidentifier()}
    space = space_for(SimpleNamespace(**numbers), place.module)
    try:
        told: dict[str, Any] = attempt(lambda: eval(f"dict({words.lstrip(', ')})", space))
    except Failed:
        return None
    return told


def input_of(sizes: Mapping[str, int]) -> Tensor:
    if "vocab" in sizes:
        return torch.arange(10).reshape(2, 5) + sizes["vocab"] - 10
    return torch.linspace(-1, 1, 10 * sizes.get("embed", NUMBERS["embed"]), dtype=torch.float64).reshape(2, 5, -1)


def shapes_that_run(asked: Asked, call: Any) -> dict[str, tuple[str, ...]]:
    """Return shapes with which a call runs: where it fails, the weight that it asked for last has another."""
    for _ in range(RUNS):
        try:
            attempt(lambda: call(asked))
            return asked.shapes
        except Failed as failed:
            if not asked.misses(failed) and not next_shape(asked):
                return {}
    return {}


def next_shape(asked: Asked) -> bool:
    """Give the last weight its next shape; where it had all of them, the one before; return whether there is one."""
    while asked.shapes:
        name, shape = asked.shapes.popitem()
        every = shapes_for(name, asked.sizes, name in asked.tables)
        if shape != every[-1]:
            asked.shapes[name] = every[every.index(shape) + 1]
            return True
    return False


def _text(shapes: Mapping[str, tuple[str, ...]], table: Meanings) -> str:
    """Return the text of the dict, where each layer has what one has."""
    alone = [f'"{name}": {text_of_zeros(shape, table)}' for name, shape in shapes.items() if "{n}" not in name]
    of_layers = ", ".join(
        f'f"{name}": {text_of_zeros(shape, table)}' for name, shape in shapes.items() if "{n}" in name
    )
    layers = table["layers"][0] if "layers" in table else "1"
    each = [f"**{{name: x for n in range({layers}) for name, x in {{{of_layers}}}.items()}}"] if of_layers else []
    return f"{{{', '.join([*alone, *each])}}}"


def text_of_zeros(shape: Sequence[str], table: Meanings) -> str:
    """Return the text of a tensor of zeros."""
    texts = {m: table[m][0] for m in NUMBERS if table.get(m)}
    texts |= {THREE: f"3 * {texts['embed']}"} if "embed" in texts else {}
    return f"torch.zeros({', '.join(texts.get(s, s) for s in shape)})"
