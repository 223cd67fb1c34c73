"""Weights under other names: what adapters of layers have in common."""

from collections.abc import Mapping

from torch import Tensor

Weights = Mapping[str, Tensor]


def under(weights: Weights, part: str) -> dict[str, Tensor]:
    """Return the weights of one part, "attn" or "layers.0" say, by their names within that part."""
    prefix = f"{part}."
    return {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}


def inside(part: str, weights: Weights) -> dict[str, Tensor]:
    """Return the weights by their names in a module that has this part: the opposite of ``under``."""
    return {f"{part}.{name}": w for name, w in weights.items()}


def renamed(weights: Weights, names: Mapping[str, str]) -> dict[str, Tensor]:
    """Return the weights and biases of the layers that ``names`` has, by their new names; others are left out."""
    pairs = ((name.rpartition("."), w) for name, w in weights.items())
    return {f"{names[layer]}.{kind}": w for (layer, _, kind), w in pairs if layer in names}
