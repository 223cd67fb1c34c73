"""Code for one sample, or one head of one sample, called for each of a batch."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def each_apart(function: Callable[..., Any], *tensors: Any, **given: Any) -> Any:
    """Apply a function for one head of one sample to all, (B, H, …); arguments without these axes go to each."""
    B, H = tensors[0].shape[:2]

    def one(x: Any, b: int, h: int) -> Any:
        return x[b if len(x) > 1 else 0, h if x.shape[1] > 1 else 0] if isinstance(x, Tensor) and x.ndim == 4 else x

    results = [
        function(*(one(x, b, h) for x in tensors), **{name: one(x, b, h) for name, x in given.items()})
        for b in range(B)
        for h in range(H)
    ]
    if isinstance(results[0], Tensor):
        return torch.stack(results).unflatten(0, (B, H))
    return tuple(torch.stack(items).unflatten(0, (B, H)) for items in zip(*results, strict=True))


def singly(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for batches that calls ``forward``, made for one sample, for each sample.

    Arguments that are one object, as query and key in self-attention, are one object for ``forward``, too.
    """

    def for_all(query: Tensor, key: Tensor, value: Tensor, **given: Any) -> Any:
        if not len(query):
            raise NotImplementedError("a batch without samples: it takes one sequence")
        results = []
        for b in range(len(query)):
            parts = {id(x): x[b : b + 1] for x in (query, key, value)}
            options = {name: _of_one(name, x, b) for name, x in given.items()}
            results.append(forward(*(parts[id(x)] for x in (query, key, value)), **options))
        if isinstance(results[0], Tensor):
            return torch.cat(results)
        return tuple(torch.cat(items) for items in zip(*results, strict=True))

    return for_all


def _of_one(name: str, x: Any, b: int) -> Any:
    """Return the part of an option of attention that belongs to one sample of a batch."""
    batched = isinstance(x, Tensor) and len(x) > 1 and (name == "key_mask" or x.ndim == 4)
    return x[b : b + 1] if batched else x
