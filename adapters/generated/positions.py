"""Positions, tables of rows, biases and frequencies."""

from typing import Any

import torch
from torch import Tensor


def counted(length: int, positions: Tensor | None, like: Tensor) -> Tensor:
    """Return the given positions, else 0, 1, … for this number of tokens."""
    return torch.arange(length, device=like.device) if positions is None else positions


def rows(rows_: Any, x: Tensor) -> Tensor:
    """Return rows (L, D), or (B, L, D), for every sample of x (B, L, D), in its dtype.

    Raises ValueError if their number is not that of x's tokens.
    """
    table: Tensor = torch.as_tensor(rows_)
    if table.shape[-2:] != x.shape[-2:]:
        raise ValueError(f"a table of shape {tuple(table.shape)} for {x.shape[-2]} tokens of {x.shape[-1]} features")
    return table.to(x.device, x.dtype).expand(x.shape)


def cosines(x: Tensor, width: int) -> Tensor:
    """Return the cosines (L, width) of the angles 0, of no turn, for x (B, L, …)."""
    return torch.ones(x.shape[1], width, dtype=x.dtype if x.is_floating_point() else None, device=x.device)


def sines(x: Tensor, width: int) -> Tensor:
    """Return the sines (L, width) of the angles 0, of no turn, for x (B, L, …)."""
    return torch.zeros_like(cosines(x, width))


def turns(x: Tensor, width: int) -> Tensor:
    """Return the complex numbers (L, width) of the angles 0, of no turn, for x (B, L, …), in float32 at least."""
    ones = cosines(x, width)
    return ones.to(torch.promote_types(ones.dtype, torch.complex64))


def rotations(x: Tensor, width: int, direction: int = 1) -> tuple[Tensor, Tensor]:
    """Return the cosines and sines (L, width / 2) of the angles by which x (B, H, L, E) has to be turned."""
    omega = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * omega
    return angles.cos().to(x), (direction * angles.sin()).to(x)


def in_pairs(x: Tensor, width: int) -> Tensor:
    """Return x with its first features, those of the first elements before the second ones, as pairs of neighbours."""
    pairs = x[..., :width].unflatten(-1, (2, width // 2)).transpose(-1, -2).flatten(-2)
    return torch.cat([pairs, x[..., width:]], -1)


def octaves(frequencies: Any) -> int:
    """Return the number of frequencies 1, 2, 4, …."""
    if list(frequencies) != [2.0**k for k in range(len(frequencies))]:
        raise NotImplementedError("frequencies that are not 1, 2, 4, …")
    return len(frequencies)


def evenly(frequencies: Any) -> int:
    """Return the number of frequencies that are evenly spaced, from 1 to half of ``twice_the_last``."""
    spaced = torch.linspace(1.0, frequencies[-1], len(frequencies), dtype=torch.float64)
    if not torch.allclose(spaced, torch.tensor(frequencies, dtype=torch.float64)):
        raise NotImplementedError("frequencies that are not evenly spaced from 1 on")
    return len(frequencies)


def twice_the_last(frequencies: Any) -> float:
    """Return how often has to be sampled what the highest frequency still shows: twice as often."""
    return 2.0 * float(frequencies[-1])


def penalties(slopes_: Any, query_length: int, key_length: int) -> Tensor:
    """Return the bias -slope·distance, (H, L, S), from slopes (H,); the last query stands at the last key."""
    slopes: Tensor = torch.as_tensor(slopes_, dtype=torch.float64).flatten()
    queries = torch.arange(key_length - query_length, key_length)
    return -slopes[:, None, None] * (queries[:, None] - torch.arange(key_length)).abs()


def image(x: Tensor) -> Tensor:
    """Return points x (..., d) as an image (1, d, N, 1) whose N pixels they are."""
    return x.reshape(1, -1, x.shape[-1], 1).transpose(1, 2)


def pixels(features: Tensor, x: Tensor) -> Tensor:
    """Return the features (..., F) of points x (..., d) out of an image (1, F, N, 1)."""
    return features[0, :, :, 0].T.reshape(*x.shape[:-1], -1)
