"""What a call on both sides is: settings, calls in words, and numbers that no check and no binding is tried on."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Calling:
    """One call: its words, and what is given by position and by name."""

    words: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True)
class Setting:
    """A configuration in words and as data, its weights, and the calls of what is built for it."""

    words: str
    config: Any
    weights: Mapping[str, Tensor]
    calls: tuple[Calling, ...]


class Numbers:
    """Numbers from PyTorch's generator, which nothing that is judged or bound is drawn from."""

    def __init__(self, seed: int):
        self._generator = torch.Generator().manual_seed(20_000 + seed)

    def __call__(self, *shape: int, size: float = 1.0) -> Tensor:
        return size * torch.randn(*shape, generator=self._generator, dtype=torch.float64)

    def ids(self, below: int, *shape: int) -> Tensor:
        return torch.randint(1, below, shape, generator=self._generator)

    def kept(self, *shape: int) -> Tensor:
        """Return a mask with holes; the first key of each row is kept."""
        mask = torch.rand(*shape, generator=self._generator) < 0.6
        mask[..., 0] = True
        return mask


def words_of(config: Any) -> str:
    """Return the entries of a configuration that have no default, or another value."""
    told = {f.name: getattr(config, f.name) for f in fields(config) if getattr(config, f.name) != f.default}
    return f"({', '.join(f'{name}={value}' for name, value in told.items())})"
