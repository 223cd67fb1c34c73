"""Learned positions: a table with a row for every position.

Symbols as in spec/learned.md: B samples, L tokens, D features, N rows.
"""

import torch
from torch import Tensor


def count(x: Tensor) -> Tensor:
    """Return the positions 0, 1, …, L - 1 of the tokens of x (B, L, D).

    Requirements: LRN-ROW-1, LRN-BATCH-1.
    """
    return torch.arange(x.shape[1], device=x.device)


def refuse_positions(positions: Tensor, x: Tensor, rows: int) -> None:
    """Raise ValueError unless there is one integer for each token; IndexError unless each has a row: 0 ≤ p < rows.

    Shapes:
        positions  (L,) or (B, L)
        x          (B, L, D)

    Said explicitly because indexing would take -1 for the last row, silently.

    Requirements: LRN-BEYOND-1, LRN-POS-3, LRN-POS-4, LRN-POS-5, LRN-POS-6.
    """
    if tuple(positions.shape) not in ((x.shape[1],), tuple(x.shape[:2])):
        want = f"{(x.shape[1],)} or {tuple(x.shape[:2])}"
        raise ValueError(f"positions have shape {tuple(positions.shape)}, want {want}")
    if positions.is_floating_point():
        raise ValueError(f"positions must be integers, found {positions.dtype}")
    if positions.numel() and (int(positions.min()) < 0 or int(positions.max()) >= rows):
        raise IndexError(f"positions must be in 0 … {rows - 1}, found {int(positions.min())} … {int(positions.max())}")


def look_up(table: Tensor, positions: Tensor) -> Tensor:
    """Return the rows of the positions. The gradient of a row is the sum over all tokens that used it.

    Shapes:
        table      (N, D)
        positions  (...)      int64, 0 ≤ p < N
        out        (..., D)

    Requirements: LRN-ROW-1, LRN-GRAD-1, LRN-GRAD-2, LRN-GRAD-3.
    """
    return table[positions]  # (..., D)


def add(x: Tensor, encoded: Tensor) -> Tensor:
    """Return x + encoded; the same rows for every sample where encoded is (L, D).

    Requirements: LRN-ADD-1, CALL-DTYPE-1, LRN-GRAD-4.
    """
    return x + encoded


def drop(out: Tensor, probability: float) -> Tensor:
    """Return ``out`` (B, L, D), each element zero with that probability and divided by what is left of 1 otherwise.

    Requirements: LRN-DROP-1, LRN-DROP-2.
    """
    return torch.dropout(out, probability, train=probability > 0)


def learned(x: Tensor, table: Tensor, positions: Tensor | None = None, dropout: float = 0.0) -> Tensor:
    """Return x with the learned encoding of its tokens' positions added.

    Shapes:
        x          (B, L, D)
        table      (N, D)
        positions  (L,) or (B, L)   int64; 0, 1, … where none are given
        out        (B, L, D)

    ``dropout`` is a probability; pass 0 outside training.
    Raises IndexError for a position without a row; ValueError for positions that are not integers, or not one for
    each token.

    Requirements: the whole chapter.
    Source: Gehring et al. 2017, arXiv:1705.03122v3, section 3.1.
    """
    positions = count(x) if positions is None else positions
    refuse_positions(positions, x, len(table))
    return drop(add(x, look_up(table, positions)), dropout)
