"""Parameters that are too few, or too small, for attention: what they may be where sharing them is a known mistake.

A layer may have one projection where there should be three, or one head's where there should be all heads'. Reading
derivatives says little then: the same element stands in several places. So the shapes are taken for what they may be,
and it is tried whether the layer is the textbook with that very mistake.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations

from torch import Tensor

from attnconf.conformance.inference.trials.budgets import FEW
from attnconf.conformance.inference.weights.naming import roles_of
from attnconf.conformance.inference.weights.reading import Sizes


@dataclass(frozen=True)
class Structure:
    """A mistake in what is shared: the projections that there are, the part of their weights that is used."""

    mistake: str
    roles: tuple[str, ...]  # whose weights the parameters are
    serves: tuple[str, ...]  # which roles' weights have no other place
    rows: str  # of the canonical weights, and of the biases: what is taken
    columns: str

    def shape(self, sizes: Sizes) -> tuple[int, int]:
        one = (sizes.head_dim, sizes.head_dim if self.columns else sizes.embed)
        return one if self.rows else (sizes.width, sizes.embed)

    def weight(self, role: str) -> str:
        parts = ", ".join(p for p in (self.rows, self.columns) if p)
        return f'weights["{role}.weight"]' + (f"[{parts}]" if parts else "")

    def bias(self, role: str) -> str:
        return f'weights["{role}.bias"]' + (f"[{self.rows}]" if self.rows else "")


FIRST = ":config.head_dim"
STRUCTURES = (
    Structure("MHA-split-before-projection~2", ("q", "k", "v"), (), FIRST, FIRST),
    Structure("MHA-heads-tied", ("q", "k", "v"), (), FIRST, ""),
    Structure("MHA-one-projection", ("q",), ("k", "v"), "", ""),
    Structure("MHA-one-projection~2", ("q", "k"), ("v",), "", ""),
    Structure("MHA-one-projection~3", ("q", "v"), ("k",), "", ""),
)


@dataclass(frozen=True)
class Shared:
    """Parameters as the weights of a layer with a known mistake, as text, and the biases that it lacks."""

    state: tuple[str, ...]
    lacking: tuple[str, ...]
    mistake: str


def shared(parameters: Mapping[str, Tensor], sizes: Sizes) -> Iterator[Shared]:
    """Yield what parameters may be that do not suffice for attention, with the mistake that it would be."""
    if sizes.heads == 1:
        return
    for structure in STRUCTURES:
        apart = _apart(structure, parameters, sizes)
        if apart is not None:
            yield from islice(_assigned(structure, *apart, parameters, sizes), FEW)


def _apart(
    structure: Structure, parameters: Mapping[str, Tensor], sizes: Sizes
) -> tuple[list[str], list[str], list[str]] | None:
    """Return the names of the projections' weights, of their biases, and of the output's; None where that fits not."""
    rows, columns = structure.shape(sizes)
    out = [n for n, p in parameters.items() if tuple(p.shape) in ((sizes.out, sizes.width), (sizes.width, sizes.out))]
    if (rows, columns) == (sizes.width, sizes.embed):
        named = [n for n in out if roles_of(n) == ("out",)]
        out = named if len(named) == 1 else out[-1:]
    whole = {i * rows * columns for i in (1, 2, 3)}
    weights = [n for n, p in parameters.items() if n not in out and p.ndim > 1 and p.numel() in whole]
    biases = [n for n, p in parameters.items() if p.ndim == 1 and _stem(n) in map(_stem, weights)]
    last = [*out, *(n for n, p in parameters.items() if p.ndim == 1 and _stem(n) in map(_stem, out))]
    parts = sum(parameters[n].numel() // (rows * columns) for n in weights)
    complete = parts == len(structure.roles) and len(out) == 1
    return (weights, biases, last) if complete and {*weights, *biases, *last} == set(parameters) else None


def _stem(name: str) -> str:
    """Return the name of what a parameter belongs to: weights and biases of one layer have the same."""
    return re.sub(r"(^|[._])(weight|bias|w|b|kernel)$", "", name.lower())


def _assigned(
    structure: Structure, weights: Sequence[str], biases: Sequence[str], last: Sequence[str],
    parameters: Mapping[str, Tensor], sizes: Sizes,
) -> Iterator[Shared]:  # fmt: skip
    """Yield the state for each order of the roles, first the one that the names say."""
    rows, columns = structure.shape(sizes)
    said = [role for name in weights for role in roles_of(name)]
    for order in sorted(permutations(structure.roles), key=lambda roles: list(roles) != said):
        left, held = list(order), {}
        for name in weights:
            count = parameters[name].numel() // (rows * columns)
            held[_stem(name)], left = left[:count], left[count:]
        state = [_entry(n, parameters[n], [structure.weight(r) for r in held[_stem(n)]], rows) for n in weights]
        state += [_entry(n, parameters[n], [structure.bias(r) for r in held[_stem(n)]], rows) for n in biases]
        state += [f'"{n}": weights["out.{"weight" if parameters[n].ndim > 1 else "bias"}"]' for n in last]
        there = {r for n in biases for r in held[_stem(n)]}
        there |= {*structure.serves, "k"} if there else set()
        there |= {"out"} if len(last) > 1 else set()
        lacking = tuple(f"{r}.bias" for r in ("q", "k", "v", "out") if r not in there)
        yield Shared(tuple(state), lacking, structure.mistake)


def _entry(name: str, parameter: Tensor, texts: Sequence[str], rows: int) -> str:
    """Return the entry of one parameter, which may hold several projections one below the other."""
    whole = texts[0] if len(texts) == 1 else f"torch.cat([{', '.join(texts)}])"
    turned = parameter.ndim == 2 and parameter.shape[0] != len(texts) * rows
    return f'"{name}": {whole}' + (".T" if turned else "")
