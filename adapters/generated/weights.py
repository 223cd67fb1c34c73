"""The contract's weights in the shapes, names and number that a user's module has."""

from typing import Any

import torch
from torch import Tensor, nn


def kernel(weight: Tensor, width: int) -> Tensor:
    """Return a matrix as the kernel of a convolution of width 2; half of it is for the token before."""
    parts = [torch.zeros_like(weight) for _ in range(width)]
    at = (width - 1) // 2
    parts[at] = weight
    if at:
        parts[at - 1] = weight / 2
    return torch.stack(parts, dim=-1)


def lacking(weights: Any, *names: str) -> None:
    """Raise NotImplementedError if a weight that the module lacks is not zero."""
    for name in names:
        if name in weights and bool(weights[name].detach().any()):
            raise NotImplementedError(f"{name}: it has none")


def floored(weights: Any, config: Any) -> Any:
    """Return the weights without the last rows, for a module whose heads do not divide the width."""
    width = config.num_heads * config.head_dim
    if config.embed_dim % config.num_heads == 0 or weights["q.weight"].shape[0] == width:
        return weights
    inner = {name: w[:width] for name, w in weights.items() if not name.startswith("out.")}
    return {**weights, **inner, "out.weight": weights["out.weight"][:, :width]}


def full(weights: Any) -> dict[str, Tensor]:
    """Return the weights of multi-head attention, with zeros for missing biases."""
    zeros = {f"{n}.bias": weights[f"{n}.weight"].new_zeros(len(weights[f"{n}.weight"])) for n in ("q", "k", "v", "out")}
    return {**zeros, **weights}


def fitted(module: nn.Module, state: dict[str, Any]) -> dict[str, Tensor]:
    """Return a value for each parameter of a module: the given one in the parameter's shape, else the current one."""
    given: dict[str, Tensor] = {}
    state = {name: x for name, x in state.items() if x is not None}
    like = next(iter(state.values()), torch.empty(0))
    for name, parameter in module.named_parameters():
        x = state.get(name, parameter.detach().to(like))
        x = x if parameter.requires_grad else x.detach()
        given[name] = x.reshape(parameter.shape) if x.numel() == parameter.numel() else x
    return given


def in_rows(table: Tensor, own: Tensor) -> Tensor:
    """Return a table (N, E) with as many rows as ``own`` has: without the last ones, or with zeros behind them."""
    rows = own.numel() // table.shape[1]
    return torch.nn.functional.pad(table, (0, 0, 0, rows - len(table)))


def heads_last(x: Tensor, heads: int) -> Tensor:
    """Return rows ordered (head, feature) in the order (feature, head)."""
    turned: Tensor = x.unflatten(0, (heads, -1)).transpose(0, 1)
    return turned.flatten(0, 1)


def in_order(module: nn.Module, weights: Any) -> dict[str, Tensor]:
    """Return the weights of layers 0, 1, … under the names of the module's linear layers, in the module's order."""
    names = [name for name, _ in module.named_parameters()]
    given = [weights[f"{i}.{part}"] for i in range(len(weights) // 2) for part in ("weight", "bias")]
    return dict(zip(names, given, strict=True))
