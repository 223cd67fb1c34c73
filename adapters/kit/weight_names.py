"""For adapters of layers: weights under other names, combined masks, and refusals of unsupported options."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
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


def stacked(weights: Weights, state: Callable[[Weights], dict[str, Tensor]], name: str = "layers") -> dict[str, Tensor]:
    """Return the state of a list of layers of that name, each as ``state`` gives it."""
    count = len({key.split(".")[1] for key in weights if key.startswith("layers.")})
    parts = (inside(f"{name}.{i}", state(under(weights, f"layers.{i}"))) for i in range(count))
    return {key: w for part in parts for key, w in part.items()}


def demand(config: Any, **has: Any) -> None:
    """Raise NotImplementedError if the configuration asks for another value than the library's only one."""
    for name, value in has.items():
        asked = getattr(config, name)
        if asked != value:
            raise NotImplementedError(f"{name} = {asked!r}: there is only {value!r}")


def both(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    """Return the mask of the positions that both masks allow."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def earlier(x: Tensor) -> Tensor:
    """Return the causal mask, (L, L), for x (B, L, E): True = may attend."""
    return torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()


def over_keys(mask: Tensor | None) -> Tensor | None:
    """Return a mask of keys, (B, S), as one that goes over the scores, (B, 1, 1, S)."""
    return None if mask is None else mask[:, None, None, :]
