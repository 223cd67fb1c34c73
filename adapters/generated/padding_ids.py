"""Ids for a module in which id 0 is padding: ours are those after it."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

ROWS = ("table.weight", "source.weight", "target.weight", "head.weight", "head.bias")  # one for each id


def beside_padding(config: Any, weights: Any) -> tuple[Any, Any]:
    """Return the configuration with one id more, and the weights with a row of zeros for it in front of the others."""
    more = {name: torch.cat([torch.zeros_like(w[:1]), w]) if name in ROWS else w for name, w in weights.items()}
    return replace(config, vocab_size=config.vocab_size + 1), more


def after_padding(ids: Tensor) -> Tensor:
    """Return the ids counted from 1; what is no id, below 0 or of another dtype, stays as it is."""
    if ids.is_floating_point() or ids.dtype == torch.bool:
        return ids
    return torch.where(ids < 0, ids, ids + 1)
