"""Learned factors on what the sublayers of a layer add: which parameters they are, told from the gains of norms.

Either is multiplied by something: a gain by what was normalized just before, a factor by what a sublayer gives, which
has any size. That is seen in a call with one token and random parameters; a name speaks only for what is never applied.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.conformance.inference.texts.layer_units import Widths
from attnconf.conformance.inference.words.vocabulary import snake

_PRODUCTS = ("mul", "mul_", "__mul__", "__rmul__", "__imul__", "multiply")
_QUOTIENTS = ("div", "div_", "__truediv__", "true_divide", "divide", "__itruediv__")
VIEWS = ("view", "reshape", "unsqueeze", "squeeze", "expand", "__getitem__", "to", "double", "contiguous", "flatten")
_SAYS = r"(^|[._])(layer_?scale|ls|gamma_?\d|(res(idual)?|skip|branch|re_?zero)_?(scale|weight|factor|alpha))"
NEAR = 0.002  # as an ε of 1e-3 leaves it


@dataclass(frozen=True)
class Scales:
    """Factors of branches: what is declared, and for each layer its parameters, that of attention first."""

    declares: Mapping[str, str]
    each: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> set[str]:
        return {name for layer in self.each for name in layer}

    def entries(self, layer: int) -> list[str]:
        """Return the entries of the state of one layer."""
        own = self.each[layer] if layer < len(self.each) else ()
        return [f'"{name}": weights["scale{i}.weight"]' for i, name in enumerate(own, 1)]


UNSCALED = Scales({}, ())


def multiplied(function: str, args: Sequence[Any], names: Mapping[int, str]) -> str:
    """Return the parameter that a function of torch multiplies by what no norm has made; "" where it does not."""
    pair = args[1:3] if function == "addcmul" else args[:2] if function in _PRODUCTS else ()
    if len(pair) != 2 or not all(isinstance(x, Tensor) for x in pair):
        return ""
    for one, other in (pair, pair[::-1]):
        if id(one) in names and id(other) not in names and not _is_normalized(other):
            return names[id(one)]
    return ""


def normalizing(function: str, args: Sequence[Any], products: Mapping[int, str]) -> str:
    """Return the parameter whose product with a token is divided by the token's size: the gain of a norm; "" if none.

    ``products``: what was multiplied by a parameter, with its name. The size is a tensor of one number.
    """
    pair = args[:2] if function in (*_PRODUCTS, *_QUOTIENTS) else ()
    if len(pair) != 2 or not all(isinstance(x, Tensor) for x in pair):
        return ""
    for one, other in (pair, pair[::-1]):
        if id(one) in products and other.numel() == 1 < one.numel():
            return products[id(one)]
    return ""


def _is_normalized(x: Tensor) -> bool:
    """Return whether the features of a token have a mean square of 1, or a deviation of 1 around 0."""
    x = x.detach().double().flatten()
    square, mean, unbiased = float(x.square().mean()), float(x.mean()), 1 - 1 / len(x)
    return abs(square - 1) < NEAR or (abs(mean) < NEAR and abs(square - unbiased) < NEAR)


def branch_scales(
    module: nn.Module, order: Sequence[str], used: Collection[str], factors: Collection[str], widths: Widths,
    layers: int,
) -> Scales:  # fmt: skip
    """Return the factors of so many layers.

    ``order``: all parameters in the order of use, ``used``: those that are applied, ``factors``: of these what is
    multiplied by something that no norm has made.
    """
    real = dict(module.named_parameters())
    sizes = {name: p.numel() for name, p in real.items() if not isinstance(p, nn.parameter.UninitializedParameter)}
    seen = [name for name in order if name in factors and sizes.get(name) in (1, widths.embed)]
    others = [name for name in order if name not in seen and sizes.get(name) in (1, widths.embed)]
    twins = [name for name in others if any(_alike(module, name, one, name not in used) for one in seen)]
    twins += [name for name in others if not seen and name not in used and re.search(_SAYS, snake(name))]
    found = [name for name in order if name in {*seen, *twins}]
    if len({sizes[name] for name in found}) != 1 or layers < 1 or not _fits(len(found), layers, sizes[found[0]]):
        return UNSCALED
    size, count = sizes[found[0]], len(found) // layers
    kind = "vector" if size > 1 else "scalar" if count == 2 else "one-scalar"
    each = tuple(tuple(found[i * count : (i + 1) * count]) for i in range(layers))
    return Scales({"branch-scale": kind}, each)


def _fits(found: int, layers: int, size: int) -> bool:
    """Return whether there are two for each layer; of single numbers one may be for both branches."""
    return found == 2 * layers or (size == 1 and found == layers)


def _alike(module: nn.Module, one: str, other: str, idle: bool) -> bool:
    """Return whether two parameters are of one kind: of two layers, or, where one is never applied, of one make."""
    if re.sub(r"\d+", "#", one) == re.sub(r"\d+", "#", other):
        return True
    (owner, _, leaf), (theirs, _, their_leaf) = one.rpartition("."), other.rpartition(".")
    if owner == theirs:
        return idle and torch.equal(module.get_parameter(one), module.get_parameter(other))
    alone = sum(1 for _ in module.get_submodule(owner).parameters()) == 1
    same = type(module.get_submodule(owner)) is type(module.get_submodule(theirs))
    return idle and alone and same and leaf == their_leaf


def silent_scales(names: Sequence[str], parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return factors of 1 for those of these names, with which a branch is seen as it is."""
    return {name: torch.ones_like(parameters[name]) for name in names if name in parameters}
