"""torch's own layers, called with the weights of a case."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn


def called_with(module: nn.Module, weights: Mapping[str, Tensor], inputs: tuple[Any, ...], more: dict[str, Any]) -> Any:
    """Return what a module gives with these weights, by its own names; a bias that is not among them is 0."""
    biases = {name: torch.zeros_like(p) for name, p in module.named_parameters() if name.endswith("bias")}
    return torch.func.functional_call(module, {**biases, **weights}, inputs, more)
