"""Learned positions: a table with a row for every position.

Symbols as in spec/learned.md: B samples, L tokens, D features, N rows.
"""

import torch
from torch import Tensor


def count(x: Tensor) -> Tensor:
    """Return the positions 0, 1, …, L - 1 of the tokens of x (B, L, D)."""
    return torch.arange(x.shape[1], device=x.device)


def refuse_positions(positions: Tensor, rows: int) -> None:
    """Raise IndexError unless every position has a row: 0 ≤ p < rows; ValueError unless positions are integers.

    Said explicitly because indexing would take -1 for the last row, silently.
    """
    if positions.is_floating_point():
        raise ValueError(f"positions must be integers, found {positions.dtype}")
    if positions.numel() and (int(positions.min()) < 0 or int(positions.max()) >= rows):
        raise IndexError(f"positions must be in 0 … {rows - 1}, found {int(positions.min())} … {int(positions.max())}")


def look_up(table: Tensor, positions: Tensor) -> Tensor:
    """Return the rows of the positions.

    Shapes:
        table      (N, D)
        positions  (...)      int64, 0 ≤ p < N
        out        (..., D)
    """
    return table[positions]


def add(x: Tensor, encoded: Tensor) -> Tensor:
    """Return x + encoded; the same rows for every sample where encoded is (L, D)."""
    return x + encoded


def learned(x: Tensor, table: Tensor, positions: Tensor | None = None) -> Tensor:
    """Return x with the learned encoding of its tokens' positions added.

    Shapes:
        x          (B, L, D)
        table      (N, D)
        positions  (L,) or (B, L)   int64; 0, 1, … where none are given
        out        (B, L, D)

    Raises IndexError for a position without a row, ValueError for positions that are not integers.
    Source: Gehring et al. 2017, arXiv:1705.03122v3, section 3.1.
    """
    positions = count(x) if positions is None else positions
    refuse_positions(positions, len(table))
    return add(x, look_up(table, positions))
