"""Code for one sample, or one head of one sample, called for each of a batch."""

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn


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


def each_query(function: Callable[..., Any], query: Tensor, *tensors: Any, **given: Any) -> Any:
    """Apply a function for one query of each head, (B, H, E), to all of ``query``, (B, H, L, E), one after the other.

    Raises NotImplementedError where there is no query.
    """
    if not query.shape[2]:
        raise NotImplementedError("no query: it takes one")
    results = [function(query[:, :, t], *tensors, **given) for t in range(query.shape[2])]
    if isinstance(results[0], Tensor):
        return torch.stack(results, 2)
    return tuple(torch.stack(items, 2) for items in zip(*results, strict=True))


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


def each_sequence(module: nn.Module) -> nn.Module:
    """Return the module, made for one sequence without an axis of samples, such that it is called for each of a batch.

    Tensors have the axis of samples first, masks too. Raises ValueError where one has none, NotImplementedError for
    a batch without samples.
    """
    kind: Any = type(module)

    class EachSequence(kind):  # the module's own class
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            samples = len(next(x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)))
            if not samples:
                raise NotImplementedError("a batch without samples: it takes one sequence")
            results = []
            for b in range(samples):
                one = partial(_sample, b, samples, {})
                results.append(super().forward(*map(one, args), **{name: one(x) for name, x in kwargs.items()}))
            return _stacked(results)

    EachSequence.forward.__signature__ = inspect.signature(kind.forward)  # type: ignore[attr-defined]
    module.__class__ = EachSequence
    return module


def _stacked(results: Sequence[Any]) -> Any:
    """Return what came of all samples as one, with their axis first: tensors, also in tuples, lists and dicts."""
    first = results[0]
    if isinstance(first, dict):
        return {key: _stacked([each[key] for each in results]) for key in first}
    if isinstance(first, tuple | list):
        items = [_stacked(item) for item in zip(*results, strict=True)]
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
    return torch.stack(list(results)) if isinstance(first, Tensor) else first


def _sample(b: int, samples: int, seen: dict[int, Tensor], x: Any) -> Any:
    """Return one sample of an argument, also of tensors in a list or tuple; of one that is given twice the same."""
    if type(x) in (tuple, list):
        return type(x)(_sample(b, samples, seen, item) for item in x)
    if not isinstance(x, Tensor):
        return x
    if not x.ndim or len(x) != samples:
        raise ValueError(f"of shape {tuple(x.shape)}, want {samples} samples first")
    return seen.setdefault(id(x), x[b])


def _of_one(name: str, x: Any, b: int) -> Any:
    """Return the part of an option of attention that belongs to one sample of a batch."""
    batched = isinstance(x, Tensor) and len(x) > 1 and (name == "key_mask" or x.ndim == 4)
    return x[b : b + 1] if batched else x
