"""The reference's attention in the pairing of rotary features that an implementation declares."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import Build, Forward
from attnconf.conformance.engine.translations import Choice


def multi_head_attention(build: Build, choice: Choice) -> Build:
    """Return attention with positions inside that pairs feature i with i + D/2, where that is declared."""

    def component(config: Any, weights: Mapping[str, Tensor]) -> Forward:
        halves = choice("rope-pairing") == "half" and config.positions == "rotary"
        return build(config, in_pairs(weights, config.head_dim, config.rotary_dim) if halves else weights)

    return component


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
