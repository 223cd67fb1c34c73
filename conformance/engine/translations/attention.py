"""The reference's attention in the pairing of rotary features, and the order of offsets, that are declared."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import Build, Forward
from attnconf.conformance.engine.translations import Choice


def multi_head_attention(build: Build, choice: Choice) -> Build:
    """Return attention with positions inside that are declared in another layout than the reference has.

    Feature i is paired with i + D/2, or the first row of a table of offsets is that of the latest keys.
    """

    def component(config: Any, weights: Mapping[str, Tensor]) -> Forward:
        if choice("rope-pairing") == "half" and config.positions == "rotary":
            weights = in_pairs(weights, config.head_dim, config.rotary_dim)
        return build(config, ascending(weights) if choice("offset-rows") == "descending" else weights)

    return component


def ascending(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights whose tables of offsets begin with that of the earliest keys, from those that end with it."""
    tables = ("relative_keys.weight", "relative_values.weight")
    return {name: w.flip(0) if name in tables else w for name, w in weights.items()}


def in_pairs(weights: Mapping[str, Tensor], head_dim: int, part: int | None = None) -> dict[str, Tensor]:
    """Return weights whose queries and keys have neighbours for pairs, from those that pair feature i with i + R/2.

    ``part``: R, how many features of each head are in pairs; all by default.
    """
    turned = ("q.", "k.", "q_norm.", "k_norm.")
    return {name: neighbouring(w, head_dim, part) if name.startswith(turned) else w for name, w in weights.items()}


def neighbouring(weight: Tensor, head_dim: int, part: int | None = None) -> Tensor:
    """Return a weight or bias whose rows, of heads, pair neighbours, from one that pairs row i with i + R/2."""
    size = head_dim if part is None else part
    heads = weight.unflatten(0, (-1, head_dim))
    turned = heads[:, :size].unflatten(1, (2, size // 2)).transpose(1, 2).flatten(1, 2)
    return torch.cat([turned, heads[:, size:]], dim=1).flatten(0, 1)
