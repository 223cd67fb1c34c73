"""Copies of inputs and weights for an implementation to keep, and which of them it changed."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.worker.order import Order
from attnconf.conformance.worker.written import same_items


def tensors_of(*groups: Mapping[str, Any]) -> list[Tensor]:
    """Return the tensors among named values."""
    return [x for group in groups for x in group.values() if isinstance(x, Tensor)]


def hand_over(x: Any, order: Order, name: str, layout: str) -> Any:
    """Return a copy of ``x`` for the implementation to keep, in the memory layout named by ``layout``."""
    if not isinstance(x, Tensor):
        return list(x) if isinstance(x, list) else x
    if layout == "contiguous" or x.ndim < 2:
        copy = x.clone(memory_format=torch.contiguous_format)
    elif layout == "transposed":
        copy = x.transpose(-1, -2).clone(memory_format=torch.contiguous_format).transpose(-1, -2)
    elif layout == "offset":  # every other element of a larger buffer, from the third on
        buffer = x.new_zeros((*x.shape[:-1], 2 * x.shape[-1] + 3))
        buffer[..., 3::2] = x
        copy = buffer[..., 3::2]
    elif layout == "expanded":  # one sample for all, with stride 0, where all are the same
        one = x[:1].clone().expand_as(x)
        copy = one if torch.equal(one, x) else x.clone()
    else:
        raise ValueError(f"no layout {layout!r}")
    wanted = name in order.wrt or order.mode == "tracked"
    return copy.requires_grad_() if wanted and copy.is_floating_point() else copy


def changed(*groups: tuple[Mapping[str, Any], Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of the weights and inputs whose copies the implementation changed."""
    return tuple(
        name
        for originals, copies in groups
        for name, x in originals.items()
        if (isinstance(x, Tensor) and not same_values(x, copies[name].detach()))
        or (isinstance(x, list) and not same_items(x, copies[name]))
    )


def same_values(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and the same values, NaN where NaN is."""
    if torch.equal(one, other):
        return True
    if one.shape != other.shape or not (one.is_floating_point() and other.is_floating_point()):
        return False
    return bool(((one == other) | (one.isnan() & other.isnan())).all())
